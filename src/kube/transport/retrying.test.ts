import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { terminalError } from '../../base/errors.ts';
import { LeadershipLost, NetworkError } from '../client/api-error.ts';
import { PrometheusMetrics } from '../metrics/metrics.ts';
import { timeout } from './network-failure.ts';
import { retrying } from './retrying.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

type Step = Error | { readonly status: number; readonly after?: string };

const unknown = new NetworkError('reset', { mayHaveHappened: true });
const unseen = new NetworkError('refused', { mayHaveHappened: false });

/** Answers with the steps one after the other, then with 200; a body that nobody reads is a leak. */
class Script {
  readonly times: number[] = [];
  unread = 0;
  readonly #clock: VirtualClock;
  readonly #steps: readonly Step[];

  constructor(clock: VirtualClock, steps: readonly Step[]) {
    this.#clock = clock;
    this.#steps = steps;
  }

  readonly transport: Transport = async () => {
    const step = this.#steps[this.times.length] ?? { status: 200 };
    this.times.push(this.#clock.monotonicMs());
    await new Promise((resolve) => setImmediate(resolve));
    if (step instanceof Error) throw step;
    this.unread++;
    return this.#answer(step);
  };

  #answer({ status, after }: Exclude<Step, Error>): TransportResponse {
    const bytes = async (): Promise<Uint8Array> => {
      this.unread--;
      return Buffer.alloc(0);
    };
    return {
      status,
      headers: after === undefined ? {} : { 'retry-after': after },
      bytes,
      stream: async function* () {},
    };
  }
}

interface Run {
  readonly script: Script;
  readonly outcome: number | Error;
}

async function run(
  steps: readonly Step[],
  request: Partial<TransportRequest> = {},
  start = new Date(0),
): Promise<Run> {
  const clock = new VirtualClock({ start });
  const script = new Script(clock, steps);
  const sent = retrying(script.transport, { clock })({ method: 'GET', target: '/', ...request });
  const outcome = sent.then(
    ({ status }) => status,
    (thrown: Error) => thrown,
  );
  for (let at = 0; at < 12; at++) {
    await clock.advance(0);
    await clock.advance(0);
    if (clock.nextDueMs !== undefined) await clock.advance(clock.nextDueMs - clock.monotonicMs());
  }
  return { script, outcome: await outcome };
}

const repeated = (step: Step, count = 20): readonly Step[] => Array.from({ length: count }, () => step);

