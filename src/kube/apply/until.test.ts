import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chunksOf, clientWorld, scriptedClient } from '../../../test/support/kube-client.ts';
import { ConfigMap } from '../../api/generated/core-v1.ts';
import { type KubeObject, keyText } from '../../api/object.ts';
import { VirtualClock } from '../../base/clock.ts';
import { retryError } from '../../base/errors.ts';
import type { Informer, ObjectHandler } from '../cache/cache.ts';
import type { ReconcileContext } from '../controller/reconcile.ts';
import { onceEvery } from './once-every.ts';
import { until, untilCached } from './until.ts';
import { withFinalizer } from './with-finalizer.ts';

const KEY = { namespace: 'a', name: 'b' };
const clockOf = () => new VirtualClock();

describe('until', () => {
  it('runtime/H7: resolves when the object comes to hold it, by a watch and without polling', async () => {
    const { client, namespace, sent } = await clientWorld();
    const key = { namespace, name: 'a' };
    const clock = clockOf();
    sent.length = 0;
    const waiting = until({ client, kind: ConfigMap, key }, (object) => object?.data?.['a'] === '2', { clock });
    while (sent.length < 2) await clock.advance(0);
    await client.create(ConfigMap, { metadata: key, data: { a: '1' } });
    await client.patch(ConfigMap, key, { type: 'merge', body: { data: { a: '2' } } });
    assert.deepEqual((await waiting)?.data, { a: '2' });
    assert.equal(sent.filter(({ method }) => method === 'GET').length, 2);
    assert.equal(clock.nextDueMs, undefined);
    const gone = until({ client, kind: ConfigMap, key }, (object) => object === undefined, { clock });
    await client.delete(ConfigMap, key);
    assert.equal(await gone, undefined);
  });

  it('starts the watch again when it ends or fails, and gives up when the time is over', async () => {
    const clock = clockOf();
    const line = '{"type":"ADDED","object":{"metadata":{"name":"b"}}}\n';
    const { client, sent } = scriptedClient(({ target }, count) => {
      if (!target.includes('watch=true')) return { body: { items: [], metadata: { resourceVersion: '5' } } };
      if (count === 2) return { status: 503, body: 'busy' };
      return { chunks: () => chunksOf([count === 4 ? 'garbage\n' : line]) };
    });
    const waiting = until({ client, kind: ConfigMap, key: KEY }, () => false, {
      clock,
      timeoutMs: 2000,
      what: 'to be ready',
    });
    const outcome = assert.rejects(waiting, {
      reason: 'WaitTimeout',
      message: 'waited 2000 ms for ConfigMap a/b to be ready',
    });
    await clock.advance(0);
    await clock.advance(2000);
    await outcome;
    assert.ok(sent.length > 8 && sent.length < 50, String(sent.length));
    assert.equal(clock.nextDueMs, undefined);
  });

  it('throws what waiting does not help against, and ends with its caller', async () => {
    const forbidden = scriptedClient(() => ({
      status: 403,
      body: { kind: 'Status', code: 403, reason: 'Forbidden' },
    }));
    const options = { clock: clockOf() };
    const target = { client: forbidden.client, kind: ConfigMap, key: KEY };
    await assert.rejects(
      until(target, () => true, options),
      { reason: 'Forbidden' },
    );
    const signal = AbortSignal.abort(new Error('stop'));
    await assert.rejects(async () => until(target, () => true, { ...options, signal }), { message: 'stop' });
    assert.equal(options.clock.nextDueMs, undefined);
  });

  it('runtime/H7: asks a cache where there is one', async () => {
    const clock = clockOf();
    const handlers = new Set<ObjectHandler>();
    const store = new Map<string, KubeObject>();
    const informer = {
      kind: ConfigMap,
      get: (key: { namespace?: string; name: string }) => store.get(keyText(key)),
      subscribe: (handler: ObjectHandler) => {
        handlers.add(handler);
        return { synced: Promise.resolve(), [Symbol.dispose]: () => void handlers.delete(handler) };
      },
    } as unknown as Informer;
    const waiting = untilCached(informer, KEY, (object) => object !== undefined, { clock });
    await clock.advance(0);
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: KEY };
    store.set('a/b', object);
    for (const tell of handlers)
      tell({ type: 'create', object, isInInitialList: false, isFinalStateUnknown: false });
    assert.equal(await waiting, object);
    assert.equal(handlers.size, 0);
    const failing = untilCached(informer, KEY, () => assert.fail('wrong'), { clock });
    await assert.rejects(failing, { message: 'wrong' });
  });
});

