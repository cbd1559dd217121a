/** In the order in which they look at a node: the first that refuses it says why (K2). */
export const FILTERS = [
  'NodeName',
  'NodeUnschedulable',
  'TaintToleration',
  'NodeAffinity',
  'NodePorts',
  'NodeResourcesFit',
  'NodeVolumeLimits',
  'VolumeBinding',
  'PodTopologySpread',
  'InterPodAffinity',
] as const;

export type FilterName = (typeof FILTERS)[number];
