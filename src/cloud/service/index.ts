import { Node, Service } from '../../api/generated/core-v1.ts';
import { type KubeObject, keyOf, keyText } from '../../api/object.ts';
import { retryError, terminalError } from '../../base/errors.ts';
import type { Informer } from '../../kube/cache/cache.ts';
import { Channel } from '../../kube/controller/channel.ts';
import { controllerOf } from '../../kube/controller/controller.ts';
import { byType, type Predicate } from '../../kube/controller/predicates.ts';
import type { Addable } from '../../kube/manager/create-manager.ts';
import { ItemBackoff } from '../../kube/queue/rate-limiter.ts';
import { needs } from '../../kube/rbac/need.ts';
import type { CloudController, CloudEnvironment } from '../cloud-controller.ts';
import type { Balancing } from './balancing.ts';
import { concernsBackends, type Eligibility } from './eligible-nodes.ts';
import { NodeSync } from './node-sync.ts';
import { ServiceReconciler } from './reconcile.ts';
import { ServiceLocks } from './service-locks.ts';
import { ServiceMemory } from './service-memory.ts';
import { serviceMetrics } from './service-metrics.ts';
import { isWorkWhenAdded, isWorkWhenUpdated } from './triggers.ts';

const RETRY_MS = { baseMs: 5000, maxMs: 300_000 };
const ALL_NODES = { name: 'nodes' };
/** Calls of the provider have a time limit of their own, and there are as many of them as there are Services. */
const UNLIMITED = { timeoutMs: 0 };

/** Load balancers for Services of type LoadBalancer (§6). */
export const serviceLb: CloudController = {
  name: 'service-lb-controller',
  alias: 'service',
  account: 'service-controller',
  eventSource: 'service-controller',
  metricName: 'service',
  capability: 'loadBalancers',
  skipReason: ({ provider: { name, capabilities } }) =>
    capabilities.loadBalancers === undefined ? `provider ${name} has no load balancers` : undefined,
  parts: (environment) => {
    const balancing = balancingOf(environment);
    const repairs = new Channel();
    return [servicePart(environment, balancing, repairs), nodePart(environment, balancing, repairs)];
  },
};

function balancingOf({ manager, provider, settings }: CloudEnvironment): Balancing {
  const { loadBalancers: cloud } = provider.capabilities;
  if (cloud === undefined)
    throw terminalError('CapabilityMissing', `provider ${provider.name} has no load balancers`);
  return {
    cloud,
    owner: {
      cluster: settings.clusterName,
      clusterTags: provider.clusterTags,
      tagRules: provider.definition.tags,
    },
    eligibility: { holdBack: settings.holdBackUninitializedNodes },
    nodes: () => notEmptied(manager.cache.informer(Node)).list(),
    memory: new ServiceMemory(),
    locks: new ServiceLocks(),
    metrics: serviceMetrics(manager.metrics),
  };
}

/** A list that takes all objects away at once is more likely wrong than true: nothing is taken from the cloud for it. */
function notEmptied<T extends KubeObject>(informer: Informer<T>): Informer<T> {
  if (informer.health.emptiedAt === undefined) return informer;
  const { plural } = informer.kind;
  throw retryError('SuspectList', `the API server suddenly lists no ${plural}; waiting until it lists some again`);
}

function servicePart({ manager, settings }: CloudEnvironment, balancing: Balancing, repairs: Channel): Addable {
  const reconciler = new ServiceReconciler(balancing, {
    resyncMs: settings.serviceResyncPeriodMs,
    confirmGone: () => void notEmptied(manager.cache.informer(Service)),
  });
  return (
    controllerOf('service', {
      ...UNLIMITED,
      maxConcurrent: settings.concurrentServiceSyncs,
      limiter: () => new ItemBackoff(RETRY_MS),
    })
      .watches(Service, (service) => [keyOf(service)], [concernsBalancer(balancing)])
      // No keys: but without the nodes, the first ensure after a start would take all backends away.
      .watches(Node, () => [])
      .watchesChannel(repairs)
      .needs(needs(Service, ['patch'], { subresource: 'status' }))
      .reconcileKeys((key, context) => reconciler.reconcile(key, context))
  );
}

/**
 * Who goes is work only when somebody took the finalizer by force: otherwise its balancer is gone before (S2). One that
 * is only missing in a list may come back.
 */
const concernsBalancer = ({ memory }: Balancing): Predicate<Service> =>
  byType({
    create: ({ object }) => isWorkWhenAdded(object),
    update: ({ old, object }) => (old === undefined ? isWorkWhenAdded(object) : isWorkWhenUpdated(old, object)),
    delete: ({ object, isFinalStateUnknown }) =>
      !isFinalStateUnknown && memory.get(keyText(keyOf(object))) !== undefined,
  });

function nodePart({ manager, settings }: CloudEnvironment, balancing: Balancing, repairs: Channel): Addable {
  const sync = new NodeSync(balancing, {
    services: () => manager.cache.informer(Service).list(),
    repair: (key) => void repairs.send(key),
    concurrency: settings.concurrentServiceSyncs,
    clock: manager.clock,
  });
  return controllerOf('node', { ...UNLIMITED, maxConcurrent: 1, limiter: () => new ItemBackoff(RETRY_MS) })
    .watches(Node, () => [ALL_NODES], [changesBackends(balancing.eligibility)])
    .reconcileKeys((_key, context) => sync.run(context));
}

const changesBackends = (eligibility: Eligibility): Predicate<Node> =>
  byType({ update: ({ old, object }) => old === undefined || concernsBackends(old, object, eligibility) });
