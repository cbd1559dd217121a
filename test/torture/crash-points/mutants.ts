import { ConfigMap } from '../../../src/api/generated/core-v1.ts';
import { userError } from '../../../src/base/errors.ts';
import { createLog } from '../../../src/base/log.ts';
import { isAlreadyExists } from '../../../src/kube/client/api-error.ts';
import { createClient } from '../../../src/kube/client/create-client.ts';
import { after, DONE, type Reconciler } from '../../../src/kube/controller/reconcile.ts';
import type { CrashFault } from '../../../src/testing/crash-faults.ts';
import { Box, dataOf, FINALIZER, labelsOf, NAMESPACE, placeOf } from './box-kind.ts';
import { CloudClient } from './cloud.ts';
import { boxController, childOf, machines, RIGHT, saysDone } from './controllers.ts';
import type { MakeControllers, StoryName } from './stories.ts';

/** A planted bug: one that real controllers had. */
export interface Mutant {
  readonly name: string;
  readonly story: StoryName;
  /** What brings it to light at once; undisturbed: it goes wrong without any. */
  readonly caughtBy: CrashFault | 'undisturbed';
  readonly controllers: MakeControllers;
}

const living =
  (reconcile: Reconciler<Box>['reconcile']): MakeControllers =>
  () => [
    boxController({
      reconcile: async (box, context) =>
        box.metadata.deletionTimestamp === undefined ? reconcile(box, context) : DONE,
    }),
  ];

const inBox = (box: Box) => ({ namespace: NAMESPACE, labels: labelsOf(box) });

const CHILD_MUTANTS: readonly Mutant[] = [
  {
    name: 'creates with generateName',
    caughtBy: 'duplicate',
    story: 'grow and shrink',
    controllers: living(async (box, { client }) => {
      const { items } = await client.list(ConfigMap, inBox(box));
      for (let missing = box.spec.children - items.length; missing > 0; missing--) {
        const { metadata, data } = childOf(box);
        await client.create(ConfigMap, { data, metadata: { ...metadata, name: '', generateName: 'child-' } });
      }
      await saysDone(client, box);
      return DONE;
    }),
  },
  {
    name: 'creates under a random name and remembers it afterwards',
    caughtBy: 'kill-after',
    story: 'create and change',
    controllers: (life, cloud) =>
      living(async (box, { client }) => {
        if (box.status?.child !== undefined) return DONE;
        const { metadata } = await client.create(ConfigMap, childOf(box, `-${life.clock.uuid()}`));
        await client.applyStatus(
          Box,
          { metadata: placeOf(box), status: { child: metadata.name } },
          { force: true },
        );
        return DONE;
      })(life, cloud),
  },
  {
    name: 'swallows a failed create and decides by the cache again',
    caughtBy: 'lost-and-stale',
    story: 'create and change',
    controllers: (life, cloud) =>
      living(async (box, { client }) => {
        const { items } = await client.list(ConfigMap, inBox(box));
        if (items.length > 0) return DONE;
        try {
          await client.create(ConfigMap, childOf(box, `-${life.clock.uuid().slice(0, 8)}`));
        } catch {
          return after(1000);
        }
        return DONE;
      })(life, cloud),
  },
  {
    name: 'takes AlreadyExists for a failure',
    caughtBy: 'kill-after',
    story: 'create and change',
    controllers: living(async (box, { client }) => {
      if (box.status?.isDone === true) return DONE;
      await client.create(ConfigMap, childOf(box)).catch((error: unknown) => {
        throw isAlreadyExists(error) ? userError('Occupied', 'the name is taken') : error;
      });
      await saysDone(client, box, { isDone: true });
      return DONE;
    }),
  },
  {
    name: 'adopts without asking whose it is',
    caughtBy: 'undisturbed',
    story: 'a name that is taken',
    controllers: living(async (box, { client }) => {
      await client.create(ConfigMap, childOf(box)).catch(async (error: unknown) => {
        if (!isAlreadyExists(error)) throw error;
        const found = await client.live.get(ConfigMap, placeOf(box));
        await client.update(ConfigMap, { ...found, data: dataOf(box) });
      });
      await saysDone(client, box);
      return DONE;
    }),
  },
  {
    name: 'writes the status before the effect',
    caughtBy: 'kill-after',
    story: 'create and change',
    controllers: living(async (box, { client }) => {
      if (box.status?.size === box.spec.size) return DONE;
      await saysDone(client, box);
      await client.apply(ConfigMap, childOf(box), { force: true });
      return DONE;
    }),
  },
  {
    name: 'does not await a write',
    caughtBy: 'refused-500',
    story: 'create and change',
    controllers: living(async (box, { client }) => {
      if (box.status?.size === box.spec.size) return DONE;
      // Without this handler the process would end, which a controller must not do either.
      client.apply(ConfigMap, childOf(box), { force: true }).catch(() => {});
      await saysDone(client, box);
      return DONE;
    }),
  },
  {
    name: 'does not ask the fence before a write',
    caughtBy: 'zombie',
    story: 'create and change',
    controllers: (life, cloud) => {
      const unfenced = createClient({
        transport: life.transport,
        fieldManager: 'scenario',
        clock: life.clock,
        log: createLog({ level: 'error', write: () => {}, now: () => life.clock.now() }),
      });
      return living(async (box) => {
        await unfenced.apply(ConfigMap, childOf(box), { force: true });
        await saysDone(unfenced, box);
        return DONE;
      })(life, cloud);
    },
  },
];

