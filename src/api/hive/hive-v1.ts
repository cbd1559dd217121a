import type { AssistedCondition } from '../assisted/agent-install-v1beta1.ts';
import type { ClusterMetadata } from '../assisted/hive-extensions-v1beta1.ts';
import type { Kind, KubeObject, Scope } from '../object.ts';

/** The part of `hive.openshift.io/v1` that we read and write; what a type does not name is kept (DESIGN §5). */

const HIVE_GROUP = 'hive.openshift.io';

export interface ClusterInstallReference {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly name: string;
}

export interface ClusterDeployment extends KubeObject {
  readonly spec?: {
    readonly clusterName: string;
    readonly baseDomain: string;
    readonly platform: { readonly agentBareMetal?: Readonly<Record<string, unknown>> };
    readonly pullSecretRef?: { readonly name?: string };
    readonly clusterInstallRef?: ClusterInstallReference;
    readonly installed?: boolean;
    readonly clusterMetadata?: ClusterMetadata;
  };
  readonly status?: { readonly conditions?: readonly AssistedCondition[] };
}

export interface ClusterImageSet extends KubeObject {
  readonly spec?: { readonly releaseImage: string };
}

const hiveKind = <T extends KubeObject>(kind: string, plural: string, scope: Scope): Kind<T> => ({
  group: HIVE_GROUP,
  version: 'v1',
  kind,
  plural,
  scope,
});

export const ClusterDeployment = hiveKind<ClusterDeployment>(
  'ClusterDeployment',
  'clusterdeployments',
  'Namespaced',
);
export const ClusterImageSet = hiveKind<ClusterImageSet>('ClusterImageSet', 'clusterimagesets', 'Cluster');
