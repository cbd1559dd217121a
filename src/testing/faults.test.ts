import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../base/clock.ts';
import { NetworkError } from '../kube/client/api-error.ts';
import type { Transport, TransportRequest, TransportResponse } from '../kube/transport/transport.ts';
import { type Fault, Faults, struck } from './faults.ts';
import { HeldStreams } from './held-streams.ts';
import { JumpingClock } from './jumping-clock.ts';

const GET: TransportRequest = { method: 'GET', target: '/api/v1/pods' };
const WATCH: TransportRequest = { method: 'GET', target: '/api/v1/pods?watch=true', isStream: true };

const answer = (...chunks: readonly string[]): TransportResponse => ({
  status: 200,
  headers: {},
  stream: async function* () {
    for (const chunk of chunks) {
      await Promise.resolve();
      yield Buffer.from(chunk);
    }
  },
  bytes: () => Promise.resolve(Buffer.from(chunks.join(''))),
});

/** Answers every request with these chunks; a stream stays open after them until its signal aborts. */
function server(chunks: readonly string[], { isOpen = false } = {}) {
  const seen: string[] = [];
  const transport: Transport = async (request) => {
    await Promise.resolve();
    seen.push(`${request.method} ${request.target}`);
    const full = answer(...chunks);
    return isOpen ? { ...full, stream: () => endless(full.stream(), request.signal) } : full;
  };
  return { transport, seen };
}

async function* endless(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal | undefined) {
  yield* chunks;
  signal?.throwIfAborted();
  await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }));
}

/** The pieces of an answer, and how it ended. */
async function piecesOf(response: TransportResponse): Promise<readonly string[]> {
  const pieces: string[] = [];
  try {
    for await (const chunk of response.stream()) pieces.push(Buffer.from(chunk).toString('utf8'));
  } catch (thrown) {
    return [...pieces, thrown instanceof NetworkError ? 'broken' : String(thrown)];
  }
  return pieces;
}

const STREAM_FAULTS: readonly {
  readonly fault: Fault;
  readonly sent: readonly string[];
  readonly received: string;
}[] = [
  { fault: { kind: 'cut', afterBytes: 5 }, sent: ['abc\n', 'def\n'], received: 'abc\n|d|broken' },
  { fault: { kind: 'cut', afterBytes: 50 }, sent: ['abc\n', 'def\n'], received: 'abc\n|def\n' },
  { fault: { kind: 'torn', afterBytes: 5 }, sent: ['abc\n', 'def\n'], received: 'abc\n|d' },
  { fault: { kind: 'repeat' }, sent: ['a\n', 'b\n'], received: 'a\n|a\n|b\n|b\n' },
  { fault: { kind: 'slow', bytes: 2, ms: 10 }, sent: ['abc', 'd'], received: 'ab|c|d' },
  { fault: { kind: 'reorder', ms: 0, everyLines: 3 }, sent: ['1\n2\n3\n4\n'], received: '1\n|3\n|2\n|4\n' },
  { fault: { kind: 'reorder', ms: 0, everyLines: 2 }, sent: ['1\n2\n3', '\n'], received: '2\n|1\n|3\n' },
  { fault: { kind: 'drop', everyLines: 2 }, sent: ['1\n', '2', '\n3\n', '4'], received: '1\n|3\n' },
];

