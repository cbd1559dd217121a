import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigMap, Pod } from '../api/generated/core-v1.ts';
import { ApiError, isConflict, isNotFound } from '../kube/client/api-error.ts';
import { type ClientCall, interceptedClient } from './intercepted-client.ts';
import { TestEnv } from './test-env.ts';

const KEY = { namespace: 'default', name: 'a' };
const CONFLICT = new ApiError({ code: 409, reason: 'Conflict', message: 'injected' });

const throws = (error: Error) => () => {
  throw error;
};

const lineOf = ({ verb, kind, isLive, subresource = '' }: ClientCall) =>
  [verb, kind?.kind ?? '-', isLive ? 'live' : 'cached', subresource].join(' ').trim();

describe('interceptedClient', () => {
  it('runtime/T4: calls before and after each verb, in every form of the client', async () => {
    await using env = await TestEnv.start();
    const calls: string[] = [];
    const client = interceptedClient(env.client, {
      every: { before: (call) => void calls.push(lineOf(call)) },
      create: { after: (_call, result) => void calls.push(`made ${(result as ConfigMap).metadata.name}`) },
    });
    await client.create(ConfigMap, { metadata: KEY });
    await client.live.get(ConfigMap, KEY);
    await client.as('other').find(ConfigMap, KEY);
    await assert.rejects(client.subresource('status').get(Pod, KEY), isNotFound);
    await client.raw('/version');
    assert.deepEqual(calls, [
      'create ConfigMap cached',
      'made a',
      'get ConfigMap live',
      'find ConfigMap cached',
      'get Pod cached status',
      'raw - cached',
    ]);
    assert.equal(client.fieldManager, env.client.fieldManager);
    assert.equal(client.as('other').fieldManager, 'other');
  });

  it('runtime/T4: what `before` throws is thrown instead of the call', async () => {
    await using env = await TestEnv.start();
    const client = interceptedClient(env.client, { create: { before: throws(CONFLICT) } });
    await assert.rejects(client.create(ConfigMap, { metadata: KEY }), isConflict);
    assert.equal(await env.client.find(ConfigMap, KEY), undefined);
  });

  it('runtime/T4: what `after` throws hides a result that is there', async () => {
    await using env = await TestEnv.start();
    const client = interceptedClient(env.client, { create: { after: throws(CONFLICT) } });
    await assert.rejects(client.create(ConfigMap, { metadata: KEY }), isConflict);
    assert.equal((await env.client.get(ConfigMap, KEY)).metadata.name, 'a');
  });

  it('leaves streams alone', async () => {
    await using env = await TestEnv.start();
    const client = interceptedClient(env.client, { every: { before: throws(CONFLICT) } });
    const names: string[] = [];
    for await (const { metadata } of client.live.listAll(ConfigMap, { namespace: 'default' }))
      names.push(metadata.name);
    assert.deepEqual(names, ['kube-root-ca.crt']);
  });
});
