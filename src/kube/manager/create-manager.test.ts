import assert from 'node:assert/strict';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import { Lease } from '../../api/generated/coordination-v1.ts';
import { ConfigMap } from '../../api/generated/core-v1.ts';
import type { Kind } from '../../api/object.ts';
import type { ApiServer } from '../../apiserver/options.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { VirtualClock } from '../../base/clock.ts';
import { createLog } from '../../base/log.ts';
import { isLeadershipLost } from '../client/api-error.ts';
import { controllerFor } from '../controller/controller.ts';
import { DONE } from '../controller/reconcile.ts';
import { needs } from '../rbac/need.ts';
import type { Transport } from '../transport/transport.ts';
import { createManager, type ManagerOptions } from './create-manager.ts';
import { exitCodeOf } from './exit-code.ts';

const WIDGET: Kind = { group: 'ex.io', version: 'v1', kind: 'Widget', plural: 'widgets', scope: 'Namespaced' };
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.ex.io' },
  spec: {
    group: 'ex.io',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
} as const;
const loopback = '127.0.0.1:0';

const get = (
  port: number,
  path: string,
  { token, isSecure = false }: { token?: string; isSecure?: boolean } = {},
) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const target = { host: '127.0.0.1', port, path, headers, agent: false } as const;
    // The certificate is self-signed by design here; what is tested is who gets in.
    const sent = isSecure ? secureRequest({ ...target, rejectUnauthorized: false }) : request(target);
    sent.on('error', reject);
    sent.on('response', (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.end();
  });