describe('faults of streams', () => {
  for (const { fault, sent, received } of STREAM_FAULTS) {
    it(`runtime/T3: ${JSON.stringify(fault)} makes ${JSON.stringify(received)} of ${JSON.stringify(sent)}`, async () => {
      const clock = new VirtualClock();
      const reading = struck(fault, server(sent).transport, WATCH, clock).then(piecesOf);
      for (let step = 0; step < 10; step++) await clock.advance(10);
      assert.equal((await reading).join('|'), received);
    });
  }

  it('runtime/T3: a slow answer takes its time', async () => {
    const clock = new VirtualClock();
    const fault: Fault = { kind: 'slow', bytes: 1, ms: 10 };
    let isRead = false;
    const reading = struck(fault, server(['abcd']).transport, GET, clock).then(async (response) => {
      const bytes = await response.bytes();
      isRead = true;
      return Buffer.from(bytes).toString('utf8');
    });
    await clock.advance(0);
    await clock.advance(39);
    assert.equal(isRead, false);
    await clock.advance(1);
    assert.equal(await reading, 'abcd');
  });

  it('a silent stream tells its first chunk and then nothing, until its reader gives up', async () => {
    const stop = new AbortController();
    const clock = new VirtualClock();
    const request = { ...WATCH, signal: stop.signal };
    const response = await struck({ kind: 'silence' }, server(['a', 'b']).transport, request, clock);
    const reader = response.stream()[Symbol.asyncIterator]();
    assert.equal(Buffer.from((await reader.next()).value ?? []).toString(), 'a');
    const next = reader.next();
    stop.abort(new Error('given up'));
    await assert.rejects(next, /given up/);
    const late = await struck({ kind: 'silence' }, server(['a']).transport, request, clock);
    await assert.rejects(late.bytes(), /given up/, 'also when it has given up before');
  });

  it('an expired stream is one ERROR line, and a page that expired is a 410', async () => {
    const { transport, seen } = server([]);
    const clock = new VirtualClock();
    const [line = ''] = await piecesOf(await struck({ kind: 'expired' }, transport, WATCH, clock));
    assert.deepEqual([JSON.parse(line).type, JSON.parse(line).object.code], ['ERROR', 410]);
    assert.equal((await struck({ kind: 'expired' }, transport, GET, clock)).status, 410);
    assert.deepEqual(seen, [], 'the server is not asked');
  });
});

describe('faults of requests', () => {
  it('refuses with a Status, and says when to come again', async () => {
    const fault: Fault = { kind: 'refuse', status: 429, reason: 'TooManyRequests', retryAfterSeconds: 3 };
    const { transport, seen } = server([]);
    const response = await struck(fault, transport, GET, new VirtualClock());
    const status = JSON.parse(Buffer.from(await response.bytes()).toString('utf8'));
    assert.deepEqual(
      [response.status, response.headers['retry-after'], status.reason],
      [429, '3', 'TooManyRequests'],
    );
    assert.deepEqual(seen, []);
  });

  for (const { fault, mayHaveHappened, count } of [
    { fault: { kind: 'reset' }, mayHaveHappened: false, count: 0 },
    { fault: { kind: 'lost-response' }, mayHaveHappened: true, count: 1 },
  ] as const) {
    for (const request of [GET, WATCH]) {
      it(`${fault.kind} fails ${request.target} after ${count} requests`, async () => {
        const { transport, seen } = server(['x'], { isOpen: true });
        await assert.rejects(struck(fault, transport, request, new VirtualClock()), (error) => {
          assert.ok(error instanceof NetworkError);
          assert.equal(error.mayHaveHappened, mayHaveHappened);
          return true;
        });
        assert.equal(seen.length, count);
      });
    }
  }

  it('runtime/T3: a duplicate is delivered twice and answered once', async () => {
    const { transport, seen } = server(['x']);
    const response = await struck({ kind: 'duplicate' }, transport, GET, new VirtualClock());
    assert.deepEqual([await piecesOf(response), seen.length], [['x'], 2]);
  });

  it('runtime/T3: a later request overtakes one that is reordered', async () => {
    const clock = new VirtualClock();
    const faults = new Faults(clock);
    const { transport, seen } = server(['x']);
    const way = faults.around(transport);
    const isFirst = ({ target }: TransportRequest) => target === '/first';
    faults.arm({ matches: isFirst, fault: { kind: 'reorder', ms: 500, everyLines: 2 } });
    const first = way({ method: 'PUT', target: '/first' });
    await (await way({ method: 'PUT', target: '/second' })).bytes();
    await (await first).bytes();
    assert.deepEqual(seen, ['PUT /second', 'PUT /first']);
    const alone = way({ method: 'PUT', target: '/first' });
    await clock.advance(0);
    await clock.advance(500);
    await (await alone).bytes();
    assert.equal(seen.length, 3, 'when there is no other one it does not wait for ever');
  });
});

