import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { causeChain, dispositionOf, messageOf, retryError, terminalError, userError } from './errors.ts';

describe('SlipwayError', () => {
  it('style/S30: carries disposition, reason, message and cause', () => {
    const cause = new Error('socket closed');
    const error = retryError('CloudThrottled', 'the cloud asked to slow down', { cause, retryAfterMs: 500 });
    assert.equal(error.disposition, 'retry');
    assert.equal(error.reason, 'CloudThrottled');
    assert.equal(error.message, 'the cloud asked to slow down');
    assert.equal(error.cause, cause);
    assert.equal(error.retryAfterMs, 500);
  });

  it('has no cause property when there is no cause', () => {
    assert.equal('cause' in userError('X', 'y'), false);
  });

  const cases = [
    { name: 'a user error', thrown: userError('A', 'a'), want: 'user' },
    { name: 'a terminal error', thrown: terminalError('A', 'a'), want: 'terminal' },
    { name: 'a retryable error', thrown: retryError('A', 'a'), want: 'retry' },
    { name: 'any other error', thrown: new TypeError('a'), want: 'bug' },
    { name: 'something that is no error at all', thrown: 'text', want: 'bug' },
  ];
  for (const { name, thrown, want } of cases) {
    it(`style/S30: says what ${name} means`, () => assert.equal(dispositionOf(thrown), want));
  }
});

describe('messageOf', () => {
  it('reads errors and strings and survives everything else', () => {
    assert.equal(messageOf(new Error('a')), 'a');
    assert.equal(messageOf('b'), 'b');
    assert.equal(messageOf(undefined), 'non-error thrown: undefined');
    assert.equal(messageOf(Object.create(null)), 'non-error thrown: object');
  });
});

describe('causeChain', () => {
  it('lists the error and its causes, outermost first', () => {
    const inner = new Error('inner');
    const outer = new Error('outer', { cause: inner });
    assert.deepEqual(causeChain(outer), [outer, inner]);
  });

  it('ends at a cycle', () => {
    const error = new Error('a');
    error.cause = error;
    assert.deepEqual(causeChain(error), [error]);
  });
});