describe('untilCached and its end', () => {
  for (const [name, synced] of [
    ['synced', Promise.resolve()],
    ['not synced', new Promise<void>(() => {})],
  ] as const) {
    it(`leaves no subscription behind when the time is over or the caller leaves: ${name}`, async () => {
      const clock = clockOf();
      let open = 0;
      const informer = {
        kind: ConfigMap,
        get: () => undefined,
        subscribe: () => {
          open++;
          return { synced, [Symbol.dispose]: () => void open-- };
        },
      } as unknown as Informer<KubeObject>;
      const key = { namespace: 'a', name: 'b' };
      const waiting = untilCached(informer, key, () => false, { clock, timeoutMs: 1000 });
      const late = assert.rejects(waiting, { reason: 'WaitTimeout' });
      await clock.advance(1000);
      await late;
      const stop = new AbortController();
      const left = assert.rejects(
        untilCached(informer, key, () => false, { clock, signal: stop.signal }),
        {
          message: 'enough',
        },
      );
      stop.abort(new Error('enough'));
      await left;
      await new Promise((resolve) => void setImmediate(resolve));
      assert.equal(open, 0);
    });
  }
});

describe('onceEvery', () => {
  it('runtime/H8: lets a key pass once per interval, and remembers a bounded number', async () => {
    const clock = clockOf();
    const may = onceEvery(clock, 1000);
    assert.deepEqual([may('a'), may('a'), may('b')], [true, false, true]);
    await clock.advance(999);
    assert.equal(may('a'), false);
    await clock.advance(1);
    assert.deepEqual([may('a'), may('a')], [true, false]);
    for (let at = 0; at < 10_000; at++) may(`k${at}`);
    assert.deepEqual([may('k9999'), may('a')], [false, true]);
  });
});

describe('withFinalizer', () => {
  it('runtime/H2: adds it first, finalizes until done, and then removes it', async () => {
    const { client, namespace } = await clientWorld();
    const key = { namespace, name: 'a' };
    const steps: string[] = [];
    let state: 'busy' | 'broken' | 'done' = 'busy';
    const reconciler = withFinalizer(ConfigMap, 't.io/f', {
      reconcile: () => {
        steps.push('reconcile');
        return Promise.resolve({});
      },
      finalize: () => {
        steps.push(`finalize ${state}`);
        if (state === 'broken') return Promise.reject(retryError('Cloud', 'down'));
        return Promise.resolve(state === 'done' ? 'done' : { requeueAfterMs: 5 });
      },
    });
    const context = { client } as unknown as ReconcileContext;
    const run = async () => reconciler.reconcile(await client.get(ConfigMap, key), context);
    await client.create(ConfigMap, { metadata: key });
    assert.ok(((await run()).requeueAfterMs ?? 0) > 0);
    assert.deepEqual(steps, []);
    assert.deepEqual(await run(), {});
    await client.delete(ConfigMap, key);
    assert.deepEqual(await run(), { requeueAfterMs: 5 });
    state = 'broken';
    await assert.rejects(run(), { reason: 'Cloud' });
    const dying = await client.get(ConfigMap, key);
    assert.deepEqual(dying.metadata.finalizers, ['t.io/f']);
    state = 'done';
    assert.deepEqual(await run(), {});
    assert.equal(await client.find(ConfigMap, key), undefined);
    assert.deepEqual(await reconciler.reconcile(dying, context), {});
    const freed = { ...dying, metadata: { ...dying.metadata, finalizers: [] } };
    assert.deepEqual(await reconciler.reconcile(freed, context), {});
    assert.deepEqual(steps, ['reconcile', 'finalize busy', 'finalize broken', 'finalize done', 'finalize done']);
  });
});
