import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientWorld, scriptedClient } from '../../../test/support/kube-client.ts';
import { ConfigMap, Node, Secret } from '../../api/generated/core-v1.ts';
import { type Kind, type KubeObject, keyText } from '../../api/object.ts';
import type { Cache, Informer } from '../cache/cache.ts';
import type { ApiError } from './api-error.ts';

interface FakeCache extends Cache {
  finishSync(): void;
  readonly asked: string[];
}

/** A cache of the given objects that covers every kind but Secrets. */
function fakeCache(objects: readonly KubeObject[], isSynced = true): FakeCache {
  const sync = Promise.withResolvers<void>();
  const asked: string[] = [];
  let isDone = isSynced;
  const informer = <T extends KubeObject>(kind: Kind<T, unknown>): Informer<T> => ({
    kind: kind as Kind<T>,
    get isSynced() {
      return isDone;
    },
    resourceVersion: '42',
    get: (key) => objects.find(({ metadata }) => keyText(metadata) === keyText(key)) as T | undefined,
    list: (options) => {
      asked.push(JSON.stringify(options));
      return objects as readonly T[];
    },
    byIndex: () => [],
    subscribe: () => ({ synced: sync.promise, [Symbol.dispose]: () => void asked.push('unsubscribed') }),
    health: {
      resource: kind.plural,
      isSynced: isDone,
      objects: 0,
      resourceVersion: '',
      reconnects: 0,
      relists: 0,
      divergences: 0,
      problem: 'it is forbidden',
    },
  });
  return {
    asked,
    finishSync: () => {
      isDone = true;
      sync.resolve();
    },
    informer: (kind) => informer(kind),
    covers: ({ kind }) => kind !== 'Secret',
    index: () => {},
    waitForSync: () => sync.promise,
    run: () => Promise.resolve(),
    health: [],
    wrote: ({ kind }) => void asked.push(`wrote ${kind}`),
    deleted: ({ kind }) => void asked.push(`deleted ${kind}`),
  };
}

const cached = Object.freeze({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: Object.freeze({ namespace: 'a', name: 'b' }),
});
const missing = { status: 404, body: { kind: 'Status', code: 404, reason: 'NotFound', details: { name: 'x' } } };

describe('cached reads', () => {
  it('runtime/A1: come from the cache where it covers the kind, else from the server', async () => {
    const cache = fakeCache([cached]);
    const { client, sent } = scriptedClient(() => missing, { cache });
    assert.equal(await client.get(ConfigMap, { namespace: 'a', name: 'b' }), cached);
    assert.equal(await client.find(ConfigMap, { namespace: 'a', name: 'c' }), undefined);
    const list = await client.list(ConfigMap, { namespace: 'a', labels: 'x=y', fields: 'metadata.name=b' });
    assert.deepEqual([list.kind, list.items, list.metadata.resourceVersion], ['ConfigMapList', [cached], '42']);
    assert.deepEqual(cache.asked, ['{"namespace":"a","labels":"x=y","fields":"metadata.name=b"}']);
    assert.equal(sent.length, 0);
    assert.equal(await client.find(Secret, { namespace: 'a', name: 'b' }), undefined);
    assert.equal(await client.live.find(ConfigMap, { namespace: 'a', name: 'b' }), undefined);
    assert.equal(await client.find(ConfigMap, { namespace: 'a', name: 'b' }, { resourceVersion: '7' }), undefined);
    assert.equal(sent.length, 3);
  });

  it('runtime/A1: ask the server for what only a server can do', async () => {
    const { client, sent } = scriptedClient(() => ({ body: { items: null } }), { cache: fakeCache([cached]) });
    for (const options of [{ limit: 5 }, { continue: 'x' }, { resourceVersion: '0' }] as const) {
      assert.deepEqual((await client.list(ConfigMap, options)).items, []);
    }
    assert.equal(sent.length, 3);
  });

  it('runtime/A1: fail with NotCached where that is asked for', async () => {
    const { client, sent } = scriptedClient(() => missing, { cache: fakeCache([]), uncached: 'fail' });
    await assert.rejects(client.get(Secret, { namespace: 'a', name: 'b' }), {
      reason: 'NotCached',
      message: /secrets are not cached; use client\.live/,
    });
    assert.deepEqual(sent, []);
  });

  it('fail as the server does for an object that is missing', async () => {
    const { client, namespace, transport } = await clientWorld();
    const other = await clientWorld({ cache: fakeCache([]), transport });
    const shown = async (call: Promise<unknown>): Promise<unknown> =>
      call.catch(({ code, reason, message, details, method, path }: ApiError) => ({
        code,
        reason,
        message,
        details,
        method,
        path,
      }));
    const key = { namespace, name: 'gone' };
    assert.deepEqual(await shown(other.client.get(ConfigMap, key)), await shown(client.get(ConfigMap, key)));
    const node = { namespace: 'ignored', name: 'gone' };
    assert.deepEqual(await shown(other.client.get(Node, node)), await shown(client.get(Node, node)));
  });

  it('reliability/P32: wait for the first list: what was not read yet is not missing', async () => {
    const cache = fakeCache([cached], false);
    const { client, clock } = scriptedClient(() => missing, { cache });
    const reading = client.get(ConfigMap, { namespace: 'a', name: 'b' });
    await clock.advance(1000);
    cache.finishSync();
    assert.equal(await reading, cached);
    assert.deepEqual(cache.asked, ['unsubscribed']);
    assert.equal(clock.nextDueMs, undefined);
  });

  it('give up waiting with the reason of the informer, or of the caller', async () => {
    const cache = fakeCache([cached], false);
    const { client, clock } = scriptedClient(() => missing, { cache });
    const late = assert.rejects(client.list(ConfigMap, { timeoutMs: 500 }), {
      reason: 'CacheNotSynced',
      message: 'the cache of configmaps is not filled after 500 ms: it is forbidden',
    });
    await clock.advance(500);
    await late;
    const aborter = new AbortController();
    const aborted = assert.rejects(client.list(ConfigMap, { signal: aborter.signal }), { message: 'stop' });
    await clock.advance(1);
    aborter.abort(new Error('stop'));
    await aborted;
    assert.equal(clock.nextDueMs, undefined);
  });

  it('runtime/I20: the cache is told of writes, and so is an observer beside it', async () => {
    const cache = fakeCache([]);
    const told: string[] = [];
    const observer = {
      wrote: (kind: Kind) => void told.push(`wrote ${kind.kind}`),
      deleted: (kind: Kind) => void told.push(`deleted ${kind.kind}`),
    };
    const { client, namespace } = await clientWorld({ cache, observer });
    await client.create(ConfigMap, { metadata: { namespace, name: 'a' } });
    await client.delete(ConfigMap, { namespace, name: 'a' });
    assert.deepEqual(cache.asked, ['wrote ConfigMap', 'deleted ConfigMap']);
    assert.deepEqual(told, cache.asked);
  });
});
