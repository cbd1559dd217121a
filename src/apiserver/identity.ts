import type { Clock } from '../base/clock.ts';
import type { Credential, Validity } from '../pki/certificate-authority.ts';
import { CertificateAuthority } from '../pki/certificate-authority.ts';
import { generateKeyPair, type KeyPair } from '../pki/key-pair.ts';
import { type KeptKeys, writeKeys } from './identity-file.ts';

const AUTHORITY_NAME = 'slipway';
const DAY_MS = 86_400_000;
const AUTHORITY_VALIDITY_MS = 3650 * DAY_MS;
const CERTIFICATE_VALIDITY_MS = 365 * DAY_MS;
// A certificate this close to its end is replaced at the next start.
const RENEW_BEFORE_MS = 30 * DAY_MS;

const DNS_NAMES = [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
];
const IP_ADDRESSES = ['127.0.0.1', '::1', '10.0.0.1'];

/** What the server proves itself with, and how it makes users. */
export interface Identity {
  readonly authority: CertificateAuthority;
  readonly authorityPem: string;
  readonly servingCertificatePem: string;
  readonly servingKeyPem: string;
  /** Signs service-account tokens. */
  readonly tokenKeys: Pick<KeyPair, 'privateKeyPem' | 'publicKeyPem'>;
  /** A client certificate for a user with groups (Z1). */
  issue(name: string, groups: readonly string[]): Promise<Credential>;
  /** Keeps what is new for the next start; not before the folder is ours to write to. */
  save(): void;
}

export interface IdentityOptions {
  /** Where keys are kept between starts; absent: they live as long as the process. */
  readonly directory: string | undefined;
  /** What an earlier start has kept there, see `readKeys`. */
  readonly kept: KeptKeys | undefined;
  readonly hostNames: readonly string[];
  readonly clock: Clock;
  /** Instead of what the clock says. */
  readonly certificates?: { readonly from: Date; readonly until: Date };
}

/** From now on, or for as long as somebody asked for. */
function validityOf({ clock, certificates }: IdentityOptions, usualMs: number): Validity {
  if (certificates === undefined) return { now: clock.now(), validityMs: usualMs };
  const { from, until } = certificates;
  return { now: from, validityMs: until.getTime() - from.getTime() };
}

/** Uses the keys of an earlier start, or makes them (H2, Z2). */
export async function openIdentity(options: IdentityOptions): Promise<Identity> {
  const { directory, kept, clock, hostNames } = options;
  const now = clock.now();
  const authority =
    kept === undefined
      ? await CertificateAuthority.create({
          commonName: AUTHORITY_NAME,
          ...validityOf(options, AUTHORITY_VALIDITY_MS),
        })
      : CertificateAuthority.load(AUTHORITY_NAME, kept.authorityPem, kept.authorityKeyPem);
  const isUsable =
    kept !== undefined &&
    Date.parse(kept.servingExpires) - now.getTime() > RENEW_BEFORE_MS &&
    hostNames.every((name) => kept.hostNames.includes(name));
  const current = isUsable ? kept : await renewed(authority, options);
  return {
    authority,
    authorityPem: current.authorityPem,
    servingCertificatePem: current.servingCertificatePem,
    servingKeyPem: current.servingKeyPem,
    tokenKeys: { privateKeyPem: current.tokenKeyPem, publicKeyPem: current.tokenPublicPem },
    issue: (name, groups) =>
      authority.issue({
        kind: 'client',
        commonName: name,
        organizations: groups,
        ...validityOf(options, CERTIFICATE_VALIDITY_MS),
      }),
    save: () => {
      if (directory !== undefined && !isUsable) writeKeys(directory, current);
    },
  };
}

async function renewed(authority: CertificateAuthority, options: IdentityOptions): Promise<KeptKeys> {
  const { kept, hostNames } = options;
  const validity = validityOf(options, CERTIFICATE_VALIDITY_MS);
  const serving = await authority.issue({
    kind: 'serving',
    commonName: 'slipway-apiserver',
    dnsNames: [...new Set([...DNS_NAMES, ...hostNames.filter((name) => !isAddress(name))])],
    ipAddresses: [...new Set([...IP_ADDRESSES, ...hostNames.filter(isAddress)])],
    ...validity,
  });
  const tokenKeys = kept === undefined ? await generateKeyPair() : undefined;
  return {
    authorityPem: authority.certificatePem,
    authorityKeyPem: authority.keys.privateKeyPem,
    servingCertificatePem: serving.certificatePem,
    servingKeyPem: serving.keys.privateKeyPem,
    tokenKeyPem: tokenKeys?.privateKeyPem ?? kept?.tokenKeyPem ?? '',
    tokenPublicPem: tokenKeys?.publicKeyPem ?? kept?.tokenPublicPem ?? '',
    servingExpires: new Date(validity.now.getTime() + validity.validityMs).toISOString(),
    hostNames,
  };
}

const isAddress = (name: string): boolean => /^[\d.]+$/.test(name) || name.includes(':');
