import { ConfigMap } from '../../../src/api/generated/core-v1.ts';
import { createLog } from '../../../src/base/log.ts';
import { createClient } from '../../../src/kube/client/create-client.ts';
import type { KubeClient } from '../../../src/kube/client/kube-client.ts';
import type { Controller } from '../../../src/kube/controller/controller.ts';
import { DONE, type Reconciler } from '../../../src/kube/controller/reconcile.ts';
import { type CrashPointOptions, enumerateCrashPoints } from '../../../src/testing/crash-points.ts';
import type { Box } from './box-kind.ts';
import { boxController, childOf, saysDone } from './controllers.ts';
import { type MakeControllers, scenario } from './stories.ts';

/** What the tests of the harness itself say about controllers. */

export type Reconcile = Reconciler<Box>['reconcile'];

export const controlledBy =
  (reconcile: Reconcile): MakeControllers =>
  () => [boxController({ reconcile })];

export const appliesChild: Reconcile = async (box, { client }) => {
  await client.apply(ConfigMap, childOf(box), { force: true });
  await saysDone(client, box);
  return DONE;
};

/** Controllers whose writes no fence can stop. */
export const unfenced =
  (make: (client: KubeClient) => Controller): MakeControllers =>
  ({ transport, clock }) => {
    const log = createLog({ level: 'error', write: () => {}, now: () => clock.now() });
    return [make(createClient({ transport, fieldManager: 'unfenced', clock, log }))];
  };

export const tried = (make: MakeControllers, options: CrashPointOptions) =>
  enumerateCrashPoints(scenario('test', 'create and change', make), options);

export const problemsOf = async (make: MakeControllers, options: CrashPointOptions): Promise<string> =>
  (await tried(make, options)).failures.flatMap(({ problems }) => problems).join('\n');
