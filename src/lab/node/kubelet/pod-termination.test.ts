import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { KubeletWorld, NODE } from '../../../../test/support/kubelet-world.ts';
import { Pod } from '../../../api/generated/core-v1.ts';
import type { Container } from '../../../api/generated/core-v1-types.ts';

const CATALOGUE = { app: { argv: ['/bin/app'] } };
const container = (name: string, more: Partial<Container> = {}): Container => ({ name, image: 'app', ...more });
const KEY = { namespace: 'default', name: 'p' };

/** What the node wrote about the pod, in short. */
const writesOf = ({ env }: KubeletWorld) =>
  env.recorder.writes
    .filter(({ target }) => target.includes('/pods/p'))
    .map(({ method, body }) => {
      if (method === 'DELETE') return JSON.parse(body) as unknown;
      const { status } = JSON.parse(body) as { status?: { phase?: string } };
      return `PATCH ${status?.phase ?? ''}`.trim();
    });

describe('the end of a pod', () => {
  it('lab/N14: event, SIGTERM with the grace, final status, then the object goes by uid and without grace', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    const { metadata } = await world.create('p', { containers: [container('c')] });
    world.env.recorder.clear();
    await world.delete('p');
    assert.deepEqual(world.host.of('c').calls, ['stop 30000']);
    assert.equal(await world.find('p'), undefined);
    assert.deepEqual(await world.events('Killing'), ['Normal Killing: Stopping container c']);
    const type = { apiVersion: 'v1', kind: 'DeleteOptions' };
    assert.deepEqual(writesOf(world).slice(-2), [
      'PATCH Failed',
      { ...type, gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } },
    ]);
    assert.equal(world.volumes.laidOut.size, 0);
    assert.deepEqual(world.pods.pods, []);
  });

  it('lab/N14: the final status has a terminal phase and no container that runs', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', { containers: [container('c')] }, { finalizers: ['example.com/hold'] });
    await world.delete('p');
    const { status, metadata } = await world.pod('p');
    assert.equal(metadata.deletionGracePeriodSeconds, 0);
    assert.equal(status?.phase, 'Failed');
    const { exitCode, reason, signal } = status?.containerStatuses?.[0]?.state?.terminated ?? {};
    assert.deepEqual([exitCode, reason, signal], [143, 'Error', 15]);
    const count = world.env.recorder.writes.length;
    await world.env.advance(60_000);
    const later = world.env.recorder.writes.slice(count).filter(({ target }) => target.includes('/pods/'));
    assert.deepEqual(later, [], 'whoever holds it decides');
  });

  it('lab/N14: a container that ignores SIGTERM keeps the pod until it is gone', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    world.host.areObedient = false;
    await world.create('p', { terminationGracePeriodSeconds: 7, containers: [container('c')] });
    await world.delete('p');
    await world.env.advance(60_000);
    assert.equal((await world.pod('p')).status?.phase, 'Running');
    assert.deepEqual(world.host.of('c').calls, ['stop 7000'], 'the host kills after the grace');
    world.host.of('c').exit(137, 'SIGKILL');
    await world.env.settle();
    assert.equal(await world.find('p'), undefined);
  });

  it('lab/N14: a shorter grace during the end is heard', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    world.host.areObedient = false;
    await world.create('p', { containers: [container('c')] });
    await world.delete('p');
    await world.delete('p', 5);
    await world.env.advance(4999);
    assert.deepEqual(world.host.of('c').calls, ['stop 30000']);
    await world.env.advance(1);
    assert.deepEqual(world.host.of('c').calls, ['stop 30000', 'kill']);
    assert.equal(await world.find('p'), undefined);
  });

  it('lab/N14: the grace of a deletion counts also for a container that a probe has stopped already', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    world.host.areObedient = false;
    await world.create('p', { containers: [container('c')] });
    world.probes.of('c').events.mustRestart('Container c failed liveness probe, will be restarted', undefined);
    await world.env.settle();
    await world.delete('p', 5);
    await world.env.advance(5000);
    assert.deepEqual(world.host.of('c').calls, ['stop 30000', 'kill']);
    assert.equal(await world.find('p'), undefined);
  });

  it('a pod that somebody else told to have failed ends, and keeps what he said of it', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', { containers: [container('c')] });
    const body = { status: { phase: 'Failed', reason: 'Evicted' } };
    await world.env.client.patch(Pod, KEY, { type: 'merge', body }, { subresource: 'status' });
    await world.env.settle();
    assert.deepEqual(world.host.of('c').calls, ['stop 30000']);
    const { status } = await world.pod('p');
    assert.deepEqual([status?.phase, status?.reason], ['Failed', 'Evicted']);
    assert.equal(status?.containerStatuses?.[0]?.state?.terminated?.exitCode, 143);
    assert.equal(world.volumes.laidOut.size, 0);
  });

  it('lab/N14: grace 0 from a client takes the object first, and the node kills nevertheless', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', { containers: [container('c')] });
    world.env.recorder.clear();
    await world.delete('p', 0);
    assert.equal(await world.find('p'), undefined);
    assert.deepEqual(world.host.of('c').calls, ['stop 2000']);
    assert.deepEqual(writesOf(world), [], 'there is nothing to write to');
    assert.deepEqual([world.volumes.laidOut.size, world.addresses.taken.size, world.pods.pods.length], [0, 0, 0]);
  });

  it('lab/N14: sidecars stop after regular containers, in reverse order', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    world.host.areObedient = false;
    const sidecar = (name: string) => container(name, { restartPolicy: 'Always' });
    await world.create('p', {
      initContainers: [sidecar('s'), sidecar('t')],
      containers: [container('a'), container('b')],
    });
    await world.delete('p');
    const told = () => ['a', 'b', 't', 's'].filter((name) => world.host.of(name).calls.length > 0).join('');
    assert.equal(told(), 'ab');
    await world.env.advance(1000);
    for (const [name, want] of [
      ['a', 'ab'],
      ['b', 'abt'],
      ['t', 'abts'],
    ] as const) {
      world.host.of(name).exit(0);
      await world.env.settle();
      assert.equal(told(), want);
    }
    assert.deepEqual(world.host.of('t').calls, ['stop 29000'], 'what the others took is gone');
    world.host.of('s').exit(0);
    await world.env.settle();
    assert.equal(await world.find('p'), undefined);
  });

  it('lab/N14: a sidecar does not wait longer than the grace', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    world.host.areObedient = false;
    const initContainers = [container('s', { restartPolicy: 'Always' })];
    await world.create('p', { terminationGracePeriodSeconds: 10, initContainers, containers: [container('a')] });
    await world.delete('p');
    await world.env.advance(10_000);
    assert.deepEqual(world.host.of('s').calls, ['stop 2000']);
    world.host.killAll();
    await world.env.settle();
  });

  it('lab/N14: when regular containers are done, sidecars go and the pod has ended', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    const initContainers = [container('s', { restartPolicy: 'Always' })];
    await world.create('p', { restartPolicy: 'Never', initContainers, containers: [container('a')] });
    world.host.of('a').exit(0);
    await world.env.settle();
    assert.deepEqual(world.host.of('s').calls, ['stop 30000']);
    assert.equal((await world.pod('p')).status?.phase, 'Succeeded');
    assert.equal(world.volumes.laidOut.size, 0);
    assert.equal(world.addresses.taken.size, 0);
    assert.equal((await world.pod('p')).status?.podIP, '10.16.32.1', 'it is told to the end');
    await world.delete('p');
    assert.equal(await world.find('p'), undefined);
  });

  it('lab/N14: preStop runs first, and its time is taken from the grace', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    const lifecycle = { preStop: { sleep: { seconds: 4 } } };
    await world.create('p', { terminationGracePeriodSeconds: 10, containers: [container('c', { lifecycle })] });
    await world.delete('p');
    await world.env.advance(3999);
    assert.deepEqual(world.host.of('c').calls, []);
    await world.env.advance(1);
    assert.deepEqual(world.host.of('c').calls, ['stop 6000']);
  });

  it('lab/N14: a preStop that fails is told, and stops nothing', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    const lifecycle = { preStop: { exec: { command: ['/bin/drain', 'now'] } } };
    await world.create('p', { containers: [container('c', { lifecycle })] });
    world.host.answer = { exitCode: 3, output: 'cannot drain\n', isTimedOut: false };
    await world.delete('p');
    assert.deepEqual(world.host.executed, [{ argv: ['/bin/drain', 'now'], timeoutMs: 30_000 }]);
    assert.deepEqual(await world.events('FailedPreStopHook'), [
      'Warning FailedPreStopHook: PreStopHook failed: command /bin/drain now exited with 3: cannot drain',
    ]);
    assert.equal(await world.find('p'), undefined);
  });

  it('lab/N14: readiness is looked at to the end, the other probes are not', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    world.host.areObedient = false;
    await world.create('p', { containers: [container('c')] });
    await world.delete('p');
    assert.deepEqual(world.probes.of('c').calls, ['terminating']);
    world.probes.of('c').become({ isStarted: true, isReady: false });
    await world.env.settle();
    assert.equal((await world.pod('p')).status?.containerStatuses?.[0]?.ready, false);
    world.host.killAll();
    await world.env.settle();
    assert.deepEqual(world.probes.of('c').calls, ['terminating', 'nudge', 'disposed']);
  });

  it('lab/N14: a pod that is deleted while it waits for volumes goes at once', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    world.volumes.problems.push(...Array.from({ length: 50 }, () => new Error('not yet')));
    await world.create('p', { containers: [container('c')] });
    await world.delete('p');
    assert.equal(await world.find('p'), undefined);
    assert.deepEqual([world.host.processes.length, world.addresses.taken.size], [0, 0]);
  });

  it('volumes that cannot be taken away are tried again, and the object stays until they are', async () => {
    await using world = await KubeletWorld.start();
    await world.create('p', { containers: [container('c')] });
    world.volumes.tearDownProblems.push(new Error('busy'), new Error('busy'));
    await world.delete('p');
    assert.equal((await world.pod('p')).status?.phase, 'Succeeded');
    await world.env.advance(10_000);
    assert.equal(await world.find('p'), undefined);
  });

  it('a pod of the same name may follow while the old one still ends', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    world.host.areObedient = false;
    await world.create('p', { containers: [container('c')] });
    await world.delete('p', 0);
    await world.create('p', { containers: [container('c')] });
    assert.equal((await world.pod('p')).status?.phase, 'Running');
    assert.equal(world.pods.pods.length, 2);
    world.host.processes[0]?.exit(0);
    await world.env.settle();
    assert.equal(world.pods.pods.length, 1);
    assert.equal((await world.pod('p')).status?.phase, 'Running');
    world.host.killAll();
  });

  it('lab/N6: power off kills everything at once, and nobody hears of it', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    world.host.areObedient = false;
    await world.create('p', { containers: [container('c')] });
    const count = world.env.recorder.writes.length;
    world.pods.powerOff();
    await world.env.advance(10 * 60_000);
    assert.deepEqual(world.host.of('c').calls, ['kill', 'stop 0']);
    const later = world.env.recorder.writes.slice(count).filter(({ target }) => target.includes('/pods/'));
    assert.deepEqual(later, []);
    assert.equal((await world.pod('p')).status?.phase, 'Running', 'as far as anybody knows');
  });
});

