import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  deaf,
  type FakeCapabilities,
  FakeWorld,
  guarded,
  type Mutation,
} from '../../../test/support/fake-provider-world.ts';
import type { CallContext } from '../capabilities/call.ts';
import { type ContractResult, type ContractSuite, runCase } from './contract.ts';
import { instancesSuite } from './instances-contract.ts';
import { loadBalancersSuite } from './load-balancers-contract.ts';
import { routesSuite } from './routes-contract.ts';
import { zonesSuite } from './zones-contract.ts';

type Method = (...args: readonly unknown[]) => Promise<unknown>;
type Table = Readonly<Record<string, Method>>;

const PROMISE = 'promise broken: a call ends when its signal aborts — ';

/** One method that makes of its signal what `listens` does. */
const mutation =
  (capability: keyof FakeCapabilities, method: string, listens: (call: CallContext) => Promise<void>): Mutation =>
  (right) => {
    const methods = right[capability] as unknown as Table;
    const changed: Method = async (...args) => {
      const call = args.at(-1) as CallContext;
      await listens(call);
      return await methods[method]?.(...args.slice(0, -1), deaf(call));
    };
    return { [capability]: { ...methods, [method]: changed } };
  };

/** What becomes of the promise for a provider as programs connect it: with its guard. */
async function resultFor(capability: keyof FakeCapabilities, mutate?: Mutation): Promise<ContractResult> {
  const world = await FakeWorld.start(guarded, mutate);
  const run = <Subject>({ cases }: ContractSuite<Subject>, subject: Subject): Promise<ContractResult> => {
    const each = cases.find(({ id }) => id.endsWith('/abort-is-obeyed'));
    assert.ok(each !== undefined);
    return runCase(each, subject);
  };
  switch (capability) {
    case 'instances':
      return await run(instancesSuite, world.instances);
    case 'zones':
      return await run(zonesSuite, world.common);
    case 'loadBalancers':
      return await run(loadBalancersSuite, world.loadBalancers);
    case 'routes':
      return await run(routesSuite, world.routes);
  }
}

const METHODS: readonly (readonly [keyof FakeCapabilities, readonly string[]])[] = [
  ['instances', ['describe', 'describeMany']],
  ['zones', ['list']],
  ['loadBalancers', ['find', 'ensure', 'setBackends', 'remove']],
  ['routes', ['list', 'create', 'remove']],
];

describe('the promise that a call ends when its signal aborts, of a provider behind its guard', () => {
  for (const [capability, methods] of METHODS) {
    it(`ccm/B13, style/S58: is kept by ${capability} that pass the signal on`, async () => {
      assert.equal((await resultFor(capability)).outcome, 'kept');
    });

    for (const method of methods) {
      it(`ccm/B13, style/S58: is broken by ${capability}.${method} that never looks at it`, async () => {
        const result = await resultFor(
          capability,
          mutation(capability, method, () => Promise.resolve()),
        );
        const message = result.outcome === 'broken' ? result.message : result.outcome;
        assert.ok(message.startsWith(`${PROMISE}${method}() answered `), message);
        assert.match(message, /though its signal had aborted before$/);
      });

      it(`ccm/B13, style/S58: is broken by ${capability}.${method} that looks only before it asks`, async () => {
        const listens = async ({ signal }: CallContext) => {
          await Promise.resolve();
          signal.throwIfAborted();
        };
        const result = await resultFor(capability, mutation(capability, method, listens));
        const message = result.outcome === 'broken' ? result.message : result.outcome;
        assert.equal(message, `${PROMISE}${method}() went on for 5 s after its signal had aborted`);
      });
    }
  }
});
