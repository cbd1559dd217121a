import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientWorld, scriptedClient } from '../../../test/support/kube-client.ts';
import { ConfigMap, Pod } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { VirtualClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { createCache } from '../cache/create-cache.ts';
import { ApiError, isConflict } from './api-error.ts';
import { retryOnConflict } from './conflict-retry.ts';
import { createClient } from './create-client.ts';
import { createOrPatch, createOrUpdate } from './create-or-update.ts';
import { isEmptyPatch, jsonPatch, mergeFrom } from './patches.ts';
import { createRestMapper } from './rest-mapper.ts';

describe('createOrUpdate', () => {
  it('runtime/A7: creates, then updates only what differs', async () => {
    const { client, namespace, sent } = await clientWorld();
    const ensure = (value: string) =>
      createOrUpdate(client, ConfigMap, { namespace, name: 'a' }, (draft) => {
        draft.data = { ...draft.data, a: value };
      });
    assert.equal((await ensure('1')).result, 'created');
    sent.length = 0;
    assert.equal((await ensure('1')).result, 'unchanged');
    assert.deepEqual(
      sent.map(({ method }) => method),
      ['GET'],
    );
    const { result, object } = await ensure('2');
    assert.deepEqual([result, object.data], ['updated', { a: '2' }]);
  });

  it('an update from a cache loses nothing that the cache does not keep', async () => {
    const { client: live, namespace, clock, transport } = await clientWorld();
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    const key = { namespace, name: 'a' };
    await live.create(ConfigMap, { metadata: { ...key, annotations }, data: { big: 'x' } });
    const transform = (object: KubeObject) => ({ ...object, data: {} });
    const options = { byKind: { configmaps: { namespaces: [namespace], transform } } };
    const cache = createCache({ live: live.live, clock, log: SILENT_LOG, options });
    const stop = new AbortController();
    const running = cache.run(stop.signal);
    const client = createClient({ transport, fieldManager: 'me', clock, log: SILENT_LOG, cache });
    const { result } = await createOrUpdate(client, ConfigMap, key, (draft) => {
      draft.metadata.labels = { a: 'b' };
    });
    stop.abort();
    await running;
    const after = await live.get(ConfigMap, key);
    assert.deepEqual([result, after.metadata.labels], ['updated', { a: 'b' }]);
    assert.deepEqual([after.metadata.annotations, after.data], [annotations, { big: 'x' }]);
  });

  it('runtime/A7: refuses a change of name or namespace', async () => {
    const { client, namespace } = await clientWorld();
    const renaming = createOrUpdate(client, ConfigMap, { namespace, name: 'a' }, (draft) => {
      draft.metadata.name = 'b';
    });
    await assert.rejects(renaming, { reason: 'KeyChanged', message: /must stay/ });
  });

  it('reads again when somebody else has created it, and throws conflicts', async () => {
    const there = { metadata: { namespace: 'a', name: 'b', resourceVersion: '1' } };
    const gone = { status: 404, body: { kind: 'Status', code: 404, reason: 'NotFound', details: { name: 'b' } } };
    const failure = (reason: string) => ({ status: 409, body: { kind: 'Status', code: 409, reason } });
    const { client, sent } = scriptedClient(({ method }, count) => {
      if (method === 'GET') return count === 1 ? gone : { body: there };
      return failure(method === 'POST' ? 'AlreadyExists' : 'Conflict');
    });
    const ensuring = createOrUpdate(client, ConfigMap, { namespace: 'a', name: 'b' }, (draft) => {
      draft.data = { a: '1' };
    });
    await assert.rejects(ensuring, (error) => isConflict(error));
    assert.deepEqual(
      sent.map(({ method }) => method),
      ['GET', 'POST', 'GET', 'PUT'],
    );
  });
});

describe('createOrPatch', () => {
  it('runtime/A7: says what it patched: the object, its status, both or nothing', async () => {
    const { client, namespace } = await clientWorld();
    const ensure = async (label: string, message: string): Promise<string> => {
      const { result } = await createOrPatch(client, Pod, { namespace, name: 'p' }, (draft) => {
        draft.metadata.labels = { label };
        draft.spec ??= { containers: [{ name: 'c', image: 'i' }] };
        draft.status = { ...draft.status, message };
      });
      return result;
    };
    const results = [
      await ensure('a', 'one'),
      await ensure('a', 'one'),
      await ensure('a', 'one'),
      await ensure('b', 'one'),
      await ensure('c', 'two'),
    ];
    assert.deepEqual(results, ['created', 'updatedStatusOnly', 'unchanged', 'updated', 'updatedStatus']);
  });
});

describe('patches', () => {
  const before: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', resourceVersion: '7' },
    data: { a: '1', b: '2' },
  };

  it('runtime/A4: are made from two states, with the version where a lock is asked for', () => {
    const after = { ...before, data: { a: '1', c: '3' } };
    assert.deepEqual(mergeFrom(before, after), { type: 'merge', body: { data: { b: null, c: '3' } } });
    assert.deepEqual(mergeFrom(before, after, { optimisticLock: true }).body, {
      data: { b: null, c: '3' },
      metadata: { resourceVersion: '7' },
    });
    assert.ok(isEmptyPatch(mergeFrom(before, before, { optimisticLock: true })));
    const unstored = { ...before, metadata: { name: 'a' } };
    assert.throws(() => mergeFrom(unstored, after, { optimisticLock: true }), { reason: 'VersionMissing' });
    assert.deepEqual(jsonPatch([{ op: 'remove', path: '/data/a' }]), {
      type: 'json',
      body: [{ op: 'remove', path: '/data/a' }],
    });
  });
});

