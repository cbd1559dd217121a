import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { KubeletWorld, NODE } from '../../../../test/support/kubelet-world.ts';
import { Pod } from '../../../api/generated/core-v1.ts';

const CATALOGUE = { app: { argv: ['/bin/app'] } };
const one = { containers: [{ name: 'c', image: 'app' }] };
const statusOf = (pod: Pod, name = 'c') => pod.status?.containerStatuses?.find((status) => status.name === name);

describe('a restart of the lab', () => {
  it('lab/N18: what was running was killed, runs again, and its restarts are counted on', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', one);
    world.host.of('c').exit(1);
    await world.env.settle();
    await world.restart();
    const { pod, restartCount, last } = await world.brief('p');
    assert.deepEqual([pod.phase, restartCount], ['Running', 2]);
    assert.deepEqual([last.exitCode, last.reason], [137, 'ContainerStatusUnknown']);
    assert.match(last.containerID ?? '', /^slipway:/);
    assert.equal(pod.podIP, '10.16.32.1', 'its address stays');
    await world.create('q', one);
    assert.equal((await world.brief('q')).pod.podIP, '10.16.32.2');
  });

  it('lab/X1: an address of another lab is not kept', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', one);
    const before = await world.pod('p');
    const addresses = { podIP: '10.99.32.7', podIPs: [{ ip: '10.99.32.7' }] };
    await world.env.client.updateStatus(Pod, { ...before, status: { ...before.status, ...addresses } });
    await world.restart();
    const { pod, restartCount } = await world.brief('p');
    assert.match(pod.podIP ?? '', /^10\.16\./);
    assert.equal(restartCount, 1);
  });

  it('lab/N18: policy decides what runs again', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('never', { ...one, restartPolicy: 'Never' });
    await world.create('failing', { ...one, restartPolicy: 'OnFailure' });
    await world.restart();
    const { status } = await world.pod('never');
    assert.equal(status?.phase, 'Failed');
    const { exitCode, reason } = status?.containerStatuses?.[0]?.state?.terminated ?? {};
    assert.deepEqual([exitCode, reason], [137, 'ContainerStatusUnknown']);
    assert.equal((await world.pod('failing')).status?.phase, 'Running');
    assert.equal(world.host.live, 1);
  });

  it('lab/N18: init containers run again first', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', { ...one, initContainers: [{ name: 'i', image: 'app' }] });
    world.host.of('i').exit(0);
    await world.env.settle();
    await world.restart();
    const order = () => world.host.processes.map(({ spec }) => spec.container.split('/').slice(1).join(''));
    assert.deepEqual(order(), ['i0', 'c0', 'i1']);
    world.host.of('i').exit(0);
    await world.env.settle();
    assert.deepEqual(order(), ['i0', 'c0', 'i1', 'c1']);
    assert.equal((await world.pod('p')).status?.phase, 'Running');
  });

  it('lab/N18: what had ended stays as it was, without a write, and can be deleted', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', { ...one, restartPolicy: 'Never' });
    world.host.of('c').exit(0);
    await world.env.settle();
    const before = await world.pod('p');
    await world.restart();
    await world.env.advance(60_000);
    assert.equal((await world.pod('p')).metadata.resourceVersion, before.metadata.resourceVersion);
    assert.deepEqual(world.pods.pods.length, 1);
    await world.delete('p');
    assert.equal(await world.find('p'), undefined);
  });

  it('lab/N18: a pod that was deleted meanwhile ends', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', one);
    await world.create('q', one);
    await world.pods[Symbol.asyncDispose]();
    world.host.killAll();
    await world.env.client.delete(Pod, { namespace: 'default', name: 'p' });
    await world.env.client.delete(Pod, { namespace: 'default', name: 'q' }, { gracePeriodSeconds: 0 });
    await world.begin();
    assert.equal(await world.find('p'), undefined);
    assert.equal(world.host.live, 0);
    assert.equal(world.volumes.laidOut.size, 0, 'also of the one that nobody knows any more');
  });

  it('lab/N16: pods that run already are asked nothing, and counted before new ones', async () => {
    await using world = await KubeletWorld.start({ allocatable: { pods: '1' } });
    await world.create('z', { containers: [{ name: 'c', image: 'x' }] });
    await world.pods[Symbol.asyncDispose]();
    await world.create('a', { containers: [{ name: 'c', image: 'x' }] });
    await world.begin();
    assert.equal((await world.pod('z')).status?.phase, 'Running');
    assert.equal((await world.pod('a')).status?.reason, 'OutOfpods');
  });
});

describe('a node without power', () => {
  it('lab/X4: gives the addresses of its pods back, and those that are still there have them again later', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', one);
    await world.create('q', one);
    world.pods.powerOff();
    await world.env.settle();
    assert.deepEqual([...world.addresses.taken], []);
    await world.delete('p', 0);
    await world.begin();
    assert.deepEqual([...world.addresses.taken], ['10.16.32.2']);
    assert.equal((await world.brief('q')).pod.podIP, '10.16.32.2');
  });
});

