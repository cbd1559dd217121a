import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../api/json.ts';
import type { KubeObject } from '../../api/object.ts';
import { VirtualClock } from '../../base/clock.ts';
import { getKey } from '../../object/json.ts';
import { ApiError, NetworkError } from '../client/api-error.ts';
import type { Writer } from '../client/kube-client.ts';
import { PrometheusMetrics } from '../metrics/metrics.ts';
import { createEventRecorder } from './create-event-recorder.ts';

const MINUTE = 60_000;
const START = new Date('2026-11-15T20:50:00.000Z');

const widget = (name = 'w1', more: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  apiVersion: 'ex.io/v1',
  kind: 'Widget',
  metadata: { name, namespace: 'demo', uid: `uid-${name}`, resourceVersion: '42', ...more },
});

interface Written {
  readonly verb: 'create' | 'patch';
  readonly group: string;
  readonly name: string;
  readonly body: JsonObject;
  readonly atMs: number;
}

/** A server for events: what it is asked, and what it answers; answers come on a later tick. */
class EventServer {
  readonly written: Written[] = [];
  readonly objects = new Map<string, JsonObject>();
  /** Called for each request; what it throws is the answer. */
  answer: (request: Written) => void = () => {};
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  readonly writer = {
    create: async (kind: { group: string }, object: KubeObject & JsonObject) => {
      await this.#ask('create', kind.group, object.metadata.name, object);
      if (this.objects.has(object.metadata.name)) throw failure(409, 'AlreadyExists', object.metadata.name);
      this.objects.set(object.metadata.name, object);
      return object;
    },
    patch: async (kind: { group: string }, key: { name: string }, { body }: { body: JsonObject }) => {
      await this.#ask('patch', kind.group, key.name, body);
      const found = this.objects.get(key.name);
      if (found === undefined) throw failure(404, 'NotFound', key.name);
      this.objects.set(key.name, { ...found, ...body });
      return found;
    },
  } as unknown as Pick<Writer, 'create' | 'patch'>;

  async #ask(verb: Written['verb'], group: string, name: string, body: JsonObject): Promise<void> {
    await Promise.resolve();
    const request = { verb, group, name, body, atMs: this.#clock.monotonicMs() };
    this.written.push(request);
    this.answer(request);
  }

  get log(): readonly string[] {
    return this.written.map(({ verb, body }) => {
      const series = getKey(body, 'series');
      return series === undefined ? verb : `${verb} ${JSON.stringify(getKey(Object(series), 'count'))}`;
    });
  }
}

const failure = (code: number, reason: string, name?: string): ApiError =>
  new ApiError({ code, reason, message: reason, ...(name !== undefined && { details: { name } }) });
const unreachable = () => new NetworkError('connection refused', { mayHaveHappened: false });

const LOG = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {}, child: () => LOG };

async function world(more: { readonly distinctNotes?: boolean } = {}) {
  const clock = new VirtualClock({ start: START });
  const server = new EventServer(clock);
  const metrics = new PrometheusMetrics();
  const stop = new AbortController();
  const events = createEventRecorder({
    client: server.writer,
    clock,
    log: LOG,
    metrics,
    controller: 'slipway.dev/machines',
    instance: 'machines-pod-1',
    ...more,
  });
  const running = events.run(stop.signal);
  return {
    clock,
    server,
    events,
    dropped: async (reason: string) => {
      const match = new RegExp(`slipway_events_dropped_total\\{reason="${reason}"\\} (\\d+)`).exec(
        await metrics.text(),
      );
      return Number(match?.[1]);
    },
    stop: async () => {
      stop.abort();
      await clock.advance(2000);
      await running;
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await clock.advance(2000);
      await running;
    },
  };
}

