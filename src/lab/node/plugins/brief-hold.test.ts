import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../../base/clock.ts';
import { briefHold } from './brief-hold.ts';

describe('briefHold', () => {
  it('lab/T5: keeps time still until it is disposed, and never longer than two seconds', async () => {
    const real = new VirtualClock();
    const held: string[] = [];
    const hold = (reason: string) => {
      held.push(`+${reason}`);
      return { [Symbol.dispose]: () => void held.push(`-${reason}`) };
    };
    briefHold({ hold, real }, 'a')[Symbol.dispose]();
    const slow = briefHold({ hold, real }, 'b');
    await real.advance(1999);
    assert.deepEqual(held, ['+a', '-a', '+b']);
    await real.advance(1);
    assert.deepEqual(held, ['+a', '-a', '+b', '-b']);
    slow[Symbol.dispose]();
    briefHold({ real }, 'nobody cares')[Symbol.dispose]();
    assert.equal(real.nextDueMs, undefined);
  });
});
