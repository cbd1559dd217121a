import { type Cluster, MachineDeployment, MachineSet } from '../../../api/cluster-api/core-v1beta2.ts';
import { keyOf } from '../../../api/object.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../../kube/controller/reconcile.ts';
import { isControlledBy } from '../../../object/owner-references.ts';
import { clusterOf, isPaused, tellPaused } from './cluster-scope.ts';
import {
  adoptedDeployment,
  desiredDeploymentStatus,
  MACHINE_DEPLOYMENT_FINALIZER,
  machineSetOf,
  rolloutOf,
  templateHash,
} from './machine-deployment-desired.ts';
import { writeChanges } from './write-changes.ts';

const SOON_MS = 10_000;

/** One MachineSet for each template that a MachineDeployment has had; the newest one replaces the others (S4). */
export class MachineDeploymentReconciler implements Reconciler<MachineDeployment> {
  async reconcile(stored: MachineDeployment, context: ReconcileContext): Promise<Result> {
    const cluster = await clusterOf(stored, stored.spec.clusterName, context);
    if (isPaused(cluster, stored)) return tellPaused(MachineDeployment, stored, context);
    const sets = await setsOf(stored, context);
    if (stored.metadata.deletionTimestamp !== undefined) return remove(stored, sets, context);
    const deployment = await adopt(stored, cluster, context);
    const hash = templateHash(deployment.spec.template);
    const current = sets.find(({ spec }) => templateHash(spec.template) === hash);
    const older = sets.filter((set) => set !== current);
    const rollout = rolloutOf(deployment, current, older);
    await ensureSet(deployment, current, rollout.current, context);
    for (const set of older) await shrink(set, rollout.older.get(set.metadata.name) ?? 0, context);
    await tell(deployment, sets, context);
    return DONE;
  }
}

async function setsOf(
  deployment: MachineDeployment,
  { client }: ReconcileContext,
): Promise<readonly MachineSet[]> {
  const { items } = await client.list(MachineSet, { namespace: deployment.metadata.namespace ?? '' });
  return items.filter((set) => isControlledBy(set, deployment));
}

async function adopt(
  stored: MachineDeployment,
  cluster: Cluster,
  { client }: ReconcileContext,
): Promise<MachineDeployment> {
  return writeChanges(client, MachineDeployment, stored, adoptedDeployment(stored, cluster));
}

/** What may change without other Machines is changed in place. */
async function ensureSet(
  deployment: MachineDeployment,
  current: MachineSet | undefined,
  replicas: number,
  { client }: ReconcileContext,
): Promise<void> {
  const desired = machineSetOf(deployment, replicas);
  if (current === undefined) {
    await client.create(MachineSet, desired);
    return;
  }
  const { template } = desired.spec;
  await writeChanges(client, MachineSet, current, {
    spec: {
      ...current.spec,
      replicas,
      template: { ...template, spec: { ...current.spec.template.spec, ...template.spec } },
    },
  });
}

async function shrink(set: MachineSet, replicas: number, { client, signal }: ReconcileContext): Promise<void> {
  if (set.metadata.deletionTimestamp !== undefined) return;
  if (replicas === 0 && (set.status?.replicas ?? 0) === 0 && set.spec.replicas === 0) {
    await client.delete(MachineSet, keyOf(set), { signal });
    return;
  }
  if (set.spec.replicas === replicas) return;
  await client.patch(MachineSet, keyOf(set), { type: 'merge', body: { spec: { replicas } } });
}

async function tell(
  deployment: MachineDeployment,
  sets: readonly MachineSet[],
  { client, now }: ReconcileContext,
): Promise<void> {
  await writeChanges(client, MachineDeployment, deployment, {
    status: desiredDeploymentStatus(deployment, sets, now()),
  });
}

async function remove(
  deployment: MachineDeployment,
  sets: readonly MachineSet[],
  context: ReconcileContext,
): Promise<Result> {
  const { client, signal } = context;
  if (deployment.metadata.finalizers?.includes(MACHINE_DEPLOYMENT_FINALIZER) !== true) return DONE;
  if (sets.length === 0) {
    await client.removeFinalizer(MachineDeployment, deployment, MACHINE_DEPLOYMENT_FINALIZER);
    return DONE;
  }
  for (const set of sets)
    if (set.metadata.deletionTimestamp === undefined) await client.delete(MachineSet, keyOf(set), { signal });
  await tell(deployment, sets, context);
  return after(SOON_MS);
}
