import {
  type OpenshiftAssistedControlPlane,
  PLATFORM,
  PLATFORM_CLOUD_CONTROLLER_MANAGER,
  PLATFORM_NAME,
} from '../../api/agent/controlplane-v1alpha3.ts';
import type { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { userError } from '../../base/errors.ts';

type InstallSpec = NonNullable<AgentClusterInstall['spec']>;

/** What an AgentClusterInstall says about where the cluster runs. */
export type PlatformFields =
  | { readonly platformType: 'None' }
  | {
      readonly platformType: 'BareMetal';
      readonly apiVIPs: readonly string[];
      readonly ingressVIPs: readonly string[];
    }
  | { readonly platformType: 'External'; readonly external: NonNullable<InstallSpec['external']> };

type Annotations = Readonly<Record<string, string>>;

/**
 * `BareMetal` when both lists of VIPs are given, `External` by annotation, else `None` (D6). External and VIPs exclude
 * each other: assisted-service manages VIPs only where it manages the network, and there the user does. Pure.
 */
export function platformFields({ metadata, spec }: OpenshiftAssistedControlPlane): PlatformFields {
  const { annotations = {} } = metadata;
  const { apiVIPs = [], ingressVIPs = [] } = spec.config ?? {};
  if (chosen(annotations, PLATFORM, ['External']) === undefined) {
    refuseStray(annotations);
    const hasBoth = apiVIPs.length > 0 && ingressVIPs.length > 0;
    return hasBoth ? { platformType: 'BareMetal', apiVIPs, ingressVIPs } : { platformType: 'None' };
  }
  if (apiVIPs.length > 0 || ingressVIPs.length > 0) {
    const what = `annotation ${PLATFORM} is "External" and spec.config has apiVIPs or ingressVIPs`;
    throw invalid(`${what}; remove the VIPs and give the cluster a load balancer, or remove the annotation`);
  }
  return { platformType: 'External', external: externalFields(annotations) };
}

function externalFields(annotations: Annotations): NonNullable<InstallSpec['external']> {
  const name = annotations[PLATFORM_NAME] ?? '';
  const manager = chosen(annotations, PLATFORM_CLOUD_CONTROLLER_MANAGER, ['External', '']);
  return {
    ...(name !== '' && { platformName: name }),
    ...(manager === 'External' && { cloudControllerManager: 'External' }),
  };
}

/** Details of a platform that was not chosen are a mistake, and not one that shows before the cluster is installed. */
function refuseStray(annotations: Annotations): void {
  const stray = [PLATFORM_NAME, PLATFORM_CLOUD_CONTROLLER_MANAGER].find((key) => (annotations[key] ?? '') !== '');
  if (stray === undefined) return;
  const what = `annotation ${stray} is "${annotations[stray]}" and annotation ${PLATFORM} is not set`;
  throw invalid(`${what}; set it to External, or remove this one`);
}

function chosen(annotations: Annotations, key: string, allowed: readonly string[]): string | undefined {
  const value = annotations[key];
  if (value === undefined || allowed.includes(value)) return value;
  const values = allowed.map((one) => (one === '' ? 'nothing' : one)).join(' or ');
  throw invalid(`annotation ${key} is "${value}"; allowed is ${values}`);
}

const invalid = (message: string) => userError('InvalidPlatform', message);
