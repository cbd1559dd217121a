import { Node } from '../../api/generated/core-v1.ts';
import { terminalError } from '../../base/errors.ts';
import type { KindCacheOptions } from '../../kube/cache/cache.ts';
import { controllerFor } from '../../kube/controller/controller.ts';
import { ItemBackoff, slowestOf } from '../../kube/queue/rate-limiter.ts';
import { TokenBucket } from '../../kube/queue/token-bucket.ts';
import { needs } from '../../kube/rbac/need.ts';
import type { CloudController, CloudEnvironment } from '../cloud-controller.ts';
import { InstanceObserver } from '../instances/instance-observer.ts';
import { NodeMetrics } from './node-metrics.ts';
import { NodeRefresh } from './node-refresh.ts';
import { CloudNodeReconciler } from './reconcile.ts';
import { StatusWriter } from './status-writer.ts';

const NAME = 'cloud-node-controller';

/**
 * How the cache is to keep Nodes (`cache.byKind` of the manager that runs it): whole. With less, each Node is read from
 * the server once more before it is initialised, because an update deletes what it leaves out.
 */
export const NODE_CACHE: Readonly<Record<'nodes', KindCacheOptions>> = { nodes: { keepManagedFields: true } };

function parts({ manager, provider, settings }: CloudEnvironment) {
  const { instances: capability } = provider.capabilities;
  if (capability === undefined)
    throw terminalError(
      'CapabilityMissing',
      `${NAME} needs instances, and provider ${provider.name} does not offer them`,
    );
  const { clock, events } = manager;
  const instances = new InstanceObserver(capability, clock);
  const status = new StatusWriter({ clock, events });
  const metrics = new NodeMetrics(manager.metrics, clock);
  const { labelSource } = settings;
  const fieldManager = `${manager.client.fieldManager}/${NAME}`;
  const refresh = new NodeRefresh({ manager, instances, settings, status, metrics, fieldManager });
  return [
    controllerFor(Node, {
      name: NAME,
      queueName: 'Nodes',
      maxConcurrent: settings.concurrentNodeSyncs,
      limiter: (time) => slowestOf(new ItemBackoff(), new TokenBucket({ clock: time })),
    })
      // Reads past any cache when somebody else wrote first.
      .needs(needs(Node, ['get', 'update', 'patch']), needs(Node, ['patch'], { subresource: 'status' }))
      .reconcile(new CloudNodeReconciler({ instances, labelSource, clock, status, metrics })),
    { name: `${NAME} refresh`, group: 'leader' as const, run: (signal: AbortSignal) => refresh.run(signal) },
  ];
}

/** Initialises Nodes with what the cloud knows of their machines, and keeps their addresses right (ccm §3). */
export const cloudNode: CloudController = {
  name: NAME,
  alias: 'cloud-node',
  account: 'node-controller',
  eventSource: NAME,
  metricName: 'cloud-node',
  capability: 'instances',
  skipReason: ({ provider }) =>
    provider.capabilities.instances === undefined
      ? `provider ${provider.name} does not offer instances`
      : undefined,
  parts,
};
