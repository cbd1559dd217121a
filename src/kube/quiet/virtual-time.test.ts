import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import type { Transport } from '../transport/transport.ts';
import { Activity } from './activity.ts';
import { VirtualTime } from './virtual-time.ts';

interface Setup {
  readonly turns?: number;
  readonly isBusy?: () => boolean;
}

/** A server that needs some turns of the event loop for each answer. */
function timeWith({ turns = 30, isBusy = () => false }: Setup = {}) {
  const clock = new VirtualClock();
  const activity = new Activity();
  const server: Transport = async () => {
    for (let left = turns; left > 0; left--) await new Promise((resolve) => setImmediate(resolve));
    return { status: 200, headers: {}, stream: async function* () {}, bytes: async () => new Uint8Array() };
  };
  const send = () => activity.around(server)({ method: 'GET', target: '/' });
  return { clock, activity, send, time: new VirtualTime({ clock, activity, isBusy }) };
}

describe('VirtualTime', () => {
  it('runtime/T2: settles when the last answer is there, and no time has passed', async () => {
    const { clock, send, time } = timeWith();
    let answers = 0;
    void send().then(() => send().then(() => answers++));
    await time.settle();
    assert.deepEqual([answers, clock.monotonicMs()], [1, 0]);
  });

  it('runtime/T2: fires what is due now, and what that starts, before it settles', async () => {
    const { clock, send, time } = timeWith();
    const order: string[] = [];
    clock.timer(0, () => {
      order.push('first');
      void send().then(() => clock.timer(0, () => order.push('second')));
    });
    clock.timer(1, () => order.push('later'));
    await time.settle();
    assert.deepEqual(order, ['first', 'second']);
  });

  it('runtime/T2: no answer takes virtual time, however many timers fall due meanwhile', async () => {
    const { clock, send, time } = timeWith({ turns: 50 });
    const answeredAtMs: number[] = [];
    clock.timer(10, () => void send().then(() => answeredAtMs.push(clock.monotonicMs())));
    for (let ms = 11; ms < 40; ms++) clock.timer(ms, () => {});
    await time.advance(1000);
    assert.deepEqual(answeredAtMs, [10]);
    assert.equal(clock.monotonicMs(), 1000);
  });

  it('runtime/T2: waits for somebody who is busy without moving, but not for ever, and only once', async () => {
    let asked = 0;
    const { time } = timeWith({ isBusy: () => ++asked > 0 });
    const startMs = performance.now();
    await time.settle();
    assert.ok(performance.now() - startMs >= 20);
    asked = 0;
    await time.settle();
    assert.equal(asked, 1, 'nothing has moved since: it waits for time');
  });

  it('lets as much time pass as a promise needs', async () => {
    const { clock, time } = timeWith();
    assert.equal(await time.through(clock.sleep(5000).then(() => 'done')), 'done');
    assert.equal(clock.monotonicMs(), 5000);
    await assert.rejects(time.through(clock.sleep(1).then(() => Promise.reject(new Error('failed')))), /failed/);
  });

  it('says so when a promise waits for nothing, or for too long', async () => {
    const { clock, time } = timeWith();
    await assert.rejects(time.through(new Promise(() => {})), /nothing is left to wait for/);
    await assert.rejects(time.through(clock.sleep(2 * 60 * 60_000)), /within an hour/);
  });

  it('rejects when the movement has no end, though nothing is written', async () => {
    const { send, time } = timeWith({ turns: 1 });
    let isOver = false;
    const spin = async () => {
      while (!isOver) await send();
    };
    const spinning = Array.from({ length: 50 }, spin);
    await assert.rejects(time.settle(), /not at rest after 100000 movements/);
    isOver = true;
    await Promise.all(spinning);
  });
});
