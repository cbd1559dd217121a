import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { type IssuedToken, TokenSource } from './token-source.ts';

const START = new Date('2030-01-01T00:00:00Z');
const HOUR_MS = 3_600_000;

/** Tokens that are issued when the test says so. */
class Desk {
  readonly clock = new VirtualClock({ start: START });
  readonly waiting: PromiseWithResolvers<IssuedToken>[] = [];
  readonly signals: AbortSignal[] = [];
  readonly tokens = new TokenSource(this.clock, (signal) => {
    const asked = Promise.withResolvers<IssuedToken>();
    this.signals.push(signal);
    this.waiting.push(asked);
    return asked.promise;
  });

  get asked(): number {
    return this.waiting.length;
  }

  issue(token: string, lifeMs = HOUR_MS): void {
    const expiresAt = new Date(this.clock.now().getTime() + lifeMs);
    this.waiting.at(-1)?.resolve({ token, expiresAt });
  }
}

const nobody = new AbortController().signal;

describe('tokens of the lab cloud', () => {
  it('lab/C1: are asked for once by all who wait, and used until shortly before their end', async () => {
    const desk = new Desk();
    const both = Promise.all([desk.tokens.current(nobody), desk.tokens.current(nobody)]);
    desk.issue('one');
    assert.deepEqual(await both, ['one', 'one']);
    await desk.clock.advance(HOUR_MS - 60_001);
    assert.equal(await desk.tokens.current(nobody), 'one');
    assert.equal(desk.asked, 1);
    await desk.clock.advance(1);
    const next = desk.tokens.current(nobody);
    desk.issue('two');
    assert.equal(await next, 'two');
  });

  it('lab/C1: are used for half of a life that is shorter than the margin', async () => {
    const desk = new Desk();
    const first = desk.tokens.current(nobody);
    desk.issue('short', 10_000);
    await first;
    await desk.clock.advance(4999);
    assert.equal(await desk.tokens.current(nobody), 'short');
    await desk.clock.advance(1);
    const next = desk.tokens.current(nobody);
    desk.issue('next');
    assert.equal(await next, 'next');
  });

  it('lab/C1: are used by a clock that is ahead until the cloud refuses them', async () => {
    const desk = new Desk();
    const first = desk.tokens.current(nobody);
    desk.issue('past', -HOUR_MS);
    await first;
    assert.equal(await desk.tokens.current(nobody), 'past');
    desk.tokens.forget('another');
    assert.equal(await desk.tokens.current(nobody), 'past');
    desk.tokens.forget('past');
    const next = desk.tokens.current(nobody);
    desk.issue('next');
    assert.equal(await next, 'next');
  });

  it('are not lost to others when one of those who wait gives up', async () => {
    const desk = new Desk();
    const impatient = new AbortController();
    const [gone, kept] = [desk.tokens.current(impatient.signal), desk.tokens.current(nobody)];
    impatient.abort(new Error('enough'));
    await assert.rejects(gone, /enough/);
    assert.equal(desk.signals[0]?.aborted, false);
    desk.issue('one');
    assert.equal(await kept, 'one');
  });

  it('are not waited for when nobody is left, and asked for anew later', async () => {
    const desk = new Desk();
    const impatient = new AbortController();
    const gone = desk.tokens.current(impatient.signal);
    impatient.abort(new Error('enough'));
    await assert.rejects(gone, /enough/);
    assert.equal(desk.signals[0]?.aborted, true);
    const next = desk.tokens.current(nobody);
    assert.equal(desk.asked, 2);
    desk.issue('one');
    assert.equal(await next, 'one');
  });

  it('are asked for again after a failure', async () => {
    const desk = new Desk();
    const first = desk.tokens.current(nobody);
    desk.waiting[0]?.reject(new Error('down'));
    await assert.rejects(first, /down/);
    const next = desk.tokens.current(nobody);
    desk.issue('one');
    assert.equal(await next, 'one');
  });
});
