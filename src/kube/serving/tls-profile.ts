import type { ApiServerConfig, TlsProfileSpec, TlsSecurityProfile } from '../../api/openshift/config-v1.ts';
import { userError } from '../../base/errors.ts';
import { cipherSuite, isCipherSuite } from './cipher-suites.ts';

/** As on the command line; empty where they were not given. */
export interface TlsFlags {
  readonly minVersion: string;
  readonly cipherSuites: readonly string[];
}

/** What is served with, by the names of Go; suites with commas between them, none for what is usual (operator/R7). */
export interface TlsSettings {
  readonly minVersion: string;
  readonly cipherSuites: string;
}

/** What the cluster says; another one is a reason to start anew (operator/R8). */
export interface TlsPolicy {
  readonly adherence: string;
  readonly profile: TlsProfileSpec;
}

export interface ClusterTls {
  readonly settings: TlsSettings;
  readonly policy: TlsPolicy;
  /** Ciphers of the profile that no program in Go can negotiate. */
  readonly dropped: readonly string[];
  /** What is wrong with the profile, for the log: what can be used of it is used. */
  readonly problem?: string;
}

const VERSIONS: readonly string[] = ['VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'];
const NEWEST = 'VersionTLS13';
/** Of flags and profiles that name none. */
const DEFAULT_VERSION = 'VersionTLS12';

const MODERN_CIPHERS = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];
const INTERMEDIATE_CIPHERS = [
  ...MODERN_CIPHERS,
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
];
const OLD_CIPHERS = [
  ...INTERMEDIATE_CIPHERS,
  'ECDHE-ECDSA-AES128-SHA256',
  'ECDHE-RSA-AES128-SHA256',
  'ECDHE-ECDSA-AES128-SHA',
  'ECDHE-RSA-AES128-SHA',
  'ECDHE-ECDSA-AES256-SHA384',
  'ECDHE-RSA-AES256-SHA384',
  'ECDHE-ECDSA-AES256-SHA',
  'ECDHE-RSA-AES256-SHA',
  'AES128-GCM-SHA256',
  'AES256-GCM-SHA384',
  'AES128-SHA256',
  'AES256-SHA256',
  'AES128-SHA',
  'AES256-SHA',
  'DES-CBC3-SHA',
];

const INTERMEDIATE: TlsProfileSpec = { minTLSVersion: 'VersionTLS12', ciphers: INTERMEDIATE_CIPHERS };

/** As openshift/api defines them, after version 5.8 of Mozilla's guidelines for servers. */
const PROFILES: ReadonlyMap<string, TlsProfileSpec> = new Map([
  ['Old', { minTLSVersion: 'VersionTLS10', ciphers: OLD_CIPHERS }],
  ['Intermediate', INTERMEDIATE],
  ['Modern', { minTLSVersion: 'VersionTLS13', ciphers: MODERN_CIPHERS }],
]);

/** With any of these flags the cluster is not asked (operator/R5). */
export const hasTlsFlags = ({ minVersion, cipherSuites }: TlsFlags): boolean =>
  minVersion !== '' || cipherSuites.length > 0;

/** Throws a user error for a version or a cipher that Go does not know (operator/R5). */
export function tlsFromFlags({ minVersion, cipherSuites }: TlsFlags): TlsSettings {
  if (minVersion !== '' && !VERSIONS.includes(minVersion)) {
    throw invalidFlag('--tls-min-version', `unknown tls version "${minVersion}"`, VERSIONS.join(', '));
  }
  const unknown = cipherSuites.find((name) => !isCipherSuite(name));
  if (unknown !== undefined) {
    const problem = `cipher suite ${unknown} not supported or doesn't exist`;
    throw invalidFlag('--tls-cipher-suites', problem, 'names such as TLS_AES_128_GCM_SHA256');
  }
  return settingsOf(minVersion, cipherSuites).settings;
}

const invalidFlag = (flag: string, problem: string, allowed: string) =>
  userError('InvalidFlags', `invalid ${flag} value: ${problem}; use ${allowed}`);

/** Whether components without an opinion of their own follow the profile of the cluster; later words count as yes (operator/R6). */
export const isHonoured = (adherence: string): boolean =>
  adherence !== '' && adherence !== 'LegacyAdheringComponentsOnly';

/** From `apiservers.config.openshift.io/cluster`, or without it where it could not be read (operator/R6, operator/R7). */
export function tlsFromCluster(apiServer: ApiServerConfig | undefined): ClusterTls {
  const { tlsAdherence: adherence = '', tlsSecurityProfile } = apiServer?.spec ?? {};
  const { profile, problem } = meantProfile(tlsSecurityProfile ?? {});
  const used = isHonoured(adherence) ? profile : INTERMEDIATE;
  return {
    ...settingsOf(used.minTLSVersion ?? '', used.ciphers ?? []),
    policy: { adherence, profile },
    ...(problem !== undefined && { problem }),
  };
}

/** The profile that is meant (operator/R6). One that cannot be used does not stop the program: the usual one is safe. */
function meantProfile({
  type = '',
  custom,
}: TlsSecurityProfile): Pick<TlsPolicy, 'profile'> & { problem?: string } {
  if (type !== 'Custom') return { profile: PROFILES.get(type) ?? INTERMEDIATE };
  const problem = customProblem(custom);
  if (problem === undefined) return { profile: custom ?? INTERMEDIATE };
  const where = 'spec.tlsSecurityProfile of APIServer cluster';
  return { profile: INTERMEDIATE, problem: `${where}: ${problem}; the profile Intermediate is used` };
}

function customProblem(custom: TlsSecurityProfile['custom']): string | undefined {
  if (custom === undefined || custom === null) return 'custom must be there, since type is Custom';
  const { minTLSVersion = '' } = custom;
  if (minTLSVersion === '' || VERSIONS.includes(minTLSVersion)) return undefined;
  return `custom.minTLSVersion must be one of ${VERSIONS.join(', ')}, not "${minTLSVersion}"`;
}

/** Of TLS 1.3 nobody can choose the ciphers in Go, so they are not said (operator/R7). */
function settingsOf(version: string, names: readonly string[]): Pick<ClusterTls, 'settings' | 'dropped'> {
  const minVersion = version === '' ? DEFAULT_VERSION : version;
  const suites = names.flatMap((name) => cipherSuite(name) ?? []);
  return {
    settings: { minVersion, cipherSuites: minVersion === NEWEST ? '' : suites.join() },
    dropped: names.filter((name) => cipherSuite(name) === undefined),
  };
}
