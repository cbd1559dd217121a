import assert from 'node:assert/strict';
import { request } from 'node:https';
import { before, describe, it } from 'node:test';
import { Lease } from '../../../src/api/generated/coordination-v1.ts';
import { ConfigMap, ServiceAccount } from '../../../src/api/generated/core-v1.ts';
import { Event } from '../../../src/api/generated/events-v1.ts';
import { ClusterRole, ClusterRoleBinding } from '../../../src/api/generated/rbac-v1.ts';
import { messageOf } from '../../../src/base/errors.ts';
import { isLeadershipLost } from '../../../src/kube/client/api-error.ts';
import { controllerFor } from '../../../src/kube/controller/controller.ts';
import { DONE } from '../../../src/kube/controller/reconcile.ts';
import type { RuntimeSuite } from '../../support/runtime-servers.ts';
import { failureOf } from '../../support/transport-world.ts';
import { gadgetOf } from './gadget.ts';
import { Hello, helloController } from './hello-program.ts';
import { startRelay } from './relay.ts';

const Later = gadgetOf('later');
const TIMES = { leaseMs: 3000, renewMs: 2000, retryMs: 300 };

/** Health, metrics, leader election (sections 8 and 9). */
export const managerSuite: RuntimeSuite = (world) => {
  before(() => world().define(Hello));

  describe('all at once', { concurrency: true }, () => {
    it('runtime/I6: sample 19: a kind that is not served yet is waited for, named by readyz, and found within 10 s', async () => {
      let seen = 0;
      const controller = controllerFor(Later).reconcile({
        reconcile: async () => {
          seen++;
          return DONE;
        },
      });
      await using run = await world().manager({
        health: { bind: '127.0.0.1:0' },
        setup: (manager) => manager.add(controller),
      });
      const port = await run.manager.ports.health;
      const readyz = async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
        return `${answer.status} ${await answer.text()}`;
      };
      const healthz = await fetch(`http://127.0.0.1:${port}/healthz`);
      assert.deepEqual([healthz.status, await healthz.text()], [200, 'ok']);
      await world().eventually(
        async () => (await readyz()).includes('cache-gadgets.later'),
        'readyz names the kind',
      );
      const before = await readyz();
      assert.match(before, /^500 .*\[-\]cache-gadgets\.later\.runtime\.slipway\.test failed: reason withheld/s);
      const namespace = await world().namespace('later');
      await world().define(Later);
      const definedMs = performance.now();
      await world().client.create(Later, { metadata: { namespace, name: 'first' }, spec: {} });
      await run.manager.whenReady();
      assert.ok(performance.now() - definedMs < 30_000, `ready after ${performance.now() - definedMs} ms`);
      assert.match(await readyz(), /^200 /);
      await world().eventually(() => seen === 1, 'the object is reconciled');
      assert.equal(await run.stop(), undefined);
      await failureOf(readyz());
    });

    it('runtime/M2: a manager that has stopped leaves no connection behind', async () => {
      const namespace = await world().namespace('sockets');
      await using relay = await startRelay(world().server.url);
      await using run = await world().manager({
        way: { url: relay.url },
        namespaces: [namespace],
        leaderElection: { id: 'sockets', namespace, ...TIMES },
        setup: (manager) => manager.add(helloController()),
      });
      await run.manager.whenLeading();
      // One for requests, one for the election, one for each watch.
      assert.equal(relay.open(), 4);
      assert.equal(await run.stop(), undefined);
      await world().eventually(() => relay.open() === 0, 'all connections are closed');
      assert.equal(relay.accepted(), 4);
    });

    it('runtime/M7: sample 13: metrics are for those whom the server knows and who may read them', async () => {
      const { client } = world();
      const namespace = await world().namespace('metrics');
      await using run = await world().manager({ metrics: { bind: '127.0.0.1:0', secure: true } });
      const port = (await run.manager.ports.metrics) ?? 0;
      await run.manager.whenReady();
      const tokenOf = async (name: string) => {
        await client.create(ServiceAccount, { metadata: { namespace, name } });
        return (await client.createToken({ namespace, name })).token;
      };
      const name = world().unique('scraper');
      await client.create(ClusterRole, {
        metadata: { name },
        rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
      });
      await client.create(ClusterRoleBinding, {
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ kind: 'ServiceAccount', name: 'scraper', namespace }],
      });
      const [scraper, stranger] = [await tokenOf('scraper'), await tokenOf('stranger')];
      assert.deepEqual(await scrape(port), { status: 401, body: 'Unauthorized\n' });
      assert.deepEqual(await scrape(port, 'no-token'), { status: 401, body: 'Unauthorized\n' });
      assert.equal((await scrape(port, stranger)).status, 403);
      // An authorizer learns of new roles a little later.
      await world().clock.sleep(500);
      const { status, body } = await scrape(port, scraper);
      assert.equal(status, 200);
      assert.match(body, /^rest_client_requests_total\{code="201",method="POST"/m);
      await client.delete(ClusterRole, { name });
      await client.delete(ClusterRoleBinding, { name });
    });

    it('runtime/E2, runtime/E4: one manager leads, the other takes over when it stops, and only the leader works', async () => {
      const namespace = await world().namespace('lease');
      const { client } = world();
      const workers: string[] = [];
      const record = async () => (await client.get(Lease, { namespace, name: 'hello' })).spec ?? {};
      const candidate = (hostname: string) =>
        world().manager({
          hostname,
          namespaces: [namespace],
          leaderElection: { id: 'hello', namespace, ...TIMES },
          setup: (manager) =>
            manager.add(helloController({ said: ({ spec }) => void workers.push(`${hostname} ${spec.text}`) })),
        });
      await using first = await candidate('one');
      await first.manager.whenLeading();
      await using second = await candidate('two');
      await second.manager.whenReady();
      const key = { namespace, name: 'h' };
      await client.create(Hello, { metadata: key, spec: { text: 'hi' } });
      await world().state(Hello, key, ({ status }) => status?.said === 'hi');
      assert.deepEqual([first.manager.isLeader, second.manager.isLeader], [true, false]);
      const refused = await failureOf(
        second.manager.client.create(ConfigMap, { metadata: { namespace, name: 'x' } }),
      );
      assert.ok(isLeadershipLost(refused), String(refused));
      const held = await record();
      assert.match(String(held.holderIdentity), /^one_[0-9a-f-]{36}$/);
      assert.match(String(held.renewTime), /\.\d{6}Z$/);
      const stoppedMs = performance.now();
      assert.equal(await first.stop(), undefined);
      const before = workers.length;
      await second.manager.whenLeading();
      // Given back, so that nobody waits for it to expire.
      assert.ok(performance.now() - stoppedMs < TIMES.leaseMs, `${performance.now() - stoppedMs} ms`);
      await client.patch(Hello, key, { type: 'merge', body: { spec: { text: 'ho' } } });
      await world().state(Hello, key, ({ status }) => status?.said === 'ho');
      assert.ok(
        workers.slice(0, before).every((text) => text.startsWith('one ')),
        workers.join(),
      );
      assert.ok(
        workers.slice(before).every((text) => text.startsWith('two ')),
        workers.join(),
      );
      const taken = await record();
      assert.match(String(taken.holderIdentity), /^two_/);
      assert.equal(taken.leaseTransitions, Number(held.leaseTransitions) + 1);
      const notes = async () => (await client.list(Event, { namespace })).items.map(({ note }) => note ?? '');
      await world().eventually(
        async () => (await notes()).some((note) => / became leader/.test(note)),
        'an event tells of it',
      );
    });

    it('runtime/E3, runtime/M5: sample 9: a leader that cannot renew stops at its deadline and writes nothing more', async () => {
      const namespace = await world().namespace('lost');
      await using relay = await startRelay(world().server.url);
      await using run = await world().manager({
        way: { url: relay.url },
        namespaces: [namespace],
        leaderElection: { id: 'lost', namespace, ...TIMES },
        setup: (manager) => manager.add(helloController()),
      });
      await run.manager.whenLeading();
      const cutMs = performance.now();
      relay.cut();
      const error = await run.ended;
      const tookMs = performance.now() - cutMs;
      assert.match(messageOf(error), /leader election lost/);
      assert.ok(tookMs < TIMES.renewMs + 10_000, `lost after ${tookMs} ms`);
      const refused = await failureOf(
        run.manager.client.create(ConfigMap, { metadata: { namespace, name: 'x' } }),
      );
      assert.ok(isLeadershipLost(refused), String(refused));
      assert.equal(run.lines.at(-1)?.message, 'Stopped because of a failure');
      assert.equal(await world().client.find(ConfigMap, { namespace, name: 'x' }), undefined);
    });
  });
};

function scrape(port: number, token?: string): Promise<{ readonly status: number; readonly body: string }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  // The certificate is made by the manager itself, so that nobody can know it.
  const options = { port, host: '127.0.0.1', path: '/metrics', headers, rejectUnauthorized: false, agent: false };
  const sent = request(options, (answer) => {
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => void chunks.push(chunk));
    answer.on('end', () =>
      resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
    );
  });
  sent.on('error', reject);
  sent.end();
  return promise;
}
