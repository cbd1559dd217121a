import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { LabAddressPool } from './address-pool.ts';

const pool = (first = 32, last = 95) => new LabAddressPool({ octet: 16, mode: 'loopback' }, first, last);

/** Takes and gives back as told; what is given back is chosen by the number. */
function played(steps: readonly (number | 'take')[], given = pool()) {
  const used: string[] = [];
  const log: { readonly what: 'take' | 'release'; readonly address: string }[] = [];
  for (const step of steps) {
    if (step === 'take') {
      const { api } = given.take();
      assert.ok(!used.includes(api), `${api} was given out twice`);
      used.push(api);
      log.push({ what: 'take', address: api });
    } else if (used.length > 0) {
      const [address = ''] = used.splice(step % used.length, 1);
      given.release(address);
      log.push({ what: 'release', address });
    }
  }
  return log;
}

describe('address pool', () => {
  it('lab/X1: gives no address again before 64 others were taken and 64 others given back', () => {
    const steps = fc.array(fc.oneof(fc.constant('take' as const), fc.nat({ max: 20 })), {
      minLength: 300,
      maxLength: 900,
    });
    fc.assert(
      fc.property(steps, (given) => {
        // A pool of one network: it comes round again within the run.
        const log = played(given, pool(32, 32));
        for (const [at, { what, address }] of log.entries()) {
          if (what !== 'take') continue;
          const before = log.slice(0, at);
          const released = before.findLastIndex((entry) => entry.address === address);
          if (released < 0) continue;
          const since = before.slice(released + 1);
          assert.ok(
            since.filter((entry) => entry.what === 'take').length >= 64,
            `${address} was taken again too soon`,
          );
          assert.ok(
            since.filter((entry) => entry.what === 'release').length >= 64,
            `${address} was just given back`,
          );
        }
      }),
      { numRuns: 50 },
    );
  });

  it('comes back to addresses that have rested', () => {
    const given = pool(32, 32);
    const steps = Array.from({ length: 1000 }, (_, index) => (index % 2 === 0 ? ('take' as const) : 0));
    const taken = played(steps, given).filter(({ what }) => what === 'take');
    assert.equal(taken.length, 500);
    assert.equal(new Set(taken.map(({ address }) => address)).size, 254);
  });

  it('lab/X1: holds its networks without .0 and .255', () => {
    const given = pool(94, 95);
    const all = Array.from({ length: 2 * 254 }, () => given.take().api);
    assert.deepEqual(
      [all[0], all[253], all[254], all.at(-1)],
      ['10.16.94.1', '10.16.94.254', '10.16.95.1', '10.16.95.254'],
    );
    assert.equal(new Set(all).size, all.length);
  });

  it('says which addresses are used up when none is left', () => {
    const given = pool(32, 32);
    for (let count = 0; count < 254; count++) given.take();
    assert.throws(() => given.take(), {
      reason: 'AddressPoolEmpty',
      message: /from 10\.16\.32\.1 to 10\.16\.32\.254/,
    });
  });

  it('lab/X1: gives none of the last 64 that were given back, even if there is no other', () => {
    const given = pool(32, 32);
    given.release(given.take().api);
    for (let count = 0; count < 253; count++) given.take();
    assert.throws(() => given.take(), { reason: 'AddressPoolEmpty' });
  });

  it('lab/X1: begins with the one that has rested longest when all were in use', () => {
    const given = pool(32, 32);
    const all = Array.from({ length: 254 }, () => given.take());
    const back = all.toReversed().slice(0, 150);
    for (const { api } of back) given.release(api);
    const again = Array.from({ length: 150 - 64 }, () => given.take());
    assert.deepEqual(again.slice(0, 64), back.slice(0, 64));
    assert.deepEqual(new Set(again), new Set(back.slice(0, 150 - 64)));
    assert.throws(() => given.take(), { reason: 'AddressPoolEmpty' });
  });

  it('gives no address that was kept from an earlier run, by either name', () => {
    const given = pool();
    given.keep('10.16.32.1');
    given.keep('127.16.32.2');
    assert.equal(given.take().api, '10.16.32.3');
  });

  it('keeps an address for its owner, and says so to others who come for it later', () => {
    const given = pool();
    const { api } = given.take('a');
    assert.deepEqual([given.keep(api, 'a'), given.keep(api, 'b')], [true, false]);
    given.release(api);
    assert.equal(given.keep(api, 'b'), true);
  });

  const strangers = [
    '10.16.31.1',
    '10.16.96.1',
    '10.17.32.1',
    '10.16.32.0',
    '10.16.32.255',
    '10.16.32.x',
    '',
    'pod',
  ];
  for (const address of strangers)
    it(`does nothing for ${JSON.stringify(address)}, which is outside`, () => {
      const given = pool();
      assert.equal(given.keep(address), false);
      given.release(address);
      assert.equal(given.take().api, '10.16.32.1');
    });
});
