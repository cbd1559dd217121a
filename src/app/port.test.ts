import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { isPortFree, listeningInodes, portMessage, requirePort } from './port.ts';

async function busyPort(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, [Symbol.asyncDispose]: async () => void server.close() };
}

describe('a port', () => {
  it('is free when nobody listens on it; any port is always free', async () => {
    const { port } = await busyPort().then(async (busy) => {
      await busy[Symbol.asyncDispose]();
      return busy;
    });
    assert.equal(await isPortFree(port), true);
    assert.equal(await isPortFree(0), true);
    await requirePort(0);
  });

  it('experience/X27: that is in use ends the command with exit code 3 and the process that has it', async () => {
    await using busy = await busyPort();
    assert.equal(await isPortFree(busy.port), false);
    const who = process.platform === 'linux' ? ` (process ${process.pid})` : '';
    const message = `port ${busy.port} is in use by another program${who}. Choose another with --port, or 0 for any free port`;
    await assert.rejects(requirePort(busy.port), { message, exitCode: 3, code: 'SW1101' });
  });

  it('reliability/D14: is named in the exact words when the process is not known', () => {
    const want = 'port 6443 is in use by another program. Choose another with --port, or 0 for any free port';
    assert.equal(portMessage(6443, 'EADDRINUSE', undefined), want);
  });

  it('is found among the sockets that listen, not among connections to it', () => {
    const table = [
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
      '   0: 0100007F:1D10 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0',
      '   1: 0100007F:1D10 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0',
      '   2: 0100007F:1D11 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0',
    ].join('\n');
    assert.deepEqual(listeningInodes(table, 0x1d10), new Set(['4711']));
  });
});
