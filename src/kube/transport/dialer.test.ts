import assert from 'node:assert/strict';
import { createServer as createHttp } from 'node:http';
import { connect as connectTcp, createServer as createTcp, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import {
  type AccessChange,
  bothServer,
  connectTo,
  eventually,
  FakeCredentials,
  failureOf,
  http1Server,
  listening,
  plainServer,
  testAuthority,
  textOf,
} from '../../../test/support/transport-world.ts';
import { CertificateAuthority } from '../../pki/certificate-authority.ts';
import { NetworkError } from '../client/api-error.ts';

const get = { method: 'GET', target: '/' };
const hello = (_request: unknown, response: { end(text: string): void }): void => response.end('hello');
const NAMES = { commonName: 'old.test', dnsNames: ['api.test'], ipAddresses: ['127.0.0.1'] };

async function failureTo(url: string, access: AccessChange = {}): Promise<NetworkError> {
  await using connection = await connectTo(url, access);
  const failures = await Promise.all(
    [get, { ...get, isStream: true }].map((request) => failureOf(connection.transport(request))),
  );
  const [first, second] = failures;
  assert.ok(first instanceof NetworkError && second instanceof NetworkError, first?.message);
  assert.deepEqual([first.message, first.mayHaveHappened], [second.message, second.mayHaveHappened]);
  return first;
}

const hourAgo = (validityMs: number) => ({ now: new Date(Date.now() - 7_200_000), validityMs });

describe('failures to connect', () => {
  it('reliability/T2: an expired certificate is named with its host, common name and date', async () => {
    const authority = await testAuthority();
    const expired = await authority.issue({ kind: 'serving', ...NAMES, ...hourAgo(3_600_000) });
    await using server = await http1Server(hello, expired);
    const { message, mayHaveHappened } = await failureTo(server.url);
    assert.match(
      message,
      /^the certificate of 127.0.0.1:\d+ \(CN=old.test\) expired \d{4}-\d\d-\d\dT[\d:.]+Z; renew it/,
    );
    assert.equal(mayHaveHappened, false);
  });

  it('reliability/T2: a certificate of another authority, or without any trust in it, is named', async () => {
    const other = await CertificateAuthority.create({ commonName: 'other', now: new Date(), validityMs: 60_000 });
    await using server = await bothServer(hello);
    const { message } = await failureTo(server.url, { ca: () => Promise.resolve(other.certificatePem) });
    assert.match(
      message,
      /^the certificate of 127.0.0.1:\d+ \(CN=api.test\) is signed by an authority .* not trusted/,
    );
  });

  it('reliability/T2: a certificate for another name is named, with the names that it has', async () => {
    await using server = await bothServer(hello);
    const { message } = await failureTo(server.url, { tlsServerName: 'elsewhere.test' });
    assert.match(
      message,
      /^the certificate of 127.0.0.1:\d+ \(CN=api.test\) is for another name \(.*elsewhere.test.*DNS:localhost/,
    );
  });

  it('runtime/C2: tls-server-name is the name that counts, and any certificate is taken when told so', async () => {
    await using server = await bothServer(hello);
    await using named = await connectTo(server.url, { tlsServerName: 'localhost' });
    assert.equal(await textOf(await named.transport(get)), 'hello');
    await using careless = await connectTo(server.url, {
      insecureSkipTlsVerify: true,
      tlsServerName: 'elsewhere',
    });
    assert.equal(await textOf(await careless.transport(get)), 'hello');
  });

  it('reliability/T2: a refused connection and a server without TLS are told apart', async () => {
    const gone = await plainServer(hello);
    await gone[Symbol.asyncDispose]();
    assert.match(
      (await failureTo(gone.url)).message,
      /^connection to 127.0.0.1:\d+ was refused; is the API server/,
    );
    await using plain = await plainServer(hello);
    const { message } = await failureTo(plain.url.replace('http:', 'https:'));
    assert.match(message, /does not speak TLS/);
  });

  it('reliability/T2: reconnects to a server that is back on the same port', async () => {
    await using first = await bothServer(hello);
    await using connection = await connectTo(first.url);
    await textOf(await connection.transport(get));
    for (const socket of first.sockets) socket.destroy();
    await failureOf(connection.transport(get)).catch(() => {});
    assert.equal(await textOf(await connection.transport(get)), 'hello');
  });
});

/** An HTTP proxy that notes who asks for what. */
async function httpProxy(status = 200) {
  const asked: unknown[] = [];
  const server = createHttp();
  server.on('connect', (request, near: Socket) => {
    asked.push([request.url, request.headers['proxy-authorization']]);
    if (status !== 200) return void near.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    near.write('HTTP/1.1 200 OK\r\n\r\n');
    joined(near, Number(request.url?.split(':').at(-1)));
  });
  return { ...(await listening(server, 'http')), asked };
}

function joined(near: Socket, port: number): void {
  const far = connectTcp(port, '127.0.0.1');
  near.pipe(far).pipe(near);
  for (const socket of [near, far]) socket.on('error', () => near.destroy());
  near.on('close', () => far.destroy());
}

/** SOCKS5 with or without a password, byte by byte as slow networks deliver it. */
async function socksProxy({ method = 0, reply = 0 } = {}) {
  const heard: Buffer[] = [];
  const steps = (near: Socket, port: number): readonly [number, (bytes: Buffer) => void][] => [
    [4, () => near.write(Buffer.from([5, method]))],
    ...(method === 2 ? ([[10, () => near.write(Buffer.from([1, 0]))]] as [number, () => void][]) : []),
    [
      10,
      () => {
        for (const byte of [5, reply, 0, 1, 0, 0, 0, 0, 0, 0]) near.write(Buffer.from([byte]));
        if (reply === 0) joined(near, port);
      },
    ],
  ];
  const server = createTcp((near) => {
    let at = 0;
    near.on('error', () => {});
    near.on('data', function step(bytes: Buffer) {
      heard.push(bytes);
      const all = steps(near, bytes.length >= 2 ? bytes.readUInt16BE(bytes.length - 2) : 0);
      if (at === all.length - 1) near.off('data', step);
      all[at++]?.[1](bytes);
    });
  });
  return { ...(await listening(server, 'socks5')), heard };
}

describe('proxies', () => {
  it('runtime/C2: requests and streams go through an HTTP proxy, with user and password', async () => {
    await using server = await bothServer(hello);
    await using proxy = await httpProxy();
    const proxyUrl = new URL(`http://me:p%40ss@127.0.0.1:${proxy.port}`);
    await using connection = await connectTo(server.url, { proxyUrl });
    assert.equal(await textOf(await connection.transport(get)), 'hello');
    assert.equal(await textOf(await connection.transport({ ...get, isStream: true })), 'hello');
    const line = [`127.0.0.1:${server.port}`, `Basic ${Buffer.from('me:p@ss').toString('base64')}`];
    assert.deepEqual(proxy.asked, [line, line]);
  });

  it('runtime/C2: a plain server is reached through a proxy too', async () => {
    await using server = await plainServer(hello);
    await using proxy = await httpProxy();
    await using connection = await connectTo(server.url, { proxyUrl: new URL(proxy.url) });
    assert.equal(await textOf(await connection.transport(get)), 'hello');
  });

  it('a proxy that refuses, wants a password or is not there is named, and nothing happened', async () => {
    await using proxy = await httpProxy(407);
    const refused = await failureTo('https://127.0.0.1:1', { proxyUrl: new URL(proxy.url) });
    assert.match(
      refused.message,
      /^proxy 127.0.0.1:\d+ did not open a way to 127.0.0.1:1: 407 No; check user and pass/,
    );
    assert.equal(refused.mayHaveHappened, false);
    const gone = await httpProxy();
    await gone[Symbol.asyncDispose]();
    const missing = await failureTo('https://127.0.0.1:1', { proxyUrl: new URL(gone.url) });
    assert.match(missing.message, /^connection to proxy 127.0.0.1:\d+ was refused/);
  });

  it('a password with a bare percent sign is sent as it is, and no socket is left open', async () => {
    await using proxy = await httpProxy(407);
    const proxyUrl = new URL(`http://me:100%@127.0.0.1:${proxy.port}`);
    const { message } = await failureTo('https://127.0.0.1:1', { proxyUrl });
    assert.match(message, /did not open a way/);
    assert.deepEqual(proxy.asked[0], ['127.0.0.1:1', `Basic ${Buffer.from('me:100%').toString('base64')}`]);
    await eventually(() => proxy.sockets.size === 0);
  });

  it('an https proxy is asked over TLS, and its certificate is checked', async () => {
    await using proxy = await http1Server(hello);
    const { message } = await failureTo('https://127.0.0.1:1', { proxyUrl: new URL(proxy.url) });
    assert.match(message, /^the certificate of proxy 127.0.0.1:\d+ \(CN=api.test\) is signed by an authority/);
  });

  for (const [name, user, method] of [
    ['without a password', '', 0],
    ['with a password', 'me:p%40ss@', 2],
  ] as const) {
    it(`runtime/C2: requests go through a SOCKS5 proxy ${name}`, async () => {
      await using server = await bothServer(hello);
      await using proxy = await socksProxy({ method });
      const proxyUrl = new URL(`socks5://${user}127.0.0.1:${proxy.port}`);
      await using connection = await connectTo(server.url, { proxyUrl });
      assert.equal(await textOf(await connection.transport(get)), 'hello');
      const ports = [server.port >> 8, server.port & 0xff];
      assert.deepEqual(proxy.heard.at(-1)?.subarray(0, 10).toJSON().data, [5, 1, 0, 1, 127, 0, 0, 1, ...ports]);
      if (method === 2) assert.deepEqual(proxy.heard[1]?.toString('latin1'), '\x01\x02me\x04p@ss');
    });
  }

  for (const [target, address] of [
    ['https://api.test:258', [3, 8, ...Buffer.from('api.test')]],
    ['https://[fd00::1:2]:258', [4, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2]],
  ] as const) {
    it(`a SOCKS5 proxy is told ${target} as it is, and what it says is passed on`, async () => {
      await using proxy = await socksProxy({ reply: 4 });
      const { message } = await failureTo(target, { proxyUrl: new URL(proxy.url) });
      assert.match(message, /^proxy .* did not open a way to .*258: the host cannot be reached$/);
      assert.deepEqual(proxy.heard.at(-1)?.toJSON().data, [5, 1, 0, ...address, 1, 2]);
    });
  }

  it('a SOCKS5 proxy that wants what we do not have, speaks something else or ends is named', async () => {
    await using proxy = await socksProxy({ method: 0xff });
    assert.match(
      (await failureTo('https://a.test', { proxyUrl: new URL(proxy.url) })).message,
      /another authentication/,
    );
    for (const [sent, said] of [
      ['HTTP/1.1 400', /does not speak SOCKS5/],
      ['', /closed the connection/],
    ] as const) {
      await using other = await listening(
        createTcp((near) => near.on('error', () => {}).end(sent)),
        'socks5',
      );
      const { message } = await failureTo('https://a.test', { proxyUrl: new URL(other.url) });
      assert.match(message, said);
      assert.match(message, /proxy 127.0.0.1/);
    }
  });

  it('runtime/C4: a client certificate that cannot be had is what the request fails with', async () => {
    await using server = await bothServer(hello);
    const credentials = new FakeCredentials();
    credentials.clientCertificate = () =>
      Promise.reject(new NetworkError('no plugin', { mayHaveHappened: false }));
    assert.equal((await failureTo(server.url, { credentials })).message, 'no plugin');
  });
});
