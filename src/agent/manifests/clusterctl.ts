import type { KubeObject } from '../../api/object.ts';
import type { Provider } from '../provider.ts';
import { type ComponentOptions, componentObjects } from './component-files.ts';
import { agentNames } from './names.ts';

/** One file of a clusterctl repository. */
export interface RepositoryFile {
  /** Relative, with slashes. */
  readonly path: string;
  readonly objects: readonly KubeObject[];
  /** False for what only clusterctl reads. */
  readonly isForCluster: boolean;
}

export interface RepositoryOptions extends ComponentOptions {
  /** Of the release, such as 0.1.0. */
  readonly version: string;
}

const PROVIDERS: readonly Provider[] = ['bootstrap', 'control-plane'];

/**
 * A repository as `clusterctl` reads it from a folder: `<provider>/v<version>/` with the components and the metadata of
 * each provider (agent/P6).
 */
export const repositoryFiles = (options: RepositoryOptions): readonly RepositoryFile[] =>
  PROVIDERS.flatMap((provider) => {
    const { label, componentsFile } = agentNames(provider);
    const folder = `${label}/v${options.version}`;
    return [
      { path: `${folder}/${componentsFile}`, objects: componentObjects(provider, options), isForCluster: true },
      { path: `${folder}/metadata.yaml`, objects: [metadataOf(options.version)], isForCluster: false },
    ];
  });

/** Which contract of Cluster API a release follows. Newer versions of clusterctl want the kind, too. */
function metadataOf(version: string): KubeObject {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return {
    apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
    kind: 'Metadata',
    releaseSeries: [{ major, minor, contract: 'v1beta2' }],
  } as unknown as KubeObject;
}
