import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ContainerPort, Pod, PodSpec } from '../../../api/generated/core-v1-types.ts';
import { SystemClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import type { AddressPlan, LabAddress } from '../../address/address-plan.ts';
import { startAddressPlan } from '../../address/start-address-plan.ts';
import { dial } from '../../tcp/dial.ts';
import { HostPorts } from './host-ports.ts';
import { portForwards } from './port-forwards.ts';

const real = new SystemClock();
const ADDRESS: LabAddress = { api: '10.16.32.1', wire: '127.16.32.1' };
const NODE = { name: 'w-1', address: { api: '10.16.1.1', wire: '127.16.1.1' } };

const podWith = (spec: Partial<PodSpec>, name = 'web'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', uid: `uid-${name}` },
  spec: { containers: [], ...spec },
});
const withPorts = (ports: readonly ContainerPort[], name = 'web'): Pod =>
  podWith({ containers: [{ name: 'c', ports }] }, name);

const ROWS: readonly { readonly name: string; readonly pod: Pod; readonly want: readonly string[] }[] = [
  { name: 'none without a host port', pod: withPorts([{ containerPort: 80 }]), want: [] },
  {
    name: 'each port that is named, of sidecars too',
    pod: podWith({
      initContainers: [
        { name: 'i', ports: [{ containerPort: 1, hostPort: 9001 }] },
        { name: 's', restartPolicy: 'Always', ports: [{ containerPort: 2, hostPort: 9002, protocol: 'UDP' }] },
      ],
      containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort: 8080 }] }],
    }),
    want: ['UDP 10.16.1.1:9002 to 10.16.32.1:2', 'TCP 10.16.1.1:8080 to 10.16.32.1:80'],
  },
  {
    name: 'none of the host network: the pod listens there itself',
    pod: podWith({ hostNetwork: true, containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort: 80 }] }] }),
    want: [],
  },
  {
    name: 'those of addresses of the node, and of no others',
    pod: withPorts(
      ['10.16.1.1', '127.16.1.1', '127.0.0.1', '0.0.0.0', '10.16.1.2'].map((hostIP, at) => ({
        hostIP,
        containerPort: 80,
        hostPort: 8000 + at,
      })),
    ),
    want: [8000, 8001, 8002, 8003].map((port) => `TCP 10.16.1.1:${port} to 10.16.32.1:80`),
  },
  { name: 'none for SCTP', pod: withPorts([{ containerPort: 1, hostPort: 1, protocol: 'SCTP' }]), want: [] },
];

describe('portForwards', () => {
  for (const { name, pod, want } of ROWS) {
    it(`lab/X4: ${name}`, () => {
      const found = portForwards(pod, NODE, ADDRESS).map(
        ({ protocol, at, backends: [to] }) => `${protocol} ${at.host}:${at.port} to ${to?.host}:${to?.port}`,
      );
      assert.deepEqual(found, want);
    });
  }
});

describe('HostPorts', () => {
  let directory = '';
  let plan: AddressPlan;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sw-'));
    plan = await startAddressPlan({ directory, clock: real });
  });
  after(async () => {
    await plan[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });

  /** What runs in a pod: says who asks, and who it is. */
  const program = async (name: string, port: number) => {
    const address = plan.pods.take();
    const server: Server = createServer((socket) => {
      socket.on('error', () => {});
      socket.resume().end(`${name} to ${socket.remoteAddress}`);
    });
    await plan.listen(server, { host: address.api, port });
    const end = async () => {
      server.close();
      await once(server, 'close');
      plan.pods.release(address.api);
    };
    return { address, [Symbol.asyncDispose]: end };
  };
  const hostPorts = (index: number) =>
    new HostPorts({
      node: { name: `w-${index}`, address: plan.node(1, index) },
      plan,
      clock: real,
      real,
      log: SILENT_LOG,
    });
  const ask = async (index: number, port: number): Promise<string> => {
    const target = plan.target({ host: plan.node(1, index).api, port });
    const socket = await dial(target, { real, timeoutMs: 5000 });
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.once('end', () => socket.end());
    await once(socket, 'close');
    return Buffer.concat(chunks).toString('utf8');
  };

  it('lab/X4: a port of the node leads to the pod until the pod is gone', async () => {
    await using web = await program('web', 80);
    await using ports = hostPorts(1);
    await ports.open(withPorts([{ containerPort: 80, hostPort: 28_080 }]), web.address);
    assert.match(await ask(1, 28_080), /^web to 127\./);
    await ports.close('uid-web');
    await assert.rejects(ask(1, 28_080), { code: 'ECONNREFUSED' });
  });

  it('lab/X4: the same port of two nodes leads to two pods', async () => {
    await using first = await program('first', 80);
    await using second = await program('second', 80);
    await using one = hostPorts(1);
    await using two = hostPorts(2);
    await one.open(withPorts([{ containerPort: 80, hostPort: 28_080 }], 'first'), first.address);
    await two.open(withPorts([{ containerPort: 80, hostPort: 28_080 }], 'second'), second.address);
    assert.match(await ask(1, 28_080), /^first /);
    assert.match(await ask(2, 28_080), /^second /);
  });

  it('lab/X4: whoever comes second gets nothing, is told so, and gets it when the first has gone', async () => {
    await using first = await program('first', 80);
    await using second = await program('second', 80);
    await using ports = hostPorts(1);
    const wanted = [
      { containerPort: 80, hostPort: 28_081 },
      { containerPort: 80, hostPort: 28_080 },
    ];
    await ports.open(withPorts(wanted.slice(1), 'first'), first.address);
    const late = withPorts(wanted, 'second');
    await assert.rejects(ports.open(late, second.address), {
      reason: 'HostPortInUse',
      message:
        /^cannot open host port TCP 28080 of node w-1 for pod second_default\(uid-second\): .*(in use|EADDRINUSE)/,
    });
    assert.match(await ask(1, 28_080), /^first /);
    await assert.rejects(ask(1, 28_081), { code: 'ECONNREFUSED' }, 'all or none');
    await ports.close('uid-first');
    await ports.open(late, second.address);
    assert.match(await ask(1, 28_080), /^second /);
    assert.match(await ask(1, 28_081), /^second /);
  });

  it('lab/X4: a pod that goes while its ports are being opened leaves none open', async () => {
    await using ports = hostPorts(1);
    const opening = ports.open(
      withPorts([28_080, 28_081].map((hostPort) => ({ containerPort: 80, hostPort }))),
      ADDRESS,
    );
    await ports.close('uid-web');
    await opening;
    for (const port of [28_080, 28_081]) await assert.rejects(ask(1, port), { code: 'ECONNREFUSED' });
  });

  it('lab/X4: a node that ends cuts its connections', async () => {
    const address = plan.pods.take();
    const silent = createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => {}));
    await plan.listen(silent, { host: address.api, port: 80 });
    await using _silent = { [Symbol.asyncDispose]: async () => void silent.close() };
    const ports = hostPorts(1);
    await ports.open(withPorts([{ containerPort: 80, hostPort: 28_080 }]), address);
    const target = plan.target({ host: plan.node(1, 1).api, port: 28_080 });
    const socket = await dial(target, { real, timeoutMs: 5000 });
    await once(silent, 'connection');
    const closed = Promise.withResolvers<void>();
    socket.once('close', () => closed.resolve());
    socket.resume();
    await ports[Symbol.asyncDispose]();
    await closed.promise;
    await ports.open(withPorts([{ containerPort: 80, hostPort: 28_080 }]), address);
    await assert.rejects(ask(1, 28_080), { code: 'ECONNREFUSED' }, 'nothing is opened after the end');
  });
});
