import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Server, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { type CloudWorld, cloudWorld, listenAnywhere } from '../../../../test/support/cloud-world.ts';
import { until } from '../../../../test/support/scratch.ts';
import { VirtualClock } from '../../../base/clock.ts';
import { type Log, type LogFields, SILENT_LOG } from '../../../base/log.ts';

const SLOW_MS = 30_000;

/** A client that speaks byte by byte. */
class RawClient implements Disposable {
  readonly #socket: Socket;
  text = '';
  isClosed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => void (this.text += chunk.toString()));
    socket.on('close', () => void (this.isClosed = true));
    socket.on('error', () => undefined);
  }

  static async to(world: CloudWorld): Promise<RawClient> {
    const socket = connect(Number(new URL(world.cloud.url).port), '127.0.0.1');
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  say(text: string): void {
    this.#socket.write(text);
  }

  /** Takes nothing any more. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}

/** Real time passes when told to, too. */
async function slowWorld(): Promise<{
  readonly world: CloudWorld;
  readonly real: VirtualClock;
  readonly token: string;
}> {
  const real = new VirtualClock();
  const world = await cloudWorld({ real });
  return { world, real, token: await world.token('lab-admin') };
}

const waitsFor = (world: CloudWorld, path: string) =>
  until(() => world.cloud.journal({ path }).length > 0, `${path} has begun`);

describe('clients of the cloud that are slow', () => {
  it('lab/C12: are cut 30 s of real time after they came and said nothing', async () => {
    const { world, real } = await slowWorld();
    await using _ = world;
    using client = await RawClient.to(world);
    // The server has the connection a moment after the client has it.
    await world.ask('GET', '/v1/zones');
    await real.advance(SLOW_MS - 1);
    await world.ask('GET', '/v1/zones');
    assert.equal(client.isClosed, false);
    await real.advance(1);
    await until(() => client.isClosed, 'it is cut');
  });

  it('lab/C12: are cut when a body does not come whole within 30 s, however it drips', async () => {
    const { world, real, token } = await slowWorld();
    await using _ = world;
    using client = await RawClient.to(world);
    client.say(
      `POST /v1/volumes HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-length: 100\r\n\r\n`,
    );
    await waitsFor(world, '/v1/volumes');
    for (let n = 0; n < 9; n++) {
      client.say('{');
      await real.advance(SLOW_MS / 10);
    }
    assert.equal(client.isClosed, false);
    await real.advance(SLOW_MS / 10);
    await until(() => client.isClosed, 'it is cut');
    assert.equal(world.cloud.state.list({ plural: 'volumes' }).length, 0);
    assert.equal(world.cloud.journal({ path: '/v1/volumes' })[0]?.isCut, true);
  });

  it('lab/C12: may take longer for large data, as long as some comes', async () => {
    const { world, real } = await slowWorld();
    await using _ = world;
    const bucket = await world.make('buckets', { name: 'slow' });
    const token = await world.token('lab-admin');
    using client = await RawClient.to(world);
    const path = `/v1/buckets/${bucket}/objects/k`;
    client.say(`PUT ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-length: 5\r\n\r\n`);
    await waitsFor(world, path);
    for (const byte of 'hell') {
      client.say(byte);
      await real.advance(SLOW_MS - 1000);
      // So that the byte has come before time goes on.
      await world.ask('GET', '/v1/zones');
    }
    client.say('o');
    await until(() => client.text.includes('200 OK'), 'it is stored');
    assert.equal((await world.ask('GET', path)).text, 'hello');
  });

  it('lab/C12: are cut when nothing of large data comes for 30 s, and nothing is stored', async () => {
    const { world, real } = await slowWorld();
    await using _ = world;
    const bucket = await world.make('buckets', { name: 'slow' });
    const token = await world.token('lab-admin');
    using client = await RawClient.to(world);
    const path = `/v1/buckets/${bucket}/objects/k`;
    client.say(`PUT ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-length: 5\r\n\r\nhe`);
    await waitsFor(world, path);
    await world.ask('GET', '/v1/zones');
    await real.advance(SLOW_MS);
    await until(() => client.isClosed, 'it is cut');
    assert.equal((await world.ask('GET', path)).status, 404);
  });

  it('lab/C12: are cut when they do not take their answer', async () => {
    const { world, real } = await slowWorld();
    await using _ = world;
    const bucket = await world.make('buckets', { name: 'large' });
    const path = `/v1/buckets/${bucket}/objects/k`;
    const size = 32 * 1024 * 1024;
    await world.ask('PUT', path, { body: 'x'.repeat(size) });
    const token = await world.token('lab-admin');
    using client = await RawClient.to(world);
    client.pause();
    client.say(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`);
    await until(() => world.cloud.journal({ path, method: 'GET' })[0]?.status === 200, 'it is being answered');
    // It is still sent to as long as the system has room for what the client does not take.
    for (let n = 0; n < 20; n++) {
      await world.ask('GET', '/v1/zones');
      await real.advance(SLOW_MS);
    }
    client.resume();
    await until(() => client.isClosed, 'it is cut');
    assert.ok(client.text.length < size, 'it has not got everything');
  });
});

describe('the server of the cloud', () => {
  it('serves several requests over one connection, also after a refusal', async () => {
    await using world = await cloudWorld();
    const token = await world.token('lab-admin');
    using client = await RawClient.to(world);
    const ask = (path: string) =>
      client.say(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`);
    ask('/v1/nothing');
    ask('/v1/zones/a');
    await until(
      () => client.text.includes('404 Not Found') && client.text.includes('"id":"a"'),
      'both are answered',
    );
  });

  it('answers a client that it does not know before the body has come', async () => {
    await using world = await cloudWorld();
    using client = await RawClient.to(world);
    client.say('POST /v1/volumes HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n{');
    await until(() => client.text.includes('401 Unauthorized'), 'it is refused');
    assert.match(client.text, /connection: close/i);
  });

  it('does not fall over rubbish', async () => {
    await using world = await cloudWorld();
    for (const rubbish of [
      '\0\0\0\0',
      'GET\r\n\r\n',
      'GET http:// HTTP/1.1\r\nhost: x\r\n\r\n',
      `GET /${'x'.repeat(70_000)} HTTP/1.1\r\n`,
    ]) {
      using client = await RawClient.to(world);
      client.say(rubbish);
      await until(() => client.isClosed || client.text !== '', 'it is answered or cut');
    }
    assert.equal((await world.ask('GET', '/v1/zones')).status, 200);
  });

  it('lab/C3: tells a mistake of its own as Internal, and the log why', async () => {
    const errors: unknown[] = [];
    const log: Log = { ...SILENT_LOG, error: (fields) => void errors.push(fields['err']) };
    let isBroken = false;
    const hold = () => {
      if (isBroken) throw new Error('a mistake with secret details');
      return { [Symbol.dispose]: () => undefined };
    };
    await using world = await cloudWorld({ log, hold });
    world.cloud.fault({ match: { kind: 'zones' }, effect: { delayMs: 1 } });
    const asked = world.ask('GET', '/v1/zones');
    await waitsFor(world, '/v1/zones');
    isBroken = true;
    await world.clock.advance(1);
    const { status, error, text } = await asked;
    assert.deepEqual([status, error['code']], [500, 'Internal']);
    assert.ok(!text.includes('secret details'));
    assert.match(String(errors[0]), /a mistake with secret details/);
    isBroken = false;
  });

  it('lab/C11: lets lab time go on while a fault only waits for it, and holds it otherwise', async () => {
    const held: string[] = [];
    const hold = (reason: string) => {
      held.push(`+${reason}`);
      return { [Symbol.dispose]: () => void held.push(`-${reason}`) };
    };
    await using world = await cloudWorld({ hold });
    await world.ask('GET', '/v1/zones');
    held.length = 0;
    world.cloud.fault({ match: { kind: 'zones' }, effect: { delayMs: 1000 } });
    const asked = world.ask('GET', '/v1/zones');
    await until(() => held.length === 2, 'the hold is let go');
    await world.clock.advance(1000);
    await asked;
    assert.deepEqual(held, ['+GET /v1/zones', '-GET /v1/zones', '+GET /v1/zones', '-GET /v1/zones']);
  });

  it('leaves nothing behind: nobody can connect, and what was open is cut', async () => {
    const world = await cloudWorld();
    const token = await world.token('lab-admin');
    world.cloud.fault({ match: { kind: 'zones' }, effect: { hang: true } });
    const asked = world.ask('GET', '/v1/zones', { headers: { authorization: `Bearer ${token}` } });
    const outcome = assert.rejects(asked);
    await waitsFor(world, '/v1/zones');
    await world[Symbol.asyncDispose]();
    await outcome;
    await assert.rejects(fetch(`${world.cloud.url}/v1/zones`));
  });
});

it('lab/C12: a server that fails to accept a connection says so, and goes on', async () => {
  const warnings: LogFields[] = [];
  const log: Log = { ...SILENT_LOG, warn: (fields: LogFields) => void warnings.push(fields) };
  const servers: Server[] = [];
  const listen = (server: Server) => {
    servers.push(server);
    return listenAnywhere(server);
  };
  await using world = await cloudWorld({ log, listen });
  // The first one is for whoever waited for it to listen.
  for (const _ of [1, 2]) servers[0]?.emit('error', new Error('too many open files'));
  assert.match(String(warnings.at(-1)?.['err']), /too many open files/);
  assert.equal((await world.ask('GET', '/v1/zones')).status, 200);
});
