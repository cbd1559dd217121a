import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { broken, type ContractCase } from './contract.ts';
import { registerContract } from './test-framework.ts';

const SUBJECT = { [Symbol.asyncDispose]: async () => {} };

/** What a framework is given to print when the check of a promise throws this. */
async function failureFor(thrown: Error): Promise<unknown> {
  const bodies: (() => Promise<void>)[] = [];
  const only: ContractCase<AsyncDisposable> = {
    id: 'zones/there-is-one',
    promise: 'there is at least one zone',
    check: () => Promise.reject(thrown),
  };
  registerContract(
    { name: 'zones', cases: [only] },
    {
      make: () => SUBJECT,
      describe: (_, body) => body(),
      it: (_, body) => void bodies.push(body),
      after: () => {},
    },
  );
  return await bodies[0]?.().catch((error: unknown) => error);
}

describe('what a test framework prints for a promise', () => {
  it('is the message alone, where the message says what was found', async () => {
    const failure = await failureFor(broken('list() answered none'));
    assert.ok(failure instanceof Error);
    assert.equal(inspect(failure), '[promise broken: there is at least one zone — list() answered none]');
  });

  it('begins with the message, and shows where a call threw', async () => {
    const thrown = new TypeError('zones is undefined');
    for (const error of [thrown, broken('list() answered none', thrown)]) {
      const failure = await failureFor(error);
      assert.ok(failure instanceof Error);
      assert.match(inspect(failure), /^\[promise broken: there is at least one zone — /);
      assert.equal(failure.cause, thrown);
      assert.match(inspect(failure), /TypeError: zones is undefined\n +at .*test-framework\.test\.ts/);
    }
  });
});
