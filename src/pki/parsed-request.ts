import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { messageOf, userError } from '../base/errors.ts';
import { sequence } from './der.ts';
import { DER_TAG, type DerValue, derContent, derParts, derValue, dottedIdentifier } from './der-reader.ts';
import type { SigningWish } from './signing-request.ts';

/** A PKCS #10 request whose signature was checked: whoever made it has the private key. */
export interface ParsedRequest extends SigningWish {
  readonly emailAddresses: readonly string[];
  readonly uris: readonly string[];
  readonly publicKey: KeyObject;
  /** The subject as it was written. */
  readonly subject: Buffer;
  /** All of these names as the extension of a certificate holds them; absent when there are none. */
  readonly names?: Buffer;
}

const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  extensionRequest: '1.2.840.113549.1.9.14',
  subjectAlternativeName: '2.5.29.17',
} as const;

interface SignatureAlgorithm {
  readonly keyType: string;
  /** Absent where the algorithm brings its own. */
  readonly hash?: string;
}

const SIGNATURES: Readonly<Record<string, SignatureAlgorithm>> = {
  '1.2.840.10045.4.3.2': { keyType: 'ec', hash: 'sha256' },
  '1.2.840.10045.4.3.3': { keyType: 'ec', hash: 'sha384' },
  '1.2.840.10045.4.3.4': { keyType: 'ec', hash: 'sha512' },
  '1.2.840.113549.1.1.11': { keyType: 'rsa', hash: 'sha256' },
  '1.2.840.113549.1.1.12': { keyType: 'rsa', hash: 'sha384' },
  '1.2.840.113549.1.1.13': { keyType: 'rsa', hash: 'sha512' },
  '1.3.101.112': { keyType: 'ed25519' },
};

const BLOCK = /-----BEGIN CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE REQUEST-----/;

/** What a request in PEM asks for. Throws a userError `InvalidSigningRequest` that says what is wrong with it. */
export function parseSigningRequest(pem: string): ParsedRequest {
  try {
    const base64 = BLOCK.exec(pem)?.[1];
    if (base64 === undefined) throw new Error('there is no PEM block CERTIFICATE REQUEST');
    return parsed(Buffer.from(base64, 'base64'));
  } catch (error) {
    const what = `the request for a certificate cannot be read: ${messageOf(error)}`;
    throw userError('InvalidSigningRequest', `${what}; make it anew`, { cause: error });
  }
}

function parsed(der: Buffer): ParsedRequest {
  const [content, algorithm, signature] = derParts(derValue(der), DER_TAG.sequence, 'whole');
  const [, subject, key, attributes] = derParts(content, DER_TAG.sequence, 'content');
  const publicKey = createPublicKey({ key: whole(key, 'public key'), type: 'spki', format: 'der' });
  checkSignature(whole(content, 'content'), { algorithm, signature, publicKey });
  const names = requestedNames(attributes);
  const texts = (tag: number) => names.filter((name) => name.tag === tag).map(({ content }) => ascii(content));
  return {
    ...subjectOf(subject),
    subject: whole(subject, 'subject'),
    publicKey,
    dnsNames: texts(NAME_TAG.dns),
    emailAddresses: texts(NAME_TAG.email),
    uris: texts(NAME_TAG.uri),
    ipAddresses: names.filter(({ tag }) => tag === NAME_TAG.address).map(({ content }) => addressText(content)),
    ...(names.length > 0 && { names: sequence(...names.map((name) => name.whole)) }),
  };
}

function whole(value: DerValue | undefined, what: string): Buffer {
  if (value === undefined) throw new Error(`it has no ${what}`);
  return value.whole;
}

interface Signed {
  readonly algorithm: DerValue | undefined;
  readonly signature: DerValue | undefined;
  readonly publicKey: KeyObject;
}

