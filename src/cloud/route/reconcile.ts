import { Node } from '../../api/generated/core-v1.ts';
import type { JsonObject } from '../../api/json.ts';
import type { ObjectKey } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { goDuration } from '../../base/duration.ts';
import { messageOf, retryError, SlipwayError } from '../../base/errors.ts';
import { isNotFound } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { after, DONE, type ReconcileContext, type Result } from '../../kube/controller/reconcile.ts';
import type { Counter, Metrics } from '../../kube/metrics/metrics.ts';
import { inParallel } from '../instances/in-parallel.ts';
import type { CidrRange } from './cidr-range.ts';
import { networkCondition, planRoutes, type RoutePlan } from './plan.ts';
import type { RouteCalls, RouteFailure } from './route-calls.ts';
import { TRIGGERS } from './watches.ts';

const OUTCOMES = ['changed', 'noop', 'error'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** Also between two looks at an API server that knows no Node. */
export const SPACING_MS = 10_000;
/** The API server has a limit of its own for each client. */
const CONCURRENT_PATCHES = 20;

export interface RouteReconcilerOptions {
  readonly calls: RouteCalls;
  readonly clusters: readonly CidrRange[];
  readonly tracksNodeAddresses: boolean;
  /** Between the starts of two runs; 0: they come at their own rate (T2). */
  readonly spacingMs: number;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** Brings the routes of the cloud to what the Nodes say, all of them in one run. Never called twice at once. */
export class RouteReconciler {
  readonly #options: RouteReconcilerOptions;
  readonly #runs: Counter;
  #startedMs = -Infinity;
  /** Since when the API server knows no Node; undefined while it knows one. */
  #emptySinceMs: number | undefined;

  constructor(options: RouteReconcilerOptions) {
    this.#options = options;
    this.#runs = options.metrics.counter({
      name: 'route_controller_route_sync_total',
      help: 'Runs over all routes, by how they ended and what began them.',
      labels: ['outcome', 'trigger'],
    });
    for (const outcome of OUTCOMES) for (const trigger of TRIGGERS) this.#runs.add({ outcome, trigger }, 0);
  }

  async reconcile({ name }: ObjectKey, context: ReconcileContext): Promise<Result> {
    const { clock, spacingMs } = this.#options;
    const dueInMs = this.#startedMs + spacingMs - clock.monotonicMs();
    if (dueInMs > 0) return after(dueInMs);
    this.#startedMs = clock.monotonicMs();
    const trigger = TRIGGERS.find((one) => one === name) ?? 'periodic';
    let outcome: Outcome = 'error';
    try {
      const plan = await this.#plan(context);
      if (plan !== undefined) await this.#carryOut(plan, context);
      outcome = plan === undefined || isEmpty(plan) ? 'noop' : 'changed';
      return plan === undefined ? after(SPACING_MS) : DONE;
    } finally {
      this.#runs.add({ outcome, trigger });
    }
  }

  /** Undefined when it would remove too much for what is known: then it is time to look again later. */
  async #plan(context: ReconcileContext): Promise<RoutePlan | undefined> {
    const { client, signal, log } = context;
    const { calls, clusters, tracksNodeAddresses } = this.#options;
    const routes = await calls.list({ signal, log }).catch((error: unknown) => {
      throw retryable('RoutesUnknown', `could not list the routes of the cluster: ${messageOf(error)}`, error);
    });
    const { items: nodes } = await client.list(Node, { signal });
    if (nodes.length > 0) this.#emptySinceMs = undefined;
    const plan = planRoutes({ routes, nodes, clusters, tracksNodeAddresses });
    if (plan.remove.length === 0 || (await this.#isBelievable(nodes, context))) return plan;
    const message = 'The API server knows no node; looking again before routes are removed';
    log.warn({ routes: plan.remove.length }, message);
    return undefined;
  }

  async #carryOut(plan: RoutePlan, context: ReconcileContext): Promise<void> {
    const { signal, log } = context;
    const failures = await this.#options.calls.carryOut(plan, { signal, log });
    signal.throwIfAborted();
    tellOf(failures, context);
    const unwritten = await writeConditions(plan, failures, context);
    const [first] = failures;
    if (first !== undefined) throw incomplete(first, failures.length);
    if (unwritten.length > 0) throw unwritten[0];
  }

  /**
   * An API server that suddenly knows no Node may be wrong, and all routes would go: it has to say so twice, some time
   * apart, the second time itself and not from the cache (reliability T2).
   */
  async #isBelievable(nodes: readonly Node[], { client, signal }: ReconcileContext): Promise<boolean> {
    const nowMs = this.#options.clock.monotonicMs();
    if (nodes.length > 0) return true;
    this.#emptySinceMs ??= nowMs;
    if (nowMs - this.#emptySinceMs < SPACING_MS) return false;
    const { items } = await client.live.list(Node, { limit: 1, signal });
    if (items.length > 0) this.#emptySinceMs = undefined;
    return items.length === 0;
  }
}

/** What went wrong; a Node whose condition cannot be written holds up no other. */
async function writeConditions(
  { nodes }: RoutePlan,
  failures: readonly RouteFailure[],
  { client, now, signal }: ReconcileContext,
): Promise<readonly unknown[]> {
  const unrouted = new Set(failures.map(({ node }) => node));
  const errors: unknown[] = [];
  await inParallel(nodes, { concurrency: CONCURRENT_PATCHES, signal }, async ({ node, hasCidrs }) => {
    const condition = networkCondition(node, hasCidrs && !unrouted.has(node), now());
    if (condition === undefined) return;
    await patchCondition(client, node, { ...condition }, signal).catch((error: unknown) => errors.push(error));
  });
  signal.throwIfAborted();
  return errors;
}

const isEmpty = ({ remove, nodes }: RoutePlan): boolean =>
  remove.length === 0 && nodes.every(({ create }) => create.length === 0);

/** Only this condition: the others belong to others. A Node that is gone needs none. */
async function patchCondition(
  client: KubeClient,
  { metadata: { name } }: Node,
  condition: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  const body = { status: { conditions: [condition] } };
  try {
    await client.patch(Node, { name }, { type: 'strategic', body }, { subresource: 'status', signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** A route that could not be created is the user's business; one that could not be removed is tried again (T6, T8). */
function tellOf(failures: readonly RouteFailure[], { events, log }: ReconcileContext): void {
  for (const { route, node, error, durationMs } of failures) {
    const { destinationCIDR: cidr } = route;
    if (node === undefined) {
      log.warn({ route: route.name ?? '', cidr, err: error }, 'Could not remove a route');
      continue;
    }
    const { name, uid = '' } = node.metadata;
    const took = goDuration(Math.round(durationMs));
    const note = `Could not create route ${uid} ${cidr} for node ${name} after ${took}: ${messageOf(error)}`;
    events.warning(node, 'FailedToCreateRoute', note);
  }
}

function incomplete({ route, node, error }: RouteFailure, count: number): Error {
  const what = `${node === undefined ? 'remove' : 'create'} the route to ${route.destinationCIDR}`;
  const more = count === 1 ? '' : ` (and ${count - 1} other failures)`;
  return retryable('RoutesIncomplete', `could not ${what}: ${messageOf(error)}${more}`, error);
}

/** Whatever the cloud thinks of a single call, the next run may go better. */
function retryable(reason: string, message: string, cause: unknown): Error {
  const retryAfterMs = cause instanceof SlipwayError ? cause.retryAfterMs : undefined;
  return retryError(reason, message, { cause, ...(retryAfterMs !== undefined && { retryAfterMs }) });
}
