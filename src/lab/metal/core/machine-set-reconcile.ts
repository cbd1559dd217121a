import {
  type Cluster,
  Cluster as ClusterKind,
  type ContractReference,
  Machine,
  MachineDeployment,
  MachineSet,
} from '../../../api/cluster-api/core-v1beta2.ts';
import { keyOf } from '../../../api/object.ts';
import { retryError, userError } from '../../../base/errors.ts';
import { isAlreadyExists } from '../../../kube/client/api-error.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../../kube/controller/reconcile.ts';
import { orderV1beta2 } from '../../../object/condition-dialects.ts';
import { findCondition, setCondition } from '../../../object/conditions.ts';
import { controllerReferenceOf, isControlledBy, setOwnerReference } from '../../../object/owner-references.ts';
import { clusterOf, isPaused, tellPaused } from './cluster-scope.ts';
import type { External, ExternalObjects } from './external-objects.ts';
import { templateHash } from './machine-deployment-desired.ts';
import {
  adoptedSet,
  desiredSetStatus,
  freeNames,
  MACHINE_SET_FINALIZER,
  machineMeta,
  machineOf,
  machinesToDelete,
} from './machine-set-desired.ts';
import { cloneOf } from './template-clone.ts';
import { condition } from './told-conditions.ts';
import { writeChanges } from './write-changes.ts';

const SOON_MS = 10_000;

interface Templates {
  readonly infrastructure: External;
  readonly config: External | undefined;
}

/** Keeps as many Machines as a MachineSet wants, each with clones of the two templates (S4). */
export class MachineSetReconciler implements Reconciler<MachineSet> {
  readonly #externals: ExternalObjects;

  constructor(externals: ExternalObjects) {
    this.#externals = externals;
  }

  async reconcile(stored: MachineSet, context: ReconcileContext): Promise<Result> {
    const cluster = await clusterOf(stored, stored.spec.clusterName, context);
    if (isPaused(cluster, stored)) return tellPaused(MachineSet, stored, context);
    const machines = await machinesOf(stored, context);
    if (stored.metadata.deletionTimestamp !== undefined) return remove(stored, machines, context);
    const set = await adopt(stored, cluster, context);
    await tell(set, machines, context);
    const isCurrent = await isCurrentSet(set, context);
    for (const machine of machines) await bringUpToDate(machine, set, isCurrent, context);
    const templates = await this.#templates(set, cluster, context);
    const missing = (set.spec.replicas ?? 1) - machines.length;
    if (missing > 0) await this.#create(set, templates, { machines, missing }, context);
    for (const machine of machinesToDelete(set, machines, -missing)) await removeMachine(set, machine, context);
    return DONE;
  }

  async #templates(set: MachineSet, cluster: Cluster, context: ReconcileContext): Promise<Templates> {
    const { infrastructureRef, bootstrap } = set.spec.template.spec;
    const owned = async (reference: ContractReference): Promise<External> => {
      const found = await this.#externals.find(reference, set.metadata.namespace ?? '', context);
      if (found === undefined)
        throw retryError('TemplateNotFound', `there is no ${reference.kind} ${reference.name}; create it`);
      // Templates go with their Cluster.
      const claim = (object: External['object']) => setOwnerReference(cluster, object, { kind: ClusterKind });
      return this.#externals.claim(found, claim, context);
    };
    const config = bootstrap.configRef === undefined ? undefined : await owned(bootstrap.configRef);
    if (config === undefined && bootstrap.dataSecretName === undefined)
      throw userError(
        'InvalidBootstrap',
        'spec.template.spec.bootstrap has neither configRef nor dataSecretName; give one of them',
      );
    return { infrastructure: await owned(infrastructureRef), config };
  }

  async #create(
    set: MachineSet,
    { infrastructure, config }: Templates,
    { machines, missing }: { readonly machines: readonly Machine[]; readonly missing: number },
    context: ReconcileContext,
  ): Promise<void> {
    const taken = new Set(machines.map(({ metadata }) => metadata.name));
    for (const name of freeNames(set, taken, missing)) {
      const wish = { name, owner: set, ...machineMeta(set) };
      const configRef = config === undefined ? undefined : await ensureClone(config, wish, context);
      const infrastructureRef = await ensureClone(infrastructure, wish, context);
      await context.client.create(Machine, machineOf(set, name, { infrastructureRef, configRef }));
      context.events.normal(set, 'SuccessfulCreate', `Created Machine ${name}`);
    }
  }
}

