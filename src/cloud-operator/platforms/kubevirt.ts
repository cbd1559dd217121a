import type { CloudProviderDefinition } from '../definition.ts';

/** Its kubelets wait for a cloud controller manager, and the cluster that hosts the machines brings it. */
export const KUBEVIRT: CloudProviderDefinition = {
  id: 'kubevirt',
  match: { type: 'KubeVirt' },
  images: {},
  assets: { objects: [] },
};