describe('createManager', () => {
  let server: ApiServer;
  before(async () => {
    const tokens = [
      { token: 'scraper-token', user: { name: 'scraper', groups: ['system:masters'] } },
      { token: 'eve-token', user: { name: 'eve', groups: [] } },
    ];
    server = await startApiServer({ storage: 'memory', listen: false, auth: { mode: 'RBAC', tokens } });
  });
  after(() => server.stop());

  function setUp(options: Partial<ManagerOptions> = {}) {
    const clock = new VirtualClock({ start: new Date('2026-01-01T00:00:00Z') });
    const lines: string[] = [];
    const log = createLog({ level: 'info', write: (line) => lines.push(line), now: () => clock.now() });
    const manager = createManager({
      kube: server.client(),
      name: 'demo',
      hostname: 'here',
      clock,
      log,
      ...options,
    });
    const stop = new AbortController();
    const outcome: { done?: boolean; error?: unknown } = {};
    const start = () =>
      manager.start(stop.signal).then(
        () => void (outcome.done = true),
        (error: unknown) => void (outcome.error = error),
      );
    return { clock, lines, manager, stop, start, outcome };
  }

  /** Requests to the server in this process take turns of the event loop, and no time. */
  async function until(clock: VirtualClock, what: string, holds: () => boolean, stepMs = 0): Promise<void> {
    for (let turn = 0; turn < 3000 && !holds(); turn++) await clock.advance(stepMs);
    assert.ok(holds(), what);
  }

  async function halt({ clock, stop, outcome }: Pick<ReturnType<typeof setUp>, 'clock' | 'stop' | 'outcome'>) {
    stop.abort(new Error('end of test'));
    await until(clock, 'stopped', () => outcome.done === true || 'error' in outcome, 10);
  }

  const election = (id: string) => ({ id, namespace: 'default' });

  it('runtime/M1: runs a controller as leader, and gives the Lease back at the end', async () => {
    const world = setUp({ leaderElection: election('whole'), cache: { byKind: { configmaps: {} } } });
    const { manager, clock, start, outcome } = world;
    const seen: string[] = [];
    manager.add(
      controllerFor(ConfigMap).reconcile({
        reconcile: async ({ metadata }, { fencingToken }) => {
          seen.push(`${metadata.name} ${fencingToken}`);
          return DONE;
        },
      }),
    );
    await manager.unfencedClient.create(ConfigMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'whole', namespace: 'default' },
    });
    const done = start();
    await until(clock, 'reconciled', () => seen.includes('whole 0'));
    assert.equal(manager.isLeader, true);
    await until(clock, 'idle', () => manager.isIdle);
    await halt(world);
    await done;
    assert.deepEqual(outcome, { done: true });
    const lease = await manager.unfencedClient.live.get(Lease, { namespace: 'default', name: 'whole' });
    assert.deepEqual([lease.spec?.holderIdentity, lease.spec?.leaseDurationSeconds], ['', 1]);
    assert.equal(clock.nextDueMs, undefined, 'no timer is left');
  });

  it('runtime/E7: refuses writes of a process that does not lead; what every replica does is not refused', async () => {
    const { manager } = setUp({ leaderElection: election('fenced') });
    const object = { metadata: { name: 'fenced', namespace: 'default' } };
    await assert.rejects(manager.client.create(ConfigMap, object), isLeadershipLost);
    await manager.unfencedClient.create(ConfigMap, object);
    assert.equal((await manager.client.live.get(ConfigMap, object.metadata)).metadata.name, 'fenced');
  });

  it('runtime/M2: readyz turns 500 at once when the stop begins, healthz does not', async () => {
    const world = setUp({ health: { bind: loopback } });
    const { manager, stop, start, clock } = world;
    const closing = Promise.withResolvers<void>();
    const hanging = async (signal: AbortSignal) => {
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      await closing.promise;
    };
    manager.add({ name: 'slow', group: 'leader', run: hanging });
    const done = start();
    await until(clock, 'listening', () => manager.isLeader);
    const port = (await manager.ports.health) ?? 0;
    await manager.whenReady();
    assert.deepEqual(await get(port, '/readyz'), { status: 200, text: 'ok' });
    stop.abort();
    const answer = await get(port, '/readyz');
    assert.deepEqual([answer.status, answer.text.split('\n')[0]], [500, '[-]manager failed: reason withheld']);
    assert.equal((await get(port, '/healthz')).status, 200);
    closing.resolve();
    await done;
    await assert.rejects(get(port, '/readyz'), /ECONNREFUSED/);
  });

  it('runtime/18.1: sample 19: stays up without the CRD, readyz names the kind, ready within 10 s after it is there', async () => {
    const world = setUp({ health: { bind: loopback } });
    const { manager, clock, start, outcome, lines } = world;
    manager.add(controllerFor(WIDGET).reconcile({ reconcile: async () => DONE }));
    const done = start();
    const port = (await manager.ports.health) ?? 0;
    await until(clock, 'says that it waits', () => lines.some((line) => line.includes('does not serve')), 1000);
    for (let second = 0; second < 200; second++) await clock.advance(1000);
    assert.deepEqual(outcome, {});
    const { status, text } = await get(port, '/readyz');
    assert.deepEqual([status, text.split('\n')[0]], [500, '[-]cache-widgets.ex.io failed: reason withheld']);
    await manager.unfencedClient.create(CustomResourceDefinition, DEFINITION);
    let isReady = false;
    void manager.whenReady().then(() => (isReady = true));
    const startMs = clock.monotonicMs();
    await until(clock, 'ready', () => isReady, 100);
    assert.ok(clock.monotonicMs() - startMs <= 10_000, `${clock.monotonicMs() - startMs} ms`);
    assert.equal((await get(port, '/readyz')).status, 200);
    await halt(world);
    await done;
  });

  it('lists every missing permission before anything is read, and ends with code 1', async () => {
    const { manager, clock, start, outcome } = setUp({
      kube: server.client('bob', []),
      needs: [needs(ConfigMap, ['patch'])],
    });
    manager.add(controllerFor(WIDGET).reconcile({ reconcile: async () => DONE }));
    const done = start();
    await until(clock, 'ended', () => 'error' in outcome);
    await done;
    assert.match(
      String(outcome.error),
      /may not: patch configmaps in the whole cluster; get, list, watch widgets\.ex\.io in the whole cluster/,
    );
    assert.equal(exitCodeOf(outcome.error), 1);
  });

  it('runtime/M7: sample 13: the secure endpoint answers 401 without token, 403 without right, 200 with', async () => {
    const world = setUp({ metrics: { bind: loopback, secure: true } });
    const { manager, start, clock } = world;
    const done = start();
    const port = (await manager.ports.metrics) ?? 0;
    const scrape = (token?: string) =>
      get(port, '/metrics', { isSecure: true, ...(token !== undefined && { token }) });
    assert.equal((await scrape()).status, 401);
    assert.equal((await scrape('forged')).status, 401);
    assert.equal((await scrape('eve-token')).status, 403);
    const { status, text } = await scrape('scraper-token');
    assert.equal(status, 200);
    assert.match(text, /process_resident_memory_bytes/);
    await until(clock, 'started', () => manager.isLeader);
    await halt(world);
    await done;
  });

  it('runtime/M7: is plain without secure', async () => {
    const world = setUp({ metrics: { bind: loopback } });
    const done = world.start();
    const port = (await world.manager.ports.metrics) ?? 0;
    assert.equal((await get(port, '/metrics')).status, 200);
    await halt(world);
    await done;
  });

  it('runtime/C8: refuses bad configuration at construction, with every problem', () => {
    const bad = { health: { bind: 'nowhere' }, namespaces: [] };
    assert.throws(() => setUp(bad), /(?=[\s\S]*health\.bind)(?=[\s\S]*namespaces)/);
    assert.throws(() => setUp({ metrics: { bind: ':1', auth: true } }), { reason: 'InsecureMetrics' });
  });

  it('runtime/E1: needs to know the namespace of the Lease', () => {
    assert.throws(() => setUp({ leaderElection: { id: 'x' } }), {
      reason: 'NoElectionNamespace',
      disposition: 'user',
    });
  });

  it('runtime/R1: refuses a second controller of the same name', () => {
    const { manager } = setUp();
    const controller = () => controllerFor(WIDGET).reconcile({ reconcile: async () => DONE });
    manager.add(controller());
    assert.throws(() => manager.add(controller()), { reason: 'DuplicateController' });
  });

  it('reliability/P33: an idle leader writes nothing but its renewals and logs nothing', async () => {
    const writes: string[] = [];
    const transport: Transport = (sent) => {
      if (sent.method !== 'GET') writes.push(`${sent.method} ${sent.target.split('?')[0]}`);
      return server.client()(sent);
    };
    const world = setUp({ kube: transport, leaderElection: election('idle'), selfCheck: false });
    const { manager, clock, start, lines } = world;
    const done = start();
    await until(clock, 'leading', () => manager.isLeader);
    for (let turn = 0; turn < 20; turn++) await clock.advance(0);
    writes.length = 0;
    lines.length = 0;
    for (let second = 0; second < 60; second++) await clock.advance(1000);
    assert.deepEqual(lines, []);
    assert.deepEqual(
      new Set(writes),
      new Set(['PUT /apis/coordination.k8s.io/v1/namespaces/default/leases/idle']),
    );
    assert.ok(writes.length <= 31, `${writes.length} renewals in a minute`);
    await halt(world);
    await done;
  });
});
