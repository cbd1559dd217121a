import type { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { compareVersions, parseReleaseVersion } from '../release/release-version.ts';

/**
 * Why core waits for an upgrade that never comes, and makes no workers: the topology of the Cluster asks for a newer
 * Kubernetes than the release has. An older one is fine: it is how workers are upgraded in place, and not replaced. Pure.
 */
export function askedVersionProblem(
  { spec: { version: asked, distributionVersion } }: OpenshiftAssistedControlPlane,
  released: string,
): string | undefined {
  if (asked === undefined || !isBeyond(asked, released)) return undefined;
  const what = `spec.version is ${asked}, and OpenShift ${distributionVersion} has Kubernetes ${released}`;
  const ways = `set distributionVersion to a release that has ${asked}, or make the Cluster anew`;
  return `${what}; ${ways} with spec.topology.version v${released} or older`;
}

/** As core compares: other build metadata are another version. */
function isBeyond(asked: string, released: string): boolean {
  const [a, b] = [parseReleaseVersion(asked), parseReleaseVersion(released)];
  if (a === undefined || b === undefined) return true;
  const difference = compareVersions(a, b);
  return difference > 0 || (difference === 0 && a.build.join('.') !== b.build.join('.'));
}

/**
 * Whether `status.version` may say what the wanted release has. Upstream says it at once. Where a topology asks for a
 * version, core takes it for the one that runs, and goes on to the workers: there it waits for the end of the upgrade. Pure.
 */
export const isVersionReached = (
  { spec, status }: OpenshiftAssistedControlPlane,
  running = status?.distributionVersion,
): boolean =>
  spec.version === undefined ||
  status?.version === undefined ||
  status.initialization?.controlPlaneInitialized !== true ||
  running === spec.distributionVersion;
