import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigMap } from 'slipway/api/core-v1';
import { findCondition } from 'slipway/kube';
import { enumerateCrashPoints, expectNoWrites, TestEnv } from 'slipway/testing';
import { helloController } from './controller.ts';
import { Greeting } from './greeting.ts';

const key = { namespace: 'default', name: 'a' };
const greeting = (who: string) =>
  ({ apiVersion: 'hello.example.com/v1', kind: 'Greeting', metadata: key, spec: { who } }) as const;

describe('hello-controller', () => {
  it('greets, and has nothing to write when nothing changes', async () => {
    await using env = await TestEnv.start({ kinds: [Greeting] });
    await env.startManager({ add: [helloController()] });
    await env.client.create(Greeting, greeting('world'));
    await env.settle();
    const { data } = await env.client.get(ConfigMap, { ...key, name: 'a-greeting' });
    assert.equal(data?.['text'], 'Hello, world!');
    await expectNoWrites(env.recorder, () => env.advance(60_000));
  });

  it('says what is wrong with a greeting', async () => {
    await using env = await TestEnv.start({ kinds: [Greeting] });
    await env.startManager({ add: [helloController()] });
    await env.client.create(Greeting, greeting('nobody'));
    await env.settle();
    const ready = findCondition(await env.client.get(Greeting, key), 'Ready');
    assert.deepEqual([ready?.status, ready?.reason], ['False', 'Nobody']);
  });

  it('survives a crash at every write', async () => {
    const { failures, tried } = await enumerateCrashPoints({
      name: 'create, change, delete',
      kinds: [Greeting],
      start: () => ({
        controllers: () => [helloController()],
        act: async ({ client, converge }) => {
          await client.create(Greeting, greeting('world'));
          await converge();
          await client.patch(Greeting, key, { type: 'merge', body: { spec: { who: 'you' } } });
          await converge();
          await client.delete(Greeting, key);
        },
      }),
    });
    assert.deepEqual(failures, []);
    assert.ok(tried > 0);
  });
});
