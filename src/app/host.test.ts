import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { VirtualClock } from '../base/clock.ts';
import { ECHO_MS, interruptionOfProcess } from './host.ts';

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];

  exit(code: number): void {
    this.exits.push(code);
  }
}

const interrupted = () => {
  const host = new FakeProcess();
  const clock = new VirtualClock();
  return { host, clock, interruption: interruptionOfProcess(clock, host) };
};

describe('requests to stop', () => {
  it('experience/X26: one Ctrl-C that comes several times asks once, with its name', async () => {
    const { host, clock, interruption } = interrupted();
    assert.equal(interruption.signal.aborted, false);
    host.emit('SIGINT');
    host.emit('SIGINT');
    await clock.advance(ECHO_MS - 1);
    host.emit('SIGINT');
    assert.deepEqual([interruption.signal.reason, host.exits], ['SIGINT', []]);
  });

  it('experience/X26: a second Ctrl-C ends the process, however often the first one came', async () => {
    const { host, clock } = interrupted();
    host.emit('SIGINT');
    await clock.advance(ECHO_MS - 1);
    host.emit('SIGINT');
    await clock.advance(1);
    host.emit('SIGINT');
    assert.deepEqual(host.exits, [130]);
  });

  it('experience/X26: other signals are one request, however late they come again', async () => {
    const { host, clock, interruption } = interrupted();
    for (const name of ['SIGTERM', 'SIGHUP', 'SIGTERM']) {
      host.emit(name);
      await clock.advance(ECHO_MS);
    }
    assert.deepEqual([interruption.signal.reason, host.exits], ['SIGTERM', []]);
    host.emit('SIGINT');
    assert.deepEqual(host.exits, [130]);
  });

  it('a reader that the same Ctrl-C ended is no first one', async () => {
    const { host, clock, interruption } = interrupted();
    interruption.stop('EPIPE');
    host.emit('SIGINT');
    assert.deepEqual([interruption.signal.reason, host.exits], ['EPIPE', []]);
    await clock.advance(ECHO_MS);
    host.emit('SIGINT');
    assert.deepEqual(host.exits, [130]);
  });

  it('leaves nothing behind when disposed', () => {
    const { host, interruption } = interrupted();
    interruption[Symbol.dispose]();
    assert.deepEqual(host.eventNames(), []);
  });
});
