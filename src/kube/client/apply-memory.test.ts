import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientWorld, scriptedClient } from '../../../test/support/kube-client.ts';
import { Deployment } from '../../api/generated/apps-v1.ts';
import { ConfigMap } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { VirtualClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { TestEnv } from '../../testing/test-env.ts';
import type { Cache } from '../cache/cache.ts';
import { createCache } from '../cache/create-cache.ts';
import { controllerOf } from '../controller/controller.ts';
import { DONE } from '../controller/reconcile.ts';
import { needs } from '../rbac/need.ts';
import { type Application, ApplyMemory } from './apply-memory.ts';
import { createClient } from './create-client.ts';
import type { KubeClient } from './kube-client.ts';

const KEY = { namespace: 'default', name: 'a' };

/** A cache that holds one object, at the version it is told. */
function cacheAt(
  version: () => string,
  { isSynced = true, covers = true, history = (): number => 0 } = {},
): Cache {
  const object = () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...KEY, resourceVersion: version() } });
  const informer = {
    isSynced,
    get history() {
      return history();
    },
    get: () => (version() === '' ? undefined : object()),
  };
  const wrote = () => {};
  return { covers: () => covers, informer: () => informer, wrote, deleted: wrote } as unknown as Cache;
}

const memoryOf = (cache: Cache, clock = new VirtualClock()) => new ApplyMemory(cache, clock);

const saying = (text: string, more: Partial<Application> = {}): Application => ({
  key: KEY,
  subresource: '',
  fieldManager: 'me',
  isForced: true,
  body: { data: { text } },
  ...more,
});

const returned = (resourceVersion: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...KEY, resourceVersion },
});

async function cacheSynced(cache: Cache): Promise<Disposable> {
  const subscription = cache.informer(ConfigMap).subscribe(() => {});
  await subscription.synced;
  return subscription;
}