async function machinesOf(set: MachineSet, { client }: ReconcileContext): Promise<readonly Machine[]> {
  const { items } = await client.list(Machine, { namespace: set.metadata.namespace ?? '' });
  return items.filter((machine) => isControlledBy(machine, set));
}

async function adopt(stored: MachineSet, cluster: Cluster, { client }: ReconcileContext): Promise<MachineSet> {
  return writeChanges(client, MachineSet, stored, adoptedSet(stored, cluster));
}

async function tell(
  set: MachineSet,
  machines: readonly Machine[],
  { client, now }: ReconcileContext,
): Promise<void> {
  await writeChanges(client, MachineSet, set, { status: desiredSetStatus(set, machines, now()) });
}

/** An object that an earlier, unfinished attempt made is taken as it is. */
async function ensureClone(
  template: External,
  wish: Parameters<typeof cloneOf>[1],
  { client }: ReconcileContext,
): Promise<ContractReference> {
  const { kind, object, reference } = cloneOf(template, wish);
  try {
    await client.create(kind, object);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const found = await client.live.get(kind, keyOf(object));
    const isOurs = found.metadata.ownerReferences?.some(({ uid }) => uid === wish.owner.metadata.uid) === true;
    if (!isOurs || found.metadata.deletionTimestamp !== undefined) throw error;
  }
  return reference;
}

/** Machines of an older template are out of date until the deployment has replaced them. */
async function isCurrentSet(set: MachineSet, { client }: ReconcileContext): Promise<boolean> {
  const owner = controllerReferenceOf(set);
  if (owner?.kind !== MachineDeployment.kind) return true;
  const { namespace = '' } = set.metadata;
  const deployment = await client.find(MachineDeployment, { namespace, name: owner.name });
  return deployment === undefined || templateHash(deployment.spec.template) === templateHash(set.spec.template);
}

/** What may change on a Machine that exists: labels, annotations and the times of its deletion. */
async function bringUpToDate(
  machine: Machine,
  set: MachineSet,
  isCurrent: boolean,
  { client, now }: ReconcileContext,
): Promise<void> {
  const status = isCurrent ? 'True' : 'False';
  const { metadata, spec } = machine;
  // Most Machines of a set are as they should be most of the time, and it may have hundreds.
  if (metadata.deletionTimestamp !== undefined || isAsWanted(machine, set, status)) return;
  const { labels, annotations } = machineMeta(set);
  const told = isCurrent
    ? condition('UpToDate', { status, reason: 'UpToDate' })
    : condition('UpToDate', { status, reason: 'NotUpToDate', message: 'the template has changed' });
  const { conditions } = setCondition(machine.status?.conditions ?? [], told, now());
  await writeChanges(client, Machine, machine, {
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...labels },
      annotations: { ...metadata.annotations, ...annotations },
    },
    spec: { ...spec, deletion: { ...spec.deletion, ...set.spec.template.spec.deletion } },
    status: { ...machine.status, conditions: orderV1beta2(conditions) },
  });
}

function isAsWanted(machine: Machine, set: MachineSet, isCurrent: 'True' | 'False'): boolean {
  const { labels, annotations } = machineMeta(set);
  const { metadata, spec } = machine;
  return (
    findCondition(machine, 'UpToDate')?.status === isCurrent &&
    hasAll(metadata.labels, labels) &&
    hasAll(metadata.annotations, annotations) &&
    hasAll(spec.deletion, set.spec.template.spec.deletion)
  );
}

const hasAll = (found: object = {}, wanted: object = {}): boolean =>
  Object.entries(wanted).every(([name, value]) => Reflect.get(found, name) === value);

async function removeMachine(
  set: MachineSet,
  machine: Machine,
  { client, events, signal }: ReconcileContext,
): Promise<void> {
  if (machine.metadata.deletionTimestamp !== undefined) return;
  await client.delete(Machine, keyOf(machine), { signal });
  events.normal(set, 'SuccessfulDelete', `Deleted Machine ${machine.metadata.name}`);
}

async function remove(set: MachineSet, machines: readonly Machine[], context: ReconcileContext): Promise<Result> {
  if (set.metadata.finalizers?.includes(MACHINE_SET_FINALIZER) !== true) return DONE;
  if (machines.length === 0) {
    await context.client.removeFinalizer(MachineSet, set, MACHINE_SET_FINALIZER);
    return DONE;
  }
  for (const machine of machines) await removeMachine(set, machine, context);
  await tell(set, machines, context);
  return after(SOON_MS);
}
