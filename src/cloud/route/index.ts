import { Node } from '../../api/generated/core-v1.ts';
import { terminalError } from '../../base/errors.ts';
import { controllerOf } from '../../kube/controller/controller.ts';
import { ItemBackoff } from '../../kube/queue/rate-limiter.ts';
import { needs } from '../../kube/rbac/need.ts';
import type { CloudController } from '../cloud-controller.ts';
import { clusterRanges } from './cidr-range.ts';
import { RouteReconciler, SPACING_MS } from './reconcile.ts';
import { RouteCalls } from './route-calls.ts';
import { changesRoutes, everyPeriod, type RouteTrigger } from './watches.ts';

/** Routes that somebody else changed are repaired so late at most, when Nodes are watched (B7). */
const SAFETY_PERIOD_MS = 12 * 60 * 60_000;

const NODE_CHANGE: RouteTrigger = 'node_change';

/** Keeps a route in the cloud for the pods of each Node (ccm §7). */
export const nodeRoute: CloudController = {
  name: 'node-route-controller',
  alias: 'route',
  account: 'route-controller',
  eventSource: 'route_controller',
  metricName: 'route',
  capability: 'routes',

  skipReason: ({ provider, settings }) => {
    if (!settings.configureCloudRoutes) return '--configure-cloud-routes is false';
    if (provider.capabilities.routes === undefined) return `provider ${provider.name} does not offer routes`;
    clusterRanges(settings.clusterCIDRs);
    return undefined;
  },

  parts: ({ manager, provider, settings }) => {
    const { routes } = provider.capabilities;
    if (routes === undefined)
      throw terminalError(
        'CapabilityMissing',
        `node-route-controller needs routes, and provider ${provider.name} does not offer them`,
      );
    const { clock, metrics } = manager;
    const { clusterName: cluster, concurrentRouteCalls: concurrency, watchRoutes } = settings;
    const calls = new RouteCalls({ routes, cluster, tags: provider.clusterTags, clock, concurrency });
    const reconciler = new RouteReconciler({
      calls,
      clusters: clusterRanges(settings.clusterCIDRs),
      tracksNodeAddresses: routes.declare().tracksNodeAddresses,
      spacingMs: watchRoutes ? SPACING_MS : 0,
      clock,
      metrics,
    });
    const limiter = () => new ItemBackoff({ baseMs: SPACING_MS, maxMs: SPACING_MS });
    const periodMs = watchRoutes ? SAFETY_PERIOD_MS : settings.routeReconciliationPeriodMs;
    return [
      // Each call has a deadline of its own; a thousand routes may take longer than one reconcile is given.
      controllerOf('node-route', { queueName: 'Routes', maxConcurrent: 1, timeoutMs: 0, limiter })
        .watches(Node, () => [{ name: NODE_CHANGE }], [(event) => watchRoutes && changesRoutes(event)])
        .watchesChannel(everyPeriod(clock, periodMs))
        // The list is its own, past any cache: it is asked for before all routes go.
        .needs(needs(Node, ['list']), needs(Node, ['patch'], { subresource: 'status' }))
        .reconcileKeys((key, context) => reconciler.reconcile(key, context)),
    ];
  },
};
