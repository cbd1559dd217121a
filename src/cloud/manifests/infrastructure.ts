import type { KubeObject } from '../../api/object.ts';
import { userError } from '../../base/errors.ts';
import type { ProviderDefinition } from '../../sdk/provider/provider-definition.ts';

/** The part of `Infrastructure/cluster` of config.openshift.io that says whether nodes wait for us. */
export interface Infrastructure extends KubeObject {
  readonly spec?: { readonly platformSpec?: PlatformSpec };
  readonly status?: { readonly platformStatus?: PlatformStatus };
}

interface PlatformSpec {
  readonly type?: string;
  readonly external?: { readonly platformName?: string };
}

interface PlatformStatus {
  readonly type?: string;
  readonly external?: { readonly cloudControllerManager?: { readonly state?: string } };
}

/** What OpenShift takes for a platform without a name of its own. */
const UNNAMED = 'Unknown';

type Facts = Pick<ProviderDefinition, 'platformName' | 'ccm'>;

/** What belongs into install-config.yaml (O1). The answer about the cloud controller manager is for ever. */
export const installConfigPlatform = ({ platformName, ccm }: Facts) => ({
  platform: { external: { platformName, cloudControllerManager: ccm.external ? 'External' : '' } },
});

/** What the installer makes of that (O2). */
export const expectedInfrastructure = ({ platformName, ccm }: Facts): Infrastructure => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'Infrastructure',
  metadata: { name: 'cluster' },
  spec: { platformSpec: { type: 'External', external: { platformName } } },
  status: {
    platformStatus: {
      type: 'External',
      external: { cloudControllerManager: { state: ccm.external ? 'External' : 'None' } },
    },
  },
});

const EXTERNAL_PLATFORMS: ReadonlySet<string | undefined> = new Set([
  'AlibabaCloud',
  'AWS',
  'Azure',
  'GCP',
  'IBMCloud',
  'KubeVirt',
  'Nutanix',
  'OpenStack',
  'PowerVS',
  'VSphere',
]);

/** Whether the kubelets of a cluster wait for a cloud controller manager (O3). Throws a userError when nobody knows yet. */
export function isCloudProviderExternal({ status }: Infrastructure): boolean {
  const platform = status?.platformStatus;
  if (platform === undefined) {
    throw userError('PlatformUnknown', 'Infrastructure/cluster has no status.platformStatus yet');
  }
  if (platform.type === 'External') return platform.external?.cloudControllerManager?.state === 'External';
  return EXTERNAL_PLATFORMS.has(platform.type);
}

/** Why OpenShift refuses a change of the Infrastructure, in its own words; nothing when it does not (O1, O2). */
export function infrastructureChangeProblems(before: Infrastructure, after: Infrastructure): readonly string[] {
  return [...platformNameProblems(before, after), ...stateProblems(before, after)];
}

function platformNameProblems(before: Infrastructure, after: Infrastructure): readonly string[] {
  const [old, now] = [before, after].map(({ spec }) => spec?.platformSpec?.external);
  if (old === undefined || now === undefined) return [];
  const name = old.platformName ?? UNNAMED;
  const isKept = name === UNNAMED || (now.platformName ?? UNNAMED) === name;
  return isKept ? [] : ['platform name cannot be changed once set'];
}

function stateProblems(before: Infrastructure, after: Infrastructure): readonly string[] {
  const [old, now] = [before, after].map(({ status }) => status?.platformStatus?.external);
  if (old === undefined || now === undefined) return [];
  const [was, is] = [old.cloudControllerManager, now.cloudControllerManager];
  if (was === undefined || is === undefined) {
    return was === is ? [] : ['cloudControllerManager may not be added or removed once set'];
  }
  if (was.state === is.state) return [];
  if (was.state !== undefined && is.state !== undefined) return ['state is immutable once set'];
  const isHarmless = was.state === undefined && is.state !== 'External';
  return isHarmless ? [] : ['state may not be added or removed once set'];
}
