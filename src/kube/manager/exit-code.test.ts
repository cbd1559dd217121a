import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { retryError, terminalError, userError } from '../../base/errors.ts';
import { exitCodeOf, failureFields } from './exit-code.ts';

describe('exitCodeOf', () => {
  const cases: [string, unknown, number][] = [
    ['a clean stop', undefined, 0],
    ['a part that failed', new Error('boom'), 1],
    ['something that is no error', 'boom', 1],
    ['lost leadership', terminalError('LeaderElectionLost', 'leader election lost'), 1],
    ['bad configuration', userError('InvalidFlags', '--x is not known'), 2],
    ['caches that do not sync', retryError('CacheSyncTimeout', 'pods'), 3],
    [
      'a controller whose sources do not sync',
      new Error('widget', { cause: retryError('CacheNotSynced', 'pods') }),
      3,
    ],
  ];
  for (const [name, error, want] of cases) {
    it(`runtime/8.2: ${name} is ${want}`, () => assert.equal(exitCodeOf(error), want));
  }

  it('gives a stack only for what nobody foresaw', () => {
    assert.deepEqual(Object.keys(failureFields(userError('X', 'y'))), ['reason', 'problem', 'exitCode']);
    assert.deepEqual(Object.keys(failureFields(new Error('bug'))), ['err']);
  });
});
