import { type Cluster, type ContractReference, Machine } from '../../../api/cluster-api/core-v1beta2.ts';
import { type Node, Node as NodeKind } from '../../../api/generated/core-v1.ts';
import { after, type ReconcileContext, type Reconciler, type Result } from '../../../kube/controller/reconcile.ts';
import { controllerReferenceOf } from '../../../object/owner-references.ts';
import { clusterOf, isPaused, tellPaused } from './cluster-scope.ts';
import type { External, ExternalObjects } from './external-objects.ts';
import { adoptedMachine, claimedByMachine } from './machine-claim.ts';
import { readyForMs } from './machine-conditions.ts';
import { MachineDeletion } from './machine-deletion.ts';
import { desiredMachineSpec, desiredMachineStatus } from './machine-desired.ts';
import { isProvisioned, type MachineFacts, type NodeFact } from './machine-facts.ts';
import { providerIdOf } from './provider-contract.ts';
import type { WorkloadNodes } from './workload-nodes.ts';
import { writeChanges } from './write-changes.ts';

/** While something is missing that nobody tells of by itself, such as a Node. */
const SOON_MS = 10_000;
/** A Node that fails is found out within this time. */
const LATER_MS = 60_000;

export interface MachineParts {
  readonly externals: ExternalObjects;
  readonly nodes: WorkloadNodes;
}

/** Brings together bootstrap data, infrastructure and Node of a Machine (S5–S9). */
export class MachineReconciler implements Reconciler<Machine> {
  readonly #parts: MachineParts;
  readonly #deletion: MachineDeletion;

  constructor(parts: MachineParts) {
    this.#parts = parts;
    this.#deletion = new MachineDeletion(parts);
  }

  async reconcile(stored: Machine, context: ReconcileContext): Promise<Result> {
    const cluster = await clusterOf(stored, stored.spec.clusterName, context);
    if (isPaused(cluster, stored)) return tellPaused(Machine, stored, context);
    if (stored.metadata.deletionTimestamp !== undefined) return this.#deletion.run(stored, cluster, context);
    const machine = await adopt(stored, cluster, context);
    const config = await this.#claimed(machine, machine.spec.bootstrap.configRef, context);
    const infrastructure = await this.#claimed(machine, machine.spec.infrastructureRef, context);
    const node = await this.#node(machine, { cluster, infrastructure }, context);
    const facts: MachineFacts = { cluster, config, infrastructure, node };
    await tell(machine, facts, context);
    return next(machine, facts, context);
  }

  async #claimed(
    machine: Machine,
    reference: ContractReference | undefined,
    context: ReconcileContext,
  ): Promise<External | undefined> {
    if (reference === undefined) return undefined;
    const { namespace = '' } = machine.metadata;
    const found = await this.#parts.externals.find(reference, namespace, context);
    if (found === undefined || found.object.metadata.deletionTimestamp !== undefined) return found;
    return this.#parts.externals.claim(found, (object) => claimedByMachine(object, machine), context);
  }

  async #node(
    machine: Machine,
    { cluster, infrastructure }: Pick<MachineFacts, 'cluster' | 'infrastructure'>,
    context: ReconcileContext,
  ): Promise<NodeFact> {
    const providerId = infrastructure === undefined ? machine.spec.providerID : providerIdOf(infrastructure);
    if (providerId === undefined || !isProvisioned(machine, infrastructure)) return { state: 'unexpected' };
    const answer = await this.#parts.nodes.of(cluster, context);
    if (!answer.isKnown) return { state: 'unknown', why: answer.why };
    const node = answer.nodes.find(({ spec }) => spec?.providerID === providerId);
    if (node === undefined) return { state: 'absent' };
    const annotations = nodeAnnotations(machine);
    if (!hasAll(node.metadata.annotations, annotations)) {
      const { name } = node.metadata;
      const body = { metadata: { annotations: { ...annotations } } };
      await answer.client.patch(NodeKind, { name }, { type: 'merge', body });
    }
    return { state: 'found', node };
  }
}

async function adopt(stored: Machine, cluster: Cluster, { client }: ReconcileContext): Promise<Machine> {
  return writeChanges(client, Machine, stored, adoptedMachine(stored, cluster));
}

async function tell(machine: Machine, facts: MachineFacts, context: ReconcileContext): Promise<void> {
  const { client, now, events } = context;
  const spec = desiredMachineSpec(machine, facts);
  await writeChanges(client, Machine, machine, { spec, status: desiredMachineStatus(machine, facts, now()) });
  if (facts.node.state !== 'found' || machine.status?.nodeRef !== undefined) return;
  events.normal(machine, 'SuccessfulSetNodeRef', `The Node is ${facts.node.node.metadata.name}`);
}

function next(
  machine: Machine,
  { config, infrastructure, node }: MachineFacts,
  { now }: ReconcileContext,
): Result {
  const isMissing =
    infrastructure === undefined || (machine.spec.bootstrap.configRef !== undefined && config === undefined);
  const isReady = node.state === 'found' && isNodeReady(node.node);
  const isWaiting = isMissing || (node.state !== 'unexpected' && !isReady);
  const missingMs = -readyForMs(machine, now());
  if (isReady && missingMs > 0) return after(missingMs);
  return after(isWaiting ? SOON_MS : LATER_MS);
}

const isNodeReady = ({ status }: Node): boolean =>
  status?.conditions?.some(({ type, status: found }) => type === 'Ready' && found === 'True') === true;

/** By which people find the Machine of a Node. */
function nodeAnnotations(machine: Machine): Readonly<Record<string, string>> {
  const { namespace = '', name } = machine.metadata;
  const owner = controllerReferenceOf(machine);
  return {
    'cluster.x-k8s.io/cluster-name': machine.spec.clusterName,
    'cluster.x-k8s.io/cluster-namespace': namespace,
    'cluster.x-k8s.io/machine': name,
    ...(owner !== undefined && {
      'cluster.x-k8s.io/owner-kind': owner.kind,
      'cluster.x-k8s.io/owner-name': owner.name,
    }),
  };
}

const hasAll = (
  annotations: Readonly<Record<string, string>> = {},
  wanted: Readonly<Record<string, string>>,
): boolean => Object.entries(wanted).every(([key, value]) => annotations[key] === value);
