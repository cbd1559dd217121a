import type { ExitCode, VerbContext } from '../verb.ts';

/** A program that `slipway run` starts; it reads its own flags. */
export interface RunComponent {
  readonly name: string;
  /** What it is, in a few words. */
  readonly summary: string;
  /** A whole command line that starts it. */
  readonly example: string;
  /**
   * Called only when it runs, so that others stay fast; with the names of all that run with it, itself included: those
   * with the same `together`.
   */
  readonly load: (names: readonly string[]) => Promise<ComponentRun>;
  /** Components that say the same here can run in one process. */
  readonly together?: string;
}

export type ComponentRun = (context: VerbContext, argv: readonly string[]) => Promise<ExitCode>;

export const CLOUD_EXAMPLE =
  'slipway run cloud-controller-manager --cloud-provider=lab --cloud-config=cloud.conf --leader-elect=false';

/** Every component, in the order of the help. A new one is an entry here. */
export const RUN_COMPONENTS: readonly RunComponent[] = [
  {
    name: 'cloud-controller-manager',
    example: CLOUD_EXAMPLE,
    summary: 'nodes, load balancers and routes of a cloud (CCM)',
    load: async () => (await import('./cloud-controller-manager.ts')).runCloudProgram,
  },
  {
    name: 'cloud-operator',
    example:
      'slipway run cloud-operator --kubeconfig=admin.kubeconfig --images-json=images.json --leader-elect=false',
    summary: 'deploys the cloud controller manager of a cluster and reports on it (CCCMO)',
    load: async () => (await import('./cloud-operator.ts')).runCloudOperator,
  },
  {
    name: 'cloud-config-sync',
    example: 'slipway run cloud-config-sync --kubeconfig=admin.kubeconfig --leader-elect=false',
    summary: 'keeps cloud configuration and trusted authorities where cloud controller managers read them',
    load: async () => (await import('./cloud-operator.ts')).runCloudConfigSync,
  },
  {
    name: 'azure-config-credentials-injector',
    example:
      'slipway run azure-config-credentials-injector --cloud-config-file-path=cloud.conf --output-file-path=merged.conf',
    summary: 'puts the credentials of Azure into its cloud configuration, once',
    load: async () => (await import('./azure-inject.ts')).runAzureInjector,
  },
  {
    name: 'agent-bootstrap',
    example: 'slipway run agent-bootstrap --kubeconfig=admin.kubeconfig --webhook-port=0',
    summary: 'boots machines into the assisted installer, for Cluster API',
    together: 'agent',
    load: async (names) => (await import('./agent.ts')).runAgentProviders(names),
  },
  {
    name: 'agent-control-plane',
    example: 'slipway run agent-control-plane --kubeconfig=admin.kubeconfig --webhook-port=0',
    summary: 'installs and upgrades OpenShift through the assisted installer, for Cluster API',
    together: 'agent',
    load: async (names) => (await import('./agent.ts')).runAgentProviders(names),
  },
];
