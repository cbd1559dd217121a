import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type ChildTools, inChild } from '../../../test/support/preload-child.ts';
import { type StartedAddressPlan, startAddressPlan } from '../address/start-address-plan.ts';

/** Listens on the port of this machine, unless it fails as allowed. */
const listeningOr = (server: Server, port: number, allowed: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error) => (Reflect.get(error, 'code') === allowed ? resolve() : reject(error)));
    server.listen(port, '127.0.0.1', () => resolve());
  });

describe('preload where all addresses are one', () => {
  let plan: StartedAddressPlan;
  let directory: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-preload-'));
    plan = await startAddressPlan({ directory, network: 'ports' });
  });

  after(async () => {
    await plan[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });

  const environment = (address: string) => ({ ...plan.environment, SLIPWAY_POD_ADDRESS: address });

  it('lab/X10: servers and clients meet at their places, and the program sees the ports it asked for', async () => {
    const program = async ({ net, dgram, once, text }: ChildTools, { api }: { readonly api: string }) => {
      const server = net.createServer((socket) => socket.end('pod')).listen(80);
      const any = net.createServer((socket) => socket.end('any')).listen(0);
      const port = Number(Reflect.get(Object(any.address()), 'port'));
      await once(any, 'listening');
      const udp = dgram.createSocket('udp4', (_, from) => udp.send('pong', from.port, from.address));
      await once(udp.bind(53), 'listening');
      const client = dgram.createSocket('udp4');
      client.send('ping', 53, api);
      const [pong] = await once(client, 'message');
      return {
        told: server.address(),
        self: [await text(net.connect(80)), await text(net.connect(80, api))],
        any: [await text(net.connect(port)), await text(net.connect(port, api))],
        pong: String(pong),
        udp: udp.address().port,
      };
    };
    const { api } = plan.pods.take();
    assert.deepEqual(await inChild(program, { api }, environment(api)), {
      told: { address: '127.0.0.1', family: 'IPv4', port: 80 },
      self: ['pod', 'pod'],
      any: ['any', 'any'],
      pong: 'pong',
      udp: 53,
    });
  });

  it('lab/X10: children reach what the lab serves, and nothing else of this machine', async () => {
    type Given = {
      readonly lab: string;
      readonly actual: number;
      readonly stranger: number;
      readonly nobody: string;
    };
    const program = async ({ net, text }: ChildTools, { lab, actual, stranger, nobody }: Given) => {
      const said = (port: number, host: string) => text(net.connect(port, host)).catch((error) => error.code);
      return {
        lab: await said(443, lab),
        actual: await said(actual, '127.0.0.1'),
        stranger: await said(stranger, '127.0.0.1'),
        nobody: await said(80, nobody),
      };
    };
    await using server = createServer((socket) => socket.end('lab'));
    await using stranger = createServer((socket) => socket.end('stranger'));
    const place = { host: plan.hub.api, port: 443 };
    await plan.listen(server, place);
    await once(stranger.listen(0, '127.0.0.1'), 'listening');
    const given = {
      lab: place.host,
      actual: plan.target(place).port,
      stranger: Number(Reflect.get(Object(stranger.address()), 'port')),
      nobody: plan.pods.take().api,
    };
    assert.deepEqual(await inChild(program, given, environment(plan.pods.take().api)), {
      lab: 'lab',
      actual: 'lab',
      stranger: 'ECONNREFUSED',
      nobody: 'ECONNREFUSED',
    });
  });

  it('lab/X5: a place keeps its port, so that a second server there fails', async () => {
    const program = async ({ net, once }: ChildTools) => {
      net.createServer().listen(80);
      const [error] = await once(net.createServer().listen(80), 'error');
      return error.code;
    };
    const { api: host } = plan.pods.take();
    assert.equal(await inChild(program, undefined, environment(host)), 'EADDRINUSE');
    const kept = plan.target({ host, port: 80 });
    await assert.rejects(once(connect(kept), 'connect'), { code: 'ECONNREFUSED' });
    await using next = createServer();
    await plan.listen(next, { host, port: 80 });
    assert.deepEqual(plan.target({ host, port: 80 }), kept);
    assert.equal(Reflect.get(Object(next.address()), 'port'), kept.port);
  });

  it('lab/X10: no place gets a port that another one has, or that somebody else listens on', async () => {
    const program = async ({ net, fs }: ChildTools, { table }: { readonly table: string }) => {
      // The numbers of the ports are 20000 + 12000 times these.
      const numbers = [0, 0, 0.25, 0.25, 0.5];
      Math.random = () => numbers.shift() ?? 0.75;
      fs.appendFileSync(table, 'elsewhere\t80\t23000\n');
      net.createServer().listen(80);
      return null;
    };
    const { api: host } = plan.pods.take();
    await using busy = createServer();
    // Somebody else may be there already, which is as good.
    await listeningOr(busy, 20_000, 'EADDRINUSE');
    await inChild(program, { table: join(directory, 'ports.tsv') }, environment(host));
    const { port } = plan.target({ host, port: 80 });
    assert.ok(port > 23_000, `${port} is another one's`);
  });

  it('lab/X10: pods that start together get different ports', async () => {
    const program = async ({ net }: ChildTools) =>
      [8001, 8002, 8003].map((port) => Reflect.get(Object(net.createServer().listen(port).address()), 'port'));
    const pods = Array.from({ length: 3 }, () => plan.pods.take().api);
    const told = await Promise.all(pods.map((api) => inChild(program, undefined, environment(api))));
    assert.deepEqual(
      told,
      pods.map(() => [8001, 8002, 8003]),
    );
    const ports = pods.flatMap((host) => [8001, 8002, 8003].map((port) => plan.target({ host, port }).port));
    assert.equal(new Set(ports).size, 9);
    assert.ok(!ports.includes(1));
  });
});
