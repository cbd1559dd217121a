import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { SystemClock } from '../../base/clock.ts';
import { dial } from './dial.ts';
import { splice } from './splice.ts';

const real = new SystemClock();
const HOST = '127.0.0.1';

/** A server whose connections the test takes one after the other. */
class Door implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => {});
    });
  }

  static async open(): Promise<Door> {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
    const door = new Door(server);
    server.listen({ host: HOST, port: 0 });
    await once(server, 'listening');
    return door;
  }

  /** Both ends of a new connection: of who dials, and of who is dialled. */
  async pair(): Promise<readonly [dialled: Socket, taken: Socket]> {
    const taken = once(this.#server, 'connection');
    const { port } = this.#server.address() as AddressInfo;
    const dialled = await dial({ host: HOST, port }, { real, timeoutMs: 5000 });
    this.#sockets.add(dialled);
    return [dialled, ((await taken) as [Socket])[0]];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** A client and a backend who only know each other through a splice. */
async function spliced(door: Door) {
  const [client, clientSide] = await door.pair();
  const [backendSide, backend] = await door.pair();
  backend.resume().pause();
  return { client, backend, clientSide, backendSide, done: splice(clientSide, backendSide) };
}

async function digestOf(socket: Socket): Promise<{ readonly digest: string; readonly bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    hash.update(chunk);
    bytes += (chunk as Buffer).length;
  }
  return { digest: hash.digest('hex'), bytes };
}

const send = async (socket: Socket, chunks: readonly Buffer[]): Promise<string> => {
  const hash = createHash('sha256');
  for (const chunk of chunks) {
    hash.update(chunk);
    if (!socket.write(chunk)) await once(socket, 'drain');
  }
  socket.end();
  return hash.digest('hex');
};

const chunksOf = (sizes: readonly number[]): readonly Buffer[] => sizes.map((size) => randomBytes(size));

describe('splice', () => {
  it('lab/X11: carries every byte, both ways at once, and then ends', async () => {
    await using door = await Door.open();
    const { client, backend, done } = await spliced(door);
    const sizes = [1, 7, 65_536, 3, 1_000_000, 16_385, 250_000];
    const [up, down] = [chunksOf(sizes), chunksOf(sizes.toReversed())];
    const [sentUp, sentDown, seenUp, seenDown] = await Promise.all([
      send(client, up),
      send(backend, down),
      digestOf(backend),
      digestOf(client),
    ]);
    assert.equal(seenUp.digest, sentUp);
    assert.equal(seenDown.digest, sentDown);
    await done;
  });

  it('lab/X11: passes on the end of one way while the other goes on', async () => {
    await using door = await Door.open();
    const { client, backend, done } = await spliced(door);
    client.end('question');
    const question = await digestOf(backend);
    assert.equal(question.bytes, 'question'.length);
    assert.equal(backend.writable, true);
    const answer = send(backend, chunksOf([300_000]));
    assert.equal((await digestOf(client)).digest, await answer);
    await done;
  });

  it('lab/X11: passes on the end of the answer while the question goes on', async () => {
    await using door = await Door.open();
    const { client, backend, done } = await spliced(door);
    backend.end('hello');
    assert.equal((await digestOf(client)).bytes, 'hello'.length);
    const question = send(client, chunksOf([300_000]));
    assert.equal((await digestOf(backend)).digest, await question);
    await done;
  });

  for (const way of ['up', 'down'] as const) {
    it(`lab/X11: lets a slow reader slow the writer (${way})`, async () => {
      await using door = await Door.open();
      const { client, backend, clientSide, backendSide, done } = await spliced(door);
      const [writer, reader] = way === 'up' ? [client, backend] : [backend, client];
      const middle = way === 'up' ? backendSide : clientSide;
      const chunk = randomBytes(1_000_000);
      const sent = send(
        writer,
        Array.from({ length: 24 }, () => chunk),
      );
      // Nobody reads: what is under way stops growing although most of it is not sent yet.
      for (let before = -1; before < writer.bytesWritten - writer.writableLength; ) {
        before = writer.bytesWritten - writer.writableLength;
        await real.sleep(30);
      }
      assert.ok(writer.writableLength > 0);
      assert.ok(middle.writableLength <= 1_000_000, `${middle.writableLength} bytes wait in this process`);
      assert.equal((await digestOf(reader)).digest, await sent);
      (way === 'up' ? backend : client).end();
      await digestOf(writer);
      await done;
    });
  }

  for (const breaker of ['client', 'backend'] as const) {
    it(`lab/X11: breaks one connection when the ${breaker} breaks the other`, async () => {
      await using door = await Door.open();
      const ends = await spliced(door);
      const other = breaker === 'client' ? ends.backend : ends.client;
      other.resume();
      const told = once(other, 'error');
      ends[breaker].write('half a');
      ends[breaker].resetAndDestroy();
      const [error] = (await told) as [NodeJS.ErrnoException];
      assert.equal(error.code, 'ECONNRESET');
      await ends.done;
    });
  }

  it('lab/X11: breaks a connection whose other side is gone before it begins', async () => {
    await using door = await Door.open();
    const [client, clientSide] = await door.pair();
    const [backendSide] = await door.pair();
    backendSide.destroy();
    await once(backendSide, 'close');
    client.resume();
    const told = once(client, 'error');
    await splice(clientSide, backendSide);
    const [error] = (await told) as [NodeJS.ErrnoException];
    assert.equal(error.code, 'ECONNRESET');
  });
});
