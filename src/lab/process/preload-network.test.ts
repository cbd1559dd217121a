import assert from 'node:assert/strict';
import { createSocket, type Socket as Datagrams } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type ChildTools, dnsAnswer, inChild, unprivileged } from '../../../test/support/preload-child.ts';
import { SystemClock } from '../../base/clock.ts';
import { CertificateAuthority } from '../../pki/certificate-authority.ts';
import type { LabAddress } from '../address/address-plan.ts';
import { type StartedAddressPlan, startAddressPlan } from '../address/start-address-plan.ts';

describe('preload with an address of its own', () => {
  const records = new Map<string, readonly string[]>();
  const dns = createSocket('udp4', (query, { port, address }) =>
    dns.send(dnsAnswer(query, records), port, address),
  );
  let plan: StartedAddressPlan;
  let directory: string;
  let own: LabAddress;
  let env: Readonly<Record<string, string>>;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-preload-'));
    plan = await startAddressPlan({
      directory,
      network: 'loopback',
      host: unprivileged,
      zones: () => ['lab.internal'],
    });
    await once(dns.bind(5353, plan.dns.wire), 'listening');
    own = plan.pods.take();
    env = { ...plan.environment, SLIPWAY_POD_ADDRESS: own.wire };
  });

  after(async () => {
    dns.close();
    await plan[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });

  it('lab/X6: servers that listen anywhere on the machine listen on the own address', async () => {
    const program = async (
      { net, once }: ChildTools,
      { hosts }: { readonly hosts: readonly (string | null)[] },
    ) => {
      const seen: unknown[] = [];
      for (const host of hosts) {
        const server = net.createServer();
        server.listen({ port: 0, ...(host !== null && { host }), ipv6Only: true });
        await once(server, 'listening');
        seen.push(Reflect.get(Object(server.address()), 'address'));
      }
      return seen;
    };
    const hosts = [null, '0.0.0.0', '::', 'localhost', '127.0.0.1', '::1', own.api, own.wire];
    const seen = await inChild(program, { hosts: [...hosts, '127.0.0.9'] }, env);
    assert.deepEqual(seen, [...hosts.map(() => own.wire), '127.0.0.9']);
  });

  it('lab/X6: every form of listen works as it does elsewhere', async () => {
    const program = async ({ net, once }: ChildTools, { path }: { readonly path: string }) => {
      const forms: unknown[] = [];
      const open = async (start: (server: Server, done: () => void) => unknown) => {
        const server = net.createServer();
        await new Promise<void>((resolve, reject) => {
          server.once('error', reject);
          start(server, resolve);
        });
        const told: unknown = server.address();
        forms.push(typeof told === 'string' ? told : Reflect.get(Object(told), 'address'));
        return server;
      };
      await open((server, done) => server.listen(done));
      await open((server, done) => server.listen(0, done));
      await open((server, done) => server.listen(0, 5, done));
      await open((server, done) => server.listen('0' as unknown as number, done));
      await open((server, done) => server.listen(0, '0.0.0.0', 5, done));
      await open((server, done) => server.listen({ port: null } as unknown as { port: number }, done));
      await open((server, done) => server.listen(path, done));
      await open((server, done) => server.listen({ path: `${path}2` }, done));
      const first = await open((server, done) => server.listen(0, done));
      await open((server, done) => server.listen(first, done));
      const fd = Number(Reflect.get(Object(Reflect.get(first, '_handle')), 'fd'));
      const [used] = await once(net.createServer().listen({ fd }), 'error');
      const isAtOnce = net.createServer().listen(0).address() !== null;
      const errors = [70_000, -1, ' ', {}, { port: 'x' }].map((bad) => {
        try {
          return net.createServer().listen(bad as number);
        } catch (error) {
          return Reflect.get(Object(error), 'code');
        }
      });
      const [conflict] = await once(
        net.createServer().listen(Reflect.get(Object(first.address()), 'port')),
        'error',
      );
      return { forms, isAtOnce, errors, used: used.code, conflict: conflict.code };
    };
    const path = join(directory, 'pod.sock');
    const facts = await inChild(program, { path }, env);
    const anywhere = Array.from({ length: 6 }, () => own.wire);
    assert.deepEqual(facts.forms, [...anywhere, path, `${path}2`, own.wire, own.wire]);
    assert.ok(facts.isAtOnce, 'a server without a host is bound when listen returns');
    const [port, value] = ['ERR_SOCKET_BAD_PORT', 'ERR_INVALID_ARG_VALUE'];
    assert.deepEqual(facts.errors, [port, port, port, value, port]);
    assert.equal(facts.used, 'EEXIST', 'a file descriptor is taken as it is');
    assert.equal(facts.conflict, 'EADDRINUSE', 'lab/X5: a second server of one place fails as anywhere');
  });

  it('lab/X6: clients of every kind reach the own address from the own address', async () => {
    const program = async (tools: ChildTools, given: { api: string; key: string; cert: string; ca: string }) => {
      const { net, http, https, http2, tls, once, text } = tools;
      const { api, key, cert, ca } = given;
      const hello = (request: IncomingMessage, response: ServerResponse) =>
        response.end(request.socket.remoteAddress);
      const portOf = (server: Server) => Number(Reflect.get(Object(server.listen(0).address()), 'port'));
      const bodyOf = async (request: NodeJS.EventEmitter) => text((await once(request, 'response'))[0]);
      const raw = portOf(net.createServer((socket) => socket.end(String(socket.remoteAddress))));
      const plain = portOf(http.createServer(hello));
      const secure = portOf(https.createServer({ key, cert }, hello));
      const modern = http2.createSecureServer({ key, cert }, ({ socket }, response) =>
        response.end(String(socket.remoteAddress)),
      );
      const again = http2.createSecureServer({ key, cert }, ({ socket }, response) =>
        response.end(String(socket.remoteAddress)),
      );
      const h2c = http2.createServer(({ socket }, response) => response.end(String(socket.remoteAddress)));
      const said: Record<string, unknown> = {};
      for (const host of ['localhost', '127.0.0.1', '0.0.0.0', '::1', '::', '', api, `::ffff:${api}`])
        said[`net ${host}`] = await text(net.connect({ port: raw, host }));
      said['net port'] = await text(net.connect(raw));
      said['net text'] = await text(Reflect.apply(net.connect, net, [String(raw), 'localhost']));
      said['net socket'] = await text(new net.Socket().connect(raw, 'localhost', () => undefined));
      said['net bound'] = await text(net.connect({ port: raw, host: 'localhost', localAddress: '127.0.0.1' }));
      said['http'] = await bodyOf(http.get(`http://localhost:${plain}`));
      said['http agent'] = await bodyOf(
        http.get({ port: plain, path: '/x', agent: new http.Agent({ keepAlive: true }) }),
      );
      said['fetch'] = await (await fetch(`http://127.0.0.1:${plain}`)).text();
      said['https'] = await bodyOf(https.get({ host: api, port: secure, ca }));
      const secured = tls.connect({ host: 'localhost', port: secure, ca });
      await once(secured, 'secureConnect');
      said['tls'] = secured.localAddress;
      const session = http2.connect(`https://localhost:${portOf(modern)}`, { ca });
      said['http2'] = await text(session.request({ ':path': '/' }));
      said['http2 plain'] = await text(http2.connect(`http://localhost:${portOf(h2c)}`).request({ ':path': '/' }));
      said['net name'] = await text(net.connect(raw, 'self.lab.internal'));
      said['https name'] = await bodyOf(https.get({ host: 'self.lab.internal', port: secure, ca }));
      const named = http2.connect(`https://self.lab.internal:${portOf(again)}`, { ca });
      said['http2 name'] = await text(named.request({ ':path': '/' }));
      return said;
    };
    const validity = { now: new SystemClock().now(), validityMs: 3_600_000 };
    const authority = await CertificateAuthority.create({ commonName: 'test', ...validity });
    records.set('self.lab.internal', [own.api]);
    const names = { dnsNames: ['localhost', 'self.lab.internal'], ipAddresses: [own.api] };
    const { keys, certificatePem: cert } = await authority.issue({
      kind: 'serving',
      commonName: 'test',
      ...names,
      ...validity,
    });
    const given = { api: own.api, key: keys.privateKeyPem, cert, ca: authority.certificatePem };
    const said = await inChild(program, given, env);
    assert.deepEqual(said, Object.fromEntries(Object.keys(said).map((how) => [how, own.wire])));
    assert.equal(Object.keys(said).length, 22);
  });

  it('lab/X6: clients reach the lab and the metadata service from the own address, and others as ever', async () => {
    const program = async (
      { net, http, once, text }: ChildTools,
      given: { other: string; port: number; path: string },
    ) => {
      const { other, port, path } = given;
      return {
        http: await text((await once(http.get(`http://${other}:9000`), 'response'))[0]),
        fetch: await (await fetch(`http://${other}:9000`)).text(),
        metadata: await (await fetch('http://169.254.169.254/v1/instance')).text(),
        outside: await text(net.connect(port, '127.0.0.9')),
        path: await text(net.connect(path)),
        pathOption: await text(net.connect({ path })),
        nobody: await text(net.connect(9001, other)).catch((error) => error.code),
        bad: await (async () => text(net.connect(70_000, other)))().catch((error) => error.code),
      };
    };
    const echo = () => createHttpServer((request, response) => response.end(request.socket.remoteAddress));
    const teller = () => createServer((socket) => socket.end(`seen ${socket.remoteAddress}`));
    await using other = echo();
    await using metadata = echo();
    await using outside = teller();
    await using unix = teller();
    await plan.listen(other, { host: plan.node(1, 2).api, port: 9000 });
    await plan.listen(metadata, { host: plan.metadata.api, port: 80 });
    await once(outside.listen(0, '127.0.0.9'), 'listening');
    const path = join(directory, 'lab.sock');
    await once(unix.listen(path), 'listening');
    const port = Number(Reflect.get(Object(outside.address()), 'port'));
    const { outside: seen, ...said } = await inChild(program, { other: plan.node(1, 2).api, port, path }, env);
    assert.deepEqual(said, {
      http: own.wire,
      fetch: own.wire,
      metadata: own.wire,
      path: 'seen undefined',
      pathOption: 'seen undefined',
      nobody: 'ECONNREFUSED',
      bad: 'ERR_SOCKET_BAD_PORT',
    });
    assert.match(seen, /^seen 127\.0\.0\.\d$/);
  });

  it('lab/X7: ports below 1024 are mapped for servers and clients, and the program does not see it', async () => {
    const program = async ({ net, dgram, once, text }: ChildTools, { api }: { readonly api: string }) => {
      const server = net.createServer((socket) => socket.end(`local port ${socket.localPort}`)).listen(443);
      const told = server.address();
      const said = [
        await text(net.connect(443)),
        await text(net.connect(443, api)),
        await text(net.connect(20_443, api)),
      ];
      const udp = dgram.createSocket('udp4').bind(53);
      await once(udp, 'listening');
      dgram.createSocket('udp4').send('hello', 53, api);
      const [bytes] = await once(udp, 'message');
      server.close();
      await once(server, 'close');
      const later = server.listen(8443).address();
      return { told, later, said, udp: udp.address(), heard: String(bytes) };
    };
    const place = { address: own.wire, family: 'IPv4' };
    assert.deepEqual(await inChild(program, { api: own.api }, env), {
      told: { ...place, port: 443 },
      later: { ...place, port: 8443 },
      said: ['local port 20443', 'local port 20443', 'local port 20443'],
      udp: { ...place, port: 53 },
      heard: 'hello',
    });
  });

  it('lab/X6: datagrams go out from the own address and reach it in every form of send', async () => {
    const program = async ({ dgram, once }: ChildTools, { api }: { readonly api: string }) => {
      const heard: string[] = [];
      const server = dgram.createSocket('udp4');
      server.bind({ port: 0, address: '0.0.0.0', exclusive: true });
      await once(server, 'listening');
      const { port } = server.address();
      const next = async (send: (socket: Datagrams) => unknown) => {
        const message = once(server, 'message');
        send(dgram.createSocket('udp4'));
        const [bytes, { address }] = await message;
        heard.push(`${bytes} from ${address}`);
      };
      await next((socket) => socket.send('a', port));
      await next((socket) => socket.send('b', port, 'localhost'));
      await next((socket) => socket.send('c', port, () => undefined));
      await next((socket) => socket.send(Buffer.from('xdx'), 1, 1, port, api));
      await next((socket) => socket.send(Buffer.from('xex'), 1, 1, port, '127.0.0.1', () => undefined));
      await next((socket) => socket.connect(port, () => socket.send('f')));
      await next((socket) => socket.connect(port, api, () => socket.send(Buffer.from('xgx'), 1, 1)));
      await next((socket) => socket.bind(0, () => socket.send(['h'], port, 'localhost')));
      await next((socket) => socket.send('i', port, 'udp.lab.internal'));
      await next((socket) => socket.connect(port, 'udp.lab.internal', () => socket.send('j')));
      return heard;
    };
    records.set('udp.lab.internal', [own.api]);
    const heard = await inChild(program, { api: own.api }, env);
    assert.deepEqual(
      heard,
      ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((letter) => `${letter} from ${own.wire}`),
    );
  });

  it('lab/X6: datagrams are answered, go to others as ever, and tell when a name is unknown', async () => {
    const program = async ({ dgram, once }: ChildTools, { outside }: { readonly outside: number }) => {
      const server = dgram.createSocket('udp4', (_, { port, address }) => server.send('pong', port, address));
      await once(server.bind(0), 'listening');
      const client = dgram.createSocket('udp4');
      client.send('ping', server.address().port, 'localhost');
      const [pong] = await once(client, 'message');
      const six = dgram.createSocket('udp6').bind(0);
      await once(six, 'listening');
      six.send('six', six.address().port, '::1');
      const [bytes, { address: from }] = await once(six, 'message');
      const stranger = dgram.createSocket('udp4');
      stranger.send('stranger', outside, '127.0.0.9');
      await once(stranger, 'message');
      const codeOf = (error: unknown) => Reflect.get(Object(error), 'code');
      const told = new Promise((resolve) =>
        dgram.createSocket('udp4').send(['x'], 1, 'nobody.lab.internal', (error) => resolve(codeOf(error))),
      );
      const loud = dgram.createSocket('udp4');
      loud.send('x', 1, 'nobody.lab.internal');
      const [error] = await once(loud, 'error');
      const bound = stranger.address().address;
      return { pong: String(pong), six: `${bytes} from ${from}`, bound, told: await told, emitted: codeOf(error) };
    };
    await using outside = createSocket('udp4', (_, { port, address }) => outside.send('seen', port, address));
    await once(outside.bind(0, '127.0.0.9'), 'listening');
    assert.deepEqual(await inChild(program, { outside: outside.address().port }, env), {
      pong: 'pong',
      six: `six from ::ffff:${own.wire}`,
      bound: '0.0.0.0',
      told: 'ENOTFOUND',
      emitted: 'ENOTFOUND',
    });
  });

  it('lab/X6: names of services and of lab zones are asked of the lab', async () => {
    const program = async ({ dns, promisify }: ChildTools) => {
      const { lookup } = await import('node:dns/promises');
      const codeOf = (asked: Promise<unknown>) => asked.then(String, (error) => `${error.code} ${error.message}`);
      const byCallback = (name: string, options: object) =>
        new Promise((resolve) => dns.lookup(name, options, (error, ...found) => resolve(error?.code ?? found)));
      return {
        callback: await byCallback('web.default.svc', {}),
        all: await byCallback('two.lab.internal', { all: true }),
        six: await byCallback('web.default.svc', { family: 6 }),
        promise: await lookup('web.default.svc', 4),
        promiseAll: await dns.promises.lookup('two.lab.internal', { all: true }),
        promisified: await promisify(dns.lookup)('web.default.svc'),
        unknown: await codeOf(lookup('nobody.default.svc')),
        outside: (await lookup('localhost', 4)).address,
      };
    };
    const service = own.api.replace(/\.\d+\.\d+$/, '.96.5');
    records.set('web.default.svc.cluster.local', [service]);
    records.set('two.lab.internal', [service, own.api]);
    const both = [service, own.api].map((address) => ({ address, family: 4 }));
    assert.deepEqual(await inChild(program, undefined, env), {
      callback: [service, 4],
      all: [both],
      six: 'ENOTFOUND',
      promise: both[0],
      promiseAll: both,
      promisified: both[0],
      unknown: 'ENOTFOUND getaddrinfo ENOTFOUND nobody.default.svc',
      outside: '127.0.0.1',
    });
  });

  it('lab/X6: connections by such names lose nothing that was written before', async () => {
    const program = async ({ net, http, once, text }: ChildTools) => {
      const socket = net.connect(80, 'echo.default.svc');
      const looked = once(socket, 'lookup');
      const early = { connecting: socket.connecting, pending: socket.pending };
      socket.write('early');
      const ended = net.connect(80, 'echo.default.svc');
      ended.destroy();
      const unknown = net.connect(80, 'nobody.default.svc');
      const [error] = await once(unknown, 'error');
      return {
        early,
        echo: await text(socket.end()),
        looked: (await looked).slice(1),
        http: await text((await once(http.get('http://echo.default.svc.cluster.local:8081'), 'response'))[0]),
        fetch: await (await fetch('http://Echo.Default.svc.:8081')).text(),
        unknown: [error.code, unknown.destroyed],
        ended: ended.destroyed,
      };
    };
    const service = own.api.replace(/\.\d+\.\d+$/, '.96.6');
    records.set('echo.default.svc.cluster.local', [service]);
    await using echo = createServer((socket) => socket.on('error', () => undefined).pipe(socket));
    await using web = createHttpServer((request, response) => response.end(request.socket.remoteAddress));
    await plan.listen(echo, { host: service, port: 80 });
    await plan.listen(web, { host: service, port: 8081 });
    assert.deepEqual(await inChild(program, undefined, env), {
      early: { connecting: true, pending: true },
      echo: 'early',
      looked: [service, 4, 'echo.default.svc'],
      http: own.wire,
      fetch: own.wire,
      unknown: ['ENOTFOUND', true],
      ended: true,
    });
  });
});
