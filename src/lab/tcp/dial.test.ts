import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { type Clock, SystemClock } from '../../base/clock.ts';
import { dial } from './dial.ts';

const real = new SystemClock();
const NOWHERE = { host: '127.0.0.1', port: 1 };
const isLinux = process.platform === 'linux';

/** A clock whose timers are all due. */
class LateClock extends SystemClock {
  override timer(_ms: number, fire: () => void): Disposable {
    fire();
    return { [Symbol.dispose]: () => {} };
  }
}

const dialNowhere = (options: { readonly signal?: AbortSignal; readonly clock?: Clock } = {}) => {
  const { clock = real, signal } = options;
  return dial(NOWHERE, { real: clock, timeoutMs: 10_000, ...(signal !== undefined && { signal }) });
};

describe('dial', () => {
  it('says what the kernel says', async () => {
    await assert.rejects(dialNowhere(), { code: 'ECONNREFUSED' });
  });

  it('looks up no names', async () => {
    const named = dial({ host: 'localhost', port: 1 }, { real, timeoutMs: 10_000 });
    await assert.rejects(named, /"localhost" is no address/);
  });

  it('gives up when it is told to, before and after it began', async () => {
    const stop = new AbortController();
    const waiting = dialNowhere(stop);
    stop.abort(new Error('stopped'));
    await assert.rejects(waiting, /stopped/);
    await assert.rejects(dialNowhere(stop), /stopped/);
  });

  it('gives up after its time', async () => {
    const clock = new LateClock();
    await assert.rejects(dialNowhere({ clock }), /127\.0\.0\.1:1 did not answer within 10000 ms/);
  });

  it('shows the other side the address that it was told', { skip: !isLinux }, async () => {
    const server = createServer();
    server.listen({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const taken = once(server, 'connection');
    const { port } = server.address() as AddressInfo;
    const to = { host: '127.0.0.1', port };
    const socket = await dial(to, { real, timeoutMs: 10_000, localAddress: '127.91.0.7' });
    const [other] = (await taken) as [Socket];
    assert.equal(other.remoteAddress, '127.91.0.7');
    socket.destroy();
    other.destroy();
    server.close();
    await once(server, 'close');
  });
});
