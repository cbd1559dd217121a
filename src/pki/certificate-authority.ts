import { webcrypto } from 'node:crypto';
// Before the certificate library: its dependency container refuses to load without this polyfill.
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { generateKeyPair, type KeyPair, SIGNING_ALGORITHM } from './key-pair.ts';

/** Certificates start this much in the past, as kubeadm's do, so that a peer with a slow clock accepts them. */
const BACKDATE_MS = 5 * 60_000;

/** RFC 5280 allows 20 bytes; 16 random ones with the top bit clear stay positive and never repeat. */
const SERIAL_BYTES = 16;

export interface Validity {
  readonly now: Date;
  /** How long after `now` the certificate ends. */
  readonly validityMs: number;
}

/** A certificate with the key that belongs to it. */
export interface Credential {
  readonly certificatePem: string;
  readonly keys: KeyPair;
}

/** What proves a server's identity: clients compare the names, never the subject. */
export interface ServingRequest extends Validity {
  readonly kind: 'serving';
  readonly commonName: string;
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

/** What proves a user's identity: Kubernetes reads the common name as user and each organisation as group. */
export interface ClientRequest extends Validity {
  readonly kind: 'client';
  readonly commonName: string;
  readonly organizations: readonly string[];
}

export type CertificateRequest = ServingRequest | ClientRequest;

/** Signs certificates that chain to one self-signed root. Holds the root's key in memory only. */
export class CertificateAuthority implements Credential {
  readonly keys: KeyPair;
  readonly #certificate: x509.X509Certificate;

  private constructor(keys: KeyPair, certificate: x509.X509Certificate) {
    this.keys = keys;
    this.#certificate = certificate;
  }

  /** A new authority with a new key at every call. Its certificates must not be used to sign further authorities. */
  static async create({
    commonName,
    now,
    validityMs,
  }: Validity & { commonName: string }): Promise<CertificateAuthority> {
    const keys = await generateKeyPair();
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      serialNumber: randomSerial(),
      name: new x509.Name([{ CN: [literal(commonName)] }]),
      ...period({ now, validityMs }),
      keys,
      signingAlgorithm: SIGNING_ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    return new CertificateAuthority(keys, certificate);
  }

  get certificatePem(): string {
    return pemFile(this.#certificate);
  }

  /** A certificate for exactly what is asked, with a new key. Every call gives another key and serial number. */
  async issue(request: CertificateRequest): Promise<Credential> {
    const keys = await generateKeyPair();
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: randomSerial(),
      subject: subject(request),
      issuer: this.#certificate.subjectName,
      ...period(request),
      publicKey: keys.publicKey,
      signingKey: this.keys.privateKey,
      signingAlgorithm: SIGNING_ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        ...purpose(request),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
        await x509.AuthorityKeyIdentifierExtension.create(this.keys.publicKey),
      ],
    });
    return { certificatePem: pemFile(certificate), keys };
  }
}

/** One relative name per value, because Kubernetes reads each organisation as a group of its own. */
function subject(request: CertificateRequest): x509.Name {
  const organizations = request.kind === 'client' ? request.organizations : [];
  return new x509.Name([
    ...organizations.map((organization) => ({ O: [literal(organization)] })),
    { CN: [literal(request.commonName)] },
  ]);
}

/** Plain strings would be parsed: `#0c0141` becomes `A` and quotes cut a name, so one user could pose as another. */
const literal = (text: string): { utf8String: string } => ({ utf8String: text });

function purpose(request: CertificateRequest): x509.Extension[] {
  if (request.kind === 'client') return [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])];
  const names: x509.JsonGeneralName[] = [
    ...request.dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...request.ipAddresses.map((value) => ({ type: 'ip' as const, value })),
  ];
  return [
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
    new x509.SubjectAlternativeNameExtension(names),
  ];
}

function period({ now, validityMs }: Validity): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now.getTime() - BACKDATE_MS), notAfter: new Date(now.getTime() + validityMs) };
}

function randomSerial(): string {
  const bytes = webcrypto.getRandomValues(Buffer.alloc(SERIAL_BYTES));
  // The first byte must be 01..7f: a leading zero would be cut off, a set top bit would read as negative.
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x01, 0);
  return bytes.toString('hex');
}

/** Text files end with a line break; programs that join certificates into one file rely on it. */
const pemFile = (certificate: x509.X509Certificate): string => `${certificate.toString('pem').trimEnd()}\n`;
