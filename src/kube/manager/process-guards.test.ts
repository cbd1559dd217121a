import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { createLog } from '../../base/log.ts';
import { guardProcess, stopOnSignals } from './process-guards.ts';

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];

  exit(code: number): void {
    this.exits.push(code);
  }
}

const recorded = () => {
  const lines: string[] = [];
  return { lines, log: createLog({ level: 'info', write: (line) => lines.push(line), now: () => new Date(0) }) };
};

describe('stopOnSignals', () => {
  for (const [first, second] of [
    ['SIGTERM', 'SIGTERM'],
    ['SIGINT', 'SIGTERM'],
  ] as const) {
    it(`runtime/M2: ${first} stops, ${second} after it exits with 1 at once`, async () => {
      const host = new FakeProcess();
      const clock = new VirtualClock();
      const { signal } = stopOnSignals(host, recorded().log, clock);
      assert.equal(signal.aborted, false);
      host.emit(first);
      assert.deepEqual([signal.aborted, host.exits], [true, []]);
      assert.match(String(signal.reason), new RegExp(`received ${first}`));
      host.emit(first);
      assert.deepEqual(host.exits, [], 'the same signal, passed on by a parent');
      await clock.advance(1000);
      host.emit(second);
      assert.deepEqual(host.exits, [1]);
    });
  }

  it('leaves nothing behind when disposed', () => {
    const host = new FakeProcess();
    stopOnSignals(host, recorded().log, new VirtualClock())[Symbol.dispose]();
    assert.deepEqual(host.eventNames(), []);
  });
});

describe('guardProcess', () => {
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    it(`runtime/M10: ${event} is logged with its stack and stops the manager`, () => {
      const host = new FakeProcess();
      const { lines, log } = recorded();
      const failures: Error[] = [];
      const guard = guardProcess(host, log, (error) => failures.push(error));
      host.emit(event, new Error('oops'));
      host.emit(event, 'just text');
      assert.deepEqual(
        failures.map(({ message }) => message),
        ['oops', 'just text'],
      );
      assert.match(lines[0] ?? '', /oops.*process-guards\.test\.ts/);
      guard[Symbol.dispose]();
      assert.deepEqual(host.eventNames(), []);
    });
  }
});
