import { Service } from '../../api/generated/core-v1.ts';
import { keyOf, keyText, type ObjectKey } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { DONE, type ReconcileContext, type Result } from '../../kube/controller/reconcile.ts';
import type { Backend, BalancerRef } from '../../sdk/capabilities/load-balancers.ts';
import { inParallel } from '../instances/in-parallel.ts';
import { balancerRef } from './balancer-plan.ts';
import { type Balancing, callOf, isCutOff, textOf } from './balancing.ts';
import { areSameMachines, backendsOf, machinesOf } from './eligible-nodes.ts';
import { isBeingDeleted, wantsBalancer } from './triggers.ts';

export interface NodeSyncOptions {
  /** As the cache has them now. */
  readonly services: () => readonly Service[];
  /** A balancer whose backends could not be set is ensured as a whole (S26). */
  readonly repair: (key: ObjectKey) => void;
  /** Balancers at once (S23). */
  readonly concurrency: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

const MOST_NAMES = 20;

/** Brings the backends of all balancers to what the nodes are now (§6.4). */
export class NodeSync {
  readonly #balancing: Balancing;
  readonly #options: NodeSyncOptions;

  constructor(balancing: Balancing, options: NodeSyncOptions) {
    this.#balancing = balancing;
    this.#options = options;
  }

  /** One pass. Fails only when it is cut off: what goes wrong with a balancer is repaired by its own sync. */
  async run(context: ReconcileContext): Promise<Result> {
    const { clock, concurrency, services } = this.#options;
    const { locks, metrics } = this.#balancing;
    const startMs = clock.monotonicMs();
    const keys = services().filter(hasBackends).map(keyOf);
    const { signal } = context;
    // One that is being worked on may take long: the others need not wait for it.
    const isBusy = (key: ObjectKey) => Number(locks.isHeld(keyText(key)));
    const freeFirst = keys.toSorted((a, b) => isBusy(a) - isBusy(b));
    await inParallel(freeFirst, { concurrency, signal }, (key) => this.#sync(key, context));
    metrics.nodeSyncSeconds.observe({}, (clock.monotonicMs() - startMs) / 1000);
    return DONE;
  }

  #sync(key: ObjectKey, context: ReconcileContext): Promise<void> {
    return this.#balancing.locks.run(keyText(key), context.signal, async () => {
      // Asked again here: a sync may have changed or removed the balancer while this one waited (B3).
      const service = await context.client.find(Service, key, { signal: context.signal });
      if (service !== undefined && hasBackends(service)) await this.#compare(service, context);
    });
  }

  /** Before its first ensure a Service has nothing to compare with, and that ensure will see these nodes itself (B12). */
  async #compare(service: Service, context: ReconcileContext): Promise<void> {
    const { eligibility, memory, nodes, owner } = this.#balancing;
    const key = keyText(keyOf(service));
    const known = memory.get(key);
    const ref = balancerRef(service, owner);
    if (known?.machines === undefined || known.ref.service.uid !== ref.service.uid) return;
    const backends = backendsOf(nodes(), eligibility);
    const machines = machinesOf(backends);
    if (areSameMachines(known.machines, machines)) return;
    memory.note(key, { machines });
    try {
      await this.#update(service, { ref, backends }, context);
    } catch (thrown) {
      memory.note(key, { machines: known.machines });
      throw thrown;
    }
  }

  async #update(
    service: Service,
    { ref, backends }: { readonly ref: BalancerRef; readonly backends: readonly Backend[] },
    context: ReconcileContext,
  ): Promise<void> {
    const { cloud, metrics } = this.#balancing;
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    metrics.syncs.add({});
    try {
      const outcome = await cloud.setBackends(ref, backends, callOf(context));
      if (outcome === 'updated') tellUpdated(service, backends, context);
    } catch (thrown) {
      if (isCutOff(thrown, context)) throw thrown;
      if (await this.#mayExist(ref, context)) this.#failed(service, backends, { thrown, context });
    } finally {
      metrics.updateSeconds.observe({}, (clock.monotonicMs() - startMs) / 1000);
    }
  }

  async #mayExist(ref: BalancerRef, context: ReconcileContext): Promise<boolean> {
    try {
      return (await this.#balancing.cloud.find(ref, callOf(context))) !== undefined;
    } catch {
      context.signal.throwIfAborted();
      // Unknown: it may be there, and the failure that counts is the one before.
      return true;
    }
  }

  #failed(
    service: Service,
    backends: readonly Backend[],
    { thrown, context }: { readonly thrown: unknown; readonly context: ReconcileContext },
  ): void {
    const { memory, metrics } = this.#balancing;
    const note = `Error updating load balancer with new hosts ${hostsText(backends)}, error: ${textOf(thrown)}`;
    context.events.warning(service, 'UpdateLoadBalancerFailed', note);
    context.log.warn({ service: keyText(keyOf(service)), err: thrown }, 'Could not update backends');
    metrics.nodeSyncErrors.add({});
    memory.failed(keyText(keyOf(service)));
    this.#options.repair(keyOf(service));
  }
}

const hasBackends = (service: Service): boolean => wantsBalancer(service) && !isBeingDeleted(service);

function tellUpdated(service: Service, backends: readonly Backend[], { events }: ReconcileContext): void {
  if (backends.length > 0) events.normal(service, 'UpdatedLoadBalancer', 'Updated load balancer with new hosts');
  else events.warning(service, 'UnAvailableLoadBalancer', 'There are no available nodes for LoadBalancer');
}

function hostsText(backends: readonly Backend[]): string {
  const names = backends.slice(0, MOST_NAMES).map(({ nodeName }) => nodeName);
  const more = backends.length - names.length;
  const listed = [...names, ...(more > 0 ? [`<${more} more>`] : [])].join(' ');
  return `[${listed}] [node names limited, total number of nodes: ${backends.length}]`;
}