describe('retryOnConflict', () => {
  const conflict = () => new ApiError({ code: 409, reason: 'Conflict', message: 'changed' });

  it('runtime/A8: tries five times, 10 to 11 ms apart, and only for conflicts', async () => {
    const clock = new VirtualClock();
    const at: number[] = [];
    const trying = retryOnConflict({ clock }, () => {
      at.push(clock.monotonicMs());
      return Promise.reject(conflict());
    });
    const outcome = assert.rejects(trying, (error) => isConflict(error));
    await clock.advance(0);
    await clock.advance(100);
    await outcome;
    assert.equal(at.length, 5);
    for (const [index, ms] of at.slice(1).entries()) {
      const pause = ms - (at[index] ?? 0);
      assert.ok(pause >= 10 && pause < 11, String(pause));
    }
    let count = 0;
    const other = retryOnConflict({ clock }, () => Promise.reject(new Error(`failure ${++count}`)));
    await assert.rejects(other, { message: 'failure 1' });
  });

  it('resolves to what the first attempt without a conflict gives', async () => {
    const clock = new VirtualClock();
    let count = 0;
    const trying = retryOnConflict({ clock }, () =>
      ++count < 3 ? Promise.reject(conflict()) : Promise.resolve(count),
    );
    await clock.advance(0);
    await clock.advance(100);
    assert.equal(await trying, 3);
  });
});

describe('createRestMapper', () => {
  it('runtime/A6: finds kinds by aggregated discovery and keeps it', async () => {
    const { client, clock, sent } = await clientWorld();
    const mapper = createRestMapper(client, clock);
    sent.length = 0;
    const kinds = await Promise.all([
      mapper.kindFor({ apiVersion: 'v1', kind: 'ConfigMap' }),
      mapper.kindFor({ apiVersion: 'apps/v1', kind: 'Deployment' }),
    ]);
    assert.deepEqual(
      kinds.map(({ group, version, plural, scope }) => [group, version, plural, scope]),
      [
        ['', 'v1', 'configmaps', 'Namespaced'],
        ['apps', 'v1', 'deployments', 'Namespaced'],
      ],
    );
    assert.equal((await mapper.kindFor({ apiVersion: 'v1', kind: 'Node' })).scope, 'Cluster');
    assert.deepEqual(
      sent.map(({ target }) => target),
      ['/api', '/apis'],
    );
  });

  it('runtime/A6: reads discovery again for an unknown kind, at most every ten seconds', async () => {
    const group = (kind: string) => ({
      metadata: { name: 'ex.io' },
      versions: [
        { version: 'v1', resources: [{ resource: 'widgets', responseKind: { kind }, scope: 'Cluster' }] },
      ],
    });
    let kind = 'Other';
    const { client, clock, sent } = scriptedClient(({ target }) => ({
      body: { kind: 'APIGroupDiscoveryList', items: target === '/apis' ? [group(kind), {}] : null },
    }));
    const mapper = createRestMapper(client, clock);
    const ask = () => mapper.kindFor({ apiVersion: 'ex.io/v1', kind: 'Widget' });
    await assert.rejects(ask(), { reason: 'NoMatch', code: 404 });
    kind = 'Widget';
    await clock.advance(9_999);
    await assert.rejects(ask(), { reason: 'NoMatch' });
    assert.equal(sent.length, 2);
    await clock.advance(1);
    assert.equal((await ask()).plural, 'widgets');
    assert.equal(sent.length, 4);
    mapper.forget();
    await ask();
    assert.equal(sent.length, 6);
  });

  it('does not keep a failure, and needs aggregated discovery', async () => {
    let status = 503;
    const { client, clock } = scriptedClient(() => ({ status, body: { kind: 'APIGroupList' } }));
    const mapper = createRestMapper(client, clock);
    await assert.rejects(mapper.kindFor({ apiVersion: 'v1', kind: 'Pod' }), { reason: 'ServiceUnavailable' });
    status = 200;
    await assert.rejects(mapper.kindFor({ apiVersion: 'v1', kind: 'Pod' }), { reason: 'DiscoveryUnsupported' });
  });
});
