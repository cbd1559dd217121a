import type { TransformContext } from '../definition.ts';
import { azureConfigText, readAzureConfig } from './azure-fields.ts';
import { wrongPlatform } from './problem.ts';

/** R72: machines are single ones. */
export function azureStackCloudConfig(source: string, { infra }: TransformContext): string {
  if (infra.status?.platformStatus?.azure?.cloudName !== 'AzureStackCloud') {
    throw wrongPlatform('CloudName to be AzureStackCloud');
  }
  const config = readAzureConfig(source);
  return azureConfigText({ ...config, vmType: config['vmType'] || 'standard' });
}
