import { createHash, type KeyObject, randomBytes, sign } from 'node:crypto';
import { alternativeNames, distinguishedName } from './certificate-names.ts';
import {
  bitString,
  boolean,
  explicit,
  implicit,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  time,
} from './der.ts';
import { generateKeyPair, type KeyPair, loadKeyPair } from './key-pair.ts';

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

/** What is said about a key that somebody else has. */
export interface Certification extends Validity {
  readonly publicKey: KeyObject;
  /** A distinguished name, as it stands in certificates and requests. */
  readonly subject: Buffer;
  readonly purposes: readonly ('clientAuth' | 'serverAuth')[];
  /** For RSA keys: the other side may send secrets enciphered with it. */
  readonly mayEncipherKeys?: boolean;
  /** Subject alternative names, as the extension holds them. */
  readonly names?: Buffer;
}

const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

const SIGNATURE_ALGORITHM = sequence(objectIdentifier(OID.ecdsaWithSha256));

/** Signs certificates that chain to one self-signed root. Holds the root's key in memory only. */
export class CertificateAuthority implements Credential {
  readonly keys: KeyPair;
  readonly certificatePem: string;
  readonly #name: Buffer;

  private constructor(keys: KeyPair, certificatePem: string, name: Buffer) {
    this.keys = keys;
    this.certificatePem = certificatePem;
    this.#name = name;
  }

  /** A new authority with a new key at every call. Its certificates must not be used to sign further authorities. */
  static async create({
    commonName,
    now,
    validityMs,
  }: Validity & { commonName: string }): Promise<CertificateAuthority> {
    const keys = await generateKeyPair();
    const name = distinguishedName([], commonName);
    const certificatePem = signed({
      publicKey: keys.publicKey,
      signer: keys,
      subject: name,
      issuer: name,
      validity: { now, validityMs },
      extensions: [
        extension(OID.basicConstraints, sequence(boolean(true), integer(Buffer.from([0]))), true),
        // keyCertSign and cRLSign: bits 5 and 6.
        extension(OID.keyUsage, bitString(Buffer.from([0b0000_0110]), 1), true),
      ],
    });
    return new CertificateAuthority(keys, certificatePem, name);
  }

  /** An authority that was kept; `commonName` is the one it was created with. Throws when the key is none. */
  static load(commonName: string, certificatePem: string, privateKeyPem: string): CertificateAuthority {
    return new CertificateAuthority(loadKeyPair(privateKeyPem), certificatePem, distinguishedName([], commonName));
  }

  /** A certificate for exactly what is asked, with a new key. Every call gives another key and serial number. */
  async issue(request: CertificateRequest): Promise<Credential> {
    const keys = await generateKeyPair();
    const { commonName, now, validityMs } = request;
    const certificatePem = this.certify({
      publicKey: keys.publicKey,
      now,
      validityMs,
      ...(request.kind === 'client'
        ? { subject: distinguishedName(request.organizations, commonName), purposes: ['clientAuth'] }
        : {
            subject: distinguishedName([], commonName),
            purposes: ['serverAuth'],
            names: alternativeNames(request.dnsNames, request.ipAddresses),
          }),
    });
    return { certificatePem, keys };
  }

  /** A certificate for a key that stays with its owner. Every call gives another serial number. */
  certify({ publicKey, subject, purposes, mayEncipherKeys = false, names, ...validity }: Certification): string {
    // digitalSignature and keyEncipherment: bits 0 and 2.
    const usage = mayEncipherKeys
      ? bitString(Buffer.from([0b1010_0000]), 5)
      : bitString(Buffer.from([0b1000_0000]), 7);
    const extended = sequence(...purposes.map((purpose) => objectIdentifier(OID[purpose])));
    return signed({
      publicKey,
      signer: this.keys,
      subject,
      issuer: this.#name,
      validity,
      extensions: [
        extension(OID.basicConstraints, sequence(), true),
        extension(OID.keyUsage, usage, true),
        extension(OID.extendedKeyUsage, extended),
        ...(names === undefined ? [] : [extension(OID.subjectAlternativeName, names)]),
        extension(OID.authorityKeyIdentifier, sequence(implicit(0, keyIdentifier(this.keys.publicKey)))),
      ],
    });
  }
}

interface Signing {
  readonly publicKey: KeyObject;
  readonly signer: KeyPair;
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly validity: Validity;
  readonly extensions: readonly Buffer[];
}

const VERSION_3 = explicit(0, integer(Buffer.from([2])));

function signed({ publicKey, signer, subject, issuer, validity, extensions }: Signing): string {
  const { now, validityMs } = validity;
  const content = sequence(
    VERSION_3,
    integer(randomSerial()),
    SIGNATURE_ALGORITHM,
    issuer,
    sequence(time(new Date(now.getTime() - BACKDATE_MS)), time(new Date(now.getTime() + validityMs))),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(
      3,
      sequence(...extensions, extension(OID.subjectKeyIdentifier, octetString(keyIdentifier(publicKey)))),
    ),
  );
  const signature = sign('sha256', content, signer.privateKey);
  return pemOf(sequence(content, SIGNATURE_ALGORITHM, bitString(signature)));
}

const extension = (id: string, value: Buffer, isCritical = false): Buffer =>
  sequence(objectIdentifier(id), ...(isCritical ? [boolean(true)] : []), octetString(value));

/** RFC 7093: the first 160 bits of SHA-256 over the key, where older software uses SHA-1. */
const keyIdentifier = (publicKey: KeyObject): Buffer =>
  createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
    .subarray(0, 20);

function randomSerial(): Buffer {
  const bytes = randomBytes(SERIAL_BYTES);
  // The first byte must be 01..7f: a leading zero would be cut off, a set top bit would read as negative.
  bytes.writeUInt8((bytes.readUInt8(0) & 0x7f) | 0x01, 0);
  return bytes;
}

/** Text files end with a line break; programs that join certificates into one file rely on it. */
const pemOf = (der: Buffer): string => {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
};