describe('an API server that is away', () => {
  it('lab/N6: containers run on, and the newest status is written when it is back', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', one);
    world.pods.partition(true);
    const count = world.env.recorder.requests.length;
    world.host.of('c').exit(1);
    await world.env.advance(5000);
    world.host.of('c').exit(2);
    await world.env.advance(60_000);
    assert.equal(world.host.processes.length, 3, 'restarted meanwhile');
    const asked = world.env.recorder.requests.slice(count).filter(({ target }) => target.includes('/pods'));
    assert.deepEqual(asked, [], 'nothing goes out');
    assert.equal(statusOf(await world.pod('p'))?.restartCount, 0);
    world.pods.partition(false);
    await world.env.advance(60_000);
    const status = statusOf(await world.pod('p'));
    assert.deepEqual([status?.restartCount, status?.lastState?.terminated?.exitCode], [2, 2]);
  });

  it('lab/N6: what was deleted and made meanwhile is learned when it is back', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', one);
    world.pods.partition(true);
    await world.delete('p', 0);
    await world.create('q', one);
    await world.env.advance(60_000);
    assert.deepEqual(
      world.host.processes.map(({ isAlive }) => isAlive),
      [true],
      'only the old one',
    );
    world.pods.partition(false);
    await world.env.advance(60_000);
    assert.equal(world.host.processes[0]?.isAlive, false);
    assert.equal((await world.pod('q')).status?.phase, 'Running');
  });

  it('the end of a pod waits until it can be told', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', { ...one, restartPolicy: 'Never' });
    world.pods.partition(true);
    world.host.of('c').exit(0);
    await world.env.advance(60_000);
    assert.equal((await world.pod('p')).status?.phase, 'Running');
    world.pods.partition(false);
    await world.env.advance(60_000);
    assert.equal((await world.pod('p')).status?.phase, 'Succeeded');
  });

  for (const fault of [
    { kind: 'refuse', status: 500, reason: 'InternalError' },
    { kind: 'refuse', status: 409, reason: 'Conflict' },
    { kind: 'reset' },
    { kind: 'lost-response' },
    { kind: 'duplicate' },
  ] as const) {
    it(`every write meets ${fault.kind} ${'status' in fault ? fault.status : ''} once`, async () => {
      await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
      let seen = '';
      world.env.faults.arm({
        fault,
        matches: ({ method, target, body = '' }) => {
          if (!/PATCH|DELETE/.test(method) || !target.includes('/pods/')) return false;
          const request = `${method} ${String(body)}`;
          const isNew = seen !== request;
          seen = request;
          return isNew;
        },
      });
      await world.create('p', one);
      await world.env.advance(60_000);
      assert.equal((await world.pod('p')).status?.phase, 'Running');
      await world.delete('p');
      await world.env.advance(60_000);
      assert.equal(await world.find('p'), undefined);
      assert.equal(world.host.live, 0);
    });
  }
});

