import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { balancedService, FINALIZER, workerNode } from '../../../test/support/balanced-services.ts';
import { reconcileContext } from '../../../test/support/reconcile-context.ts';
import type { Node, Service } from '../../api/generated/core-v1.ts';
import { retryError } from '../../base/errors.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { PrometheusMetrics } from '../../kube/metrics/metrics.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import type { Balancing } from './balancing.ts';
import { NodeSync } from './node-sync.ts';
import { ServiceReconciler } from './reconcile.ts';
import { ServiceLocks } from './service-locks.ts';
import { ServiceMemory } from './service-memory.ts';
import { serviceMetrics } from './service-metrics.ts';

const KEY = { namespace: 'default', name: 'web' };
const suspect = (): never => {
  throw retryError('SuspectList', 'the API server suddenly lists none');
};

/** Both sides of the controller with what they read in the hands of a test. */
function rig() {
  const cloud = new FakeCloud();
  const read: { service: Service | undefined; nodes: () => readonly Node[]; confirmGone: () => void } = {
    service: balancedService({ metadata: { finalizers: [FINALIZER] } }),
    nodes: () => [workerNode('n1')],
    confirmGone: () => {},
  };
  const find = () => Promise.resolve(read.service);
  const patch = () => Promise.resolve(read.service);
  const { context, told } = reconcileContext({ find, patch } as unknown as KubeClient);
  const balancing: Balancing = {
    cloud: cloud.capabilities.loadBalancers,
    owner: { cluster: 'c', clusterTags: {}, tagRules: {} },
    eligibility: { holdBack: true },
    nodes: () => read.nodes(),
    memory: new ServiceMemory(),
    locks: new ServiceLocks(),
    metrics: serviceMetrics(new PrometheusMetrics()),
  };
  const reconciler = new ServiceReconciler(balancing, { resyncMs: 0, confirmGone: () => read.confirmGone() });
  const nodeSync = new NodeSync(balancing, {
    services: () => (read.service === undefined ? [] : [read.service]),
    repair: () => {},
    concurrency: 1,
    clock: { monotonicMs: () => 0 },
  });
  const sync = () => reconciler.reconcile(KEY, context);
  return { cloud, read, told, memory: balancing.memory, sync, syncNodes: () => nodeSync.run(context) };
}

describe('a list of the API server that is suddenly empty', () => {
  it('ccm/S6: takes no balancer away: the Services may come back', async () => {
    const { cloud, read, memory, sync } = rig();
    await sync();
    read.service = undefined;
    read.confirmGone = suspect;
    await assert.rejects(sync(), /suddenly lists none/);
    assert.deepEqual([cloud.balancers.size, memory.size], [1, 1]);
    read.confirmGone = () => {};
    await sync();
    assert.deepEqual([cloud.balancers.size, memory.size], [0, 0]);
  });

  it('ccm/S27: takes no backends away, neither by an ensure nor by a change of nodes', async () => {
    const { cloud, read, told, sync, syncNodes } = rig();
    await sync();
    read.nodes = suspect;
    await assert.rejects(syncNodes(), /suddenly lists none/);
    await assert.rejects(sync(), /suddenly lists none/);
    assert.equal(
      told.at(-1),
      'Warning SyncLoadBalancerFailed Error syncing load balancer: the API server suddenly lists none',
    );
    assert.deepEqual(
      cloud.calls.map(({ method }) => method),
      ['loadBalancers.ensure'],
    );
  });

  it('ccm/B13: is not what a Service leaves behind that went in order: nothing is', async () => {
    const { read, memory, sync } = rig();
    await sync();
    assert.equal(memory.size, 1);
    const metadata = { finalizers: [FINALIZER], deletionTimestamp: '2026-01-01T00:00:00Z' };
    read.service = balancedService({ metadata });
    await sync();
    assert.equal(memory.size, 0);
  });
});
