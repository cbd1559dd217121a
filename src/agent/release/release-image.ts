import type { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { compareVersions, parseReleaseVersion, type ReleaseVersion } from './release-version.ts';

/** Where release images are published. */
export interface ReleaseRepositories {
  readonly openshift: string;
  readonly okd: string;
}

export const DEFAULT_REPOSITORIES: ReleaseRepositories = {
  openshift: 'quay.io/openshift-release-dev/ocp-release',
  okd: 'quay.io/okd/scos-release',
};

export interface ReleaseImageOptions {
  /** `spec.distributionVersion` as it is written there. */
  readonly version: string;
  /** From {@link architectureOf}. */
  readonly architecture: string;
  /** The annotation; an empty one is none. */
  readonly repositoryOverride?: string | undefined;
  readonly repositories?: ReleaseRepositories;
}

/** An image for every processor that there is one for. */
const EVERY_ARCHITECTURE = 'multi';
/** What Kubernetes and Go call `x` has another name in tags of release images (X26). */
const TAG_ARCHITECTURES: Readonly<Record<string, string>> = { amd64: 'x86_64', arm64: 'aarch64' };
const OKD = 'okd-scos';
/** The first release that the providers install. */
const OLDEST_VERSION = '4.14.0';

/** The image of a release by its tag (R1). */
export function releaseImage({
  version,
  architecture,
  repositoryOverride = '',
  repositories = DEFAULT_REPOSITORIES,
}: ReleaseImageOptions): string {
  if (repositoryOverride !== '') return `${repositoryOverride}:${version}-${architecture}`;
  const isOkd = preReleaseOf(version).some(isOkdIdentifier);
  return isOkd ? `${repositories.okd}:${version}` : `${repositories.openshift}:${version}-${architecture}`;
}

/** The one architecture that all configs of a cluster name, else that of an image for all (R2). */
export function architectureOf(configs: readonly Pick<OpenshiftAssistedConfig, 'spec'>[]): string {
  const named = configs.map(({ spec }) => spec?.cpuArchitecture ?? '').filter((name) => name !== '');
  const [first, ...others] = new Set(named.map((name) => TAG_ARCHITECTURES[name] ?? name));
  return first === undefined || others.length > 0 ? EVERY_ARCHITECTURE : first;
}

/** Whether a version is one that everybody gets: no candidate, no nightly build (R5). */
export function isGeneralAvailability(version: string): boolean {
  const parsed = parseReleaseVersion(version);
  if (parsed === undefined) return false;
  const { preRelease, build } = parsed;
  if (preRelease.length === 0) return build.length === 0;
  // OKD numbers its releases behind the dash: 4.18.0-okd-scos.2.
  const [name, number, ...more] = preRelease;
  return name === OKD && typeof number === 'bigint' && more.length === 0;
}

/** Why a version is not installed (C3); undefined for one that is, or that nobody can compare. */
export function unsupportedVersion(version: string): string | undefined {
  const [parsed, oldest] = [parseReleaseVersion(version), parseReleaseVersion(OLDEST_VERSION)];
  if (parsed === undefined || oldest === undefined || compareVersions(parsed, oldest) >= 0) return undefined;
  return `version ${version} is not supported, the minimum supported version is ${OLDEST_VERSION}`;
}

/** Whether the cluster's own update service knows the releases of this repository (X1). */
export const isDefaultRepository = (
  override: string | undefined,
  repositories: ReleaseRepositories = DEFAULT_REPOSITORIES,
): boolean => ['', undefined, repositories.openshift, repositories.okd].includes(override);

const preReleaseOf = (version: string): ReleaseVersion['preRelease'] =>
  parseReleaseVersion(version)?.preRelease ?? [];

/** Also in nightly builds: 4.16.0-0.okd-scos-2024-09-24-151747. */
const isOkdIdentifier = (identifier: bigint | string): boolean =>
  typeof identifier === 'string' && identifier.startsWith(OKD);