describe('ApplyMemory', () => {
  it('reliability/P33: knows that the same said again about the same version changes nothing', () => {
    const memory = memoryOf(cacheAt(() => '7'));
    assert.equal(memory.unchanged(ConfigMap, saying('x')), undefined);
    memory.remember(ConfigMap, saying('x'), returned('7'));
    assert.equal(memory.unchanged(ConfigMap, saying('x'))?.metadata.resourceVersion, '7');
  });

  for (const { name, asked, version = '7' } of [
    { name: 'other words', asked: saying('y') },
    { name: 'another manager', asked: saying('x', { fieldManager: 'you' }) },
    { name: 'a subresource', asked: saying('x', { subresource: 'status' }) },
    { name: 'without force', asked: saying('x', { isForced: false }) },
    { name: 'with a stricter check', asked: saying('x', { fieldValidation: 'Strict' }) },
    { name: 'an object that changed since', asked: saying('x'), version: '8' },
    { name: 'an object that is gone', asked: saying('x'), version: '' },
  ]) {
    it(`lets through ${name}`, () => {
      const memory = memoryOf(cacheAt(() => version));
      memory.remember(ConfigMap, saying('x'), returned('7'));
      assert.equal(memory.unchanged(ConfigMap, asked), undefined);
    });
  }

  it('knows nothing where the cache does not', () => {
    for (const options of [{ isSynced: false }, { covers: false }]) {
      const memory = memoryOf(cacheAt(() => '7', options));
      memory.remember(ConfigMap, saying('x'), returned('7'));
      assert.equal(memory.unchanged(ConfigMap, saying('x')), undefined);
    }
  });

  it('forgets the longest unused of too many', () => {
    const memory = memoryOf(cacheAt(() => '7'));
    for (let at = 0; at <= 20_000; at++) {
      memory.remember(ConfigMap, saying('x', { key: { ...KEY, name: `a${at}` } }), returned('7'));
    }
    assert.equal(memory.unchanged(ConfigMap, saying('x', { key: { ...KEY, name: 'a0' } })), undefined);
    assert.ok(memory.unchanged(ConfigMap, saying('x', { key: { ...KEY, name: 'a20000' } })) !== undefined);
  });

  it('lets through the same version of another history: the server was restored', () => {
    let history = 0;
    const memory = memoryOf(cacheAt(() => '7', { history: () => history }));
    memory.remember(ConfigMap, saying('x'), returned('7'));
    history = 1;
    assert.equal(memory.unchanged(ConfigMap, saying('x')), undefined);
    memory.remember(ConfigMap, saying('x'), returned('3'));
    memory.remember(ConfigMap, saying('x'), returned('7'));
    assert.ok(memory.unchanged(ConfigMap, saying('x')) !== undefined);
  });

  it('says everything again after an hour: definitions and webhooks change what a write leads to', async () => {
    const clock = new VirtualClock();
    const memory = memoryOf(
      cacheAt(() => '7'),
      clock,
    );
    memory.remember(ConfigMap, saying('x'), returned('7'));
    await clock.advance(3_599_000);
    assert.ok(memory.unchanged(ConfigMap, saying('x')) !== undefined);
    await clock.advance(1_000);
    assert.equal(memory.unchanged(ConfigMap, saying('x')), undefined);
  });

  it('what another manager of this process did later counts, in whichever order the answers came', () => {
    const memory = memoryOf(cacheAt(() => '7'));
    memory.remember(ConfigMap, saying('x'), returned('7'));
    memory.remember(ConfigMap, saying('y', { fieldManager: 'you' }), returned('8'));
    assert.equal(memory.unchanged(ConfigMap, saying('x')), undefined);
    memory.remember(ConfigMap, saying('x'), returned('7'));
    assert.equal(memory.unchanged(ConfigMap, saying('x')), undefined);
  });

  const gone = { kind: 'Status', status: 'Failure', code: 404, reason: 'NotFound', details: { name: 'a' } };
  const writes: readonly [string, (client: KubeClient) => Promise<unknown>][] = [
    ['deleted it', (client) => client.delete(Deployment, KEY)],
    ['found it deleted', (client) => client.delete(Deployment, KEY, { gracePeriodSeconds: 404 })],
    ['deleted everything', (client) => client.deleteAllOf(Deployment, { namespace: KEY.namespace })],
    ['scaled it', (client) => client.scale(Deployment, KEY, 3)],
    ['patched it', (client) => client.patch(Deployment, KEY, { type: 'merge', body: {} })],
    [
      'updated it',
      (client) => client.update(Deployment, { ...returned('7'), kind: 'Deployment', apiVersion: 'apps/v1' }),
    ],
    ['created it', (client) => client.create(Deployment, { metadata: KEY })],
    ['wrote to a path', (client) => client.raw('/apis/apps/v1/x', { method: 'PUT', body: {} })],
    [
      'failed to write',
      (client) => client.patch(Deployment, KEY, { type: 'merge', body: { fail: 1 } }).catch(() => {}),
    ],
  ];
  for (const [name, write] of writes) {
    it(`applies again when this client ${name} and the cache does not show it yet`, async () => {
      const cache = cacheAt(() => '7');
      const { client, sent } = scriptedClient(
        ({ body, method, target }) => {
          if (String(body).includes('404')) return { status: 404, body: gone };
          if (String(body).includes('fail'))
            return { status: 504, body: { ...gone, code: 504, reason: 'Timeout' } };
          if (method === 'DELETE') return { body: { kind: 'Status', status: 'Success' } };
          const kind = target.includes('/scale') ? 'Scale' : 'Deployment';
          return {
            body: {
              apiVersion: 'apps/v1',
              kind,
              metadata: { ...KEY, resourceVersion: target.includes('force') ? '7' : '8' },
            },
          };
        },
        { cache },
      );
      const apply = () => client.apply(Deployment, { metadata: KEY }, { force: true });
      await apply();
      await apply();
      assert.equal(sent.length, 1);
      await write(client);
      await apply();
      assert.equal(sent.length, 3);
    });
  }

  it('applies in namespaces that the cache leaves out', async () => {
    const { client: live, namespace, clock, transport } = await clientWorld();
    const log = SILENT_LOG;
    const options = { namespaces: ['elsewhere'] };
    const cache = createCache({ live: live.live, clock, log, options: { byKind: { configmaps: options } } });
    const stop = new AbortController();
    const running = cache.run(stop.signal);
    const scope = await cacheSynced(cache);
    const client = createClient({ transport, fieldManager: 'me', clock, log, cache });
    for (const _time of [1, 2]) {
      const { metadata } = await client.apply(ConfigMap, { metadata: { namespace, name: 'a' } });
      assert.equal(metadata.name, 'a');
    }
    scope[Symbol.dispose]();
    stop.abort();
    await running;
  });

  it('reliability/P33: a client writes once, until somebody else changes the object', async () => {
    await using env = await TestEnv.start();
    const controller = controllerOf('reader')
      .watches(ConfigMap, () => [])
      .needs(needs(ConfigMap, ['create', 'patch']))
      .reconcileKeys(() => Promise.resolve(DONE));
    const { client } = await env.startManager({ add: [controller] });
    const apply = () => client.apply(ConfigMap, { metadata: KEY, data: { text: 'x' } }, { force: true });
    const writes = () => env.recorder.writes.filter(({ target }) => target.includes('configmaps')).length;
    await apply();
    await apply();
    await env.settle();
    await apply();
    assert.equal(writes(), 1);
    await env.client.patch(ConfigMap, KEY, { type: 'merge', body: { data: { text: 'z' } } });
    await env.settle();
    assert.equal((await apply()).data?.['text'], 'x');
    assert.equal(writes(), 2);
  });
});
