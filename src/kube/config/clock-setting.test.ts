import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { programClock } from './clock-setting.ts';

const HOST_START = '2026-05-04T10:00:00.000Z';

describe('programClock', () => {
  it('lab/T7: is that of the machine when no lab says otherwise', () => {
    const host = new VirtualClock();
    assert.equal(programClock({}, host), host);
    assert.equal(programClock({ SLIPWAY_CLOCK: '' }, host), host);
  });

  const scaled = [
    { factor: '20', passedMs: 30_000, want: '2030-01-01T00:10:00.000Z' },
    { factor: '1', passedMs: 1500, want: '2030-01-01T00:00:01.500Z' },
    { factor: '0.5', passedMs: 60_000, want: '2030-01-01T00:00:30.000Z' },
  ];
  for (const { factor, passedMs, want } of scaled)
    it(`lab/T7: follows a lab that is faster by ${factor}`, async () => {
      const host = new VirtualClock({ start: new Date(HOST_START) });
      const env = { SLIPWAY_CLOCK: `scaled:${factor}:2030-01-01T00:00:00.000Z:${HOST_START}` };
      const clock = programClock(env, host);
      let hasFired = false;
      clock.timer(passedMs * Number(factor), () => {
        hasFired = true;
      });
      await host.advance(passedMs - 1);
      assert.equal(hasFired, false);
      await host.advance(1);
      assert.deepEqual([hasFired, clock.now().toISOString()], [true, want]);
    });

  it('lab/T7: shows the time of the lab though it started after the setting was made', async () => {
    const host = new VirtualClock({ start: new Date(HOST_START) });
    await host.advance(3000);
    const clock = programClock({ SLIPWAY_CLOCK: `scaled:10:2030-01-01T00:00:00Z:${HOST_START}` }, host);
    assert.equal(clock.now().toISOString(), '2030-01-01T00:00:30.000Z');
  });

  const wrong = [
    'auto',
    'scaled',
    'scaled:20',
    'scaled:0:2030-01-01T00:00:00Z:2026-05-04T10:00:00Z',
    'scaled:-1:2030-01-01T00:00:00Z:2026-05-04T10:00:00Z',
    'scaled:1e999:2030-01-01T00:00:00Z:2026-05-04T10:00:00Z',
    'scaled:x:2030-01-01T00:00:00Z:2026-05-04T10:00:00Z',
    'scaled:2:2030-13-01T00:00:00Z:2026-05-04T10:00:00Z',
    'scaled:2:2030-01-01T00:00:00Z:yesterday',
  ];
  for (const text of wrong)
    it(`lab/T7: refuses "${text}" and says what is meant`, () => {
      assert.throws(() => programClock({ SLIPWAY_CLOCK: text }), {
        reason: 'InvalidClock',
        message: /^SLIPWAY_CLOCK is ".*"; it must be scaled:<factor>:<time>:<host time>/,
      });
    });
});
