import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chunksOf, clientWorld, collect, scriptedClient } from '../../../test/support/kube-client.ts';
import { ConfigMap, Namespace } from '../../api/generated/core-v1.ts';
import { VirtualClock } from '../../base/clock.ts';
import { isExpired, isNetwork, isNoMatch, isNotFound } from './api-error.ts';

const UNKNOWN = { group: 'nowhere.io', version: 'v1', kind: 'Ghost', plural: 'ghosts', scope: 'Cluster' } as const;

describe('live reads', () => {
  it('gets and finds an object, and tells a missing object from a missing kind', async () => {
    const { client, namespace } = await clientWorld();
    await client.create(ConfigMap, { metadata: { namespace, name: 'here' }, data: { a: 'b' } });
    const here = await client.get(ConfigMap, { namespace, name: 'here' });
    assert.deepEqual([here.kind, here.apiVersion, here.data], ['ConfigMap', 'v1', { a: 'b' }]);
    await assert.rejects(client.get(ConfigMap, { namespace, name: 'gone' }), (error) => isNotFound(error));
    assert.equal(await client.find(ConfigMap, { namespace, name: 'gone' }), undefined);
    await assert.rejects(client.find(UNKNOWN, { name: 'x' }), (error) => isNoMatch(error) && !isNotFound(error));
    const meta = await client.get(ConfigMap, { namespace, name: 'here' }, { metadataOnly: true });
    assert.deepEqual([meta.kind, meta.data], ['ConfigMap', undefined]);
  });

  it('lists by labels and fields; every item says what it is', async () => {
    const { client, namespace } = await clientWorld();
    for (const [name, tier] of [
      ['one', 'a'],
      ['two', 'b'],
    ] as const) {
      await client.create(ConfigMap, { metadata: { namespace, name, labels: { tier } } });
    }
    const names = async (options: object): Promise<string[]> =>
      (await client.list(ConfigMap, { namespace, ...options })).items.map(
        (item) => `${item.kind}/${item.metadata.name}`,
      );
    assert.deepEqual(await names({ labels: { tier: 'a' } }), ['ConfigMap/one']);
    assert.deepEqual(await names({ labels: 'tier in (b)' }), ['ConfigMap/two']);
    assert.deepEqual(await names({ fields: 'metadata.name=two' }), ['ConfigMap/two']);
    assert.deepEqual(await names({ labels: { tier: 'a' }, metadataOnly: true }), ['ConfigMap/one']);
    assert.equal(
      (await client.list(Namespace)).items.some((item) => item.metadata.name === namespace),
      true,
    );
  });

  for (const [what, key, labels] of [
    ['an empty name', { namespace: 'a', name: '' }, {}],
    ['a name that leads elsewhere', { namespace: 'a', name: '..' }, {}],
    ['a name with a slash', { namespace: 'a', name: 'b/status' }, {}],
    ['an escaped name', { namespace: 'a', name: 'b%2Fstatus' }, {}],
    ['no namespace', { name: 'b' }, {}],
    ['a namespace with a slash', { namespace: 'a/b', name: 'b' }, {}],
    ['a label value that would select something else', { namespace: 'a', name: 'b' }, { a: 'b,c=d' }],
  ] as const) {
    it(`sends nothing for ${what}`, async () => {
      const { client, sent } = scriptedClient(() => ({ body: {} }));
      const call = 'a' in labels ? client.list(ConfigMap, { labels }) : client.delete(ConfigMap, key);
      await assert.rejects(call, { disposition: 'user' });
      assert.deepEqual(sent, []);
    });
  }

  it('lists everything in pages, and goes on when the pages expire without giving an object twice', async () => {
    const item = (name: string) => ({ metadata: { name, namespace: 'a', uid: `uid-${name}` } });
    const { client, sent } = scriptedClient((_request, count) => {
      if (count === 1) return { body: { items: [item('a'), item('b')], metadata: { continue: 'next' } } };
      if (count === 2) return { status: 410, body: { kind: 'Status', code: 410, reason: 'Expired' } };
      return { body: { items: [item('a'), item('b'), item('c')], metadata: { resourceVersion: '9' } } };
    });
    const all = await collect(client.live.listAll(ConfigMap, { namespace: 'a', labels: { x: 'y' } }));
    assert.deepEqual(
      all.map(({ metadata }) => metadata.name),
      ['a', 'b', 'c'],
    );
    assert.deepEqual(
      sent.map(({ target }) => target.slice(target.indexOf('?'))),
      ['?labelSelector=x%3Dy&limit=500', '?labelSelector=x%3Dy&limit=500&continue=next', '?labelSelector=x%3Dy'],
    );
  });

  it('lists everything of a server in small pages', async () => {
    const { client, namespace, sent } = await clientWorld();
    const names = Array.from({ length: 7 }, (_, at) => `item-${at}`);
    for (const name of names) await client.create(ConfigMap, { metadata: { namespace, name } });
    sent.length = 0;
    const found = await collect(client.live.listAll(ConfigMap, { namespace, limit: 3, resourceVersion: '0' }));
    const ours = found.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('item-'));
    assert.deepEqual(ours, names);
    const first = scriptedClient(() => ({ status: 410, body: { kind: 'Status', code: 410, reason: 'Expired' } }));
    await assert.rejects(collect(first.client.live.listAll(ConfigMap)), (error) => isExpired(error));
  });
});

