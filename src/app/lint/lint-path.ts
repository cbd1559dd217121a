import { dnsLabelProblems } from '../../object/names.ts';
import { usageError } from '../failures.ts';
import { shown } from '../settings.ts';
import type { LintReport } from './finding.ts';
import { manifestPlaces } from './manifest-places.ts';

export interface LintOptions {
  /** Whether the provider of the manifests has a cloud configuration. */
  readonly hasCloudConfig: boolean;
  /** Where it is to run; that of the operator of OpenShift unless said otherwise. */
  readonly managedNamespace?: string;
}

/**
 * Checks whatever a path names: manifests of a cloud, or the definition of a provider.
 *
 * @throws CommandError when there is neither, or it cannot be read.
 */
export async function lintPath(folder: string, path: string, options: LintOptions): Promise<LintReport> {
  const { hasCloudConfig, managedNamespace } = options;
  const [problem] = managedNamespace === undefined ? [] : dnsLabelProblems(managedNamespace);
  if (problem !== undefined) throw usageError(`--namespace "${shown(managedNamespace ?? '')}" ${problem}`);
  const places = await manifestPlaces(folder, path);
  if (places !== undefined) {
    const { lintManifestFiles } = await import('./lint-manifests.ts');
    return lintManifestFiles(folder, places, options);
  }
  if (hasCloudConfig || managedNamespace !== undefined) {
    const flag = hasCloudConfig ? '--cloud-config' : '--namespace';
    throw usageError(`${flag} is about manifests, and the definition of a provider has none`);
  }
  const { lintProvider } = await import('./lint-provider.ts');
  return lintProvider(folder, path);
}