describe('an armed fault', () => {
  it('strikes after what it skips, as often as it says, what it matches', async () => {
    const faults = new Faults(new VirtualClock());
    const way = faults.around(server(['x']).transport);
    const fault: Fault = { kind: 'refuse', status: 500, reason: 'InternalError' };
    faults.arm({ matches: ({ method }) => method === 'GET', fault, skip: 1, times: 2 });
    const statuses: number[] = [];
    for (const method of ['GET', 'PUT', 'GET', 'GET', 'GET']) {
      const response = await way({ method, target: '/' });
      await response.bytes();
      statuses.push(response.status);
    }
    assert.deepEqual(statuses, [200, 200, 500, 500, 200]);
    assert.deepEqual([...faults.struck], [['refuse', 2]]);
  });

  it('strikes the same requests with the same seed, and none when disarmed', async () => {
    const struckWith = async (seed: number) => {
      const faults = new Faults(new VirtualClock({ seed }));
      const way = faults.around(server(['x']).transport);
      const rule = faults.arm({ matches: () => true, fault: { kind: 'reset' }, rate: 0.5 });
      const hits: string[] = [];
      for (let at = 0; at < 40; at++) {
        if (at === 30) rule[Symbol.dispose]();
        hits.push(
          await way(GET).then(
            () => '.',
            () => 'x',
          ),
        );
      }
      return hits.join('');
    };
    const first = await struckWith(7);
    assert.equal(await struckWith(7), first);
    assert.notEqual(await struckWith(8), first);
    assert.match(first, /^[.x]{30}\.{10}$/);
    assert.match(first, /x/);
  });
});

describe('a server that goes away', () => {
  it('runtime/T3: breaks every request and stream that is under way, and nothing after', async () => {
    const faults = new Faults(new VirtualClock());
    const { transport } = server(['a'], { isOpen: true });
    const hanging: Transport = ({ signal }) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }));
    const streams = [await faults.around(transport)(WATCH), await faults.around(transport)(WATCH)].map(piecesOf);
    const request = faults.around(hanging)(GET);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(faults.openRequests, 3);
    faults.breakAll();
    assert.deepEqual(await Promise.all(streams), [
      ['a', 'broken'],
      ['a', 'broken'],
    ]);
    await assert.rejects(request, (error) => error instanceof NetworkError && error.mayHaveHappened);
    assert.equal(faults.openRequests, 0);
    assert.deepEqual(await piecesOf(await faults.around(server(['b']).transport)(GET)), ['b']);
    assert.equal(faults.openRequests, 0, 'what was read is not under way any more');
  });

  it('still lets callers give up by themselves', async () => {
    const faults = new Faults(new VirtualClock());
    const stop = new AbortController();
    const way = faults.around(server(['a'], { isOpen: true }).transport);
    const reading = piecesOf(await way({ ...WATCH, signal: stop.signal }));
    stop.abort(new Error('enough'));
    assert.deepEqual(await reading, ['a', 'Error: enough']);
    assert.equal(faults.openRequests, 0);
  });
});

describe('streams that are held', () => {
  it('tell nothing of their resource until they are released; others go on', async () => {
    const held = new HeldStreams();
    const way = held.around(server(['x']).transport);
    held.hold('pods');
    held.hold('pods');
    const told: string[] = [];
    const read = async (name: string, target: string) => {
      await piecesOf(await way({ method: 'GET', target, isStream: true }));
      told.push(name);
    };
    const pods = read('pods', '/api/v1/pods?watch=true');
    await read('deployments', '/apis/apps/v1/deployments?watch=true');
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(told, ['deployments']);
    held.releaseAll();
    await pods;
    await read('pods again', '/api/v1/pods?watch=true');
    assert.deepEqual(told, ['deployments', 'pods', 'pods again']);
  });
});

describe('a clock that jumps', () => {
  it('runtime/T3: changes the wall time and nothing that waits', async () => {
    const inner = new VirtualClock({ start: new Date('2026-01-01T00:00:00Z') });
    const clock = new JumpingClock(inner);
    let fired = 0;
    clock.timer(1000, () => void fired++);
    const slept = clock.sleep(1000).then(() => fired++);
    clock.jump(3_600_000);
    assert.equal(clock.now().toISOString(), '2026-01-01T01:00:00.000Z');
    clock.jump(-7_200_000);
    assert.equal(clock.now().toISOString(), '2025-12-31T23:00:00.000Z');
    await inner.advance(999);
    assert.deepEqual([fired, clock.monotonicMs()], [0, 999]);
    await inner.advance(1);
    await slept;
    assert.equal(fired, 2);
    assert.notEqual(clock.random(), clock.random());
    assert.notEqual(clock.uuid(), clock.uuid());
  });
});
