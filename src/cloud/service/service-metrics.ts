import type { Counter, Histogram, Metrics } from '../../kube/metrics/metrics.ts';

/** 1, 2, 4 … seconds, as upstream: dashboards read these names (S28). */
const BUCKETS = Array.from({ length: 15 }, (_, at) => 2 ** at);

export interface ServiceMetrics {
  /** Calls that configure a balancer, for changes of Services and of nodes. */
  readonly syncs: Counter;
  readonly nodeSyncErrors: Counter;
  /** One pass over all Services. */
  readonly nodeSyncSeconds: Histogram;
  /** One balancer. */
  readonly updateSeconds: Histogram;
}

export function serviceMetrics(metrics: Metrics): ServiceMetrics {
  const named = (name: string, help: string) => ({ name: `service_controller_${name}`, help });
  const made: ServiceMetrics = {
    syncs: metrics.counter(
      named('loadbalancer_sync_total', 'Load balancers configured for changes of Services or nodes'),
    ),
    nodeSyncErrors: metrics.counter(
      named('nodesync_error_total', 'Load balancers whose backends could not be updated'),
    ),
    nodeSyncSeconds: metrics.histogram({
      ...named('nodesync_latency_seconds', 'How long it takes to update the backends of all load balancers'),
      buckets: BUCKETS,
    }),
    updateSeconds: metrics.histogram({
      ...named('update_loadbalancer_host_latency_seconds', 'How long it takes to update the backends of one'),
      buckets: BUCKETS,
    }),
  };
  made.syncs.add({}, 0);
  made.nodeSyncErrors.add({}, 0);
  return made;
}
