import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventText, type LogEntry, recordedLog, settle } from '../../../test/support/cache-world.ts';
import { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import { ConfigMap } from '../../api/generated/core-v1.ts';
import type { Kind } from '../../api/object.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { VirtualClock } from '../../base/clock.ts';
import { createClient } from '../client/create-client.ts';
import type { Transport } from '../transport/transport.ts';
import { type CacheOptions, createCache } from './create-cache.ts';

const BOAT: Kind = { group: 'example.com', version: 'v1', kind: 'Boat', plural: 'boats', scope: 'Namespaced' };
const BOATS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'boats.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'boats', kind: 'Boat', singular: 'boat', listKind: 'BoatList' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
} as const;
const config = (name: string, value: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { value },
});

/** A cache and a client over an embedded server; `around` may change what goes between. */
async function world(options: CacheOptions = {}, around: (inner: Transport) => Transport = (inner) => inner) {
  const clock = new VirtualClock();
  const entries: LogEntry[] = [];
  const log = recordedLog(entries);
  const stack = new AsyncDisposableStack();
  const server = stack.use(await startApiServer({ storage: 'memory', listen: false, clock }));
  const transport = around(server.client('admin', ['system:masters']));
  // Of another process: the cache is not told of what it writes.
  const other = createClient({ transport, fieldManager: 'other', clock, log });
  const byKind = { configmaps: {} };
  const verification = { everyMs: 0, isAfterLists: true };
  const cache = createCache({ live: other.live, clock, log, options: { byKind, verification, ...options } });
  const client = createClient({ transport, fieldManager: 'test', clock, log, cache });
  const stop = new AbortController();
  const running = cache.run(stop.signal);
  stack.defer(async () => {
    stop.abort(new Error('the test is over'));
    await running;
  });
  return { clock, entries, cache, client, other, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe('cache of an embedded server', () => {
  it('runtime/I1: reads the initial state and follows creations, updates and deletions', async () => {
    await using made = await world();
    const { client, cache, entries } = made;
    await client.create(ConfigMap, config('a', '1'));
    const told: string[] = [];
    const name = 'a';
    const subscription = cache.informer(ConfigMap).subscribe((event) => {
      if (event.object.metadata.name === name) told.push(eventText(event).replaceAll(/@\d+/g, ''));
    });
    await subscription.synced;
    const found = await client.get(ConfigMap, { namespace: 'default', name });
    assert.deepEqual(found.data, { value: '1' });
    assert.equal(found.metadata.managedFields, undefined);
    await client.update(ConfigMap, { ...config('a', '2') });
    await client.delete(ConfigMap, { namespace: 'default', name });
    await settle(20);
    assert.deepEqual(told, ['create a+', 'update a>a', 'delete a']);
    assert.equal(cache.health[0]?.divergences, 0);
    assert.deepEqual(
      entries.filter(({ level }) => level !== 'debug'),
      [],
    );
  });

  it('runtime/I20, sample case 10: every read after a write sees it, a hundred times over', async () => {
    await using made = await world();
    const { client } = made;
    const key = { namespace: 'default', name: 'own' };
    await client.list(ConfigMap);
    await client.create(ConfigMap, config('own', '0'));
    for (let round = 1; round <= 100; round++) {
      await client.update(ConfigMap, config('own', String(round)));
      assert.equal((await client.get(ConfigMap, key)).data?.['value'], String(round));
      const { items } = await client.list(ConfigMap, { namespace: 'default', fields: 'metadata.name=own' });
      assert.equal(items[0]?.data?.['value'], String(round));
    }
    await client.delete(ConfigMap, key);
    assert.equal(await client.find(ConfigMap, key), undefined);
    await client.create(ConfigMap, config('own', 'again'));
    assert.equal((await client.get(ConfigMap, key)).data?.['value'], 'again');
  });

  it('runtime/I6, sample case 19: is not synced while the kind is not defined, and is within 10 s after', async () => {
    await using made = await world();
    const { client, cache, clock } = made;
    cache.informer(BOAT).subscribe(() => {});
    await settle(20);
    await clock.advance(30_000);
    const [before] = cache.health;
    assert.equal(before?.isSynced, false);
    assert.match(before?.problem ?? '', /could not find the requested resource|not found/);
    await client.create(CustomResourceDefinition, BOATS);
    for (let second = 0; second < 10; second++) await clock.advance(1_000);
    await settle(20);
    assert.equal(cache.informer(BOAT).isSynced, true);
  });

  it('runtime/I8, reliability/P22: a stream without a byte for 90 s is replaced and goes on where it was', async () => {
    let isSilent = false;
    const silent =
      (inner: Transport): Transport =>
      async (request) => {
        const answer = await inner(request);
        if (request.isStream !== true) return answer;
        return {
          ...answer,
          status: answer.status,
          headers: answer.headers,
          bytes: () => answer.bytes(),
          stream: async function* () {
            for await (const chunk of answer.stream()) {
              if (!isSilent) yield chunk;
            }
          },
        };
      };
    await using made = await world({}, silent);
    const { client, other, cache, clock } = made;
    await client.list(ConfigMap);
    isSilent = true;
    await other.create(ConfigMap, config('lost', '1'));
    await settle(20);
    const find = () => cache.informer(ConfigMap).get({ namespace: 'default', name: 'lost' });
    assert.equal(find(), undefined);
    await clock.advance(89_000);
    assert.equal(cache.health[0]?.reconnects, 0);
    isSilent = false;
    await clock.advance(2_000);
    await settle(20);
    assert.equal(cache.health[0]?.reconnects, 1);
    assert.equal(cache.health[0]?.relists, 0);
    assert.equal(find()?.data?.['value'], '1');
  });
});
