import { createPrivateKey, X509Certificate } from 'node:crypto';
import { CertificateAuthority } from '../../pki/certificate-authority.ts';
import type { ServingCertificate } from '../serving/certificate-source.ts';

/** A serving certificate with the authority that signed it. The key of the authority is kept by nobody. */
export interface CertificatePair extends ServingCertificate {
  readonly caPem: string;
}

/** What the Secret holds. */
export interface CertificateState {
  /** What servers show. */
  readonly current: CertificatePair;
  /** What they will show once every API server trusts it. */
  readonly next?: CertificatePair;
  /** Authorities of before, in PEM: some replica may still show a certificate of theirs. */
  readonly olderCaPem: string;
}

export interface CertificateNames {
  readonly dnsNames: readonly string[];
  readonly ipAddresses?: readonly string[];
}

export interface Issuing extends CertificateNames {
  readonly now: Date;
  readonly validityMs: number;
}

/** By key of the Secret: names that `kubernetes.io/tls` and cert-manager use, where there are any. */
export type CertificateData = Readonly<Record<string, string>>;

const KEYS = { certificate: 'tls.crt', key: 'tls.key', ca: 'ca.crt' } as const;
const NEXT = 'next-';
/** Older authorities stay in the bundle until they end; more than a few means that something goes wrong. */
const MOST_CAS = 5;

/** A new authority signs one certificate and is forgotten: there is no key that could sign another (W6). */
export async function issuePair({
  dnsNames,
  ipAddresses = [],
  now,
  validityMs,
}: Issuing): Promise<CertificatePair> {
  const validity = { now, validityMs };
  const [commonName = 'webhook'] = dnsNames;
  const authority = await CertificateAuthority.create({ commonName: 'slipway-webhook-ca', ...validity });
  const issued = await authority.issue({ kind: 'serving', commonName, dnsNames, ipAddresses, ...validity });
  const { certificatePem, keys } = issued;
  return { certificatePem, keyPem: keys.privateKeyPem, caPem: authority.certificatePem };
}

/** What a Secret's data says; undefined when there is no certificate that servers can show now. Pure. */
export function readState(
  data: CertificateData,
  names: CertificateNames,
  now: Date,
): CertificateState | undefined {
  const current = pairAt(data, '', names, now);
  if (current === undefined) return undefined;
  const next = pairAt(data, NEXT, names, now);
  const olderCaPem = certificatesIn(data[KEYS.ca] ?? '')
    .filter((pem) => pem !== current.caPem && isValidAt(pem, now))
    .slice(0, MOST_CAS - 2)
    .join('');
  return { current, olderCaPem, ...(next !== undefined && { next }) };
}

/** The data of a Secret in this state; `null` for a key removes it. */
export function writeState({ current, next, olderCaPem }: CertificateState): CertificateData {
  return {
    [KEYS.certificate]: current.certificatePem,
    [KEYS.key]: current.keyPem,
    [KEYS.ca]: `${current.caPem}${olderCaPem}`,
    ...(next !== undefined && {
      [NEXT + KEYS.certificate]: next.certificatePem,
      [NEXT + KEYS.key]: next.keyPem,
      [NEXT + KEYS.ca]: next.caPem,
    }),
  };
}

/** What API servers must trust in this state: whatever any replica shows now, or will show next. */
export const bundleOf = ({ current, next, olderCaPem }: CertificateState): string =>
  `${next?.caPem ?? ''}${current.caPem}${olderCaPem}`;

/** The next pair becomes the current one; the authority of the old one is believed until it ends. */
export function switched({ current, next, olderCaPem }: CertificateState): CertificateState {
  if (next === undefined) return { current, olderCaPem };
  return { current: next, olderCaPem: `${current.caPem}${olderCaPem}` };
}

/** Two thirds of its life are over (W6). */
export function isDue({ certificatePem }: ServingCertificate, now: Date): boolean {
  const { validFromDate, validToDate } = new X509Certificate(certificatePem);
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  return now.getTime() >= from + ((to - from) * 2) / 3;
}

/** The authorities in some data, whatever else is wrong with it: whoever shows a certificate of theirs is believed. */
export const authoritiesIn = (data: CertificateData, now: Date): string =>
  certificatesIn(data[KEYS.ca] ?? '')
    .filter((pem) => isValidAt(pem, now))
    .slice(0, MOST_CAS - 2)
    .join('');

function pairAt(
  data: CertificateData,
  prefix: string,
  names: CertificateNames,
  now: Date,
): CertificatePair | undefined {
  const [certificatePem = '', keyPem = ''] = [data[prefix + KEYS.certificate], data[prefix + KEYS.key]];
  try {
    const certificate = new X509Certificate(certificatePem);
    const caPem = certificatesIn(data[prefix + KEYS.ca] ?? '').find((pem) => isSignedBy(certificate, pem));
    const isUsable =
      caPem !== undefined &&
      isValidAt(certificatePem, now) &&
      certificate.checkPrivateKey(createPrivateKey(keyPem)) &&
      hasNames(certificate, names);
    return isUsable ? { certificatePem, keyPem, caPem } : undefined;
  } catch {
    // No certificate, or no key: as good as none.
    return undefined;
  }
}

const isSignedBy = (certificate: X509Certificate, caPem: string): boolean =>
  certificate.verify(new X509Certificate(caPem).publicKey);

const hasNames = (certificate: X509Certificate, { dnsNames, ipAddresses = [] }: CertificateNames): boolean =>
  dnsNames.every((name) => certificate.checkHost(name, { subject: 'never' }) !== undefined) &&
  ipAddresses.every((address) => certificate.checkIP(address) !== undefined);

function isValidAt(pem: string, now: Date): boolean {
  try {
    const { validFromDate, validToDate } = new X509Certificate(pem);
    return validFromDate <= now && now < validToDate;
  } catch {
    return false;
  }
}

const certificatesIn = (pem: string): readonly string[] =>
  (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((one) => `${one}\n`);
