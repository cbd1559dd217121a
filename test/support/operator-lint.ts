import type {
  CloudProvider,
  CloudProviderDefinition,
  RenderContext,
} from '../../src/cloud-operator/definition.ts';
import type { ManifestFile, ProviderRegistry } from '../../src/cloud-operator/index.ts';
import { lintImageReferences, lintInstallation } from '../../src/cloud-operator/lint/lint-installation.ts';
import type { FileFinding } from '../../src/cloud-operator/lint/lint-manifests.ts';
import { lintCloudProvider, type ProviderReport } from '../../src/cloud-operator/lint/lint-provider.ts';
import { specimenContext } from '../../src/cloud-operator/render/specimen.ts';

/** A cluster in which everything is that a provider may ask for. */
export const specimenOf = (definition: CloudProviderDefinition): RenderContext => specimenContext(definition);

/** What is wrong with a provider there. */
export const providerReport = (provider: CloudProvider): ProviderReport =>
  lintCloudProvider(provider, specimenContext(provider.definition));

export const installationFindings = (
  files: readonly ManifestFile[],
  namespaces: readonly string[],
): readonly FileFinding[] => lintInstallation(files, namespaces);

/** What is wrong with the image references of all that is registered. */
export const referenceFindings = (registry: ProviderRegistry): readonly FileFinding[] =>
  lintImageReferences(
    registry.providers().map(({ definition }) => definition),
    registry.imageReferences(),
  );
