import type { Kind, KubeObject } from '../object.ts';

/** Nobody of ours reads what is in it: that it changed is what matters (cloud operator, section 2). */
export type KubeControllerManager = KubeObject;

export const KubeControllerManager: Kind<KubeControllerManager> = {
  group: 'operator.openshift.io',
  version: 'v1',
  kind: 'KubeControllerManager',
  plural: 'kubecontrollermanagers',
  scope: 'Cluster',
};
