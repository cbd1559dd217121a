import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Endpoint } from './address-plan.ts';
import { type NetworkHost, thisHost } from './network-host.ts';
import { type AddressPlanOptions, startAddressPlan } from './start-address-plan.ts';

/** A plan in a directory of its own; both are gone at the end. */
async function started(options: Omit<AddressPlanOptions, 'directory'> = {}) {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'slipway-address-'));
  stack.defer(() => rm(directory, { recursive: true }));
  const plan = stack.use(await startAddressPlan({ directory, ...options }));
  const kept = stack.move();
  return { plan, directory, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/** A server that tells who connects. */
const greeter = (): Server & AsyncDisposable =>
  createServer((socket) => socket.on('error', () => undefined).end(`hello ${socket.remoteAddress}`));

async function answerOf(at: Endpoint): Promise<string> {
  const socket = connect({ ...at, timeout: 2000 });
  const texts: string[] = [];
  socket.on('data', (bytes) => texts.push(bytes.toString()));
  await once(socket, 'close');
  return texts.join('');
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** This machine, if it had no right to ports below 1024. */
const unprivileged: NetworkHost = {
  ...thisHost,
  bindError: async (at) => (at.port > 0 && at.port < 1024 ? 'EACCES' : thisHost.bindError(at)),
};

describe('address plan', () => {
  it('lab/X1: has the places of the plan', async () => {
    await using made = await started({ network: 'loopback' });
    const { plan } = made;
    const L = plan.octet;
    assert.ok(L >= 16 && L <= 250);
    const { hub, cloud, registry, dns, metadata } = plan;
    assert.deepEqual(
      [hub, cloud, registry, dns, metadata].map(({ api }) => api),
      [1, 2, 3, 53, 169].map((last) => `10.${L}.0.${last}`),
    );
    assert.equal(plan.clusterApi(2).wire, `127.${L}.2.254`);
    assert.equal(plan.pods.take().api, `10.${L}.32.1`);
    assert.equal(plan.balancers.take().wire, `127.${L}.128.1`);
    assert.equal(plan.metalVips.take().wire, `127.${L}.160.1`);
    assert.equal(plan.serviceRange, `10.${L}.96.0/19`);
    plan.pods.keep(`10.${L}.95.254`);
  });

  it('lab/X2: what the API calls a node can be dialled by its wire address', async () => {
    await using made = await started({ network: 'loopback' });
    const { plan } = made;
    await using server = greeter();
    const node = plan.node(1, 2);
    await plan.listen(server, { host: node.api, port: 0 });
    assert.match(await answerOf({ host: node.wire, port: portOf(server) }), /^hello 127\./);
    assert.deepEqual(plan.target({ host: node.api, port: 8080 }), { host: node.wire, port: 8080 });
  });

  it('lab/X3: two labs on one machine have different octets', async () => {
    const clock = { random: () => 0.25 };
    await using one = await started({ network: 'loopback', clock });
    await using two = await started({ network: 'loopback', clock });
    assert.notEqual(one.plan.octet, two.plan.octet);
  });

  it('takes the octet it had before', async () => {
    const before = await started({ network: 'loopback' });
    const { octet } = before.plan;
    await before[Symbol.asyncDispose]();
    await using after = await started({ network: 'loopback', preferredOctet: octet, clock: { random: () => 0 } });
    assert.equal(after.plan.octet, octet);
  });

  it('lab/X3: takes the octet that somebody asks for, or none', async () => {
    const before = await started({ network: 'loopback' });
    const { octet } = before.plan;
    await assert.rejects(started({ network: 'loopback', octet }), { reason: 'NetworksInUse' });
    await before[Symbol.asyncDispose]();
    await using after = await started({ network: 'loopback', octet, preferredOctet: octet + 1 });
    assert.equal(after.plan.octet, octet);
  });

  for (const network of ['loopback', 'ports'] as const) {
    it(`lab/X4: pods on one node listen on the same port, each at its address (mode ${network})`, async () => {
      await using made = await started({ network });
      const { plan } = made;
      await using first = greeter();
      await using second = greeter();
      await using hostNetwork = greeter();
      const places = [plan.pods.take(), plan.pods.take(), plan.node(1, 1)].map(({ api }) => ({
        host: api,
        port: 8080,
      }));
      for (const [index, server] of [first, second, hostNetwork].entries())
        await plan.listen(server, places[index] ?? assert.fail());
      for (const place of places) assert.match(await answerOf(plan.target(place)), /^hello/);
    });

    it(`lab/X5: a second listener of one place gets EADDRINUSE (mode ${network})`, async () => {
      await using made = await started({ network });
      const { plan } = made;
      await using first = greeter();
      await using second = greeter();
      const place = { host: plan.pods.take().api, port: 8080 };
      await plan.listen(first, place);
      await assert.rejects(plan.listen(second, place), { code: 'EADDRINUSE' });
      first.close();
      await once(first, 'close');
      await plan.listen(second, place);
      assert.match(await answerOf(plan.target(place)), /^hello/);
    });

    it(`refuses connections where nobody listens (mode ${network})`, async () => {
      await using made = await started({ network });
      const target = made.plan.target({ host: made.plan.pods.take().api, port: 8080 });
      await assert.rejects(answerOf(target), { code: 'ECONNREFUSED' });
    });
  }

  it('lab/X7: ports below 1024 are found at 20000 + port where they cannot be bound', async () => {
    await using made = await started({ network: 'loopback', host: unprivileged });
    const { plan } = made;
    await using server = greeter();
    const place = { host: plan.balancers.take().wire, port: 443 };
    await plan.listen(server, place);
    assert.equal(portOf(server), 20_443);
    assert.deepEqual(plan.target(place), { host: place.host, port: 20_443 });
    assert.deepEqual(plan.target({ host: 'example.com', port: 443 }), { host: 'example.com', port: 443 });
    assert.equal(plan.target({ ...place, port: 1024 }).port, 1024);
    assert.match(plan.summary, /ports below 1024 cannot be bound here/);
  });

  it('lab/X7: tries once whether they can be bound, and leaves them alone if so, even if that one is taken', async () => {
    const tried: number[] = [];
    const bindError = async ({ port }: Endpoint) => {
      tried.push(port);
      return port > 0 ? 'EADDRINUSE' : undefined;
    };
    await using made = await started({ network: 'loopback', host: { ...thisHost, bindError } });
    assert.equal(made.plan.target({ host: made.plan.hub.api, port: 443 }).port, 443);
    assert.equal(tried.filter((port) => port > 0).length, 1);
  });

  it('tells servers of others that it has no place for them', async () => {
    await using made = await started();
    await using server = greeter();
    await assert.rejects(
      made.plan.listen(server, { host: '127.0.0.1', port: 0 }),
      /127\.0\.0\.1 is not an address of this lab/,
    );
  });

  it('lab/X10: takes mode ports where only 127.0.0.1 can be bound', async () => {
    const host: NetworkHost = {
      ...thisHost,
      bindError: async (at) => (at.host === '127.0.0.1' ? thisHost.bindError(at) : 'EADDRNOTAVAIL'),
    };
    await using made = await started({ host });
    const { plan } = made;
    assert.equal(plan.mode, 'ports');
    assert.deepEqual(plan.hub, { api: `10.${plan.octet}.0.1`, wire: '127.0.0.1' });
    await using server = greeter();
    const place = { host: plan.hub.api, port: 443 };
    await plan.listen(server, place);
    assert.deepEqual(plan.target(place), { host: '127.0.0.1', port: portOf(server) });
    assert.match(await answerOf(plan.target(place)), /^hello/);
    assert.equal(plan.target({ ...place, port: 444 }).port, 1);
    assert.equal(
      await readFile(join(made.directory, 'ports.tsv'), 'utf8'),
      `${place.host}\t443\t${portOf(server)}\n`,
    );
  });

  it('lab/X10: a port that the kernel chose is found by its number', async () => {
    await using made = await started({ network: 'ports' });
    const { plan } = made;
    await using server = greeter();
    await plan.listen(server, { host: plan.cloud.api, port: 0 });
    const port = portOf(server);
    assert.deepEqual(plan.target({ host: plan.cloud.api, port }), { host: '127.0.0.1', port });
  });

  it('lab/X10: of two claims the first line counts, by place and by port; half a line does not', async () => {
    await using made = await started({ network: 'ports' });
    const { plan } = made;
    const [a, b, c] = [plan.pods.take().api, plan.pods.take().api, plan.pods.take().api];
    const lines = [`${a}\t80\t20001`, `${a}\t80\t20002`, `${b}\t80\t20001`, `${b}\t80\t20003`, `${c}\t80\t2000`];
    await appendFile(join(made.directory, 'ports.tsv'), lines.join('\n'));
    assert.deepEqual(
      [a, b, c].map((host) => plan.target({ host, port: 80 }).port),
      [20_001, 20_003, 1],
    );
  });

  it('lab/X9: mode anyip routes the addresses to this machine, and no longer at the end', async () => {
    const calls: string[] = [];
    const host: NetworkHost = { ...thisHost, ip: async (args) => void calls.push(args.join(' ')) };
    const made = await started({ network: 'anyip', host });
    const L = made.plan.octet;
    assert.deepEqual(made.plan.hub, { api: `10.${L}.0.1`, wire: `10.${L}.0.1` });
    await made[Symbol.asyncDispose]();
    assert.deepEqual(calls, [
      `route replace local 10.${L}.0.0/16 dev lo`,
      `route del local 10.${L}.0.0/16 dev lo`,
    ]);
  });

  it('lab/X9: mode anyip without the right says so, and leaves no lock', async () => {
    const host: NetworkHost = {
      ...thisHost,
      ip: async () =>
        Promise.reject(new Error('Command failed: ip route\nRTNETLINK answers: Operation not permitted\n')),
    };
    const before = await started({ network: 'loopback' });
    const { octet } = before.plan;
    await before[Symbol.asyncDispose]();
    await assert.rejects(started({ network: 'anyip', host, preferredOctet: octet }), {
      reason: 'NetworkUnavailable',
      message:
        /mode anyip needs the right to run "ip route .*said: RTNETLINK answers: Operation not permitted; run the lab/,
    });
    await using made = await started({ network: 'loopback', preferredOctet: octet });
    assert.equal(made.plan.octet, octet);
  });

  it('leaves nothing behind in the directory', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'slipway-address-'));
    const plan = await startAddressPlan({ directory, network: 'ports' });
    await plan[Symbol.asyncDispose]();
    assert.deepEqual(await readdir(directory), []);
    await rm(directory, { recursive: true });
  });

  it('lab/X6: tells children the network, with the zones of the moment', async () => {
    const zones = ['lab.internal'];
    await using made = await started({ network: 'loopback', host: unprivileged, zones: () => zones });
    const { plan, directory } = made;
    zones.push('c1.example.com');
    assert.deepEqual(JSON.parse(plan.environment['SLIPWAY_NETWORK'] ?? ''), {
      octet: plan.octet,
      mode: 'loopback',
      directory,
      lowPortOffset: 20_000,
      dns: { host: plan.dns.wire, port: 5353 },
      metadata: plan.metadata.wire,
      zones: ['lab.internal', 'c1.example.com'],
    });
  });
});