function checkSignature(content: Buffer, { algorithm, signature, publicKey }: Signed): void {
  const [identifier] = derParts(algorithm, DER_TAG.sequence, 'signature algorithm');
  const oid = dottedIdentifier(derContent(identifier, DER_TAG.objectIdentifier, 'signature algorithm'));
  const known = SIGNATURES[oid];
  if (known === undefined) throw new Error(`its signature algorithm ${oid} is not known`);
  if (known.keyType !== publicKey.asymmetricKeyType)
    throw new Error(`its signature algorithm ${oid} is not one for a key of type ${publicKey.asymmetricKeyType}`);
  // The first byte says how many bits of the last one do not count.
  const [unused, ...bits] = derContent(signature, DER_TAG.bitString, 'signature');
  const isOwn = unused === 0 && verify(known.hash, content, publicKey, Buffer.from(bits));
  if (!isOwn) throw new Error('its signature is not by its own key');
}

function subjectOf(subject: DerValue | undefined): Pick<SigningWish, 'commonName' | 'organizations'> {
  const pairs = derParts(subject, DER_TAG.sequence, 'subject')
    .flatMap((relative) => derParts(relative, DER_TAG.set, 'subject'))
    .map((pair) => {
      const [type, value] = derParts(pair, DER_TAG.sequence, 'subject');
      return { oid: dottedIdentifier(derContent(type, DER_TAG.objectIdentifier, 'subject')), text: textOf(value) };
    });
  const valuesOf = (oid: string) => pairs.filter((pair) => pair.oid === oid).map(({ text }) => text);
  // Of several common names the API server reads the last one.
  return { commonName: valuesOf(OID.commonName).at(-1) ?? '', organizations: valuesOf(OID.organization) };
}

function textOf(value: DerValue | undefined): string {
  if (value === undefined) throw new Error('its subject has a name without a value');
  const { tag, content } = value;
  if (tag === DER_TAG.bmpString) return Buffer.from(content).swap16().toString('utf16le');
  return content.toString(tag === DER_TAG.utf8String ? 'utf8' : 'latin1');
}

/** Of the kinds of names that certificates of Kubernetes have; others are not passed on. */
const NAME_TAG = { email: 0x81, dns: 0x82, uri: 0x86, address: 0x87 } as const;
const NAME_TAGS: readonly number[] = Object.values(NAME_TAG);

function requestedNames(attributes: DerValue | undefined): readonly DerValue[] {
  if (attributes === undefined) return [];
  return derParts(attributes, DER_TAG.context0, 'list of attributes')
    .flatMap((attribute) => valuesUnder(attribute, OID.extensionRequest))
    .flatMap((set) => derParts(set, DER_TAG.set, 'list of extensions'))
    .flatMap((list) => derParts(list, DER_TAG.sequence, 'list of extensions'))
    .flatMap((extension) => valuesUnder(extension, OID.subjectAlternativeName).slice(-1))
    .flatMap((value) =>
      derParts(derValue(derContent(value, DER_TAG.octetString, 'extension')), DER_TAG.sequence, 'names'),
    )
    .filter(({ tag }) => NAME_TAGS.includes(tag));
}

/** What follows the identifier in a value that begins with one; nothing when it is another identifier. */
function valuesUnder(value: DerValue, oid: string): readonly DerValue[] {
  const [identifier, ...values] = derParts(value, DER_TAG.sequence, 'attribute');
  const found = dottedIdentifier(derContent(identifier, DER_TAG.objectIdentifier, 'attribute'));
  return found === oid ? values : [];
}

function ascii(content: Buffer): string {
  if (content.some((byte) => byte > 0x7f)) throw new Error('it asks for a name that is not ASCII');
  return content.toString('ascii');
}

function addressText(content: Buffer): string {
  if (content.length === 4) return [...content].join('.');
  if (content.length !== 16) throw new Error(`it asks for an address of ${content.length} bytes`);
  const groups = Array.from({ length: 8 }, (_, index) => content.readUInt16BE(index * 2).toString(16));
  return groups.join(':');
}
