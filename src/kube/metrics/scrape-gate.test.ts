import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { UserInfo } from '../../api/generated/authentication-v1.ts';
import type { Kind } from '../../api/object.ts';
import { VirtualClock } from '../../base/clock.ts';
import { createLog } from '../../base/log.ts';
import { ApiError, NetworkError } from '../client/api-error.ts';
import type { Writer } from '../client/kube-client.ts';
import { reviewGate, type ScrapeGateOptions } from './scrape-gate.ts';

/** An API server that only answers reviews: the token is the name of the user. */
function setUp(options: Partial<ScrapeGateOptions> = {}) {
  const clock = new VirtualClock();
  const asked: { kind: string; spec: unknown }[] = [];
  const state: { failures: Error[]; allowed: boolean } = { failures: [], allowed: true };
  const create = async (kind: Kind, { spec }: { spec: { token: string } }) => {
    asked.push({ kind: kind.kind, spec });
    await Promise.resolve();
    const failure = state.failures.shift();
    if (failure !== undefined) throw failure;
    if (kind.kind === 'SubjectAccessReview') return { status: { allowed: state.allowed } };
    if (spec.token === 'forged') return { status: { authenticated: false, error: 'bad signature' } };
    return { status: { authenticated: true, user: { username: spec.token, groups: ['scrapers'], uid: '1' } } };
  };
  // The gate reads nothing but the status of what is created.
  const client = { create } as unknown as Pick<Writer, 'create'>;
  const log = createLog({ level: 'warn', write: () => {}, now: () => new Date(0) });
  const gate = reviewGate({ client, clock, log, ...options });
  const scrape = (authorization: string | undefined, method = 'GET') =>
    gate({ authorization, path: '/metrics', method });
  const known = (user: UserInfo) => gate({ authorization: undefined, path: '/metrics', method: 'GET', user });
  const kinds = () => asked.splice(0).map(({ kind }) => kind);
  return { clock, asked, state, scrape, known, kinds };
}

const refused = () => new NetworkError('connection refused', { mayHaveHappened: false });

describe('reviewGate', () => {
  it('runtime/M7: sample 13: 401 without a token, with none that is known, and with something else', async () => {
    const { scrape, asked } = setUp();
    for (const header of [undefined, '', 'Basic YTpi', 'Bearer', 'Bearer a b']) {
      assert.equal(await scrape(header), 401, header);
    }
    assert.deepEqual(asked, [], 'nobody is asked about nothing');
    assert.equal(await scrape('Bearer forged'), 401);
  });

  it('runtime/M7: sample 13: 403 for somebody who lacks the right, 200 for who has it', async () => {
    const { scrape, state, asked } = setUp();
    state.allowed = false;
    assert.equal(await scrape('Bearer eve'), 403);
    state.allowed = true;
    assert.equal(await scrape('bearer prometheus'), 200);
    assert.deepEqual(asked.at(-1), {
      kind: 'SubjectAccessReview',
      spec: {
        user: 'prometheus',
        groups: ['scrapers'],
        uid: '1',
        nonResourceAttributes: { path: '/metrics', verb: 'get' },
      },
    });
  });

  it('runtime/M7: remembers tokens for a minute, permission for five and refusal for half of one', async () => {
    const { clock, scrape, state, kinds } = setUp();
    await scrape('Bearer prometheus');
    state.allowed = false;
    await scrape('Bearer eve');
    kinds();
    await clock.advance(29_999);
    await Promise.all([scrape('Bearer prometheus'), scrape('Bearer eve')]);
    assert.deepEqual(kinds(), []);
    await clock.advance(1);
    await Promise.all([scrape('Bearer prometheus'), scrape('Bearer eve')]);
    assert.deepEqual(kinds(), ['SubjectAccessReview'], 'eve is asked about again');
    await clock.advance(30_000);
    assert.equal(await scrape('Bearer prometheus'), 200);
    assert.deepEqual(kinds(), ['TokenReview']);
    await clock.advance(240_000);
    assert.equal(await scrape('Bearer prometheus'), 403);
    assert.deepEqual(kinds(), ['TokenReview', 'SubjectAccessReview']);
  });

  it('asks once for many scrapes at a time', async () => {
    const { scrape, kinds } = setUp();
    await Promise.all(Array.from({ length: 20 }, () => scrape('Bearer prometheus')));
    assert.deepEqual(kinds(), ['TokenReview', 'SubjectAccessReview']);
  });

  it('runtime/M7: asks five times, 500 ms and then half as long again apart, before it answers 500', async () => {
    const { clock, scrape, state, kinds } = setUp();
    state.failures = Array.from({ length: 9 }, refused);
    const answer = scrape('Bearer prometheus');
    const times = [0, 500, 750, 1125, 1687.5];
    for (const [index, ms] of times.entries()) {
      await clock.advance(0);
      await clock.advance(ms);
      assert.equal(kinds().length, 1, `try ${index + 1}`);
    }
    assert.equal(await answer, 500);
    assert.equal(clock.nextDueMs, undefined);
  });

  it('runtime/M7: a server that comes back within the tries is enough', async () => {
    const { clock, scrape, state } = setUp();
    state.failures = [refused(), refused()];
    const answer = scrape('Bearer prometheus');
    for (let step = 0; step < 4; step++) await clock.advance(500);
    assert.equal(await answer, 200);
  });

  it('does not ask again when we may not ask at all: 500', async () => {
    const { scrape, state, kinds } = setUp();
    state.failures = [new ApiError({ code: 403, reason: 'Forbidden', message: 'may not create tokenreviews' })];
    assert.equal(await scrape('Bearer prometheus'), 500);
    assert.deepEqual(kinds(), ['TokenReview']);
  });

  it('ccm/P11: remembers every answer for as long as it is told to', async () => {
    const { clock, scrape, kinds } = setUp({ keepMs: 10_000 });
    await scrape('Bearer prometheus');
    await clock.advance(9999);
    await scrape('Bearer prometheus');
    assert.deepEqual(kinds(), ['TokenReview', 'SubjectAccessReview']);
    await clock.advance(1);
    await scrape('Bearer prometheus');
    assert.deepEqual(kinds(), ['TokenReview', 'SubjectAccessReview']);
  });

  it('ccm/P11: asks nobody who a user is that is known already, nor what a trusted group may do', async () => {
    const { known, kinds, state } = setUp({ trustedGroups: ['masters'] });
    state.allowed = false;
    assert.equal(await known({ username: 'root', groups: ['masters'] }), 200);
    assert.deepEqual(kinds(), []);
    assert.equal(await known({ username: 'eve', groups: ['users'] }), 403);
    assert.deepEqual(kinds(), ['SubjectAccessReview']);
  });

  it('reliability/P61: holds a bounded number of tokens, and none of them in the clear', async () => {
    const { scrape, kinds } = setUp();
    for (let index = 0; index < 1001; index++) await scrape(`Bearer user-${index}`);
    kinds();
    await scrape('Bearer user-1');
    assert.deepEqual(kinds(), []);
    await scrape('Bearer user-0');
    assert.deepEqual(kinds(), ['TokenReview', 'SubjectAccessReview'], 'the oldest had to go');
  });
});