describe('containers that are about to start', () => {
  /** A pod whose first start waits until the test lets it go on; time stands still meanwhile. */
  async function heldStart(world: KubeletWorld, containers: readonly Container[]) {
    const { resolveStart } = world;
    const [held, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    world.resolveStart = async (pod, one) => {
      asked.resolve();
      await held.promise;
      return await resolveStart(pod, one);
    };
    const spec = { nodeName: NODE, automountServiceAccountToken: false, containers };
    await world.env.client.create(Pod, { apiVersion: 'v1', kind: 'Pod', metadata: KEY, spec });
    await asked.promise;
    return held;
  }

  it('lab/N6: are killed as soon as they run when the power goes', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    const held = await heldStart(world, [container('c')]);
    world.pods.powerOff();
    held.resolve();
    await world.env.settle();
    assert.ok(world.host.processes.every(({ isAlive }) => !isAlive));
  });

  it('lab/N14: are stopped as soon as they run when their pod is deleted, and the others never start', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    const held = await heldStart(world, [container('a'), container('b')]);
    await world.env.client.delete(Pod, KEY);
    while (!world.pods.pods.every(({ metadata }) => metadata.deletionTimestamp !== undefined)) await turn();
    held.resolve();
    await world.env.settle();
    assert.deepEqual(
      world.host.processes.map(({ spec, isAlive }) => `${spec.container.split('/')[1]} ${isAlive}`),
      ['a false'],
    );
    assert.equal(await world.find('p'), undefined);
  });

  it('lab/N14: have no more grace than the last deletion gave', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    const held = await heldStart(world, [container('c')]);
    const graces = () => world.pods.pods.map(({ metadata }) => metadata.deletionGracePeriodSeconds);
    for (const gracePeriodSeconds of [30, 5]) {
      await world.env.client.delete(Pod, KEY, { gracePeriodSeconds });
      while (!graces().includes(gracePeriodSeconds)) await turn();
    }
    held.resolve();
    await world.env.settle();
    assert.deepEqual(world.host.of('c').calls, ['stop 5000']);
  });
});

