import type { PlatformType } from '../../api/openshift/config-v1.ts';
import type { CloudProvider } from '../definition.ts';
import { specimenContext } from '../render/specimen.ts';

/** One provider in the table of the documentation. */
export interface PlatformRow {
  readonly id: string;
  readonly platform: PlatformType;
  /** `Deployment/aws-cloud-controller-manager`, in the order in which they are applied to a cluster with several masters. */
  readonly objects: readonly string[];
  /** Keys of images.json. */
  readonly images: readonly string[];
  /** Whether there is a `cloud-conf`. */
  readonly isConfigSynced: boolean;
  /** Secrets that it asks for. */
  readonly secrets: readonly string[];
  /** `--cloud-provider=external` */
  readonly kubeletFlag: string;
}

export function platformRow(provider: CloudProvider): PlatformRow {
  const { id, match, images, cloudConfig, credentials = [], kubelet } = provider.definition;
  const objects = provider.getResources(specimenContext(provider.definition));
  return {
    id,
    platform: match.type,
    objects: objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`),
    images: Object.keys(images),
    isConfigSynced: cloudConfig !== undefined,
    secrets: credentials.map(({ secretName }) => secretName),
    kubeletFlag: `--cloud-provider=${kubelet?.cloudProvider ?? 'external'}`,
  };
}
