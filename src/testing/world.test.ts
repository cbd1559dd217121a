import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigMap } from '../api/generated/core-v1.ts';
import { TestEnv } from './test-env.ts';
import { type World, worldDifferences, worldOf } from './world.ts';

interface Given {
  readonly seed?: number;
  readonly make: (env: TestEnv) => Promise<unknown>;
}

/** What a fresh cluster holds after something was made in it. */
async function worldAfter({ seed = 1, make }: Given): Promise<World> {
  await using env = await TestEnv.start({ seed });
  const since = env.server.store.revision;
  await make(env);
  await env.settle();
  return worldOf(env.server.store, since);
}

const config = (metadata: object, data: Record<string, string> = {}) => ({
  metadata: { name: '', namespace: 'default', ...metadata },
  data,
});
const create = (env: TestEnv, metadata: object, data?: Record<string, string>) =>
  env.client.create(ConfigMap, config(metadata, data));

describe('worldOf', () => {
  it('reliability/T1.6: two runs that made the same are alike, whatever uids, versions, times and names were given', async () => {
    const make = async (env: TestEnv, ms: number) => {
      await env.advance(ms);
      const owner = await create(
        env,
        { name: 'owner' },
        { at: env.clock.now().toISOString().replace('.000', '') },
      );
      const { uid = '', name } = owner.metadata;
      const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }];
      for (const text of ['b', 'a']) await create(env, { generateName: 'child-', ownerReferences }, { text });
    };
    const one = await worldAfter({ seed: 1, make: (env) => make(env, 1000) });
    const two = await worldAfter({ seed: 2, make: (env) => make(env, 5000) });
    assert.deepEqual(worldDifferences(one, two), []);
    assert.deepEqual(
      [...one.keys()].map((key) => key.split('/').at(-1)).toSorted((a = '', b = '') => a.localeCompare(b)),
      ['child-<1>', 'child-<2>', 'owner'],
    );
  });

  const DIFFERENT: readonly (readonly [string, (env: TestEnv) => Promise<unknown>, RegExp])[] = [
    ['other content', (env) => create(env, { name: 'a' }, { size: '2' }), /a is \{.*"2".*, not \{.*"1"/],
    ['another object', (env) => create(env, { name: 'b' }, { size: '1' }), /a is missing/],
    [
      'one object more',
      async (env) => {
        await create(env, { name: 'a' }, { size: '1' });
        await create(env, { generateName: 'a-' });
      },
      /a-<1> is there and should not be/,
    ],
    [
      'an object that waits for its end',
      async (env) => {
        await create(env, { name: 'a', finalizers: ['example.com/x'] }, { size: '1' });
        await env.client.delete(ConfigMap, { namespace: 'default', name: 'a' });
      },
      /deletionTimestamp/,
    ],
  ];
  for (const [what, make, expected] of DIFFERENT) {
    it(`reliability/T1.6: ${what} is a difference`, async () => {
      const base = await worldAfter({ make: (env) => create(env, { name: 'a' }, { size: '1' }) });
      assert.match(worldDifferences(base, await worldAfter({ make })).join('\n'), expected);
    });
  }

  it('reliability/T1.6: an owner that does not exist is a difference, and so is an observed generation that is old', () => {
    const store = (objects: readonly object[]) => ({
      list: () =>
        objects.map((object, at) => ({
          key: `/registry/core/configmaps/default/${at}`,
          createRevision: 1,
          bytes: Buffer.from(JSON.stringify(object)),
        })),
    });
    const text = (objects: readonly object[]) =>
      [...worldOf(store(objects) as unknown as Parameters<typeof worldOf>[0]).values()].join();
    const owned = (uid: string) => ({ metadata: { uid: '1', ownerReferences: [{ name: 'x', uid }] } });
    assert.match(text([owned('1')]), /<uid>/);
    assert.match(text([owned('2')]), /<dangling>/);
    const observed = (observedGeneration: number) => ({
      metadata: { generation: 2 },
      status: { observedGeneration },
    });
    assert.match(text([observed(2)]), /<newest>/);
    assert.match(text([observed(1)]), /<older>/);
  });
});