/** A reconciler for machines that does everything itself, and the finalizer when it thinks fit. */
const byHand =
  (reconcile: (cloud: CloudClient) => Reconciler<Box>['reconcile']): MakeControllers =>
  (life, cloud) => [boxController({ reconcile: reconcile(new CloudClient(cloud, life)) })];

async function removeMachines(cloud: CloudClient, box: Box): Promise<void> {
  for (const machine of (await cloud.list()).filter(({ tag }) => tag === box.metadata.name))
    await cloud.remove(machine);
}

const MACHINE_MUTANTS: readonly Mutant[] = [
  {
    name: 'sets the finalizer after the first effect',
    caughtBy: 'kill-after',
    story: 'delete while creating',
    controllers: byHand((cloud) => async (box, { client }) => {
      if (box.metadata.deletionTimestamp === undefined) {
        await RIGHT.ensure(box, cloud, client);
        await client.addFinalizer(Box, box, FINALIZER);
        return DONE;
      }
      await removeMachines(cloud, box);
      await client.removeFinalizer(Box, box, FINALIZER);
      return DONE;
    }),
  },
  {
    name: 'removes the finalizer before the provider confirms',
    caughtBy: 'kill-after',
    story: 'create and delete',
    controllers: byHand((cloud) => async (box, { client }) => {
      if (box.metadata.deletionTimestamp !== undefined) {
        await client.removeFinalizer(Box, box, FINALIZER);
        await removeMachines(cloud, box);
        return DONE;
      }
      if (box.metadata.finalizers === undefined) {
        await client.addFinalizer(Box, box, FINALIZER);
        return after(1000);
      }
      await RIGHT.ensure(box, cloud, client);
      return DONE;
    }),
  },
  {
    name: 'makes up a new idempotency token for each try',
    caughtBy: 'lost-response',
    story: 'create and change',
    controllers: (life, cloud) =>
      machines({
        ...RIGHT,
        ensure: async (box, remote) => {
          const known = (await remote.list()).find(({ id }) => id === box.status?.machine);
          return known ?? remote.create(life.clock.uuid(), { tag: box.metadata.name, size: box.spec.size });
        },
      })(life, cloud),
  },
  {
    name: 'creates without any token',
    caughtBy: 'kill-after',
    story: 'create and change',
    controllers: machines({
      ...RIGHT,
      ensure: async (box, remote) => {
        const known = (await remote.list()).find(({ id }) => id === box.status?.machine);
        return known ?? remote.create(undefined, { tag: box.metadata.name, size: box.spec.size });
      },
    }),
  },
  {
    name: 'tags in a second call',
    caughtBy: 'kill-after',
    story: 'create and change',
    controllers: machines({
      ensure: async (box, remote) => {
        const tag = box.metadata.name;
        const known = (await remote.list()).find((machine) => machine.tag === tag);
        if (known !== undefined) return known;
        const machine = await remote.create(undefined, { tag: '', size: box.spec.size });
        await remote.change(machine, { tag });
        return { ...machine, tag };
      },
      orphans: () => Promise.resolve([]),
    }),
  },
  {
    name: 'takes a failed list for an empty one',
    caughtBy: 'failing-reads',
    story: 'create and change',
    controllers: machines({
      ...RIGHT,
      orphans: async (remote, client) => {
        const { items } = await client.live.list(Box).catch(() => ({ items: [] }));
        return (await remote.list()).filter(({ tag }) => !items.some(({ metadata }) => metadata.name === tag));
      },
    }),
  },
];

export const MUTANTS: readonly Mutant[] = [...CHILD_MUTANTS, ...MACHINE_MUTANTS];
