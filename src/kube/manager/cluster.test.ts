import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Kind, KubeObject } from '../../api/object.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { VirtualClock } from '../../base/clock.ts';
import { createLog } from '../../base/log.ts';
import { createCache } from '../cache/create-cache.ts';
import { createClient } from '../client/create-client.ts';
import { controllerFor } from '../controller/controller.ts';
import { DONE } from '../controller/reconcile.ts';
import { PrometheusMetrics } from '../metrics/metrics.ts';
import type { Transport } from '../transport/transport.ts';
import { createCluster } from './cluster.ts';
import { createManager } from './create-manager.ts';

const NODE: Kind = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', scope: 'Cluster' };
const node = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } });

const setUp = () => {
  const clock = new VirtualClock({ start: new Date('2026-01-01T00:00:00Z') });
  return { clock, log: createLog({ level: 'error', write: () => {}, now: () => clock.now() }) };
};

describe('createCluster', () => {
  it('runtime/M9: a controller of one cluster hears of objects of another, whose cache runs with the manager', async () => {
    const { clock, log } = setUp();
    await using home = await startApiServer({ storage: 'memory', listen: false });
    await using away = await startApiServer({ storage: 'memory', listen: false });
    const manager = createManager({ kube: home.client(), name: 'demo', hostname: 'here', clock, log });
    const other = createCluster({
      name: 'away',
      transport: away.client(),
      fieldManager: 'demo',
      clock,
      log,
      metrics: new PrometheusMetrics(),
    });
    manager.add(other);
    const seen: string[] = [];
    const reconcile = async ({ metadata }: KubeObject) => {
      seen.push(metadata.name);
      return DONE;
    };
    const builder = controllerFor(NODE).watches(NODE, ({ metadata }) => [{ name: metadata.name }], [], {
      cache: other.cache,
    });
    manager.add(builder.reconcile({ reconcile }));
    await manager.unfencedClient.create(NODE, node('both'));
    const stop = new AbortController();
    let isDone = false;
    const done = manager.start(stop.signal).then(() => (isDone = true));
    for (let turn = 0; turn < 2000 && seen.length < 1; turn++) await clock.advance(0);
    const before = seen.length;
    await other.client.create(NODE, node('both'));
    for (let turn = 0; turn < 2000 && seen.length === before; turn++) await clock.advance(0);
    assert.deepEqual(seen, ['both', 'both'], 'once for home, once for the event from away');
    stop.abort();
    for (let turn = 0; turn < 2000 && !isDone; turn++) await clock.advance(10);
    await done;
  });
});

describe('a cache that managers share', () => {
  it('lets each act as its own user, and see at once what the others wrote', async () => {
    const { clock, log } = setUp();
    await using server = await startApiServer({ storage: 'memory', listen: false });
    const reader = createClient({ transport: server.client(), fieldManager: 'reader', clock, log });
    const cache = createCache({ live: reader.live, clock, log });
    const stop = new AbortController();
    const targets: string[] = [];
    const managerAs = (name: string) => {
      const way = server.client(name, ['system:masters']);
      const kube: Transport = (request) => {
        targets.push(`${name} ${request.method} ${request.target}`);
        return way(request);
      };
      return createManager({ kube, name, hostname: 'here', clock, log, sharedCache: cache, selfCheck: false });
    };
    const [first, second] = [managerAs('first'), managerAs('second')];
    const seen: string[] = [];
    const reconcile = async ({ metadata }: KubeObject) => {
      seen.push(metadata.name);
      return DONE;
    };
    second.add(controllerFor(NODE).reconcile({ reconcile }));
    let isDone = false;
    const parts = [cache.run(stop.signal), first.start(stop.signal), second.start(stop.signal)];
    const done = Promise.all(parts).then(() => (isDone = true));
    for (let turn = 0; turn < 2000 && !second.isLeader; turn++) await clock.advance(0);
    await first.client.create(NODE, node('a'));
    for (let turn = 0; turn < 2000 && seen.length === 0; turn++) await clock.advance(0);
    assert.deepEqual(seen, ['a']);
    assert.deepEqual(
      (await second.client.list(NODE)).items.map(({ metadata }) => metadata.name),
      ['a'],
    );
    const sent = targets.filter((target) => target.includes('/nodes'));
    assert.deepEqual(sent, ['first POST /api/v1/nodes?fieldManager=first'], 'the cache has a way of its own');
    stop.abort();
    for (let turn = 0; turn < 2000 && !isDone; turn++) await clock.advance(10);
    await done;
  });
});

describe('leader election of a manager', () => {
  it('runtime/E5: each request of the elector has half the renew deadline, and is sent once', async () => {
    const { clock, log } = setUp();
    const sent: { target: string; timeoutMs: number | undefined }[] = [];
    const busy: Transport = async ({ target, timeoutMs }) => {
      if (target.includes('/leases/')) sent.push({ target, timeoutMs });
      const body = Buffer.from('{"kind":"Status","status":"Failure","code":429,"message":"busy"}');
      return {
        status: 429,
        headers: { 'retry-after': '1' },
        bytes: async () => body,
        stream: async function* () {},
      };
    };
    const leaderElection = { id: 'x', namespace: 'default' };
    const manager = createManager({ kube: busy, name: 'demo', clock, log, leaderElection, selfCheck: false });
    const stop = new AbortController();
    let isDone = false;
    const done = manager.start(stop.signal).then(() => (isDone = true));
    for (let turn = 0; turn < 50; turn++) await clock.advance(0);
    assert.deepEqual(
      sent.map(({ timeoutMs }) => timeoutMs),
      [5000],
      'no retry below the elector',
    );
    stop.abort();
    for (let turn = 0; turn < 500 && !isDone; turn++) await clock.advance(10);
    await done;
  });
});
