import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { VirtualClock } from '../base/clock.ts';
import type { Transport, TransportRequest, TransportResponse } from '../kube/transport/transport.ts';
import { Realm } from './realm.ts';

const answer = (stream: TransportResponse['stream'] = async function* () {}): TransportResponse => ({
  status: 200,
  headers: {},
  stream,
  bytes: () => Promise.resolve(new Uint8Array()),
});

/** A server that notes what reaches it and answers when told to. */
class Server {
  readonly reached: TransportRequest[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly transport: Transport = async (request) => {
    this.reached.push(request);
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return answer();
  };

  respond(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

const REQUEST = { method: 'GET', target: '/' };

/** Whether a promise is settled some turns later. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let isDone = false;
  promise.then(
    () => (isDone = true),
    () => (isDone = true),
  );
  for (let turns = 0; turns < 5; turns++) await turn();
  return isDone;
}

describe('Realm', () => {
  it('reliability/T1.4: a kill keeps what was sent and delivers no answer, no error and no timer', async () => {
    const [server, clock] = [new Server(), new VirtualClock()];
    const realm = new Realm(server.transport, clock);
    const sent = realm.transport(REQUEST);
    const slept = realm.clock.sleep(10);
    let hasFired = false;
    realm.clock.timer(10, () => (hasFired = true));
    realm.kill();
    server.respond();
    await clock.advance(100);
    assert.equal(server.reached.length, 1);
    assert.equal(await isSettled(Promise.race([sent, slept])), false);
    assert.equal(hasFired, false);
    assert.equal(clock.nextDueMs, undefined, 'the dead leave no timer behind');
  });

  it('reliability/T1.4: the dead reach nothing, and a call after the turn of the death is noticed', async () => {
    const server = new Server();
    const realm = new Realm(server.transport, new VirtualClock());
    realm.kill();
    const atOnce = realm.transport(REQUEST);
    assert.equal(realm.callsAfterDeath, 0, 'what runs already cannot know');
    await turn();
    await turn();
    const later = realm.outside(() => Promise.reject(new Error('reached the world')));
    assert.equal(realm.callsAfterDeath, 1);
    assert.equal(await isSettled(Promise.race([atOnce, later])), false);
    assert.equal(server.reached.length, 0);
    assert.equal(realm.clock.timer(1, () => assert.fail())[Symbol.dispose](), undefined);
  });

  it('reliability/T1.4: a kill closes the streams of the dead at the server', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const transport: Transport = (request) => {
      signals.push(request.signal);
      return Promise.resolve(
        answer(async function* () {
          yield Buffer.from('one');
          await new Promise(() => {});
        }),
      );
    };
    const realm = new Realm(transport, new VirtualClock());
    const { signal } = new AbortController();
    const response = await realm.transport({ ...REQUEST, isStream: true, signal });
    const reader = response.stream()[Symbol.asyncIterator]();
    assert.equal((await reader.next()).done, false);
    const next = reader.next();
    realm.kill();
    realm.kill();
    assert.equal(signals[0]?.aborted, true);
    assert.equal(await isSettled(next), false);
  });

  it('reliability/T1.8: a frozen process hears and says nothing until it is thawed, though time goes on', async () => {
    const [server, clock] = [new Server(), new VirtualClock()];
    const realm = new Realm(server.transport, clock);
    const before = realm.transport(REQUEST);
    const fired: number[] = [];
    realm.clock.timer(10, () => fired.push(realm.clock.monotonicMs()));
    realm.freeze();
    server.respond();
    const during = realm.transport(REQUEST);
    await clock.advance(50);
    assert.equal(await isSettled(before), false);
    assert.deepEqual([server.reached.length, fired.length], [1, 0]);
    realm.thaw();
    assert.equal(await isSettled(before), true);
    server.respond();
    assert.equal((await during).status, 200);
    assert.deepEqual(fired, [50]);
  });

  it('runtime/E7: what a frozen process was about to send asks its fence again when it is thawed', async () => {
    const server = new Server();
    const realm = new Realm(server.transport, new VirtualClock());
    realm.freeze();
    const sent = realm.transport({
      ...REQUEST,
      beforeSend: () => {
        throw new Error('not the leader any more');
      },
    });
    realm.thaw();
    await assert.rejects(sent, /not the leader/);
    assert.equal(server.reached.length, 0);
  });

  it('a timer that is cancelled while frozen does not fire', async () => {
    const clock = new VirtualClock();
    const realm = new Realm(new Server().transport, clock);
    const timer = realm.clock.timer(10, () => assert.fail('it was cancelled'));
    realm.freeze();
    await clock.advance(20);
    timer[Symbol.dispose]();
    realm.thaw();
    await turn();
  });

  it('a sleep ends with the reason of its signal', async () => {
    const realm = new Realm(new Server().transport, new VirtualClock());
    const stop = new AbortController();
    const slept = realm.clock.sleep(10, stop.signal);
    stop.abort(new Error('enough'));
    await assert.rejects(slept, /enough/);
    await assert.rejects(realm.clock.sleep(10, stop.signal), /enough/);
  });
});
