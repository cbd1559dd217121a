import type { Infrastructure } from '../../api/openshift/config-v1.ts';
import { notSupported } from '../../object/field-error.ts';
import type { TransformContext } from '../definition.ts';
import { azureConfigText, readAzureConfig } from './azure-fields.ts';
import { cloudConfigProblem, wrongPlatform } from './problem.ts';

const STACK_HUB = 'AzureStackCloud';
const CLOUDS = ['AzureChinaCloud', 'AzureGermanCloud', 'AzurePublicCloud', STACK_HUB, 'AzureUSGovernmentCloud'];

/** R71: says which cloud it is, that machines are single ones, and that all Services share one health probe. */
export function azureCloudConfig(source: string, { infra }: TransformContext): string {
  const platform = infra.status?.platformStatus;
  if (platform?.type !== 'Azure' || platform.azure?.cloudName === STACK_HUB) {
    throw wrongPlatform('CloudName to be AzurePublicCloud');
  }
  const config = readAzureConfig(source);
  const cloud = cloudOf(infra);
  const said = typeof config['cloud'] === 'string' ? config['cloud'] : '';
  if (said !== '' && said.toLowerCase() !== cloud.toLowerCase()) {
    throw cloudConfigProblem(
      `"cloud" of the cloud.conf is ${JSON.stringify(said)}, which conflicts with the infrastructure object: it says ${cloud}`,
    );
  }
  return azureConfigText({
    ...config,
    cloud,
    vmType: config['vmType'] || 'standard',
    clusterServiceLoadBalancerHealthProbeMode: 'shared',
  });
}

function cloudOf({ status }: Infrastructure): string {
  const name = status?.platformStatus?.azure?.cloudName ?? '';
  if (name === '') return 'AzurePublicCloud';
  if (CLOUDS.includes(name)) return name;
  const { field, message } = notSupported('status.platformStatus.azure.cloudName', name, CLOUDS);
  throw cloudConfigProblem(`${field}: ${message}`);
}
