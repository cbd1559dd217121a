import type { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import type { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { CLUSTER_NAME_LABEL, type Cluster, Machine } from '../../api/cluster-api/core-v1beta2.ts';
import type { Clock } from '../../base/clock.ts';
import { causeChain, messageOf, SlipwayError } from '../../base/errors.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile.ts';
import { generateName } from '../../object/names.ts';
import { isUnmet, MACHINES_CREATED } from '../control-plane/conditions.ts';
import { namespaceOf } from '../control-plane/ownership.ts';
import { isPassing, type StatusReport } from '../control-plane/status-report.ts';
import { ContractKinds, type InfrastructureKinds } from './contract-kind.ts';
import { controlPlaneDomains } from './failure-domains.ts';
import { type HalfMadeSet, halfMadeSets } from './half-made.ts';
import { discardSet, makeMachine } from './machine-maker.ts';
import { infrastructureReference, namePrefix } from './machine-objects.ts';
import { MachineMetadata, sayUpToDate } from './machine-upkeep.ts';
import { ownedMachines } from './owned-machines.ts';
import { desiredReplicas, replicaConditions, replicaCounts } from './replica-conditions.ts';
import { type ScaleStep, scaleStep } from './scale-plan.ts';
import { outdatedParts } from './up-to-date.ts';

export interface ReplicaScope {
  readonly object: OpenshiftAssistedControlPlane;
  readonly cluster: Cluster;
  /** All of the cluster. */
  readonly configs: readonly OpenshiftAssistedConfig[];
  readonly context: ReconcileContext;
  readonly report: StatusReport;
}

/** Makes and removes the Machines of control planes, one per reconcile (C12–C18). */
export class Replicas {
  readonly #clock: Clock;
  readonly #kinds: ContractKinds;
  readonly #metadata = new MachineMetadata();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#kinds = new ContractKinds(clock);
  }

  /** What it throws is told in `MachinesCreated` already. Returns the Machines as it found them. */
  async reconcile(scope: ReplicaScope): Promise<readonly Machine[]> {
    const { object, cluster, configs, context, report } = scope;
    const machines = await ownedMachines(context.client, object, cluster);
    const outdated = new Map(machines.map((machine) => [machine, outdatedParts(machine, object, configs)]));
    const isUpToDate = (machine: Machine): boolean => outdated.get(machine)?.length === 0;
    const desired = desiredReplicas(object);
    const isInitialized = object.status?.initialization?.controlPlaneInitialized === true;
    const domains = controlPlaneDomains(cluster);
    const step = scaleStep({ desired, machines, domains, isUpToDate, isInitialized });
    report.set(replicaCounts({ machines, isUpToDate }));
    report.say(...replicaConditions({ desired, machines, isUpToDate, step }));
    let made: Machine | undefined;
    try {
      made = await this.#scale(scope, machines, step);
    } catch (error) {
      if (causeChain(error).some(isPassing)) throw error;
      const reason = error instanceof SlipwayError ? error.reason : 'MachineGenerationFailed';
      report.say(
        isUnmet(MACHINES_CREATED, REASONS.has(reason) ? reason : 'MachineGenerationFailed', messageOf(error)),
      );
      throw error;
    }
    const kept = step.type === 'delete' ? machines.filter((machine) => machine !== step.machine) : machines;
    for (const machine of kept) await sayUpToDate(context, machine, outdated.get(machine) ?? []);
    const identity = { object, clusterName: cluster.metadata.name };
    // One that was just made is nowhere in the cache yet, and has been applied: it is not to be applied again.
    await this.#metadata.keep(context.client, identity, made === undefined ? kept : [...kept, made]);
    return machines;
  }

  /** What was made for Machines that never were, when the control plane goes. */
  async discardLeftovers(scope: ReplicaScope): Promise<void> {
    this.#metadata.forget(scope.object);
    const kinds = await this.#kindsFor(scope, { type: 'none' });
    for (const set of await this.#halfMade(scope, kinds, [])) await this.#discard(scope, set, kinds);
  }

  /** Returns the Machine that was made, if one was. */
  async #scale(scope: ReplicaScope, machines: readonly Machine[], step: ScaleStep): Promise<Machine | undefined> {
    const { object, context } = scope;
    const kinds = await this.#kindsFor(scope, step);
    const left = await this.#halfMade(scope, kinds, machines);
    const isWanted = ({ isUsable }: HalfMadeSet): boolean => step.type === 'create' && isUsable;
    for (const set of left) if (!isWanted(set)) await this.#discard(scope, set, kinds);
    if (step.type === 'delete') await this.#remove(scope, step.machine);
    if (step.type !== 'create' || kinds === undefined) return undefined;
    const name = left.find(isWanted)?.name ?? generateName(namePrefix(object), () => this.#clock.random());
    context.log.info({ machine: name }, 'Creating a control-plane Machine');
    const identity = { object, clusterName: scope.cluster.metadata.name, name };
    const machine = await makeMachine(context.client, kinds, identity, step.failureDomain);
    this.#metadata.made(identity, machine);
    context.events.normal(object, 'MachineCreated', `Created Machine ${name}`);
    return machine;
  }

  /** Only who makes a Machine cannot do without them: their definition may be gone when nothing is to be made. */
  async #kindsFor({ object, context }: ReplicaScope, step: ScaleStep): Promise<InfrastructureKinds | undefined> {
    try {
      return await this.#kinds.of(context.client, infrastructureReference(object));
    } catch (error) {
      const isMissing = error instanceof SlipwayError && error.reason === 'InfrastructureTemplateCloningFailed';
      if (step.type !== 'create' && isMissing) return undefined;
      throw error;
    }
  }

  async #halfMade(
    { object, cluster, configs, context }: ReplicaScope,
    kinds: InfrastructureKinds | undefined,
    machines: readonly Machine[],
  ): Promise<readonly HalfMadeSet[]> {
    const labels = { [CLUSTER_NAME_LABEL]: cluster.metadata.name };
    const { items: infrastructure } =
      kinds === undefined
        ? { items: [] }
        : await context.client.list(kinds.machine, { namespace: namespaceOf(object), labels });
    return halfMadeSets(object, { machines, configs, infrastructure });
  }

  async #discard(
    { context, object }: ReplicaScope,
    set: HalfMadeSet,
    kinds: InfrastructureKinds | undefined,
  ): Promise<void> {
    context.log.info({ machine: set.name }, 'Removing what was made for a Machine that never was');
    await discardSet(context.client, set, kinds);
    context.events.normal(object, 'MachinePartsRemoved', `Removed what was made for Machine ${set.name}`);
  }

  async #remove({ context, object }: ReplicaScope, { metadata: { name, uid } }: Machine): Promise<void> {
    context.log.info({ machine: name }, 'Deleting a control-plane Machine');
    const key = { namespace: namespaceOf(object), name };
    await context.client.delete(Machine, key, { ...(uid !== undefined && { preconditions: { uid } }) });
    context.events.normal(object, 'MachineDeleted', `Deleted Machine ${name}`);
  }
}

const REASONS: ReadonlySet<string> = new Set([
  'InfrastructureTemplateCloningFailed',
  'BootstrapTemplateCloningFailed',
  'MachineGenerationFailed',
]);
