import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { SystemClock } from '../../base/clock.ts';
import { dial } from './dial.ts';
import { brokenOff } from './reset.ts';

const real = new SystemClock();

/** Both ends of a connection; `told` is what the far one saw. */
async function connection() {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  const accepted = once(server, 'connection');
  const near = await dial({ host: '127.0.0.1', port: address.port }, { real, timeoutMs: 5000 });
  const [far]: Socket[] = await accepted;
  server.close();
  assert.ok(far);
  far.resume();
  const { promise: told, resolve } = Promise.withResolvers<string>();
  far.on('error', ({ message }) => resolve(message));
  far.on('end', () => resolve('end'));
  return { near, far, told };
}

describe('brokenOff', () => {
  it('lab/X11: the other side sees that a connection did not end in order', async () => {
    const { near, told } = await connection();
    await brokenOff(near);
    assert.match(await told, /ECONNRESET/);
    await brokenOff(near);
  });

  it('lab/P16: closes a connection whose end is just being sent', async () => {
    const { near, far, told } = await connection();
    near.end();
    // Now the kernel is asked to send the end, and has not answered yet.
    await new Promise((resolve) => process.nextTick(resolve));
    assert.ok(near.writableEnded && !near.writableFinished);
    await brokenOff(near);
    assert.match(await told, /end|ECONNRESET/);
    far.destroy();
  });
});