describe('retrying', () => {
  for (const [name, step, get, post, idempotent] of [
    ['a request that cannot have happened', unseen, 10, 10, 10],
    ['one whose outcome is unknown', unknown, 10, 1, 10],
    ['429 with Retry-After', { status: 429, after: '1' }, 10, 10, 10],
    ['429 without', { status: 429 }, 1, 1, 1],
    ['503 with Retry-After', { status: 503, after: '1' }, 10, 1, 10],
    ['503 without', { status: 503 }, 1, 1, 1],
    ['504 with Retry-After', { status: 504, after: '1' }, 10, 1, 10],
    ['504 without', { status: 504 }, 10, 1, 10],
    ['500', { status: 500 }, 2, 1, 1],
    ['502', { status: 502 }, 1, 1, 1],
    ['400', { status: 400 }, 1, 1, 1],
    ['401', { status: 401 }, 1, 1, 1],
    ['403', { status: 403 }, 1, 1, 1],
    ['404', { status: 404 }, 1, 1, 1],
    ['409', { status: 409 }, 1, 1, 1],
    ['410', { status: 410 }, 1, 1, 1],
    ['422', { status: 422 }, 1, 1, 1],
    ['200', { status: 200 }, 1, 1, 1],
    ['lack of time', new NetworkError('late', { mayHaveHappened: false, cause: timeout() }), 1, 1, 1],
    ['lost leadership', new LeadershipLost(), 1, 1, 1],
    ['what is no failure of the network', terminalError('Closed', 'closed'), 1, 1, 1],
  ] as readonly [string, Step, number, number, number][]) {
    it(`runtime/N5: after ${name} a GET is sent ${get}x, a write ${post}x, an idempotent one ${idempotent}x`, async () => {
      for (const [request, count] of [
        [{}, get],
        [{ method: 'HEAD' }, get],
        [{ method: 'POST' }, post],
        [{ method: 'DELETE' }, post],
        [{ method: 'PATCH', isIdempotent: true }, idempotent],
        [{ isStream: true }, 1],
      ] as const) {
        const { script, outcome } = await run(repeated(step), request);
        assert.equal(script.times.length, count, JSON.stringify(request));
        assert.equal(outcome, step instanceof Error ? step : step.status, 'the last outcome is the caller’s');
        assert.equal(script.unread, step instanceof Error ? 0 : 1, 'only the last body is left to read');
      }
    });
  }

  it('runtime/N5: waits 100 ms doubled each time, at most 5 s, with jitter of up to half', async () => {
    const { script } = await run(repeated(unseen));
    const waits = script.times.slice(1).map((ms, at) => ms - (script.times[at] ?? 0));
    const full = [100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000];
    assert.equal(waits.length, full.length);
    for (const [at, wait] of waits.entries()) {
      const most = full[at] ?? 0;
      assert.ok(wait >= most / 2 && wait <= most, `${at}: ${wait}`);
    }
    assert.ok(new Set(waits.slice(-3)).size > 1, 'jitter differs');
  });

  for (const [after, fromMs, toMs] of [
    ['7', 7000, 7000],
    ['86400', 60_000, 60_000],
    ['Thu, 01 Jan 1970 00:00:20 GMT', 20_000, 20_000],
    ['Fri, 02 Jan 1970 00:00:00 GMT', 60_000, 60_000],
    ['Wed, 31 Dec 1969 23:00:00 GMT', 50, 100],
    ['0', 50, 100],
    ['soon', 50, 100],
    ['-5', 50, 100],
  ] as const) {
    it(`reliability/T2: Retry-After "${after}" means ${fromMs} to ${toMs} ms`, async () => {
      const { script, outcome } = await run([{ status: 429, after }], { method: 'POST' });
      assert.equal(outcome, 200);
      const waited = (script.times[1] ?? 0) - (script.times[0] ?? 0);
      assert.ok(waited >= fromMs && waited <= toMs, `${waited}`);
    });
  }

  it('runtime/N5: goes on with what comes next: a failure, then 503, then the answer', async () => {
    const { script, outcome } = await run([unknown, { status: 503, after: '2' }, { status: 200 }]);
    assert.deepEqual([outcome, script.times.length], [200, 3]);
  });

  it('runtime/N4: the signal ends the waiting with its reason', async () => {
    const clock = new VirtualClock();
    const script = new Script(clock, repeated({ status: 429, after: '60' }));
    const control = new AbortController();
    const { signal } = control;
    const sent = retrying(script.transport, { clock })({ method: 'GET', target: '/', signal });
    const failed = assert.rejects(sent, /enough/);
    await clock.advance(1000);
    control.abort(new Error('enough'));
    await failed;
    await clock.advance(100_000);
    assert.equal(script.times.length, 1);
  });

  it('runtime/N9: counts what it sends again', async () => {
    const clock = new VirtualClock();
    const metrics = new PrometheusMetrics();
    const script = new Script(clock, [unseen, { status: 429, after: '1' }]);
    const transport = retrying(script.transport, { clock, metrics, host: 'h:1' });
    const sent = transport({ method: 'GET', target: '/' });
    for (let at = 0; at < 4; at++) await clock.advance(1000);
    await sent;
    const text = await metrics.text();
    assert.match(text, /rest_client_request_retries_total\{code="429",verb="GET",host="h:1"\} 1/);
    assert.match(text, /rest_client_request_retries_total\{code="<error>",verb="GET",host="h:1"\} 1/);
  });
});
