import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { LeaseWatchdog } from './lease-watchdog.ts';

function setUp() {
  const clock = new VirtualClock();
  const state = { isLeader: true, isValid: true };
  const manager = {
    get isLeader() {
      return state.isLeader;
    },
    fence: {
      token: '1',
      get isValid() {
        return state.isValid;
      },
    },
  };
  const watchdog = new LeaseWatchdog({ manager, timing: { leaseMs: 15_000, renewMs: 10_000 }, clock });
  return { clock, state, watchdog };
}

describe('LeaseWatchdog', () => {
  it('ccm/P9: a leader is unhealthy when its lease has been over for more than 20 s', async () => {
    const { clock, state, watchdog } = setUp();
    await clock.advance(60_000);
    watchdog.check();
    state.isValid = false;
    // Writes end 5 s before the lease does.
    await clock.advance(25_000);
    watchdog.check();
    await clock.advance(1000);
    assert.throws(() => watchdog.check(), /overdue by 21s/);
    state.isValid = true;
    watchdog.check();
  });

  it('ccm/P9: whoever does not lead has no lease to be late with', async () => {
    const { clock, state, watchdog } = setUp();
    Object.assign(state, { isLeader: false, isValid: false });
    await clock.advance(600_000);
    watchdog.check();
  });

  it('ccm/P9: looks by itself, so that the first question after a long time is answered right', async () => {
    const { clock, state, watchdog } = setUp();
    const stop = new AbortController();
    const ended = watchdog.run(stop.signal);
    await clock.advance(120_000);
    state.isValid = false;
    await clock.advance(24_000);
    watchdog.check();
    stop.abort();
    await ended;
  });
});
