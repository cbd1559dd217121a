import { Service } from '../../api/generated/core-v1.ts';
import { keyOf, keyText, type ObjectKey } from '../../api/object.ts';
import { retryError } from '../../base/errors.ts';
import { isNotFound } from '../../kube/client/api-error.ts';
import type { Patch } from '../../kube/client/kube-client.ts';
import { after, DONE, type ReconcileContext, type Result } from '../../kube/controller/reconcile.ts';
import { LOW_PRIORITY } from '../../kube/queue/work-queue.ts';
import type { Backend, BalancerIngress, BalancerOutcome } from '../../sdk/capabilities/load-balancers.ts';
import { balancerPlan, balancerRef } from './balancer-plan.ts';
import { type Balancing, callOf, isCutOff, step, textOf } from './balancing.ts';
import { backendsOf, machinesOf } from './eligible-nodes.ts';
import { checkPlan } from './plan-check.ts';
import type { LastOutcome } from './service-memory.ts';
import { showsIngress, withFinalizer, withIngress, withoutFinalizer } from './service-patches.ts';
import { hasBalancerFinalizer, isBeingDeleted, needsUpdate, wantsBalancer } from './triggers.ts';

export interface ServiceReconcilerOptions {
  /** Between two ensures of a balancer; 0: never without a change (B5). */
  readonly resyncMs: number;
  /** Throws when that a Service is not there may be a mistake of the API server. */
  readonly confirmGone: () => void;
}

/** Gives Services the load balancers that they ask for, and takes away those that nobody asks for any more (§6.2). */
export class ServiceReconciler {
  readonly #balancing: Balancing;
  readonly #confirmGone: ServiceReconcilerOptions['confirmGone'];
  /** After an ensure that went well (B5). What is new comes first (B6). */
  readonly #again: Result;

  constructor(balancing: Balancing, { resyncMs, confirmGone }: ServiceReconcilerOptions) {
    this.#balancing = balancing;
    this.#confirmGone = confirmGone;
    this.#again = resyncMs > 0 ? { requeueAfterMs: resyncMs, priority: LOW_PRIORITY } : DONE;
  }

  reconcile(key: ObjectKey, context: ReconcileContext): Promise<Result> {
    return this.#balancing.locks.run(keyText(key), context.signal, () => this.#sync(key, context));
  }

  async #sync(key: ObjectKey, context: ReconcileContext): Promise<Result> {
    const { memory, owner } = this.#balancing;
    const service = await context.client.find(Service, key, { signal: context.signal });
    await this.#removeLost(keyText(key), service?.metadata.uid, context);
    if (service === undefined || this.#isDoneWith(service)) return DONE;
    memory.saw(keyText(key), service, balancerRef(service, owner));
    try {
      if (wantsBalancer(service) && !isBeingDeleted(service)) return await this.#ensure(service, context);
      await this.#cleanUp(service, context);
      return DONE;
    } catch (thrown) {
      memory.failed(keyText(key));
      if (!isCutOff(thrown, context)) {
        const note = `Error syncing load balancer: ${textOf(thrown)}`;
        context.events.warning(service, 'SyncLoadBalancerFailed', note);
      }
      throw thrown;
    }
  }