describe('watches', () => {
  it('sees what happens from a version on, until the caller aborts', async () => {
    const { client, namespace } = await clientWorld();
    const { metadata } = await client.list(ConfigMap, { namespace });
    const aborter = new AbortController();
    const seen: string[] = [];
    await client.create(ConfigMap, { metadata: { namespace, name: 'one' } });
    await client.delete(ConfigMap, { namespace, name: 'one' });
    const watch = client.live.watch(ConfigMap, {
      namespace,
      resourceVersion: metadata.resourceVersion ?? '',
      signal: aborter.signal,
    });
    const watching = (async () => {
      for await (const { type, object } of watch) {
        seen.push(`${type} ${object.metadata.name}`);
        if (type === 'DELETED') aborter.abort(new Error('enough'));
      }
    })();
    await assert.rejects(watching, { message: 'enough' });
    assert.deepEqual(seen, ['ADDED one', 'DELETED one']);
  });

  it('asks for initial events, bookmarks and metadata, and gives batches', async () => {
    const { client, namespace, sent } = await clientWorld();
    await client.create(ConfigMap, { metadata: { namespace, name: 'one' }, data: { a: 'b' } });
    const batches = client.live.watchBatches(ConfigMap, {
      namespace,
      fields: 'metadata.name=one',
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      allowBookmarks: true,
      timeoutSeconds: 5,
      metadataOnly: true,
    });
    const types: string[] = [];
    for await (const batch of batches) {
      types.push(...batch.map(({ type, object }) => `${type} ${object.kind} ${'data' in object}`));
      if (types.length > 1) break;
    }
    assert.deepEqual(types, ['ADDED ConfigMap false', 'BOOKMARK ConfigMap false']);
    assert.match(sent.at(-1)?.target ?? '', /watch=true&fieldSelector=metadata\.name%3Done&resourceVersionMatch=/);
  });

  it('reliability/P22: gives up a stream that is silent while somebody waits, not one whose reader is slow', async () => {
    const clock = new VirtualClock();
    const line = '{"type":"ADDED","object":{"metadata":{"name":"a"}}}\n';
    const held = Promise.withResolvers<void>();
    const { client, sent } = scriptedClient(
      ({ signal }) => ({
        chunks: async function* () {
          yield* chunksOf([line, line]);
          signal?.addEventListener('abort', () => held.resolve());
          await held.promise;
        },
      }),
      { clock },
    );
    const slow = Promise.withResolvers<void>();
    const watching = (async () => {
      for await (const _event of client.live.watch(ConfigMap, { silenceMs: 90_000 })) await slow.promise;
    })();
    const outcome = watching.catch((error: unknown) => error);
    await clock.advance(0);
    await clock.advance(500_000);
    assert.equal(sent[0]?.signal?.aborted, false);
    slow.resolve();
    await clock.advance(89_000);
    assert.equal(sent[0]?.signal?.aborted, false);
    await clock.advance(91_000);
    assert.ok(isNetwork(await outcome));
    assert.equal(sent[0]?.silenceMs, 90_000);
    assert.equal(clock.nextDueMs, undefined);
  });

  it('fails with what the server answers to the request', async () => {
    const { client } = scriptedClient(() => ({
      status: 410,
      body: { kind: 'Status', code: 410, reason: 'Gone' },
    }));
    await assert.rejects(collect(client.live.watch(ConfigMap)), (error) => isExpired(error));
    const signal = AbortSignal.abort(new Error('stopped'));
    const other = scriptedClient(() => ({ body: '' }));
    await assert.rejects(collect(other.client.live.watch(ConfigMap, { signal })), { message: 'stopped' });
    assert.deepEqual(other.sent, []);
  });
});