describe('hooks', () => {
  const slow = { lifecycle: { postStart: { sleep: { seconds: 5 } } } };
  const started = ({ host }: KubeletWorld) => host.processes.map(({ spec }) => spec.container.split('/')[1]);

  it('postStart keeps its container from being told as running, and the next one from starting', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', { containers: [container('c', slow), container('d')] });
    await world.env.advance(4000);
    const before = await world.brief('p');
    assert.deepEqual([before.waiting, before.ready, before.pod.phase], ['ContainerCreating', false, 'Pending']);
    assert.throws(() => world.probes.of('c'), /nobody probes c/);
    assert.deepEqual(started(world), ['c']);
    await world.env.advance(1000);
    const { waiting, ready, pod } = await world.brief('p');
    assert.deepEqual([waiting, ready, pod.phase], ['', true, 'Running']);
    assert.deepEqual(started(world), ['c', 'd']);
  });

  it('postStart of a pod that is deleted is not waited for', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', { containers: [container('c', slow), container('d')] });
    await world.delete('p');
    assert.deepEqual(world.host.of('c').calls, ['stop 30000']);
    assert.equal(await world.find('p'), undefined);
    assert.deepEqual(started(world), ['c']);
  });

  it('postStart is over when its container ends; what follows is another run', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', { containers: [container('c', slow)] });
    world.host.of('c').exit(3);
    await world.env.settle();
    assert.deepEqual(started(world), ['c', 'c']);
    const during = await world.brief('p');
    assert.deepEqual([during.restartCount, during.ended.exitCode], [0, 3], 'of the second run nobody knows yet');
    await world.env.advance(5000);
    const { restartCount, last, ready } = await world.brief('p');
    assert.deepEqual([restartCount, last.exitCode, ready], [1, 3, true]);
    assert.deepEqual(await world.events('FailedPostStartHook'), []);
  });

  it('postStart that fails kills its container, which comes back', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    const lifecycle = { postStart: { exec: { command: ['/bin/warm'] } } };
    world.host.answer = { exitCode: 1, output: 'cold', isTimedOut: false };
    await world.create('p', { containers: [container('c', { lifecycle })] });
    assert.ok(world.host.processes.length >= 2);
    assert.deepEqual(await world.events('FailedPostStartHook'), [
      'Warning FailedPostStartHook: PostStartHook failed: command /bin/warm exited with 1: cold (×2)',
    ]);
    assert.equal(
      (await world.pod('p')).status?.containerStatuses?.[0]?.state?.waiting?.reason,
      'CrashLoopBackOff',
    );
  });

  it('httpGet asks the container where it listens; any answer is good', async () => {
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${String(request.headers['x-why'])}`);
      response.writeHead(500).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
      world.addresses.target = ({ host, port: wanted }) => {
        asked.push(`${host}:${wanted}`);
        return { host: '127.0.0.1', port };
      };
      const httpGet = { port: 'web', path: '/bye', httpHeaders: [{ name: 'x-why', value: 'end' }] };
      const ports = [{ name: 'web', containerPort: 8080 }];
      await world.create('p', { containers: [container('c', { ports, lifecycle: { preStop: { httpGet } } })] });
      await world.env.client.delete(Pod, KEY);
      const hold = world.env.activity.hold('a server of the test');
      while (asked.length < 2) await turn();
      hold[Symbol.dispose]();
      await world.env.settle();
      assert.deepEqual(asked, ['10.16.32.1:8080', 'GET /bye end']);
      assert.deepEqual(await world.events('FailedPreStopHook'), []);
    } finally {
      server.close();
    }
  });

  it('a port that the container does not have is told', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    const lifecycle = { preStop: { httpGet: { port: 'web' } } };
    await world.create('p', { containers: [container('c', { lifecycle })] });
    await world.delete('p');
    assert.deepEqual(await world.events('FailedPreStopHook'), [
      'Warning FailedPreStopHook: PreStopHook failed: container c has no port "web"',
    ]);
  });
});
