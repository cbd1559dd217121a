import type { Node } from '../../api/generated/core-v1-types.ts';
import type { Clock } from '../../base/clock.ts';
import { isLeadershipLost } from '../../kube/client/api-error.ts';
import type { CallContext, Tags } from '../../sdk/capabilities/call.ts';
import type { CloudRoute, Routes } from '../../sdk/capabilities/routes.ts';
import { providerErrorKind } from '../../sdk/provider/provider-error.ts';
import { untilNoConflict } from '../conflict-attempts.ts';
import { inParallel } from '../instances/in-parallel.ts';
import { cidrText } from './cidr-range.ts';
import type { RoutePlan } from './plan.ts';

const ATTEMPTS = { most: 5, pauseMs: 100 };
const MOST_CALLS = 200;

export interface RouteCallOptions {
  readonly routes: Routes;
  readonly cluster: string;
  readonly tags: Tags;
  readonly clock: Clock;
  /** Most calls at once, as the user wants it. */
  readonly concurrency: number;
}

/** A call that did not work. */
export interface RouteFailure {
  readonly route: CloudRoute;
  /** For whom it was to be created; absent for a removal. */
  readonly node?: Node;
  readonly error: unknown;
  readonly durationMs: number;
}

interface Step {
  readonly remove: readonly CloudRoute[];
  readonly create?: { readonly route: CloudRoute; readonly node: Node };
}

/** Makes the calls of a plan, so many at once (T7, T8). */
export class RouteCalls {
  readonly #options: RouteCallOptions;

  constructor(options: RouteCallOptions) {
    this.#options = options;
  }

  list(call: CallContext): Promise<readonly CloudRoute[]> {
    const { routes, cluster, tags } = this.#options;
    return routes.list({ cluster, tags }, call);
  }

  /**
   * What failed; one call that fails ends no other. Begins no more calls once the signal has aborted. Rejects only when
   * this process leads no more.
   */
  async carryOut(plan: RoutePlan, call: CallContext): Promise<readonly RouteFailure[]> {
    const { routes, concurrency: wanted } = this.#options;
    const { tracksNodeAddresses, maxConcurrent = MOST_CALLS } = routes.declare();
    const concurrency = Math.max(1, Math.min(maxConcurrent, wanted));
    const failures: RouteFailure[] = [];
    for (const steps of stagesOf(plan, tracksNodeAddresses))
      await inParallel(steps, { concurrency, signal: call.signal }, async (step) => {
        failures.push(...(await this.#take(step, call)));
      });
    return failures;
  }

  async #take({ remove, create }: Step, call: CallContext): Promise<readonly RouteFailure[]> {
    const failures: RouteFailure[] = [];
    for (const route of remove) failures.push(...(await this.#tried({ route }, () => this.#remove(route, call))));
    if (create !== undefined && !call.signal.aborted)
      failures.push(...(await this.#tried(create, () => this.#create(create.route, create.node, call))));
    return failures;
  }

  async #tried(
    what: Pick<RouteFailure, 'route' | 'node'>,
    act: () => Promise<void>,
  ): Promise<readonly RouteFailure[]> {
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    try {
      await act();
      return [];
    } catch (error) {
      // Nothing of this is the affair of a process that leads no more.
      if (isLeadershipLost(error)) throw error;
      return [{ ...what, error, durationMs: clock.monotonicMs() - startMs }];
    }
  }

  async #remove(route: CloudRoute, call: CallContext): Promise<void> {
    const { routes, cluster, tags } = this.#options;
    await routes.remove(route, { cluster, tags }, call);
    call.log.info(
      { route: route.name ?? '', node: route.targetNode, cidr: route.destinationCIDR },
      'Removed route',
    );
  }

  /** Only a conflict may be over in a moment. */
  async #create(route: CloudRoute, node: Node, call: CallContext): Promise<void> {
    const { routes, cluster, tags, clock } = this.#options;
    const { providerID = '' } = node.spec;
    const nameHint = node.metadata.uid ?? node.metadata.name;
    const creation = { cluster, nameHint, tags, ...(providerID !== '' && { providerID }) };
    const isRetried = (thrown: unknown): boolean => providerErrorKind(thrown) === 'conflict';
    const attempts = { ...ATTEMPTS, clock, signal: call.signal, isRetried };
    await untilNoConflict(attempts, () => routes.create(route, creation, call));
    call.log.info({ node: route.targetNode, cidr: route.destinationCIDR }, 'Created route');
  }
}

/**
 * What runs together, stage after stage. Where routes hold addresses of nodes, all removals come first: one route may be
 * in both lists. Else only those to the same destination wait for each other (T7).
 */
function stagesOf({ remove, nodes }: RoutePlan, isRemovalFirst: boolean): readonly (readonly Step[])[] {
  const creations = nodes.flatMap(({ node, create }) => create.map((route) => ({ route, node })));
  if (isRemovalFirst)
    return [remove.map((route) => ({ remove: [route] })), creations.map((create) => ({ remove: [], create }))];
  const left = Map.groupBy(remove, ({ destinationCIDR }) => cidrText(destinationCIDR));
  const steps = creations.map((create): Step => {
    const destination = cidrText(create.route.destinationCIDR);
    const before = left.get(destination) ?? [];
    left.delete(destination);
    return { remove: before, create };
  });
  return [[...[...left.values()].flat().map((route) => ({ remove: [route] })), ...steps]];
}
