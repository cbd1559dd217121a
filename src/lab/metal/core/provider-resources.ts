/** The resources of a provider that core reads and writes, by what they stand for. */
export interface ProviderResources {
  readonly group: string;
  /** What a Cluster refers to. */
  readonly clusters?: readonly string[];
  /** What a Machine refers to. */
  readonly machines?: readonly string[];
  /** What Machines are cloned from. */
  readonly templates?: readonly string[];
}

export const USUAL_PROVIDERS: readonly ProviderResources[] = [
  {
    group: 'infrastructure.cluster.x-k8s.io',
    clusters: ['metal3clusters', 'labclusters'],
    machines: ['metal3machines', 'labmachines'],
    templates: ['metal3machinetemplates', 'labmachinetemplates'],
  },
  {
    group: 'bootstrap.cluster.x-k8s.io',
    machines: ['openshiftassistedconfigs'],
    templates: ['openshiftassistedconfigtemplates'],
  },
  { group: 'controlplane.cluster.x-k8s.io', clusters: ['openshiftassistedcontrolplanes'] },
];
