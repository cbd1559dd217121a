import type { ClusterVersion, FeatureGate } from '../../api/openshift/config-v1.ts';
import { retryError } from '../../base/errors.ts';

/** The gates of a cluster at one version. One that nobody knows is off (R15). */
export interface FeatureGates {
  isKnown(name: string): boolean;
  isEnabled(name: string): boolean;
  /** In the order of the FeatureGate. */
  readonly enabled: readonly string[];
}

/** What manifests carry until the cluster version operator has put the real version there: that of the cluster is meant. */
export const STUB_VERSION = '0.0.1-snapshot';

/** Those that cloud controller managers of Kubernetes 1.36 know. */
const CLOUD_GATES: ReadonlySet<string> = new Set([
  'CloudControllerManagerWatchBasedRoutesReconciliation',
  'CloudControllerManagerWebhook',
  'ControllerManagerReleaseLeaderElectionLockOnExit',
]);

export function featureGates(enabled: readonly string[], disabled: readonly string[] = []): FeatureGates {
  const [on, known] = [new Set(enabled), new Set([...enabled, ...disabled])];
  return { isKnown: (name) => known.has(name), isEnabled: (name) => on.has(name), enabled };
}

/** Undefined while the cluster has not said anything about this version (R14). */
export function observedGates(
  { status }: FeatureGate,
  releaseVersion: string,
  clusterVersion: ClusterVersion | undefined,
): FeatureGates | undefined {
  const entries = status?.featureGates ?? [];
  const entry = gatesVersions(releaseVersion, clusterVersion)
    .map((version) => entries.find((one) => one.version === version))
    .find((found) => found !== undefined);
  if (entry === undefined) return undefined;
  const names = (gates: readonly { readonly name: string }[] = []) => gates.map(({ name }) => name);
  return featureGates(names(entry.enabled), names(entry.disabled));
}

/**
 * Whose gates hold, the best first. A cluster that has begun an upgrade wants a version whose gates nobody knows before
 * its own operators have been replaced: until then those of the version that it has are meant.
 */
function gatesVersions(releaseVersion: string, clusterVersion: ClusterVersion | undefined): readonly string[] {
  if (releaseVersion !== STUB_VERSION) return [releaseVersion];
  const { desired, history = [] } = clusterVersion?.status ?? {};
  const wanted = desired?.version ?? history[0]?.version;
  const completed = history.find(({ state }) => state === 'Completed')?.version;
  return [wanted, completed].filter((version) => version !== undefined);
}

/** Of a change of the ClusterVersion, which tells of much else, all the time. */
export const changesGatesVersion = ({
  old,
  object,
}: {
  readonly old?: ClusterVersion;
  readonly object: ClusterVersion;
}): boolean => gatesVersions(STUB_VERSION, old).join() !== gatesVersions(STUB_VERSION, object).join();

/** The gates as one controller sees them. */
export class ClusterGates {
  readonly #releaseVersion: string;
  #last: FeatureGates | undefined;

  constructor(releaseVersion: string) {
    this.#releaseVersion = releaseVersion;
  }

  /**
   * Throws while nobody knows them. Who goes by the version of the cluster takes those that held last rather than
   * nothing: a cluster on its way to another version is no failure.
   */
  observed(gate: FeatureGate | undefined, clusterVersion: ClusterVersion | undefined): FeatureGates {
    const found = gate && observedGates(gate, this.#releaseVersion, clusterVersion);
    this.#last = found ?? (this.#releaseVersion === STUB_VERSION ? this.#last : undefined);
    if (this.#last !== undefined) return this.#last;
    const [version = this.#releaseVersion] = gatesVersions(this.#releaseVersion, clusterVersion);
    throw retryError('FeatureGatesUnknown', `FeatureGate cluster says nothing about version ${version} yet`);
  }
}

/** For `--feature-gates` of a cloud controller manager: what is on and what it knows (R13). */
export const cloudFeatureGates = ({ enabled }: FeatureGates): string =>
  enabled
    .filter((name) => CLOUD_GATES.has(name))
    .map((name) => `${name}=true`)
    .join(',');
