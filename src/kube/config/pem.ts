import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { ClientCertificate } from './cluster-access.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const BLOCK = /-----BEGIN ([A-Z0-9 ]{1,40})-----/;

const blockOf = (pem: string): string => BLOCK.exec(pem)?.[1] ?? '';

/** What was found instead of the block that is needed; never any of the text, for it may be a key. */
const found = (pem: string): string => {
  if (pem.trim() === '') return 'it is empty';
  return blockOf(pem) === '' ? 'it holds no PEM block' : `it holds a "${blockOf(pem)}"`;
};

/** Every certificate of a bundle; a problem as text when there is none or one cannot be read. */
function certificatesOf(pem: string): readonly X509Certificate[] | string {
  const blocks = pem.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) return `${found(pem)}; a PEM "CERTIFICATE" is needed`;
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch {
    return 'a certificate in it is damaged; write the PEM text again from where it was issued';
  }
}

const isExpired = (certificate: X509Certificate, now: Date): boolean => certificate.validToDate < now;

const nameOf = ({ subject, issuer }: X509Certificate): string =>
  (subject === '' ? `issued by ${issuer}` : subject).replaceAll('\n', ', ');

/** What is wrong with a bundle of authorities; undefined when at least one of them can vouch for a server now. */
export function authorityProblem(pem: string, now: Date): string | undefined {
  const certificates = certificatesOf(pem);
  if (typeof certificates === 'string') return certificates;
  const [first] = certificates;
  if (first === undefined || !certificates.every((certificate) => isExpired(certificate, now))) return undefined;
  return `the certificate authority (${nameOf(first)}) expired on ${first.validToDate.toISOString()}; get the present one of the cluster`;
}

/** A problem with one of the two halves of a client certificate. */
export interface PairProblem {
  readonly part: 'certificate' | 'key';
  readonly problem: string;
}

/** What is wrong with a client certificate and its key (PKCS#8, PKCS#1 or SEC 1; RSA, EC or Ed25519). */
export function clientCertificateProblems({ certPem, keyPem }: ClientCertificate, now: Date): PairProblem[] {
  const problems: PairProblem[] = [];
  const certificates = certificatesOf(certPem);
  const key = privateKeyOf(keyPem);
  if (typeof key === 'string') problems.push({ part: 'key', problem: key });
  if (typeof certificates === 'string') return [{ part: 'certificate', problem: certificates }, ...problems];
  const [leaf] = certificates;
  if (leaf === undefined) return problems;
  if (isExpired(leaf, now)) problems.unshift({ part: 'certificate', problem: expiredText(leaf) });
  if (typeof key !== 'string' && !leaf.checkPrivateKey(key)) {
    problems.push({
      part: 'key',
      problem: 'the key does not belong to the certificate; both must be of one issue',
    });
  }
  return problems;
}

const expiredText = (leaf: X509Certificate): string =>
  `the client certificate (${nameOf(leaf)}) expired on ${leaf.validToDate.toISOString()}; get a new one from whoever issued it`;

/** When the first certificate of a text ends; undefined when it cannot be read. */
export function certificateExpiry(certPem: string): Date | undefined {
  const certificates = certificatesOf(certPem);
  return typeof certificates === 'string' ? undefined : certificates[0]?.validToDate;
}

function privateKeyOf(pem: string): KeyObject | string {
  const block = blockOf(pem);
  if (!block.endsWith('PRIVATE KEY') && !block.startsWith('EC PARAM'))
    return `${found(pem)}; a PEM "PRIVATE KEY" is needed`;
  if (block.startsWith('ENCRYPTED') || pem.includes('Proc-Type: 4,ENCRYPTED')) {
    return 'the key is encrypted and nobody can be asked for its password here; write it without (openssl pkey -in … -out …)';
  }
  try {
    return createPrivateKey(pem);
  } catch {
    return 'the private key is damaged; write the PEM text again from where it was issued';
  }
}
