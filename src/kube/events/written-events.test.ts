import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Event as CoreEvent } from '../../api/generated/core-v1.ts';
import { Event } from '../../api/generated/events-v1.ts';
import type { JsonObject } from '../../api/json.ts';
import type { Kind, KubeObject } from '../../api/object.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { VirtualClock } from '../../base/clock.ts';
import { createClient } from '../client/create-client.ts';
import { PrometheusMetrics } from '../metrics/metrics.ts';
import { createEventRecorder } from './create-event-recorder.ts';

const LOG = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {}, child: () => LOG };
const POD: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p1', namespace: 'default', uid: 'u1', resourceVersion: '7' },
};

/** A server, a recorder on it, and what it holds. `isOld`: without events.k8s.io. */
async function world({ isOld = false } = {}) {
  const clock = new VirtualClock({ start: new Date('2026-11-15T20:50:00.000Z') });
  const server = await startApiServer({ storage: 'memory', listen: false, clock });
  const direct = server.client();
  const transport: typeof direct = (request) =>
    direct(
      isOld
        ? { ...request, target: request.target.replace('/apis/events.k8s.io/v1/', '/apis/gone.k8s.io/v1/') }
        : request,
    );
  const client = createClient({ transport, fieldManager: 'test', clock, log: LOG });
  const reporter = { controller: 'slipway.dev/machines', instance: 'machines-pod-1' };
  const events = createEventRecorder({ client, clock, log: LOG, metrics: new PrometheusMetrics(), ...reporter });
  const stop = new AbortController();
  const running = events.run(stop.signal);
  return {
    clock,
    client,
    events,
    settled: async () => {
      for (let turns = 0; turns < 5; turns++) await clock.advance(0);
      await events.flush();
    },
    listed: async (kind: Kind = Event): Promise<readonly (KubeObject & Readonly<JsonObject>)[]> => {
      const live = createClient({ transport: direct, fieldManager: 'test', clock, log: LOG });
      const { items } = await live.list(kind, { namespace: 'default' });
      return items as readonly (KubeObject & Readonly<JsonObject>)[];
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
      await server.stop();
    },
  };
}

describe('events on a server', () => {
  it('runtime/V2: the server keeps one object, with count 2 at once and 5 after six quiet minutes', async () => {
    await using w = await world();
    for (let at = 0; at < 5; at++) {
      w.events.warning(POD, 'ProvisioningFailed', 'zone b is full', { action: 'Provision' });
      await w.settled();
      await w.clock.advance(9000);
    }
    const [first, ...others] = await w.listed();
    assert.deepEqual(others, []);
    assert.deepEqual(first?.['series'], { count: 2, lastObservedTime: '2026-11-15T20:50:09.000000Z' });
    assert.equal(first?.['eventTime'], '2026-11-15T20:50:00.000000Z');
    await w.clock.advance(6 * 60_000);
    await w.settled();
    const [last] = await w.listed();
    assert.deepEqual(last?.['series'], { count: 5, lastObservedTime: '2026-11-15T20:50:36.000000Z' });
  });

  it('runtime/V2: an event that the server has forgotten is there again with its count', async () => {
    await using w = await world();
    w.events.normal(POD, 'Started', 'up');
    await w.settled();
    const [first] = await w.listed();
    await w.client.delete(Event, { namespace: 'default', name: first?.metadata.name ?? '' });
    assert.deepEqual(await w.listed(), []);
    w.events.normal(POD, 'Started', 'up');
    await w.settled();
    const [again] = await w.listed();
    assert.equal(again?.metadata.name, first?.metadata.name);
    assert.notEqual(again?.metadata.uid, first?.metadata.uid);
    assert.deepEqual(again?.['series'], { count: 2, lastObservedTime: '2026-11-15T20:50:00.000000Z' });
  });

  it('runtime/V5: a server without events.k8s.io gets the same event in core/v1', async () => {
    await using w = await world({ isOld: true });
    w.events.normal(POD, 'Started', 'up');
    w.events.normal(POD, 'Started', 'up');
    await w.settled();
    const [event] = await w.listed(CoreEvent);
    assert.deepEqual([event?.['message'], event?.['count'], event?.['reason']], ['up', 2, 'Started']);
    const [same] = await w.listed();
    assert.deepEqual([same?.['note'], same?.['reportingController']], ['up', 'slipway.dev/machines']);
  });

  it('runtime/V1: the server accepts the longest texts, cut as they are', async () => {
    await using w = await world();
    w.events.normal(POD, 'R'.repeat(500), '€'.repeat(2000), { action: 'A'.repeat(500) });
    w.events.normal({ ...POD, metadata: { name: 'system:node' } }, 'Odd', 'x');
    await w.settled();
    const found = await w.listed();
    assert.deepEqual(
      found.map((event) => JSON.stringify(event['note']).length - 2).toSorted((a, b) => a - b),
      [1, 341],
    );
  });
});