describe('static pods', () => {
  const file = (uid: string, image = 'app'): Pod => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `etcd-${NODE}`,
      namespace: 'default',
      uid,
      annotations: { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': uid },
    },
    spec: { nodeName: NODE, containers: [{ name: 'c', image }] },
  });

  function files(...first: Pod[]) {
    let pods = first;
    const told = new Set<() => void>();
    return {
      pods: () => pods,
      subscribe: (changed: () => void) => {
        told.add(changed);
        return { [Symbol.dispose]: () => void told.delete(changed) };
      },
      become: (...next: Pod[]) => {
        pods = next;
        for (const changed of told) changed();
      },
    };
  }

  const mirror = (uid: string): Pod => {
    const { metadata, ...rest } = file(uid);
    const { uid: _uid, ...known } = metadata;
    const annotations = { ...metadata.annotations, 'kubernetes.io/config.mirror': uid };
    return { ...rest, metadata: { ...known, annotations } };
  };

  it('run without the API server, and tell their mirror as soon as there is one', async () => {
    const staticPods = files(file('u1'));
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE, staticPods });
    assert.equal(world.host.live, 1);
    await world.env.client.create(Pod, mirror('u1'));
    await world.env.settle();
    const pod = await world.pod(`etcd-${NODE}`);
    assert.deepEqual([pod.status?.phase, pod.status?.podIP], ['Running', '10.16.32.1']);
    assert.equal(pod.status?.observedGeneration, 1);
    assert.equal(world.host.processes.length, 1, 'a mirror starts nothing');
  });

  it('outlive their mirror, and end with their file', async () => {
    const staticPods = files(file('u1'));
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE, staticPods });
    await world.env.client.create(Pod, mirror('u1'));
    await world.env.settle();
    await world.delete(`etcd-${NODE}`, 0);
    assert.equal(world.host.live, 1);
    await world.env.client.create(Pod, mirror('u1'));
    await world.env.settle();
    assert.equal((await world.pod(`etcd-${NODE}`)).status?.phase, 'Running', 'a new mirror is told as well');
    staticPods.become();
    await world.env.settle();
    assert.equal(world.host.live, 0);
    assert.ok((await world.find(`etcd-${NODE}`)) !== undefined, 'the mirror belongs to somebody else');
    assert.deepEqual(world.pods.pods, []);
  });

  it('lab/N37: a file that comes back while its pod still ends is run again when that is done', async () => {
    const staticPods = files(file('u1'));
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE, staticPods });
    const first = world.host.of('c');
    first.isObedient = false;
    staticPods.become();
    await world.env.settle();
    staticPods.become(file('u1'));
    await world.env.settle();
    assert.equal(world.host.processes.length, 1, 'never two of one pod');
    first.exit(143);
    await world.env.settle();
    assert.equal(world.host.processes.length, 2);
    assert.equal(world.host.live, 1);
    staticPods.become();
    await world.env.settle();
    assert.deepEqual([world.host.live, world.pods.pods], [0, []]);
  });

  it('lab/N18: what was running was killed, runs again, and its restarts are counted on', async () => {
    const staticPods = files(file('u1'));
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE, staticPods });
    await world.env.client.create(Pod, mirror('u1'));
    world.host.of('c').exit(1);
    await world.env.settle();
    await world.restart();
    const { pod, restartCount, last } = await world.brief(`etcd-${NODE}`);
    assert.deepEqual([pod.phase, pod.podIP, restartCount], ['Running', '10.16.32.1', 2]);
    assert.deepEqual([last.exitCode, last.reason], [137, 'ContainerStatusUnknown']);
  });

  it('lab/N18: what had ended stays so without an API server to tell, and a mirror that comes later is told', async () => {
    const { spec, ...rest } = file('u1');
    const once: Pod = { ...rest, spec: { ...spec, restartPolicy: 'Never' } };
    const staticPods = files(once);
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE, staticPods });
    world.host.of('c').exit(0);
    await world.env.settle();
    await world.restart();
    assert.equal(world.host.processes.length, 1);
    assert.deepEqual(
      world.pods.pods.map(({ status }) => status?.phase),
      ['Succeeded'],
    );
    await world.env.client.create(Pod, { ...mirror('u1'), spec: once.spec });
    await world.env.settle();
    const { pod, ended } = await world.brief(`etcd-${NODE}`);
    assert.deepEqual([pod.phase, ended.exitCode, ended.reason], ['Succeeded', 0, 'Completed']);
    await world.delete(`etcd-${NODE}`, 0);
    await world.env.client.create(Pod, { ...mirror('u1'), spec: once.spec });
    await world.env.settle();
    assert.equal((await world.brief(`etcd-${NODE}`)).pod.phase, 'Succeeded', 'so is the next mirror');
  });

  it('lab/N18: why it ended is not forgotten', async () => {
    const { spec, ...rest } = file('u1');
    const staticPods = files({ ...rest, spec: { ...spec, activeDeadlineSeconds: 5 } });
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE, staticPods });
    await world.env.advance(3000);
    await world.restart();
    assert.equal(world.host.live, 1);
    await world.env.advance(2000);
    assert.equal(world.host.live, 0, 'counted since the first start');
    await world.restart();
    await world.env.client.create(Pod, mirror('u1'));
    await world.env.settle();
    const { pod } = await world.brief(`etcd-${NODE}`);
    assert.deepEqual([pod.phase, pod.reason], ['Failed', 'DeadlineExceeded']);
  });

  it('lab/N18: a file that was away begins anew, whether the node ran meanwhile or not', async () => {
    const staticPods = files(file('u1'));
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE, staticPods });
    const again = async () => {
      staticPods.become(file('u1'));
      await world.env.settle();
    };
    staticPods.become();
    await world.env.settle();
    await again();
    staticPods.become();
    await world.restart();
    await again();
    assert.deepEqual(
      world.host.processes.map(({ spec }) => spec.container),
      ['u1/c/0', 'u1/c/0', 'u1/c/0'],
    );
  });

  it('lab/N18: a record that cannot be read is none', async () => {
    const staticPods = files(file('u1'));
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE, staticPods });
    await writeFile(join(world.root, 'var/lib/kubelet/static-pods/u1.json'), '{"phase":');
    await world.restart();
    assert.equal(world.host.of('c').spec.container, 'u1/c/0');
    assert.equal(world.host.live, 1);
  });

  it('another content begins when everything of the old one is gone', async () => {
    const staticPods = files(file('u1'));
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE, staticPods });
    const first = world.host.of('c');
    first.isObedient = false;
    staticPods.become(file('u2'));
    await world.env.settle();
    staticPods.become(file('u3'));
    await world.env.settle();
    assert.equal(world.host.processes.length, 1, 'both would listen on the same ports');
    first.exit(143);
    await world.env.settle();
    assert.deepEqual(
      world.host.processes.map(({ spec, isAlive }) => `${spec.container} ${isAlive}`),
      ['u1/c/0 false', 'u3/c/0 true'],
    );
  });

  it('another content is another pod', async () => {
    const staticPods = files(file('u1'));
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE, staticPods });
    staticPods.become(file('u2'));
    await world.env.settle();
    assert.deepEqual(
      world.host.processes.map(({ spec, isAlive }) => `${spec.container} ${isAlive}`),
      ['u1/c/0 false', 'u2/c/0 true'],
    );
  });
});