  /** It goes, and not because of us: others hold it back, and a finalizer could not be added any more. */
  #isDoneWith(service: Service): boolean {
    const isKnown = this.#balancing.memory.get(keyText(keyOf(service))) !== undefined;
    return isBeingDeleted(service) && !hasBalancerFinalizer(service) && !isKnown;
  }

  /** The balancer of a Service that went without its finalizer, or whose name another one has now (S6, S7). */
  async #removeLost(key: string, uid: string | undefined, context: ReconcileContext): Promise<void> {
    const { cloud, memory } = this.#balancing;
    const known = memory.get(key);
    if (known === undefined || known.ref.service.uid === uid) return;
    if (uid === undefined) this.#confirmGone();
    const { service, ref } = known;
    context.events.normal(service, 'DeletingLoadBalancer', 'Deleting load balancer');
    try {
      await step('failed to delete load balancer', () => cloud.remove(ref, callOf(context)));
    } catch (thrown) {
      const note = `Error deleting load balancer: ${textOf(thrown)}`;
      if (!isCutOff(thrown, context)) context.events.warning(service, 'DeleteLoadBalancerFailed', note);
      throw thrown;
    }
    context.events.normal(service, 'DeletedLoadBalancer', 'Deleted load balancer');
    memory.forget(key);
  }

  async #cleanUp(service: Service, context: ReconcileContext): Promise<void> {
    const { cloud, memory, owner } = this.#balancing;
    const key = keyText(keyOf(service));
    const ref = balancerRef(service, owner);
    const found = await step('failed to check if load balancer exists before cleanup', () =>
      cloud.find(ref, callOf(context)),
    );
    if (found !== undefined || memory.get(key)?.isUnfinished === true) {
      context.events.normal(service, 'DeletingLoadBalancer', 'Deleting load balancer');
      context.log.info({ balancer: ref.name }, 'Deleting load balancer');
      await step('failed to delete load balancer', () => cloud.remove(ref, callOf(context)));
    }
    const left = await this.#removeFinalizer(service, context);
    context.events.normal(service, 'DeletedLoadBalancer', 'Deleted load balancer');
    if (left !== undefined) await this.#showIngress(left, [], context);
    memory.forget(key);
  }

  /** What is left of the Service; undefined when that was what it waited for. */
  async #removeFinalizer(service: Service, context: ReconcileContext): Promise<Service | undefined> {
    if (!hasBalancerFinalizer(service)) return service;
    const removing = this.#patch(service, withoutFinalizer(service), context).catch(undefinedWhenGone);
    const left = await step('failed to remove load balancer cleanup finalizer', () => removing);
    const isHeld = left !== undefined && (left.metadata.finalizers ?? []).length > 0;
    return left !== undefined && (isHeld || !isBeingDeleted(left)) ? left : undefined;
  }

  async #ensure(service: Service, context: ReconcileContext): Promise<Result> {
    const { cloud, eligibility, memory, metrics, nodes, owner } = this.#balancing;
    const key = keyText(keyOf(service));
    const before = this.#repeated(service);
    if (before === undefined) context.events.normal(service, 'EnsuringLoadBalancer', 'Ensuring load balancer');
    // Before the first call: a crash after it must not leave a balancer that nobody remembers (S13).
    const held = await this.#addFinalizer(service, context);
    const backends = backendsOf(nodes(), eligibility);
    if (before === undefined) warnOfNone(service, backends, context);
    memory.note(key, { machines: machinesOf(backends) });
    const plan = balancerPlan(service, backends, owner);
    checkPlan(plan, cloud.declare());
    memory.note(key, { isUnfinished: true });
    metrics.syncs.add({});
    const outcome = await step('failed to ensure load balancer', () => cloud.ensure(plan, callOf(context)));
    return await this.#conclude(held, outcome, { before, context });
  }

  /** What came of the last attempt, if it did not fail and this is the same again: nothing of it is news. */
  #repeated(service: Service): LastOutcome | undefined {
    const last = this.#balancing.memory.get(keyText(keyOf(service)))?.last;
    return last === undefined || needsUpdate(last.service, service) ? undefined : last;
  }

  async #conclude(
    service: Service,
    outcome: BalancerOutcome,
    { before, context }: { readonly before: LastOutcome | undefined; readonly context: ReconcileContext },
  ): Promise<Result> {
    const { memory } = this.#balancing;
    const key = keyText(keyOf(service));
    if (!isAnswer(outcome)) throw retryError('LoadBalancerFailed', NO_ANSWER);
    const ended = (kind: LastOutcome['kind'], why = '') => ({ last: { service, kind, why } });
    switch (outcome.kind) {
      case 'pending': {
        const { why, retryAfterMs } = outcome;
        if (before?.why !== why)
          context.events.normal(service, 'LoadBalancerPending', `Waiting for the load balancer: ${textOf(why)}`);
        memory.note(key, ended('pending', why));
        // A wait that is none would end the asking.
        return after(retryAfterMs > 0 ? retryAfterMs : SHORTEST_WAIT_MS);
      }
      case 'elsewhere':
        memory.note(key, { ...ended('elsewhere'), isUnfinished: false });
        return this.#again;
      case 'ready':
        if (before?.kind !== 'ready' || !showsIngress(service, outcome.ingress)) {
          context.events.normal(service, 'EnsuredLoadBalancer', 'Ensured load balancer');
          context.log.info({ ingress: outcome.ingress }, 'Ensured load balancer');
        }
        memory.note(key, { isUnfinished: false });
        await this.#showIngress(service, outcome.ingress, context);
        memory.note(key, ended('ready'));
        return this.#again;
    }
  }

  async #addFinalizer(service: Service, context: ReconcileContext): Promise<Service> {
    if (hasBalancerFinalizer(service)) return service;
    const what = 'failed to add load balancer cleanup finalizer';
    return await step(what, () => this.#patch(service, withFinalizer(service), context));
  }

  async #showIngress(
    service: Service,
    ingress: readonly BalancerIngress[],
    context: ReconcileContext,
  ): Promise<void> {
    if (showsIngress(service, ingress)) return;
    const showing = this.#patch(service, withIngress(service, ingress), context).catch(undefinedWhenGone);
    await step('failed to update load balancer status', () => showing);
  }

  /** Through the status: the roles of this controller allow no other write, and metadata is taken from there too (P14). */
  #patch(service: Service, patch: Patch, { client, signal }: ReconcileContext): Promise<Service> {
    return client.patch(Service, keyOf(service), patch, { subresource: 'status', signal });
  }
}

const SHORTEST_WAIT_MS = 1000;
const NO_ANSWER = 'service status returned by EnsureLoadBalancer is nil';

/** Types do not hold for everybody who writes a provider: no answer is a failure, and not a balancer without addresses (S16). */
const isAnswer = (outcome: BalancerOutcome | null | undefined): boolean =>
  outcome !== null && outcome !== undefined && (outcome.kind !== 'ready' || Array.isArray(outcome.ingress));

function warnOfNone(service: Service, backends: readonly Backend[], { events }: ReconcileContext): void {
  if (backends.length === 0)
    events.warning(service, 'UnAvailableLoadBalancer', 'There are no available nodes for LoadBalancer');
}

function undefinedWhenGone(thrown: unknown): undefined {
  if (!isNotFound(thrown)) throw thrown;
}
