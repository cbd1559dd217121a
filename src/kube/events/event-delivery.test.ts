import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../api/object.ts';
import { VirtualClock } from '../../base/clock.ts';
import { LeadershipLost } from '../client/api-error.ts';
import type { Writer } from '../client/kube-client.ts';
import { PrometheusMetrics } from '../metrics/metrics.ts';
import { createEventRecorder } from './create-event-recorder.ts';
import { type DropReason, EventDelivery } from './event-delivery.ts';
import { eventObject } from './event-object.ts';
import type { Series } from './event-series.ts';

const LOG = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {}, child: () => LOG };
const POD: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'n' } };
const AT = new Date(0);

const series = (key: string): Series => ({
  key,
  event: eventObject(
    {
      reporter: { controller: 'c', instance: 'i' },
      regarding: POD,
      related: undefined,
      type: 'Normal',
      reason: 'R',
      action: 'A',
      note: '',
    },
    key,
    AT,
  ),
  firstObserved: AT,
  state: { count: 1, lastObserved: AT },
  lastObservedMs: 0,
  handedCount: 1,
  handedMs: 0,
});

/** A writer whose answers come when the test says so. */
function slowWriter() {
  const waiting: { readonly text: string; readonly answer: (error?: Error) => void }[] = [];
  const ask = (text: string) =>
    new Promise<void>((resolve, reject) => {
      waiting.push({ text, answer: (error) => (error === undefined ? resolve() : reject(error)) });
    });
  const writer = {
    create: (_kind: unknown, { metadata }: KubeObject) => ask(`create ${metadata.name}`),
    patch: (_kind: unknown, { name }: { name: string }) => ask(`patch ${name}`),
  } as unknown as Pick<Writer, 'create' | 'patch'>;
  return { writer, waiting, asked: () => waiting.map(({ text }) => text) };
}

function running() {
  const clock = new VirtualClock();
  const slow = slowWriter();
  const drops: DropReason[] = [];
  const delivery = new EventDelivery({
    writer: slow.writer,
    clock,
    log: LOG,
    dropped: (why) => void drops.push(why),
  });
  const [drain, stop] = [new AbortController(), new AbortController()];
  const run = delivery.run(drain.signal, stop.signal);
  return {
    ...slow,
    clock,
    drops,
    delivery,
    stop,
    end: async () => {
      drain.abort();
      stop.abort();
      for (const { answer } of slow.waiting) answer(new Error('aborted'));
      await run;
    },
  };
}

describe('the delivery of events', () => {
  it('runtime/V3: four writes go on at once, those of one series one after the other', async () => {
    const { delivery, asked, waiting, clock, end } = running();
    const first = series('a');
    delivery.add({ series: first });
    delivery.add({ series: first, state: { count: 2, lastObserved: AT } });
    for (const key of ['b', 'c', 'd', 'e']) delivery.add({ series: series(key) });
    await clock.advance(0);
    assert.deepEqual(asked(), ['create a', 'create b', 'create c', 'create d']);
    waiting[0]?.answer();
    await clock.advance(0);
    assert.deepEqual(asked().slice(4), ['patch a']);
    waiting[1]?.answer();
    await clock.advance(0);
    assert.deepEqual(asked().slice(5), ['create e']);
    await end();
  });

  it('runtime/V3: what is left at the end is counted, and so is what a lost leader may not write', async () => {
    const { delivery, drops, waiting, clock, end } = running();
    for (const key of ['a', 'b', 'c', 'd', 'e']) delivery.add({ series: series(key) });
    await clock.advance(0);
    waiting[0]?.answer(new LeadershipLost());
    await clock.advance(0);
    assert.deepEqual(drops, ['rejected']);
    delivery.add({ series: series('f') });
    await end();
    assert.deepEqual(
      drops.slice(1),
      Array.from({ length: 5 }, () => 'shutdown'),
    );
    assert.equal(delivery.isIdle, true);
  });

  it('runtime/V3: waiting leaves nothing behind on its signals', async () => {
    const { delivery, waiting, clock, stop, end } = running();
    for (let at = 0; at < 50; at++) {
      delivery.add({ series: series(`s${at}`) });
      await clock.advance(0);
      waiting[at]?.answer();
      await clock.advance(0);
    }
    assert.ok(getEventListeners(stop.signal, 'abort').length <= 4);
    await end();
  });

  it('runtime/V1: names differ also when the clock stands still', async () => {
    const clock = new VirtualClock();
    clock.random = () => 0.5;
    const { writer, asked, waiting } = slowWriter();
    const reporter = { controller: 'c', instance: 'i' };
    const metrics = new PrometheusMetrics();
    const events = createEventRecorder({ client: writer, clock, log: LOG, metrics, ...reporter });
    for (const reason of ['A', 'B', 'C']) events.normal(POD, reason, 'x');
    const stop = new AbortController();
    const run = events.run(stop.signal);
    await clock.advance(0);
    assert.equal(asked().length, 3);
    assert.equal(new Set(asked()).size, 3);
    stop.abort();
    for (const { answer } of waiting) answer();
    await run;
    assert.equal(clock.nextDueMs, undefined, 'no timer is left');
  });
});
