import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failure } from '../../../test/support/cache-world.ts';
import { ApiError, NetworkError } from '../client/api-error.ts';
import { type Attempt, type Reaction, reactionTo } from './reflector-failure.ts';
import { compareVersions } from './resource-version.ts';

const RESUME: Attempt = { phase: 'resume', usedVersion: true, hasEvents: false, failures: 0 };
const FIRST: Attempt = { phase: 'watch-list', usedVersion: false, hasEvents: false, failures: 0 };
const tooLarge = new ApiError({
  code: 504,
  reason: 'Timeout',
  message: 'Timeout',
  details: { causes: [{ reason: 'ResourceVersionTooLarge' }] },
});

const CASES: readonly (readonly [string, unknown, Attempt, Partial<Reaction>])[] = [
  [
    'network, while following',
    new NetworkError('x', { mayHaveHappened: false }),
    RESUME,
    { needsList: false, isFirstFree: true },
  ],
  [
    'network, before the first list',
    new NetworkError('x', { mayHaveHappened: false }),
    FIRST,
    { needsList: true },
  ],
  ['410 while following', failure(410, 'Gone'), RESUME, { needsList: true, forgetsVersion: false }],
  [
    '410 of a list at a version',
    failure(410, 'Expired'),
    { ...FIRST, usedVersion: true },
    { forgetsVersion: true },
  ],
  ['a version that is too large', tooLarge, RESUME, { needsList: true, forgetsVersion: true, atLeastMs: 1_000 }],
  ['504 that is only slow', failure(504, 'Timeout'), RESUME, { needsList: false, reason: 'ServerError' }],
  ['422 to a watch-list', failure(422, 'Invalid'), FIRST, { usesLists: true }],
  [
    '422 to a list',
    failure(422, 'Invalid'),
    { ...FIRST, phase: 'list' },
    { needsList: true, forgetsVersion: true },
  ],
  ['400 while following', failure(400, 'BadRequest'), RESUME, { needsList: true, forgetsVersion: true }],
  ['401', failure(401, 'Unauthorized'), RESUME, { needsList: false, refreshesCredentials: true }],
  ['403', failure(403, 'Forbidden'), RESUME, { needsList: false, capMs: 60_000 }],
  ['404', failure(404, 'NotFound'), RESUME, { needsList: true, atLeastMs: 9_000 }],
  [
    '429',
    failure(429, 'TooManyRequests', { retryAfterMs: 5_000 }),
    RESUME,
    { needsList: false, atLeastMs: 5_000 },
  ],
  ['503', failure(503, 'ServiceUnavailable'), { ...RESUME, failures: 9 }, { needsList: false }],
  ['500 once', failure(500, 'InternalError'), RESUME, { needsList: false }],
  ['500 for the third time', failure(500, 'InternalError'), { ...RESUME, failures: 2 }, { needsList: true }],
  [
    '500 in the middle of a stream',
    failure(500, 'InternalError'),
    { ...RESUME, hasEvents: true },
    { needsList: true },
  ],
  ['an object that cannot be read', failure(500, 'StoreReadError'), RESUME, { needsList: true }],
  [
    'an answer without an object',
    failure(200, 'UndecodableAnswer'),
    RESUME,
    { needsList: true, reason: 'BadData' },
  ],
  ['a bug', new TypeError('x'), RESUME, { needsList: true, reason: 'BadData' }],
];

describe('reaction to a failure', () => {
  for (const [what, error, attempt, expected] of CASES) {
    it(`runtime/I6: ${what}`, () => {
      const reaction = reactionTo(error, attempt);
      assert.deepEqual({ ...reaction, ...expected }, reaction);
    });
  }
});

describe('order of versions', () => {
  it('runtime/I7: is that of numbers, of any size', () => {
    const sorted = ['', '1', '9', '10', '99', '100', '18446744073709551615', '18446744073709551616'];
    assert.deepEqual(sorted.toReversed().toSorted(compareVersions), sorted);
    assert.equal(compareVersions('100', '100'), 0);
  });
});
