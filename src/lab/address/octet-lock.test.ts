import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import type { NetworkMode } from './address-plan.ts';
import { thisHost } from './network-host.ts';
import { lockOctet, lockPlace, octetOrder } from './octet-lock.ts';

const host = { listeners: async () => ['process 42'] };
/** A row of its own for each test, so that labs of others on this machine do not disturb it. */
const row = (seed: number) => octetOrder(new VirtualClock({ seed }).random());

describe('octet lock', () => {
  for (const random of [0, 0.5, 0.999_999])
    it(`lab/X3: tries each of 16 to 250 once, beginning anywhere (${random})`, () => {
      const order = octetOrder(random);
      assert.deepEqual(
        order.toSorted((a, b) => a - b),
        Array.from({ length: 235 }, (_, index) => 16 + index),
      );
      assert.equal(order[0], 16 + Math.floor(random * 235));
    });

  it('tries the preferred octet first, and only if it can be one', () => {
    assert.deepEqual(octetOrder(0, 77).slice(0, 3), [77, 16, 17]);
    assert.equal(octetOrder(0, 77).length, 235);
    assert.deepEqual(octetOrder(0, 3), octetOrder(0));
  });

  for (const mode of ['loopback', 'ports'] as const satisfies readonly NetworkMode[])
    it(`lab/X3: takes the next octet when one is taken, and gives it free at the end (mode ${mode})`, async () => {
      const order = row(1);
      await using first = await lockOctet(order, mode, host);
      const rest = order.slice(order.indexOf(first.octet));
      const second = await lockOctet(rest, mode, host);
      assert.notEqual(second.octet, first.octet);
      await second[Symbol.asyncDispose]();
      await using again = await lockOctet(rest, mode, host);
      assert.equal(again.octet, second.octet);
    });

  it('lab/X3: a lab that is killed gives its octet free', async () => {
    const script = `import { lockOctet, octetOrder } from ${JSON.stringify(new URL('octet-lock.ts', import.meta.url))};
      const { octet } = await lockOctet(octetOrder(0.1), 'loopback', { listeners: async () => [] });
      process.stdout.write(String(octet));
      setInterval(() => undefined, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    try {
      const octet = Number(String(await once(child.stdout, 'data')));
      await assert.rejects(lockOctet([octet], 'loopback', host), { reason: 'NetworksInUse' });
      child.kill('SIGKILL');
      await ended;
      await using lock = await lockOctet([octet], 'loopback', host);
      assert.equal(lock.octet, octet);
    } finally {
      child.kill('SIGKILL');
      await ended;
    }
  });

  it('closes connections to the lock at once', async () => {
    await using lock = await lockOctet(row(2), 'loopback', host);
    const socket = connect(lockPlace('loopback', lock.octet));
    const [hadError] = await once(socket.resume(), 'close');
    assert.equal(hadError, false);
  });

  it('lab/X3: names who listens when all are taken', async () => {
    await using taken = await lockOctet(row(3), 'loopback', host);
    const octets = [taken.octet];
    const network = `lab network 10\\.${taken.octet}\\.0\\.0/16`;
    const wanted = new RegExp(`^${network} is in use: .*process ${process.pid} of user .*; end a lab`);
    await assert.rejects(lockOctet(octets, 'loopback', thisHost), { reason: 'NetworksInUse', message: wanted });
    const nobody = { listeners: async () => [] };
    await assert.rejects(lockOctet(octets, 'loopback', nobody), /nobody can tell by whom/);
    await assert.rejects(
      lockOctet([...octets, ...octets], 'loopback', nobody),
      /^[^:]+: all 2 lab networks are in use/,
    );
  });

  it('says which mode works when the address cannot be bound', async () => {
    // Not an address of this machine, as 127.L.0.1 is not one on macOS.
    await assert.rejects(lockOctet([999], 'loopback', host), {
      reason: 'NetworkUnavailable',
      message:
        /network mode loopback does not work here: cannot listen on 127\.999\.0\.1:49151 .*use network mode ports/,
    });
  });
});