describe('the event recorder', () => {
  it('runtime/V1: writes events.k8s.io/v1 with reporter, action, reference and micro time', async () => {
    await using w = await world();
    const related: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'u' } };
    w.events.warning(widget(), 'ProvisioningFailed', 'zone b is full', { action: 'Provision', related });
    await w.clock.advance(0);
    const [{ body, name, group } = { body: {}, name: '', group: '' }] = w.server.written;
    assert.match(name, /^w1\.[0-9a-f]{16}$/);
    assert.equal(group, 'events.k8s.io');
    assert.deepEqual(body, {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name, namespace: 'demo' },
      type: 'Warning',
      reason: 'ProvisioningFailed',
      action: 'Provision',
      note: 'zone b is full',
      reportingController: 'slipway.dev/machines',
      reportingInstance: 'machines-pod-1',
      eventTime: '2026-11-15T20:50:00.000000Z',
      regarding: {
        apiVersion: 'ex.io/v1',
        kind: 'Widget',
        namespace: 'demo',
        name: 'w1',
        uid: 'uid-w1',
        resourceVersion: '42',
      },
      related: { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u' },
    });
  });

  it('runtime/V1: the action is the reason unless told otherwise, and other controllers share the delivery', async () => {
    await using w = await world();
    w.events.normal({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } }, 'Joined', 'hello');
    w.events.for({ controller: 'slipway.dev/disks', instance: 'disks-pod-1' }).normal(widget(), 'Joined', 'hello');
    await w.clock.advance(0);
    const shown = w.server.written.map(({ body }) => [
      body['action'],
      body['reportingController'],
      body['metadata'],
    ]);
    const [first, second] = w.server.written;
    assert.deepEqual(shown, [
      ['Joined', 'slipway.dev/machines', { name: first?.name, namespace: 'default' }],
      ['Joined', 'slipway.dev/disks', { name: second?.name, namespace: 'demo' }],
    ]);
  });

  it('runtime/V2: five equal events are one object with count 2 at once and 5 after six quiet minutes', async () => {
    await using w = await world();
    for (let at = 0; at < 5; at++) {
      w.events.warning(widget('w1', { resourceVersion: String(at) }), 'Failed', `try ${at}`);
      await w.clock.advance(9123);
    }
    assert.deepEqual(w.server.log, ['create', 'patch 2']);
    assert.deepEqual(w.server.written[1]?.body, {
      series: { count: 2, lastObservedTime: '2026-11-15T20:50:09.123000Z' },
    });
    await w.clock.advance(6 * MINUTE - 9124);
    assert.equal(w.server.log.length, 2);
    await w.clock.advance(1);
    assert.deepEqual(w.server.log, ['create', 'patch 2', 'patch 5']);
    assert.equal(w.server.objects.size, 1);
    w.events.warning(widget(), 'Failed', 'again');
    await w.clock.advance(0);
    assert.equal(w.server.objects.size, 2, 'a series that has ended is not gone on with');
  });

  it('runtime/V2: one that happens twice at once is created before it is patched', async () => {
    await using w = await world();
    for (let at = 0; at < 5; at++) w.events.normal(widget(), 'Started', 'x');
    await w.clock.advance(0);
    assert.deepEqual(w.server.log, ['create', 'patch 2']);
  });

  it('runtime/V2: what differs in type, reason, action, reporter or object is another series', async () => {
    await using w = await world();
    const other = w.events.for({ controller: 'slipway.dev/machines', instance: 'machines-pod-2' });
    w.events.normal(widget(), 'A', 'x');
    w.events.warning(widget(), 'A', 'x');
    w.events.normal(widget(), 'B', 'x');
    w.events.normal(widget(), 'A', 'x', { action: 'C' });
    w.events.normal(widget(), 'A', 'x', { related: widget('w2') });
    w.events.normal(widget('w1', { uid: 'another' }), 'A', 'x');
    other.normal(widget(), 'A', 'x');
    await w.clock.advance(0);
    assert.deepEqual(
      w.server.log,
      Array.from({ length: 7 }, () => 'create'),
    );
  });

  it('another note is another event for those who want it', async () => {
    await using w = await world({ distinctNotes: true });
    for (const note of ['from 0 to 1', 'from 1 to 2', 'from 1 to 2']) w.events.normal(widget(), 'Scaled', note);
    await w.clock.advance(0);
    assert.deepEqual(w.server.log, ['create', 'create', 'patch 2']);
    assert.deepEqual(
      w.server.written.map(({ body }) => body['note']),
      ['from 0 to 1', 'from 1 to 2', undefined],
    );
  });

  it('runtime/V2: a series that goes on is written again every 30 minutes', async () => {
    await using w = await world();
    for (let minute = 0; minute <= 62; minute++) {
      w.events.normal(widget(), 'Tick', 'x');
      await w.clock.advance(MINUTE);
    }
    assert.deepEqual(w.server.log, ['create', 'patch 2', 'patch 32', 'patch 62']);
  });

  it('runtime/V2: an event that is gone is created again with its count', async () => {
    await using w = await world();
    w.events.normal(widget(), 'Tick', 'x');
    await w.clock.advance(0);
    w.server.objects.clear();
    w.events.normal(widget('w1'), 'Tick', 'x');
    await w.clock.advance(0);
    assert.deepEqual(w.server.log, ['create', 'patch 2', 'create 2']);
    assert.equal(JSON.stringify(w.server.written[2]?.body).includes('"metadata":{"name"'), true);
    assert.equal(Object.keys(Object(w.server.written[2]?.body['metadata'])).includes('resourceVersion'), false);
  });

  it('runtime/V3: tries twelve times about 10 s apart while the server is away, then gives up', async () => {
    await using w = await world();
    w.server.answer = () => {
      throw unreachable();
    };
    w.events.normal(widget(), 'Tick', 'x');
    await w.clock.advance(0);
    await w.clock.advance(5 * MINUTE);
    const times = w.server.written.map(({ atMs }) => atMs);
    assert.equal(times.length, 12);
    const pauses = times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0));
    assert.ok(
      pauses.every((ms) => ms >= 7500 && ms <= 12_500),
      pauses.join(),
    );
    assert.ok(new Set(pauses).size > 5);
    assert.equal(await w.dropped('unreachable'), 1);
  });

  it('runtime/V3: comes through when the server is back, and a creation that had arrived is no failure', async () => {
    await using w = await world();
    let isAway = true;
    w.server.answer = ({ name, body }) => {
      if (!isAway) return;
      w.server.objects.set(name, body);
      throw new NetworkError('reset', { mayHaveHappened: true });
    };
    w.events.normal(widget(), 'Tick', 'x');
    await w.clock.advance(1000);
    isAway = false;
    await w.clock.advance(30_000);
    assert.deepEqual([w.server.written.length, w.server.objects.size], [2, 1]);
    assert.equal(await w.dropped('rejected'), 0);
  });

  it('runtime/V3: what the server refuses is not tried again', async () => {
    await using w = await world();
    const refusals = [
      failure(403, 'Forbidden'),
      failure(422, 'Invalid'),
      failure(500, 'InternalError'),
      failure(429, 'TooManyRequests'),
    ];
    w.server.answer = () => {
      const refusal = refusals.shift();
      if (refusal !== undefined) throw refusal;
    };
    for (const name of ['a', 'b', 'c', 'd']) w.events.normal(widget(name), 'Tick', 'x');
    await w.clock.advance(5 * MINUTE);
    assert.equal(w.server.written.length, 4);
    assert.equal(await w.dropped('rejected'), 4);
  });

  it('runtime/V3: a thousand writes wait at most; what comes then is dropped and counted', async () => {
    await using w = await world();
    for (let at = 0; at < 1010; at++) w.events.normal(widget(`w${at}`), 'Tick', 'x');
    assert.equal(await w.dropped('overflow'), 10);
    await w.clock.advance(0);
    for (let turns = 0; turns < 50 && w.server.written.length < 1000; turns++) await w.clock.advance(0);
    assert.equal(w.server.written.length, 1000);
  });

  it('runtime/V3: a stop writes what is left, counts included, for two seconds at most', async () => {
    const w = await world();
    for (let at = 0; at < 4; at++) w.events.normal(widget(), 'Tick', 'x');
    await w.clock.advance(0);
    await w.stop();
    assert.deepEqual(w.server.log, ['create', 'patch 2', 'patch 4']);
    const stuck = await world();
    stuck.server.answer = () => {
      throw unreachable();
    };
    stuck.events.normal(widget(), 'Tick', 'x');
    await stuck.clock.advance(0);
    stuck.events.normal(widget('w2'), 'Tick', 'x');
    await stuck.stop();
    assert.equal(await stuck.dropped('shutdown'), 2);
    assert.ok(stuck.clock.monotonicMs() <= 2000);
    assert.equal(stuck.clock.nextDueMs, undefined, 'no timer is left');
  });

  it('runtime/V3: flush waits for what was recorded', async () => {
    await using w = await world();
    w.events.normal(widget(), 'Tick', 'x');
    await w.events.flush();
    assert.equal(w.server.written.length, 1);
    w.server.answer = () => {
      throw unreachable();
    };
    w.events.normal(widget('w2'), 'Tick', 'x');
    const flushed = w.events.flush();
    await w.clock.advance(2000);
    await flushed;
  });

  it('runtime/V4: one object causes 25 events at once, then one per five minutes', async () => {
    await using w = await world();
    for (let at = 0; at < 40; at++) w.events.normal(widget(), `Reason${at}`, 'x');
    w.events.normal(widget('w2'), 'Other', 'x');
    w.events.for({ controller: 'slipway.dev/disks', instance: 'd' }).normal(widget(), 'Other', 'x');
    await w.clock.advance(0);
    assert.equal(w.server.written.length, 27);
    assert.equal(await w.dropped('spam'), 15);
    await w.clock.advance(5 * MINUTE);
    for (let at = 40; at < 43; at++) w.events.normal(widget(), `Reason${at}`, 'x');
    await w.clock.advance(0);
    assert.equal(w.server.written.length, 28);
  });

  it('runtime/V5: writes to core/v1 where events.k8s.io is not served, with the fields of old', async () => {
    await using w = await world();
    w.server.answer = ({ group }) => {
      if (group === 'events.k8s.io') throw failure(404, 'NotFound');
    };
    w.events.warning(widget(), 'Failed', 'zone b is full');
    await w.clock.advance(1500);
    w.events.warning(widget(), 'Failed', 'zone b is full');
    await w.clock.advance(0);
    assert.deepEqual(
      w.server.written.map(({ verb, group }) => `${verb} ${group}`),
      ['create events.k8s.io', 'create ', 'patch '],
    );
    const [event] = w.server.objects.values();
    const { metadata: _metadata, involvedObject: _object, ...rest } = event ?? {};
    assert.deepEqual(rest, {
      apiVersion: 'v1',
      kind: 'Event',
      type: 'Warning',
      reason: 'Failed',
      action: 'Failed',
      message: 'zone b is full',
      reportingComponent: 'slipway.dev/machines',
      reportingInstance: 'machines-pod-1',
      source: { component: 'slipway.dev/machines' },
      eventTime: '2026-11-15T20:50:00.000000Z',
      firstTimestamp: '2026-11-15T20:50:00Z',
      lastTimestamp: '2026-11-15T20:50:01Z',
      count: 2,
      series: { count: 2, lastObservedTime: '2026-11-15T20:50:01.500000Z' },
    });
  });

  it('runtime/V5: recording never throws, whatever it is given', async () => {
    await using w = await world();
    const broken = { apiVersion: 'v1', kind: 'Pod' } as unknown as KubeObject;
    w.events.normal(broken, 'Broken', 'x');
    w.events.normal(widget('system:node'), 'Odd', 'a name that no event may have');
    await w.clock.advance(0);
    assert.equal(await w.dropped('rejected'), 1);
    assert.match(w.server.written[0]?.name ?? '', /^[0-9a-f-]{36}\.[0-9a-f]+$/);
  });
});
