import { sign } from 'node:crypto';
import { alternativeNames, distinguishedName } from './certificate-names.ts';
import { bitString, explicit, integer, objectIdentifier, octetString, sequence, set } from './der.ts';
import type { KeyPair } from './key-pair.ts';

/** What a certificate is asked for. */
export interface SigningWish {
  readonly commonName: string;
  /** Kubernetes reads each as a group. */
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
}

const OID = {
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectAlternativeName: '2.5.29.17',
  extensionRequest: '1.2.840.113549.1.9.14',
} as const;

const VERSION_1 = integer(Buffer.from([0]));
const NOTHING = Buffer.alloc(0);

/**
 * A PKCS #10 request in PEM, signed by the key it is about, as `spec.request` of a CertificateSigningRequest holds it in
 * base64. Another text at every call, because signatures are random. Throws when an address is none.
 */
export function signingRequest(wish: SigningWish, keys: KeyPair): string {
  const { commonName, organizations } = wish;
  const content = sequence(
    VERSION_1,
    distinguishedName(organizations, commonName),
    keys.publicKey.export({ type: 'spki', format: 'der' }),
    explicit(0, wishedExtensions(wish)),
  );
  const signature = bitString(sign('sha256', content, keys.privateKey));
  const der = sequence(content, sequence(objectIdentifier(OID.ecdsaWithSha256)), signature);
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join('\n')}\n-----END CERTIFICATE REQUEST-----\n`;
}

function wishedExtensions({ dnsNames, ipAddresses }: SigningWish): Buffer {
  if (dnsNames.length === 0 && ipAddresses.length === 0) return NOTHING;
  const names = octetString(alternativeNames(dnsNames, ipAddresses));
  const extension = sequence(objectIdentifier(OID.subjectAlternativeName), names);
  return sequence(objectIdentifier(OID.extensionRequest), set(sequence(extension)));
}
