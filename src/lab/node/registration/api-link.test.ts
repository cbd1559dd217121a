import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigMap } from '../../../api/generated/core-v1.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { isNetwork, NetworkError } from '../../../kube/client/api-error.ts';
import { createClient } from '../../../kube/client/create-client.ts';
import type { Transport } from '../../../kube/transport/transport.ts';
import { TestEnv } from '../../../testing/index.ts';
import { ApiLink } from './api-link.ts';

const KEY = { namespace: 'default', name: 'a' };

async function linked() {
  const env = await TestEnv.start();
  const link = new ApiLink(env.server.client());
  const client = createClient({
    transport: link.transport,
    fieldManager: 'test',
    clock: env.clock,
    log: SILENT_LOG,
  });
  return { env, link, client, [Symbol.asyncDispose]: () => env[Symbol.asyncDispose]() };
}

describe('ApiLink', () => {
  it('lab/N6: lets everything pass until it is cut, and again afterwards', async () => {
    await using lab = await linked();
    await lab.client.create(ConfigMap, { metadata: KEY });
    lab.link.partition(true);
    lab.link.partition(true);
    await assert.rejects(lab.client.get(ConfigMap, KEY), (error) => isNetwork(error) && !error.mayHaveHappened);
    lab.link.partition(false);
    assert.equal((await lab.client.get(ConfigMap, KEY)).metadata.name, 'a');
  });

  it('lab/N6: breaks a watch off', async () => {
    await using lab = await linked();
    const seen: string[] = [];
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const watching = (async () => {
      for await (const { type, object } of lab.client.live.watch(ConfigMap, { fields: 'metadata.name=a' })) {
        seen.push(`${type} ${object.metadata.namespace}`);
        begin();
      }
    })();
    const ended = assert.rejects(watching, isNetwork);
    await lab.env.client.create(ConfigMap, { metadata: KEY });
    await begun;
    lab.link.partition(true);
    await lab.env.client.create(ConfigMap, { metadata: { ...KEY, namespace: 'kube-system' } });
    await ended;
    assert.deepEqual(seen, ['ADDED default']);
  });

  it('lab/N6: a request that is under way has no answer, though it may have happened', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const slow: Transport = async () => {
      await promise;
      return { status: 200, headers: {}, stream: async function* () {}, bytes: async () => new Uint8Array() };
    };
    const link = new ApiLink(slow);
    const answer = link.transport({ method: 'GET', target: '/' });
    link.partition(true);
    resolve();
    await assert.rejects(answer, (error) => error instanceof NetworkError && error.mayHaveHappened);
  });

  it('hands on what the way itself throws, and the signal of the caller', async () => {
    const link = new ApiLink(async ({ signal }) => {
      signal?.throwIfAborted();
      throw new Error('broken');
    });
    await assert.rejects(link.transport({ method: 'GET', target: '/' }), /broken/);
    const signal = AbortSignal.abort(new Error('enough'));
    await assert.rejects(link.transport({ method: 'GET', target: '/', signal }), /enough/);
  });
});
