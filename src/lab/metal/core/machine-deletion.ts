import { type Cluster, MACHINE_FINALIZER, Machine } from '../../../api/cluster-api/core-v1beta2.ts';
import { Node } from '../../../api/generated/core-v1.ts';
import { after, DONE, type ReconcileContext, type Result } from '../../../kube/controller/reconcile.ts';
import type { External, ExternalObjects } from './external-objects.ts';
import { desiredMachineStatus } from './machine-desired.ts';
import { drainNode } from './node-drain.ts';
import type { WorkloadNodes } from './workload-nodes.ts';
import { writeChanges } from './write-changes.ts';

const SOON_MS = 10_000;

/** A step of a deletion that is not over. */
interface Pending {
  readonly reason: string;
  readonly message: string;
  /** Undefined where an event comes when it is over. */
  readonly againMs?: number;
}

interface Scope {
  readonly machine: Machine;
  readonly cluster: Cluster;
  readonly context: ReconcileContext;
}

/** Ends a Machine: its Node is emptied where that was asked for, then infrastructure, bootstrap data, Node (S9). */
export class MachineDeletion {
  readonly #externals: ExternalObjects;
  readonly #nodes: WorkloadNodes;

  constructor({ externals, nodes }: { readonly externals: ExternalObjects; readonly nodes: WorkloadNodes }) {
    this.#externals = externals;
    this.#nodes = nodes;
  }

  async run(machine: Machine, cluster: Cluster, context: ReconcileContext): Promise<Result> {
    if (machine.metadata.finalizers?.includes(MACHINE_FINALIZER) !== true) return DONE;
    const scope = { machine, cluster, context };
    const pending = await this.#firstPending(scope);
    if (pending === undefined) {
      await context.client.removeFinalizer(Machine, machine, MACHINE_FINALIZER);
      return DONE;
    }
    await this.#tell(scope, pending);
    return pending.againMs === undefined ? DONE : after(pending.againMs);
  }

  async #firstPending(scope: Scope): Promise<Pending | undefined> {
    const mayDeleteNode = await this.#mayDeleteNode(scope);
    return (
      (mayDeleteNode ? await this.#drained(scope) : undefined) ??
      (await this.#infrastructureGone(scope)) ??
      (await this.#bootstrapGone(scope)) ??
      (mayDeleteNode ? await this.#nodeGone(scope) : undefined)
    );
  }

  /** The Node goes with its cluster when that is what is being deleted. */
  async #mayDeleteNode({ machine, cluster, context }: Scope): Promise<boolean> {
    if (cluster.metadata.deletionTimestamp !== undefined) return false;
    const reference = cluster.spec?.controlPlaneRef;
    if (reference === undefined) return true;
    const { namespace = '' } = machine.metadata;
    const controlPlane = await this.#externals.find(reference, namespace, context);
    return controlPlane?.object.metadata.deletionTimestamp === undefined;
  }

  async #drained({ machine, cluster, context }: Scope): Promise<Pending | undefined> {
    const { nodeDrainTimeoutSeconds } = machine.spec.deletion ?? {};
    const name = machine.status?.nodeRef?.name;
    // Without a time limit the lab does not wait for pods: nobody could tell the difference.
    if (name === undefined || nodeDrainTimeoutSeconds === undefined) return undefined;
    if (isOver(machine, nodeDrainTimeoutSeconds, context.now())) return undefined;
    const answer = await this.#nodes.of(cluster, context);
    if (!answer.isKnown) return undefined;
    const left = await drainNode(answer.client, name);
    const message = `${left} pods are still on Node ${name}`;
    return left === 0 ? undefined : { reason: 'DrainingNode', message, againMs: SOON_MS };
  }

  async #infrastructureGone({ machine, context }: Scope): Promise<Pending | undefined> {
    const found = await this.#externals.find(
      machine.spec.infrastructureRef,
      machine.metadata.namespace ?? '',
      context,
    );
    return this.#gone(found, 'WaitingForInfrastructureDeletion', context);
  }

  async #bootstrapGone({ machine, context }: Scope): Promise<Pending | undefined> {
    const { configRef } = machine.spec.bootstrap;
    if (configRef === undefined) return undefined;
    const found = await this.#externals.find(configRef, machine.metadata.namespace ?? '', context);
    return this.#gone(found, 'WaitingForBootstrapDeletion', context);
  }

  async #gone(
    found: External | undefined,
    reason: string,
    context: ReconcileContext,
  ): Promise<Pending | undefined> {
    if (found === undefined) return undefined;
    await this.#externals.remove(found, context);
    const { kind, metadata } = found.object;
    return { reason, message: `${kind} ${metadata.name} is being deleted`, againMs: SOON_MS };
  }

  async #nodeGone({ machine, cluster, context }: Scope): Promise<Pending | undefined> {
    const { nodeRef } = machine.status ?? {};
    const answer = await this.#nodes.of(cluster, context);
    if (!answer.isKnown) {
      const { nodeDeletionTimeoutSeconds = 0 } = machine.spec.deletion ?? {};
      const isEnough = nodeRef === undefined || isOver(machine, nodeDeletionTimeoutSeconds, context.now());
      return isEnough ? undefined : { reason: 'DeletingNode', message: answer.why, againMs: SOON_MS };
    }
    const name = nodeRef?.name ?? nodeWithId(answer.nodes, machine.spec.providerID)?.metadata.name;
    if (name !== undefined) await answer.client.delete(Node, { name });
    return undefined;
  }

  async #tell({ machine, cluster, context }: Scope, { reason, message }: Pending): Promise<void> {
    const facts = {
      cluster,
      config: undefined,
      infrastructure: undefined,
      node: { state: 'unknown', why: 'the Machine is being deleted' } as const,
      deletion: { reason, message },
    };
    await writeChanges(context.client, Machine, machine, {
      status: desiredMachineStatus(machine, facts, context.now()),
    });
  }
}

const nodeWithId = (nodes: readonly Node[], providerId: string | undefined): Node | undefined =>
  providerId === undefined ? undefined : nodes.find(({ spec }) => spec?.providerID === providerId);

/** Counted from the moment somebody asked for the deletion; zero seconds are never over. */
const isOver = ({ metadata: { deletionTimestamp = '' } }: Machine, seconds: number, now: Date): boolean =>
  seconds > 0 && now.getTime() - Date.parse(deletionTimestamp) >= seconds * 1000;
