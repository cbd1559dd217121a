import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeletWorld } from '../../../../test/support/kubelet-world.ts';
import { Job } from '../../../api/generated/batch-v1.ts';
import { Pod } from '../../../api/generated/core-v1.ts';
import { ownedBy } from '../../../object/owner-references.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { StartFailure } from '../../process/process-host.ts';
import { ContainerProblem } from '../runtime/container-runtime.ts';
import { VolumeProblem } from '../volumes/pod-volumes.ts';

const CATALOGUE = { app: { argv: ['/bin/app', '--default'] } };
const one = { containers: [{ name: 'c', image: 'app:1' }] };
const simulated = { containers: [{ name: 'c', image: 'nginx:1' }] };

const stateOf = (pod: Pod, name = 'c') =>
  [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])].find(
    (status) => status.name === name,
  );
const condition = (pod: Pod, type: string) => pod.status?.conditions?.find((found) => found.type === type);

describe('a pod on its node', () => {
  it('lab/N12: an unknown image is simulated, and says so in four places', async () => {
    await using world = await KubeletWorld.start();
    await world.create('p', simulated);
    const pod = await world.pod('p');
    assert.equal(pod.status?.phase, 'Running');
    assert.equal(condition(pod, 'Ready')?.status, 'True');
    assert.equal(pod.metadata.annotations?.['slipway.dev/simulated'], 'c');
    assert.match(stateOf(pod)?.containerID ?? '', /^simulated:\/\/[0-9a-f]{64}$/);
    assert.deepEqual(await world.events('Simulated'), [
      'Normal Simulated: Container c is simulated: image "nginx:1" is not in the catalogue of the lab',
    ]);
    assert.match(world.logs[0]?.lines[0] ?? '', /container c is simulated/);
  });

  it('lab/A6: a pod that runs costs no writes', async () => {
    await using world = await KubeletWorld.start();
    await world.create('p', simulated);
    // Events are written again when their series ends.
    await world.env.advance(10 * 60_000);
    await expectNoWrites(world.env.recorder, () => world.env.advance(2 * 60 * 60_000));
  });

  it('lab/N12: annotations say when a simulated container is ready and how it ends', async () => {
    await using world = await KubeletWorld.start();
    const annotations = {
      'simulate.slipway.dev/c': '{"readyAfter":"2s","exit":{"code":3,"after":"5s"}}',
    };
    await world.create('p', { ...simulated, restartPolicy: 'Never' }, { annotations });
    assert.equal(stateOf(await world.pod('p'))?.ready, false);
    await world.env.advance(2000);
    assert.equal(condition(await world.pod('p'), 'Ready')?.status, 'True');
    await world.env.advance(3000);
    const pod = await world.pod('p');
    assert.equal(pod.status?.phase, 'Failed');
    assert.deepEqual(stateOf(pod)?.state?.terminated?.exitCode, 3);
    assert.equal(world.logs[0]?.isOver, true);
  });

  it('lab/N12: an annotation that nobody can read is told', async () => {
    await using world = await KubeletWorld.start();
    await world.create('p', simulated, { annotations: { 'simulate.slipway.dev/c': '{"redyAfter":"2s"}' } });
    const { waiting } = stateOf(await world.pod('p'))?.state ?? {};
    assert.equal(waiting?.reason, 'CreateContainerConfigError');
    assert.match(waiting?.message ?? '', /simulate\.slipway\.dev\/c .*redyAfter.*for example/);
  });

  it('lab/N12: the pod of a Job succeeds after a second', async () => {
    await using world = await KubeletWorld.start();
    const template = { spec: { ...simulated, restartPolicy: 'Never' } } as const;
    const job = await world.env.client.create(Job, {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { namespace: 'default', name: 'j' },
      spec: { template },
    });
    await world.create('p', template.spec, ownedBy(job));
    assert.equal((await world.pod('p')).status?.phase, 'Running');
    await world.env.advance(1000);
    const pod = await world.pod('p');
    assert.equal(pod.status?.phase, 'Succeeded');
    assert.deepEqual(condition(pod, 'Ready')?.reason, 'PodCompleted');
  });

  it('lab/N12: policy fail pulls in vain after 10, 20, 40 s, and backs off between', async () => {
    await using world = await KubeletWorld.start({ unknownImages: 'fail', catalogue: CATALOGUE });
    await world.create('p', simulated);
    const seen: string[] = [];
    for (let second = 0; second <= 72; second++) {
      const { waiting } = await world.brief('p');
      if (waiting === 'ErrImagePull') seen.push(String(second));
      else assert.equal(waiting, 'ImagePullBackOff');
      await world.env.advance(1000);
    }
    assert.deepEqual(seen, ['0', '10', '30', '70']);
    assert.match(
      (await world.brief('p')).message,
      /^Back-off pulling image "nginx:1": Failed to pull image "nginx:1": .* it has app; add it/,
    );
    const [backOff] = await world.events('BackOff');
    assert.match(backOff ?? '', /^Normal BackOff: Back-off pulling image "nginx:1"/);
  });

  it('lab/N12: policy fail never pulls what must not be pulled', async () => {
    await using world = await KubeletWorld.start({ unknownImages: 'fail' });
    await world.create('p', { containers: [{ name: 'c', image: 'x', imagePullPolicy: 'Never' }] });
    const { waiting } = stateOf(await world.pod('p'))?.state ?? {};
    assert.deepEqual(waiting, {
      reason: 'ErrImageNeverPull',
      message: 'Container image "x" is not present with pull policy of Never',
    });
  });

  it('lab/N11: a known image runs as a process, with the events of a start', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', one);
    const pod = await world.pod('p');
    assert.deepEqual(world.host.of('c').spec.argv, ['/bin/app', '--default']);
    assert.match(stateOf(pod)?.containerID ?? '', /^slipway:\/\/[0-9a-f]{64}$/);
    assert.match(stateOf(pod)?.imageID ?? '', /^slipway:\/\/app@sha256:[0-9a-f]{64}$/);
    assert.equal(pod.metadata.annotations, undefined);
    assert.deepEqual(await world.events(), [
      'Normal Pulled: Container image "app:1" already present on machine',
      'Normal Created: Created container: c',
      'Normal Started: Started container c',
    ]);
  });

  it('containers of one pod have events of their own', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    const containers = ['a', 'b'].map((name) => ({ name, image: 'app' }));
    await world.create('p', { containers });
    const started = (await world.events('Started')).toSorted();
    assert.deepEqual(started, ['Normal Started: Started container a', 'Normal Started: Started container b']);
  });

  it('lab/X4: a pod has its own address, a pod of the host network that of its node', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', one);
    await world.create('q', one);
    await world.create('h', { ...one, hostNetwork: true });
    const ips = await Promise.all(['p', 'q', 'h'].map(async (name) => (await world.pod(name)).status?.podIP));
    assert.deepEqual(ips, ['10.16.32.1', '10.16.32.2', '10.16.1.1']);
    const env = world.host.processes.map(({ spec }) => spec.env['SLIPWAY_POD_ADDRESS']);
    assert.deepEqual(env, ['127.16.32.1', '127.16.32.2', '127.16.1.1']);
    assert.deepEqual((await world.pod('p')).status?.hostIP, '10.16.1.1');
    await world.delete('p');
    assert.deepEqual([...world.addresses.taken], ['10.16.32.2'], 'given back');
  });

  it('lab/N10: init containers in order, sidecars kept, regular containers together', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    world.probes.initial = { isStarted: false, isReady: false };
    const image = 'app';
    await world.create('p', {
      initContainers: [
        { name: 'i', image },
        { name: 's', image, restartPolicy: 'Always' },
        { name: 'j', image },
      ],
      containers: [
        { name: 'a', image },
        { name: 'b', image },
      ],
    });
    const started = () => world.host.processes.map(({ spec }) => spec.container.split('/')[1]).join('');
    const step = async (act: () => void, want: string) => {
      act();
      await world.env.settle();
      assert.equal(started(), want);
    };
    assert.equal(started(), 'i');
    assert.equal(stateOf(await world.pod('p'), 'a')?.state?.waiting?.reason, 'PodInitializing');
    await step(() => world.host.of('i').exit(1), 'ii');
    await step(() => world.host.of('i').exit(0), 'iis');
    await step(() => world.probes.of('s').become({ isStarted: true, isReady: false }), 'iisj');
    assert.equal(
      condition(await world.pod('p'), 'Initialized')?.message,
      'containers with incomplete status: [j]',
    );
    await step(() => world.host.of('j').exit(0), 'iisjab');
    assert.equal((await world.pod('p')).status?.phase, 'Running');
    await step(() => world.host.of('s').exit(1), 'iisjabs');
    assert.equal((await world.pod('p')).status?.phase, 'Running');
  });

  it('lab/N13: restarts at once, then after 10 and 20 s; status and event say so', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    const { metadata } = await world.create('p', one);
    const title = `p_default(${metadata.uid})`;
    const die = async () => {
      world.host.of('c').exit(2);
      await world.env.settle();
    };
    await die();
    assert.equal(world.host.processes.length, 2, 'the first restart is immediate');
    await die();
    const { waiting, message, restartCount, last } = await world.brief('p');
    assert.deepEqual([waiting, restartCount, last.exitCode], ['CrashLoopBackOff', 1, 2]);
    assert.equal(message, `back-off 10s restarting failed container=c pod=${title}`);
    assert.deepEqual(await world.events('BackOff'), [
      `Warning BackOff: Back-off restarting failed container c in pod ${title}`,
    ]);
    await world.env.advance(9999);
    assert.equal(world.host.processes.length, 2);
    await world.env.advance(1);
    assert.equal(world.host.processes.length, 3);
    await die();
    assert.match((await world.brief('p')).message, /^back-off 20s /);
    await world.env.advance(20_000);
    assert.equal(world.host.processes.length, 4);
    assert.equal((await world.brief('p')).restartCount, 3);
  });

  it('a container of which nobody knows how it ended counts as killed, and comes back', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', one);
    world.host.of('c').vanish();
    await world.env.settle();
    const { restartCount, last } = await world.brief('p');
    assert.deepEqual([restartCount, last.exitCode, last.reason], [1, 137, 'ContainerStatusUnknown']);
  });

  it('lab/N13: a clean exit backs off too, and the node decides how long at most', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE, crashLoopMaxMs: 1000 });
    await world.create('p', one);
    for (const count of [2, 3, 4]) {
      world.host.of('c').exit(0);
      await world.env.advance(1000);
      assert.equal(world.host.processes.length, count);
    }
    world.host.of('c').exit(0);
    await world.env.settle();
    assert.match(stateOf(await world.pod('p'))?.state?.waiting?.message ?? '', /^back-off 1s /);
  });

  it('lab/P2: a program that cannot be started is a crash with its exit code', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    const failure = () => new StartFailure('RunContainerError', 'cannot run /bin/app: no such file', 127);
    world.host.failures.push(failure(), failure(), failure());
    await world.create('p', one);
    const { waiting, last } = await world.brief('p');
    assert.equal(waiting, 'CrashLoopBackOff', 'the second failure backs off');
    const { exitCode, reason, message } = last;
    assert.deepEqual([exitCode, reason, message], [127, 'RunContainerError', 'cannot run /bin/app: no such file']);
    assert.ok((await world.events('Failed')).includes('Warning Failed: Error: cannot run /bin/app: no such file'));
    await world.env.advance(10_000);
    assert.equal((await world.brief('p')).restartCount, 2);
    await world.env.advance(20_000);
    assert.equal((await world.brief('p')).pod.phase, 'Running');
  });

  it('lab/P2: with policy Never it fails', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    world.host.failures.push(new StartFailure('RunContainerError', 'cannot run /bin/app: not executable', 126));
    await world.create('p', { ...one, restartPolicy: 'Never' });
    const pod = await world.pod('p');
    assert.deepEqual([pod.status?.phase, stateOf(pod)?.state?.terminated?.exitCode], ['Failed', 126]);
  });

  it('lab/P12: a lab full of processes lets a pod wait, with an event', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    world.host.isFull = true;
    await world.create('p', one);
    const { waiting } = stateOf(await world.pod('p'))?.state ?? {};
    assert.equal(waiting?.reason, 'ContainerCreating');
    assert.match((await world.events('TooManyProcesses'))[0] ?? '', /as many as maxChildren allows/);
    world.host.isFull = false;
    await world.env.advance(60_000);
    assert.equal((await world.pod('p')).status?.phase, 'Running');
    assert.equal((await world.events('TooManyProcesses')).length, 1);
  });

  it('lab/P11: runAsNonRoot is checked, the rest is told once', async () => {
    const catalogue = { root: { argv: ['/x'] }, user: { argv: ['/x'], user: 1000 } };
    await using world = await KubeletWorld.start({ catalogue });
    const strict = { runAsNonRoot: true, readOnlyRootFilesystem: true };
    await world.create('bad', { containers: [{ name: 'c', image: 'root', securityContext: strict }] });
    const { waiting } = stateOf(await world.pod('bad'))?.state ?? {};
    assert.equal(waiting?.reason, 'CreateContainerConfigError');
    assert.match(waiting?.message ?? '', /container has runAsNonRoot and image will run as root/);
    const limits = { limits: { memory: '1Mi' } };
    await world.create('good', {
      containers: [
        { name: 'a', image: 'user', securityContext: strict },
        { name: 'b', image: 'user', resources: limits },
      ],
    });
    assert.equal((await world.pod('good')).status?.phase, 'Running');
    assert.deepEqual(await world.events('NotEnforced'), [
      'Normal NotEnforced: The lab takes note of, but does not enforce: resources.limits, securityContext.readOnlyRootFilesystem',
    ]);
  });

  it('lab/N9: a start that lacks something is tried again', async () => {
    await using world = await KubeletWorld.start();
    const { resolveStart } = world;
    const why = "couldn't find key k in ConfigMap default/n";
    world.resolveStart = async () => Promise.reject(new ContainerProblem('CreateContainerConfigError', why));
    await world.create('p', simulated);
    await world.env.advance(60_000);
    const pod = await world.pod('p');
    assert.deepEqual(stateOf(pod)?.state?.waiting, { reason: 'CreateContainerConfigError', message: why });
    assert.equal(pod.status?.phase, 'Pending');
    assert.deepEqual(await world.events('Failed'), [`Warning Failed: Error: ${why}`], 'once');
    world.resolveStart = resolveStart;
    await world.env.advance(10_000);
    assert.equal((await world.pod('p')).status?.phase, 'Running');
  });

  it('lab/N9: what nobody foresaw is CreateContainerError, and tried again', async () => {
    await using world = await KubeletWorld.start();
    const { resolveStart } = world;
    world.resolveStart = () => Promise.reject(new Error('boom'));
    await world.create('p', simulated);
    const { waiting } = stateOf(await world.pod('p'))?.state ?? {};
    assert.deepEqual(waiting, { reason: 'CreateContainerError', message: 'boom' });
    world.resolveStart = resolveStart;
    await world.env.advance(1000);
    assert.equal((await world.pod('p')).status?.phase, 'Running');
  });

  it('a volume that is missing keeps the pod waiting, and is told once', async () => {
    await using world = await KubeletWorld.start();
    const problem = () => new VolumeProblem('FailedMount', 'configmap "x" not found');
    world.volumes.problems.push(problem(), problem(), problem());
    await world.create('p', simulated);
    const pod = await world.pod('p');
    assert.equal(stateOf(pod)?.state?.waiting?.reason, 'ContainerCreating');
    assert.equal(condition(pod, 'PodReadyToStartContainers')?.reason, 'PodSandboxNotReady');
    assert.equal(world.volumes.seen[0]?.status?.podIP, '10.16.32.1', 'the address is known before');
    await world.env.advance(10_000);
    assert.equal((await world.pod('p')).status?.phase, 'Running');
    assert.deepEqual(await world.events('FailedMount'), ['Warning FailedMount: configmap "x" not found']);
  });

  it('volumes see labels that change while the pod runs', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', one);
    const body = { metadata: { labels: { tier: 'gold' } } };
    await world.env.client.patch(Pod, { namespace: 'default', name: 'p' }, { type: 'merge', body });
    await world.env.settle();
    assert.deepEqual(
      world.volumes.seen.map(({ metadata }) => metadata.labels?.['tier']),
      [undefined, 'gold'],
    );
  });

  it('a log stays as long as the object of its pod', async () => {
    const kept: number[] = [];
    await using world = await KubeletWorld.start({ keepLogs: async (uids) => void kept.push(uids.size) });
    await world.create('p', { ...simulated, restartPolicy: 'Never' });
    await world.create('q', simulated);
    await world.delete('q');
    assert.deepEqual(kept, [0, 1], 'at the start, and when one is gone');
  });

  it('lab/N15: a pod that is active for too long fails, and its containers end', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', { ...one, activeDeadlineSeconds: 30 });
    await world.env.advance(29_000);
    assert.equal((await world.brief('p')).pod.phase, 'Running');
    await world.env.advance(1000);
    const { pod, ended } = await world.brief('p');
    assert.deepEqual(
      [pod.phase, pod.reason, pod.message],
      ['Failed', 'DeadlineExceeded', 'Pod was active on the node longer than the specified deadline'],
    );
    assert.equal(ended.exitCode, 143);
    assert.equal(world.host.live, 0);
  });

  it('lab/N16: a pod that the node does not take fails, and never runs', async () => {
    await using world = await KubeletWorld.start({ allocatable: { cpu: '1', pods: '10' } });
    const wants = (cpu: string) => ({
      containers: [{ name: 'c', image: 'x', resources: { requests: { cpu } } }],
    });
    await world.create('a', wants('600m'));
    await world.create('b', wants('600m'));
    const { status } = await world.pod('b');
    assert.deepEqual([status?.phase, status?.reason], ['Failed', 'OutOfcpu']);
    assert.deepEqual([status?.containerStatuses, status?.conditions], [undefined, undefined]);
    assert.equal(
      status?.message,
      "Pod was rejected: Node didn't have enough resource: cpu, requested: 600, used: 600, capacity: 1000",
    );
    assert.deepEqual(await world.events('OutOfcpu'), [
      "Warning OutOfcpu: Node didn't have enough resource: cpu, requested: 600, used: 600, capacity: 1000",
    ]);
    await world.delete('a');
    await world.env.advance(60_000);
    assert.equal((await world.pod('b')).status?.phase, 'Failed', 'never restarted');
    await world.create('c', wants('600m'));
    assert.equal((await world.pod('c')).status?.phase, 'Running', 'what ended takes nothing');
    await world.delete('b');
    assert.equal(await world.find('b'), undefined);
  });

  it('lab/N16: devices are asked last', async () => {
    const why = 'Allocate failed due to no healthy devices present, which is unexpected';
    await using world = await KubeletWorld.start({
      admitDevices: async (pod) => (pod.metadata.name === 'c' ? undefined : why),
    });
    await world.create('a', { ...simulated, nodeSelector: { no: 'match' } });
    await world.create('b', simulated);
    const reasons = await Promise.all(['a', 'b'].map(async (name) => (await world.pod(name)).status?.reason));
    assert.deepEqual(reasons, ['NodeAffinity', 'UnexpectedAdmissionError']);
    assert.equal((await world.pod('b')).status?.message, `Pod was rejected: ${why}`);
    await world.create('c', simulated);
    assert.equal((await world.pod('c')).status?.phase, 'Running');
  });

  it('lab/N16: what cannot be found out lets nobody in', async () => {
    await using world = await KubeletWorld.start({ admitDevices: () => Promise.reject(new Error('no plugin')) });
    await world.create('p', simulated);
    const { reason, message } = (await world.brief('p')).pod;
    assert.deepEqual([reason, message], ['UnexpectedAdmissionError', 'Pod was rejected: no plugin']);
  });

  it('lab/N17: another image restarts that container, whatever the policy, and nothing else', async () => {
    const catalogue = { one: { argv: ['/one'] }, two: { argv: ['/two'] } };
    await using world = await KubeletWorld.start({ catalogue });
    const container = (name: string, image = 'one') => ({ name, image });
    await world.create('p', { restartPolicy: 'Never', containers: [container('a'), container('b')] });
    const body = { spec: { containers: [container('a', 'two')] } };
    await world.env.client.patch(Pod, { namespace: 'default', name: 'p' }, { type: 'strategic', body });
    await world.env.settle();
    assert.deepEqual(
      world.host.processes.map(({ spec }) => spec.argv[0]),
      ['/one', '/one', '/two'],
    );
    const pod = await world.pod('p');
    assert.deepEqual([pod.status?.phase, stateOf(pod, 'a')?.restartCount], ['Running', 1]);
    assert.equal(stateOf(pod, 'b')?.restartCount, 0);
    assert.deepEqual(await world.events('Killing'), [
      'Normal Killing: Container a definition changed, will be restarted',
    ]);
  });

  it('lab/N17: an image that can be had is not kept waiting by one that could not', async () => {
    await using world = await KubeletWorld.start({ unknownImages: 'fail', catalogue: CATALOGUE });
    await world.create('p', simulated);
    await world.env.advance(100_000);
    assert.equal((await world.brief('p')).waiting, 'ImagePullBackOff');
    const body = { spec: { containers: one.containers } };
    await world.env.client.patch(Pod, { namespace: 'default', name: 'p' }, { type: 'strategic', body });
    await world.env.settle();
    assert.equal((await world.pod('p')).status?.phase, 'Running');
  });

  it('tells readiness as probes see it, and nudges them after each status', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    world.probes.initial = { isStarted: true, isReady: false };
    await world.create('p', one);
    assert.equal(condition(await world.pod('p'), 'Ready')?.status, 'False');
    assert.deepEqual(world.probes.of('c').calls, ['nudge']);
    world.probes.of('c').become({ isStarted: true, isReady: true });
    await world.env.settle();
    assert.equal(condition(await world.pod('p'), 'Ready')?.status, 'True');
    assert.deepEqual(world.probes.of('c').calls, ['nudge'], 'not when it is ready');
  });

  it('a container that failed its liveness probe is stopped and comes back', async () => {
    await using world = await KubeletWorld.start({ catalogue: CATALOGUE });
    await world.create('p', one);
    const { events } = world.probes.of('c');
    events.unhealthy('Liveness probe failed: HTTP probe failed with statuscode: 500');
    events.mustRestart('Container c failed liveness probe, will be restarted', 7);
    await world.env.settle();
    assert.deepEqual(world.host.processes[0]?.calls, ['stop 7000']);
    assert.equal(world.host.processes.length, 2);
    assert.deepEqual(await world.events('Killing'), [
      'Normal Killing: Container c failed liveness probe, will be restarted',
    ]);
    assert.deepEqual(await world.events('Unhealthy'), [
      'Warning Unhealthy: Liveness probe failed: HTTP probe failed with statuscode: 500',
    ]);
  });

  it('keeps conditions of others, and follows readiness gates', async () => {
    await using world = await KubeletWorld.start();
    await world.create('p', { ...simulated, readinessGates: [{ conditionType: 'example.com/lb' }] });
    assert.equal(condition(await world.pod('p'), 'Ready')?.reason, 'ReadinessGatesNotReady');
    const body = { status: { conditions: [{ type: 'example.com/lb', status: 'True' }] } };
    const key = { namespace: 'default', name: 'p' };
    await world.env.client.patch(Pod, key, { type: 'strategic', body }, { subresource: 'status' });
    await world.env.settle();
    const pod = await world.pod('p');
    assert.equal(condition(pod, 'Ready')?.status, 'True');
    assert.equal(condition(pod, 'example.com/lb')?.status, 'True');
  });

  it('corrects a status that somebody else wrote over it', async () => {
    await using world = await KubeletWorld.start();
    await world.create('p', simulated);
    await world.env.advance(5000);
    const body = { status: { conditions: [{ type: 'Ready', status: 'False', reason: 'NodeNotReady' }] } };
    const key = { namespace: 'default', name: 'p' };
    await world.env.client.patch(Pod, key, { type: 'strategic', body }, { subresource: 'status' });
    await world.env.settle();
    const ready = condition(await world.pod('p'), 'Ready');
    assert.deepEqual([ready?.status, ready?.reason], ['True', undefined]);
    assert.equal(ready?.lastTransitionTime, '2026-01-01T00:00:05Z');
  });
});
