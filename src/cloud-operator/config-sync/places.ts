import type { Kind } from '../../api/object.ts';
import {
  ClusterOperator,
  ClusterVersion,
  FeatureGate,
  Infrastructure,
  Network,
  Proxy,
  SINGLETON,
} from '../../api/openshift/config-v1.ts';
import type { OperatorNames } from '../names.ts';

/** What users write: the cloud config that the Infrastructure names, and the authorities that the Proxy names. */
export const USER_NAMESPACE = 'openshift-config';
/** What operators write for each other. */
export const SHARED_NAMESPACE = 'openshift-config-managed';

/** A cloud config for every operator of the cluster. */
export const SHARED_CLOUD_CONFIG = { namespace: SHARED_NAMESPACE, name: 'kube-cloud-config' } as const;

/** What cloud controller managers mount; nobody else makes these two. */
export const CLOUD_CONF = 'cloud-conf';
export const TRUSTED_CA = 'ccm-trusted-ca';

/** Where the text of a cloud config is, whatever users called it (R65). */
export const CLOUD_CONF_KEY = 'cloud.conf';

/** The only ones whose ConfigMaps are read (R3); what operators share, where a provider has to do with it. */
export const watchedNamespaces = (
  { managedNamespace }: Pick<OperatorNames, 'managedNamespace'>,
  usesShared: boolean,
): readonly string[] => [managedNamespace, USER_NAMESPACE, ...(usesShared ? [SHARED_NAMESPACE] : [])];

/** There is one of each, and nobody has to read others. */
export const watchedSingletons = ({
  clusterOperator,
}: Pick<OperatorNames, 'clusterOperator'>): readonly (readonly [Kind, string])[] => [
  [ClusterOperator, clusterOperator],
  [ClusterVersion, 'version'],
  ...[FeatureGate, Infrastructure, Network, Proxy].map((kind: Kind) => [kind, SINGLETON.name] as const),
];
