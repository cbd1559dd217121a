import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ControlledServer } from '../../../test/support/controlled-server.ts';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { VirtualClock } from '../../base/clock.ts';

const HOUR_MS = 3_600_000;
const EVENTS = '/api/v1/namespaces/default/events';

class CountingClock extends VirtualClock {
  timers = 0;

  override timer(ms: number, fire: () => void): Disposable {
    this.timers++;
    return super.timer(ms, fire);
  }
}

describe('event expiry', () => {
  const clock = new VirtualClock({ start: new Date('2026-01-01T00:00:00Z') });
  let server: ControlledServer;
  before(async () => {
    server = await ControlledServer.start({ clock });
  });
  after(() => server[Symbol.asyncDispose]());

  const make = (name: string) =>
    server.create(EVENTS, {
      metadata: { name },
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
      reason: 'Tested',
      message: 'm',
      type: 'Normal',
    });
  const isThere = (name: string) => server.stored(`core/events/default/${name}`) !== undefined;

  it('apiserver/G13: an event goes an hour after it was made, as a delete that watchers see', async () => {
    await make('a');
    await clock.advance(HOUR_MS / 2);
    await make('b');
    const removed: number[] = [];
    const watching = server.store.subscribe('/registry/core/events/', (event) => {
      if (event.isRemoval) removed.push(event.revision);
    });
    await clock.advance(HOUR_MS / 2);
    await server.gone('core/events/default/a');
    assert.equal(isThere('b'), true);
    assert.equal(removed.length, 1);
    await clock.advance(HOUR_MS / 2);
    await server.gone('core/events/default/b');
    watching[Symbol.dispose]();
  });

  it('apiserver/G13: an event that is written again lives on', async () => {
    await make('c');
    await clock.advance(HOUR_MS / 2);
    await server.merge(`${EVENTS}/c`, { count: 2 });
    await clock.advance(HOUR_MS / 2 + 1000);
    assert.equal(isThere('c'), true);
    await clock.advance(HOUR_MS / 2);
    await server.gone('core/events/default/c');
  });

  it('waits with one timer, whatever the number of events', async () => {
    const counting = new CountingClock();
    await using other = await ControlledServer.start({ clock: counting });
    const before = counting.timers;
    for (let index = 0; index < 5; index++) {
      await other.create(EVENTS, {
        metadata: { name: `e${index}` },
        involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
        reason: 'Tested',
      });
    }
    assert.equal(counting.timers - before, 1);
  });

  it('apiserver/G13: counts from the last write across a restart', async () => {
    await using directory = await scratchDirectory();
    const restarting = new VirtualClock({ start: new Date('2026-01-01T00:00:00Z') });
    const options = { dataDir: directory.path, durability: 'normal', clock: restarting } as const;
    const event = { involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' }, reason: 'Tested' };
    {
      await using first = await ControlledServer.start(options);
      await first.create(EVENTS, { metadata: { name: 'old' }, ...event });
      await restarting.advance(HOUR_MS / 2);
      await first.create(EVENTS, { metadata: { name: 'new' }, ...event });
    }
    await restarting.advance(HOUR_MS / 4);
    await using second = await ControlledServer.start(options);
    await restarting.advance(HOUR_MS / 4);
    await second.gone('core/events/default/old');
    assert.notEqual(second.stored('core/events/default/new'), undefined);
  });
});
