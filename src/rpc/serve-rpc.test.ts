import assert from 'node:assert/strict';
import { link, mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { shortDirectory } from '../../test/support/short-directory.ts';
import { SystemClock } from '../base/clock.ts';
import { dialRpc } from './dial-rpc.ts';
import { int64, message, string } from './message.ts';
import type { RpcAddress } from './rpc-address.ts';
import { RpcError } from './rpc-error.ts';
import { type Handlers, serverStream, service, unary } from './rpc-service.ts';
import { type ServeOptions, served, serveRpc } from './serve-rpc.ts';

const clock = new SystemClock();
const Text = message('test.v1.Text', { text: string(1), number: int64(2) });
const Echo = service('test.v1.Echo', {
  Say: unary(Text, Text),
  Count: serverStream(Text, Text),
  Never: unary(Text, Text),
});

/** A server and a connection to it; more handlers by test. */
async function rig(handlers: Handlers<typeof Echo>, more: Partial<ServeOptions> = {}) {
  const stack = new AsyncDisposableStack();
  const directory = stack.use(await shortDirectory());
  const address: RpcAddress = more.address ?? { socket: join(directory.path, 'e.sock') };
  const server = stack.use(await serveRpc({ address, services: [served(Echo, handlers)], clock, ...more }));
  const reached: RpcAddress = 'host' in address ? { ...address, port: server.port } : address;
  const connection = stack.use(dialRpc({ address: reached, clock }));
  const echo = connection.client(Echo);
  return {
    directory: directory.path,
    server,
    connection,
    echo,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const soon = { timeoutMs: 20_000 };

async function* counted(from: bigint, to: bigint) {
  for (let number = from; number <= to; number++) yield { number };
}

describe('calls', () => {
  for (const { name, address } of [
    { name: 'over a Unix socket', address: undefined },
    { name: 'over a loopback port', address: { host: '127.0.0.1', port: 0 } },
  ]) {
    it(`go ${name}`, async () => {
      await using one = await rig(
        { say: ({ text, number }) => ({ text: `${text}!`, number: -number }) },
        address === undefined ? {} : { address },
      );
      await one.connection.ready(soon);
      assert.deepEqual(await one.echo.say({ text: 'ü', number: 2n ** 62n }, soon), {
        text: 'ü!',
        number: -(2n ** 62n),
      });
    });
  }

  it('stream as much as is asked for, and no faster than it is read', async () => {
    let sent = 0;
    const big = 'x'.repeat(64 * 1024);
    await using one = await rig({
      count: async function* ({ number }) {
        for (; sent < Number(number); sent++) yield { text: big };
      },
    });
    let seen = 0;
    for await (const { text } of one.echo.count({ number: 300n })) {
      assert.equal(text.length, big.length);
      if (++seen === 1) await clock.sleep(50);
      if (seen === 1) assert.ok(sent < 250, `${sent} were sent though one was read`);
    }
    assert.equal(seen, 300);
  });

  it('end a stream when the reader leaves', async () => {
    const ended = Promise.withResolvers<unknown>();
    await using one = await rig({
      count: async function* (_request, { signal }) {
        signal.addEventListener('abort', () => ended.resolve(signal.reason), { once: true });
        for (let number = 0n; !signal.aborted; number++) {
          yield { number };
          await clock.sleep(1);
        }
      },
    });
    for await (const { number } of one.echo.count({})) if (number === 3n) break;
    assert.match(String(await ended.promise), /the caller does not wait any more/);
  });

  it('end a stream whose handler does not listen', async () => {
    await using one = await rig({
      count: async function* () {
        yield { number: 1n };
        await new Promise(() => {});
      },
    });
    for await (const _one of one.echo.count({})) break;
    // It would not resolve while a call is open.
    await one.server[Symbol.asyncDispose]();
  });

  it('answer with the status that the handler throws', async () => {
    await using one = await rig({
      say: ({ text }) => {
        if (text === 'known') throw new RpcError('NOT_FOUND', 'no such thing');
        throw new Error('oops');
      },
      count: async function* () {
        yield { number: 1n };
        throw new RpcError('ABORTED', 'enough');
      },
    });
    await assert.rejects(one.echo.say({ text: 'known' }, soon), {
      name: 'RpcError',
      code: 'NOT_FOUND',
      details: 'no such thing',
      message: 'rpc error: code = NotFound desc = no such thing',
    });
    await assert.rejects(one.echo.say({}, soon), { code: 'UNKNOWN', details: 'oops' });
    const seen: bigint[] = [];
    const reading = async () => {
      for await (const { number } of one.echo.count({})) seen.push(number);
    };
    await assert.rejects(reading(), { code: 'ABORTED', details: 'enough' });
    assert.deepEqual(seen, [1n]);
    await assert.rejects(one.echo.never({}, soon), { code: 'UNIMPLEMENTED' });
  });

  it('end after their time, on both sides', async () => {
    const ended = Promise.withResolvers<void>();
    await using one = await rig({
      say: (_request, { signal }) => {
        signal.addEventListener('abort', () => ended.resolve(), { once: true });
        return new Promise(() => {});
      },
    });
    await assert.rejects(one.echo.say({}, { timeoutMs: 50 }), { code: 'DEADLINE_EXCEEDED' });
    await ended.promise;
  });

  it('end with the reason of the signal of the caller', async () => {
    const waiting = Promise.withResolvers<void>();
    await using one = await rig({
      say: () => {
        waiting.resolve();
        return new Promise(() => {});
      },
      count: async function* (_request, { signal }) {
        yield { number: 1n };
        await clock.sleep(60_000, signal).catch(() => {});
      },
    });
    const stop = new AbortController();
    const saying = one.echo.say({}, { ...soon, signal: stop.signal });
    const counting = (async () => {
      for await (const _one of one.echo.count({}, { signal: stop.signal }))
        await waiting.promise.then(() => stop.abort(new Error('no more')));
    })();
    await assert.rejects(saying, { message: 'no more' });
    await assert.rejects(counting, { message: 'no more' });
    await assert.rejects(one.echo.say({}, { ...soon, signal: stop.signal }), { message: 'no more' });
  });

  it('say when nobody is there, and find whoever comes later', async () => {
    await using directory = await shortDirectory();
    const address = { socket: join(directory.path, 'e.sock') };
    using connection = dialRpc({ address, clock });
    await assert.rejects(connection.client(Echo).say({}, soon), { code: 'UNAVAILABLE' });
    await assert.rejects(connection.ready({ timeoutMs: 50 }), {
      code: 'DEADLINE_EXCEEDED',
      details: `nobody answered at ${address.socket} within 50 ms`,
    });
    const stop = new AbortController();
    const waiting = connection.ready({ ...soon, signal: stop.signal });
    stop.abort(new Error('given up'));
    await assert.rejects(waiting, { message: 'given up' });
    await using _server = await serveRpc({ address, services: [served(Echo, { say: () => ({}) })], clock });
    await connection.ready(soon);
    await connection.client(Echo).say({}, soon);
  });

  it('are over when the connection is closed', async () => {
    await using one = await rig({ say: () => new Promise(() => {}) });
    await one.connection.ready(soon);
    const saying = one.echo.say({}, soon);
    one.connection[Symbol.dispose]();
    await assert.rejects(saying, { code: 'UNAVAILABLE' });
    await assert.rejects(one.echo.say({}, soon), { code: 'CANCELLED' });
    await assert.rejects(one.connection.ready(soon), { code: 'CANCELLED' });
  });

  it('leave nothing open to a server that never says a word', async () => {
    await using directory = await shortDirectory();
    const socket = join(directory.path, 'e.sock');
    const deaf = createServer((connection) => connection.on('error', () => {}).resume());
    await new Promise<void>((resolve) => deaf.listen(socket, () => resolve()));
    const connection = dialRpc({ address: { socket }, clock });
    await assert.rejects(connection.ready({ timeoutMs: 50 }), { code: 'DEADLINE_EXCEEDED' });
    connection[Symbol.dispose]();
    // Resolves when the last connection is closed.
    await new Promise((resolve) => deaf.close(resolve));
  });

  it('reach a socket whatever its path is made of', async () => {
    await using directory = await shortDirectory();
    const odd = join(directory.path, 'a b%20?#:é');
    await mkdir(odd);
    await using one = await rig(
      { say: () => ({ text: 'here' }) },
      { address: { socket: join(odd, '[x]=1.sock') } },
    );
    assert.deepEqual(await one.echo.say({}, soon), { text: 'here', number: 0n });
  });
});

describe('a server', () => {
  it('stops at once, whatever its calls do, and leaves no socket', async () => {
    const begun = Promise.withResolvers<void>();
    await using one = await rig(
      {
        say: () => {
          begun.resolve();
          return new Promise(() => {});
        },
        count: ({ number }) => counted(number, 10n ** 9n),
      },
      { graceMs: 50 },
    );
    const saying = one.echo.say({}, soon).catch((error: unknown) => error);
    const counting = (async () => {
      for await (const _one of one.echo.count({}));
    })().catch((error: unknown) => error);
    await begun.promise;
    await one.server[Symbol.asyncDispose]();
    assert.deepEqual(await readdir(one.directory), []);
    assert.match(String(await saying), /Unavailable|Canceled/);
    assert.match(String(await counting), /Unavailable|Canceled/);
    await one.server[Symbol.asyncDispose]();
  });

  it('stops though somebody is connected who never says a word', async () => {
    await using one = await rig({}, { graceMs: 20 });
    const silent = connect(join(one.directory, 'e.sock')).on('error', () => {});
    await new Promise((resolve) => silent.once('connect', resolve));
    const gone = new Promise((resolve) => silent.resume().once('close', resolve));
    await one.server[Symbol.asyncDispose]();
    await gone;
  });

  it('lets calls end that end in time', async () => {
    const begun = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    await using one = await rig({
      say: async () => {
        begun.resolve();
        await go.promise;
        return { text: 'done' };
      },
    });
    const saying = one.echo.say({}, soon);
    await begun.promise;
    const stopping = one.server[Symbol.asyncDispose]();
    go.resolve();
    assert.equal((await saying).text, 'done');
    await stopping;
  });

  it('takes the place of a socket that a dead program left', async () => {
    await using directory = await shortDirectory();
    const socket = join(directory.path, 'e.sock');
    await abandonedSocket(socket);
    await using one = await rig({ say: () => ({ text: 'new' }) }, { address: { socket } });
    assert.equal((await one.echo.say({}, soon)).text, 'new');
  });

  it('does not take the place of anything else', async () => {
    await using one = await rig({});
    const socket = join(one.directory, 'e.sock');
    const second = (path: string) => serveRpc({ address: { socket: path }, services: [], clock });
    await assert.rejects(second(socket), {
      reason: 'SocketPathTaken',
      message: `another program listens at ${socket}; stop it, or choose another path`,
    });
    const file = join(one.directory, 'file');
    await writeFile(file, 'precious');
    await assert.rejects(second(file), { reason: 'SocketPathTaken', message: /is there and is no socket/ });
    assert.equal((await stat(file)).size, 8);
    await assert.rejects(second(join(one.directory, 'none', 'e.sock')), { reason: 'NoSocketDirectory' });
    const long = join(one.directory, 'x'.repeat(100));
    await assert.rejects(second(long), {
      reason: 'InvalidSocketPath',
      message: new RegExp(`at most 107 bytes, but .* has ${long.length}`),
    });
    await assert.rejects(serveRpc({ address: { host: '127.0.0.1', port: 65_536 }, services: [], clock }), {
      reason: 'CannotListen',
    });
  });
});

/** What a program leaves that was killed: closing a server removes its socket. */
async function abandonedSocket(path: string): Promise<void> {
  const kept = `${path}.kept`;
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, () => resolve()));
  await link(path, kept);
  await new Promise((resolve) => server.close(resolve));
  await rename(kept, path);
}
