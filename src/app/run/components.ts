import type { ExitCode, VerbContext } from '../verb.ts';

/** A program that `slipway run` starts; it reads its own flags. */
export interface RunComponent {
  readonly name: string;
  /** What it is, in a few words. */
  readonly summary: string;
  /** Called only when it runs, so that others stay fast. */
  readonly load: () => Promise<(context: VerbContext, argv: readonly string[]) => Promise<ExitCode>>;
}

/** Every component, in the order of the help. A new one is an entry here. */
export const RUN_COMPONENTS: readonly RunComponent[] = [
  {
    name: 'cloud-controller-manager',
    summary: 'nodes, load balancers and routes of a cloud (CCM)',
    load: async () => (await import('./cloud-controller-manager.ts')).runCloudProgram,
  },
];
