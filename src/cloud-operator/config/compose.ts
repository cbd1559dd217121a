import type { Infrastructure, Proxy } from '../../api/openshift/config-v1.ts';
import { terminalError } from '../../base/errors.ts';
import type { RenderContext } from '../definition.ts';
import { cloudFeatureGates, type FeatureGates } from './feature-gates.ts';

/** What the cluster and the command line say. */
export interface OperatorConfig {
  readonly infra: Infrastructure | undefined;
  /** Absent where the cluster has none (R16). */
  readonly proxy: Proxy | undefined;
  readonly images: ReadonlyMap<string, string>;
  readonly gates: FeatureGates;
  readonly tls: RenderContext['tls'];
  readonly managedNamespace: string;
}

/** What OpenShift calls an External platform that has no name. */
const NAMELESS = 'Unknown';

/** Everything that decides what is rendered. Throws while the cluster does not say what it runs on (R11). */
export function composeContext(config: OperatorConfig): RenderContext {
  const { infra, proxy, images, gates, tls, managedNamespace } = config;
  if (infra?.status?.platformStatus == null) {
    throw terminalError('PlatformUnknown', 'platform status is not populated on infrastructure');
  }
  const { type: platformType = '' } = infra.status.platformStatus;
  if (platformType === '') throw terminalError('PlatformUnknown', 'no platform provider found on infrastructure');
  return {
    infra,
    platformType,
    platformName: infra.spec?.platformSpec?.external?.platformName ?? NAMELESS,
    managedNamespace,
    // Whatever else a cluster says, even nothing, has several (R12).
    singleReplica: infra.status.controlPlaneTopology === 'SingleReplica',
    ...(proxy !== undefined && { proxy }),
    images,
    gates,
    ccmFeatureGates: cloudFeatureGates(gates),
    tls,
  };
}
