import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scriptedHttp, throughTime } from '../../test/support/oci-world.ts';
import { VirtualClock } from '../base/clock.ts';
import { abandon, HttpExchange, retryAfterMs } from './http-exchange.ts';

const GET = { method: 'GET', url: 'https://r.example/v2/' } as const;

describe('HttpExchange', () => {
  it('sends a request again while the other side is busy or broken, waits as long as it is told, and returns the answer', async () => {
    const clock = new VirtualClock();
    const statuses = [429, 503, 200];
    const { http, seen, open } = scriptedHttp(() => ({
      status: statuses[seen.length - 1] ?? 0,
      headers: { 'retry-after': '4' },
    }));
    const answer = await throughTime(clock, new HttpExchange({ http, clock }).call(GET));
    assert.equal(answer.status, 200);
    assert.equal(clock.monotonicMs(), 8000);
    await abandon(answer);
    assert.equal(open(), 0);
  });

  it('returns the last answer when all attempts fail', async () => {
    const clock = new VirtualClock();
    const { http, seen } = scriptedHttp(() => ({ status: 502 }));
    const answer = await throughTime(clock, new HttpExchange({ http, clock }).call(GET));
    assert.equal(answer.status, 502);
    assert.equal(seen.length, 3);
    assert.equal(clock.monotonicMs(), 1500);
  });

  it('does not wait for somebody who wants us much later', async () => {
    const clock = new VirtualClock();
    const { http, seen } = scriptedHttp(() => ({ status: 429, headers: { 'retry-after': '3600' } }));
    assert.equal((await new HttpExchange({ http, clock }).call(GET)).status, 429);
    assert.equal(seen.length, 1);
  });

  it('does not repeat what was refused', async () => {
    const clock = new VirtualClock();
    const { http, seen } = scriptedHttp(() => ({ status: 403 }));
    assert.equal((await new HttpExchange({ http, clock }).call(GET)).status, 403);
    assert.equal(seen.length, 1);
  });

  it('rejects with RegistryUnavailable when no answer comes, naming the host and not what is behind it', async () => {
    const clock = new VirtualClock();
    const { http, seen } = scriptedHttp(() => {
      throw new Error('nobody listens');
    });
    await assert.rejects(
      throughTime(
        clock,
        new HttpExchange({ http, clock }).call({ ...GET, url: 'https://r.example/x?api_key=hidden' }),
      ),
      (thrown: Error) => {
        assert.match(thrown.message, /^r\.example gave no answer: nobody listens; check the way/);
        assert.doesNotMatch(thrown.message, /hidden/);
        return true;
      },
    );
    assert.equal(seen.length, 3);
  });

  it('gives up on a server that never answers, and tells it', async () => {
    const clock = new VirtualClock();
    const signals: AbortSignal[] = [];
    const http = ({ signal }: { signal?: AbortSignal }) => {
      if (signal !== undefined) signals.push(signal);
      return new Promise<never>(() => {});
    };
    const work = new HttpExchange({ http, clock, timeoutMs: 5000, attempts: 2 }).call(GET);
    await assert.rejects(throughTime(clock, work), {
      reason: 'RegistryUnavailable',
      message: 'r.example is too slow: nothing came within 5.0 s; check the way to it and its proxy',
    });
    assert.deepEqual(
      signals.map(({ aborted }) => aborted),
      [true, true],
    );
  });

  it('gives up on a body that stops in the middle', async () => {
    const clock = new VirtualClock();
    async function* stuck() {
      yield Buffer.from('a');
      await new Promise(() => {});
    }
    const { http } = scriptedHttp(() => ({ chunks: stuck() }));
    const { body } = await new HttpExchange({ http, clock }).call(GET);
    const read = async () => {
      for await (const _ of body);
    };
    await assert.rejects(throughTime(clock, read()), { reason: 'RegistryUnavailable' });
  });

  it('ends at once with the reason of the caller, also while it waits to try again', async () => {
    const clock = new VirtualClock();
    const { http } = scriptedHttp(() => ({ status: 500 }));
    const control = new AbortController();
    const work = new HttpExchange({ http, clock }).call({ ...GET, signal: control.signal });
    await clock.advance(100);
    control.abort(new Error('enough'));
    await assert.rejects(work, { message: 'enough' });
    await assert.rejects(new HttpExchange({ http, clock }).call({ ...GET, signal: control.signal }), {
      message: 'enough',
    });
  });
});

describe('retryAfterMs', () => {
  const clock = new VirtualClock({ start: new Date('2026-01-01T00:00:00Z') });
  const cases = [
    { given: '7', want: 7000 },
    { given: 'Thu, 01 Jan 2026 00:00:30 GMT', want: 30_000 },
    { given: 'Wed, 31 Dec 2025 00:00:00 GMT', want: 0 },
    { given: 'soon', want: undefined },
  ];
  for (const { given, want } of cases) {
    it(`understands ${given}`, () => {
      async function* none() {}
      assert.equal(retryAfterMs({ status: 429, headers: { 'retry-after': given }, body: none() }, clock), want);
    });
  }
});
