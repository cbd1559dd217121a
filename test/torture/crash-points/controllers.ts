import { ConfigMap } from '../../../src/api/generated/core-v1.ts';
import { userError } from '../../../src/base/errors.ts';
import { withFinalizer } from '../../../src/kube/apply/with-finalizer.ts';
import { isAlreadyExists } from '../../../src/kube/client/api-error.ts';
import type { KubeClient } from '../../../src/kube/client/kube-client.ts';
import { type Controller, controllerFor } from '../../../src/kube/controller/controller.ts';
import { after, DONE, type Reconciler } from '../../../src/kube/controller/reconcile.ts';
import { needs } from '../../../src/kube/rbac/need.ts';
import { isControlledBy, ownedBy } from '../../../src/object/owner-references.ts';
import { Box, dataOf, FINALIZER, labelsOf, NAMESPACE, placeOf } from './box-kind.ts';
import { CloudClient, type Machine } from './cloud.ts';
import type { MakeControllers } from './stories.ts';

/** The right controllers: each may be killed anywhere. */

export const boxController = (reconciler: Reconciler<Box>): Controller =>
  controllerFor(Box)
    .owns(ConfigMap)
    .needs(
      needs(ConfigMap, ['create', 'update', 'patch', 'delete']),
      needs(Box, ['patch']),
      needs(Box, ['patch'], { subresource: 'status' }),
    )
    .reconcile(reconciler);

export const childOf = (box: Box, suffix = '') => ({
  metadata: { ...placeOf(box, suffix), labels: labelsOf(box), ...ownedBy(box, Box) },
  data: dataOf(box),
});

export const saysDone = (client: KubeClient, box: Box, status: Box['status'] = {}) =>
  client.applyStatus(Box, { metadata: placeOf(box), status: { ...status, size: box.spec.size } }, { force: true });

/** Says what it wants and lets the server merge. */
export const applying: MakeControllers = () => [
  boxController({
    reconcile: async (box, { client }) => {
      if (box.metadata.deletionTimestamp !== undefined) return DONE;
      await client.apply(ConfigMap, childOf(box), { force: true });
      await saysDone(client, box);
      return DONE;
    },
  }),
];

/** Creates what is missing under a name that follows from the box, and takes what it finds there if it is its own. */
export const adopting: MakeControllers = () => [
  boxController({
    reconcile: async (box, { client }) => {
      if (box.metadata.deletionTimestamp !== undefined) return DONE;
      await createOrAdopt(client, box);
      await saysDone(client, box);
      return DONE;
    },
  }),
];

async function createOrAdopt(client: KubeClient, box: Box): Promise<void> {
  try {
    await client.create(ConfigMap, childOf(box));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const found = await client.live.get(ConfigMap, placeOf(box));
    if (!isControlledBy(found, box)) throw userError('Occupied', `${found.metadata.name} is somebody else's`);
    if (found.data?.['size'] !== String(box.spec.size))
      await client.update(ConfigMap, { ...found, data: dataOf(box) });
  }
}

/** As many children as the box wants, `a-0`, `a-1` …: the number is the name. */
export const numbering: MakeControllers = () => [
  boxController({
    reconcile: async (box, { client }) => {
      if (box.metadata.deletionTimestamp !== undefined) return DONE;
      const { items } = await client.list(ConfigMap, { namespace: NAMESPACE, labels: labelsOf(box) });
      const wanted = Array.from({ length: box.spec.children }, (_, number) => `-${number}`);
      const names = wanted.map((suffix) => placeOf(box, suffix).name);
      for (const suffix of wanted) await client.apply(ConfigMap, childOf(box, suffix), { force: true });
      for (const { metadata } of items.filter((item) => !names.includes(item.metadata.name)))
        await client.delete(ConfigMap, { namespace: NAMESPACE, name: metadata.name });
      await saysDone(client, box);
      return DONE;
    },
  }),
];

const SWEEP_MS = 2_000;

/** The parts of the machine controller that a mutant may get wrong. */
export interface MachineWork {
  readonly ensure: (box: Box, cloud: CloudClient, client: KubeClient) => Promise<Machine>;
  readonly orphans: (cloud: CloudClient, client: KubeClient) => Promise<readonly Machine[]>;
}

export const RIGHT: MachineWork = {
  ensure: async (box, cloud) => {
    const tag = box.metadata.name;
    const known = (await cloud.list()).find((machine) => machine.tag === tag);
    // The token makes the creation idempotent, whoever repeats it.
    return known ?? cloud.create(box.metadata.uid, { tag, size: box.spec.size });
  },
  orphans: async (cloud, client) => {
    const { items } = await client.live.list(Box);
    const names = items.map(({ metadata }) => metadata.name);
    return (await cloud.list()).filter(({ tag }) => !names.includes(tag));
  },
};

/** A machine outside of the cluster: finalizer, then the machine; and the other way round. Sweeps what nobody owns. */
export const machines =
  ({ ensure, orphans }: MachineWork = RIGHT): MakeControllers =>
  (life, cloud) => {
    const remote = new CloudClient(cloud, life);
    const reconcile: Reconciler<Box>['reconcile'] = async (box, { client }) => {
      const machine = await ensure(box, remote, client);
      if (machine.size !== box.spec.size) await remote.change(machine, { size: box.spec.size });
      if (box.status?.size !== box.spec.size || box.status.machine !== machine.id)
        await saysDone(client, box, { machine: machine.id });
      for (const orphan of await orphans(remote, client)) await remote.remove(orphan);
      return after(SWEEP_MS);
    };
    const finalize = async (box: Box): Promise<'done'> => {
      for (const machine of (await remote.list()).filter(({ tag }) => tag === box.metadata.name))
        await remote.remove(machine);
      return 'done';
    };
    return [boxController(withFinalizer(Box, FINALIZER, { reconcile, finalize }))];
  };
