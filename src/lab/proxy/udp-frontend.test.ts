import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { ProxyWorld } from '../../../test/support/proxy-world.ts';
import { Service } from '../../api/generated/core-v1.ts';
import { EndpointSlice } from '../../api/generated/discovery-v1.ts';
import { type LogFields, SILENT_LOG } from '../../base/log.ts';
import type { Endpoint } from '../address/address-plan.ts';

const skip = process.platform !== 'linux' && 'only Linux gives every place of a lab an address of its own';
const PORT = 5353;
const RESEND_MS = 1000;
const WEB = { namespace: 'default', name: 'web' };

async function bound(world: ProxyWorld, stack: DisposableStack, at?: Endpoint): Promise<Socket> {
  const socket = createSocket('udp4');
  stack.defer(() => void socket.close());
  const { host, port } = world.plan.target(at ?? { host: world.plan.pods.take().api, port: 0 });
  socket.bind({ address: host, port });
  await once(socket, 'listening');
  return socket;
}

/** Pods that answer each packet by their name and the packet. */
async function answering(world: ProxyWorld, stack: DisposableStack, ...names: readonly string[]) {
  const apis: string[] = [];
  for (const name of names) {
    const { api } = world.plan.pods.take();
    const socket = await bound(world, stack, { host: api, port: PORT });
    socket.on('message', (packet, from) => socket.send(`${name} ${packet.toString()}`, from.port, from.address));
    apis.push(api);
  }
  return apis;
}

interface Conditions {
  readonly ready: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
}

async function serve(
  world: ProxyWorld,
  addresses: readonly string[],
  conditionsOf: Readonly<Record<string, Conditions>> = {},
): Promise<void> {
  const { client } = world.env;
  const key = { namespace: 'default', name: 'web-1' };
  const endpoints = addresses.map((address) => ({
    addresses: [address],
    conditions: conditionsOf[address] ?? { ready: true },
  }));
  const metadata = { ...key, labels: { 'kubernetes.io/service-name': 'web' } };
  const ports = [{ name: 'dns', port: PORT, protocol: 'UDP' as const }];
  const found = await client.find(EndpointSlice, key);
  if (found === undefined) await client.create(EndpointSlice, { metadata, addressType: 'IPv4', ports, endpoints });
  else await client.update(EndpointSlice, { ...found, endpoints });
  await world.settle();
}

async function ask(world: ProxyWorld, socket: Socket, text: string): Promise<string> {
  const { host, port } = world.plan.target(await world.clusterPlace(5300));
  const { promise, resolve } = Promise.withResolvers<string>();
  // Answers to what was asked before may still be on their way.
  const onMessage = (packet: Buffer) => {
    if (packet.toString().endsWith(` ${text}`)) resolve(packet.toString());
  };
  socket.on('message', onMessage);
  const send = () => socket.send(text, port, host);
  // A packet may be lost, on a machine with much to do.
  const again = setInterval(send, RESEND_MS);
  send();
  try {
    return await promise;
  } finally {
    clearInterval(again);
    socket.off('message', onMessage);
  }
}

const UDP = { ports: [{ name: 'dns', port: 5300, protocol: 'UDP' as const }] };

describe('services over UDP', { skip }, () => {
  it('lab/X11: lead each client to a pod, which it stays with', async () => {
    await using world = await ProxyWorld.start();
    using stack = new DisposableStack();
    await world.addService(UDP);
    await serve(world, await answering(world, stack, 'a', 'b'));
    const clients = [await bound(world, stack), await bound(world, stack)];
    for (const text of ['one', 'two'])
      assert.deepEqual(await Promise.all(clients.map((client) => ask(world, client, text))), [
        `a ${text}`,
        `b ${text}`,
      ]);
  });

  it('lab/X11: lead a client elsewhere when its pod is gone', async () => {
    await using world = await ProxyWorld.start();
    using stack = new DisposableStack();
    await world.addService(UDP);
    const [a = '', b = ''] = await answering(world, stack, 'a', 'b');
    await serve(world, [a]);
    const client = await bound(world, stack);
    assert.equal(await ask(world, client, 'one'), 'a one');
    await serve(world, [b]);
    assert.equal(await ask(world, client, 'two'), 'b two');
    await world.env.client.delete(Service, WEB);
    await world.settle();
    // The place is free again.
    const { host, port } = world.plan.target({ host: (await answering(world, stack, 'c'))[0] ?? '', port: 5300 });
    const other = createSocket('udp4');
    other.bind({ address: host, port });
    await once(other, 'listening');
    other.close();
  });

  it('lab/X11: lead a client elsewhere when its pod is not ready any more, and not when it is on its way out', async () => {
    await using world = await ProxyWorld.start();
    using stack = new DisposableStack();
    await world.addService(UDP);
    const [a = '', b = ''] = await answering(world, stack, 'a', 'b');
    await serve(world, [a]);
    const client = await bound(world, stack);
    assert.equal(await ask(world, client, 'one'), 'a one');
    await serve(world, [a, b], { [a]: { ready: false, serving: true, terminating: true } });
    assert.equal(await ask(world, client, 'two'), 'a two');
    await serve(world, [a, b], { [a]: { ready: false, serving: false, terminating: false } });
    assert.equal(await ask(world, client, 'three'), 'b three');
  });

  it('lab/X11: are refused with a sentence where all addresses are one', async () => {
    const warnings: LogFields[] = [];
    const log = { ...SILENT_LOG, warn: (fields: LogFields) => void warnings.push(fields) };
    await using world = await ProxyWorld.start({ network: 'ports', log });
    await world.addService(UDP);
    await serve(world, [world.plan.pods.take().api]);
    assert.match(String(warnings[0]?.['err']), /services over UDP need an address of their own/);
  });
});
