import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Deployment } from '../../src/api/generated/apps-v1.ts';
import { ConfigMap, Node, type Pod } from '../../src/api/generated/core-v1.ts';
import { LabTrial, PORT, type PodPicture, pictureOf } from '../support/lab-trial.ts';

const sh = (text: string, more: Partial<Pod['spec']['containers'][0]> = {}) => ({
  name: 'c',
  image: 'sh',
  args: [text],
  ...more,
});
const program = (...command: string[]) => ({ name: 'c', image: 'sh', command });

const UNREADY = 'False ContainersNotReady: containers with unready status: [c]';
const backOff = (seconds: number) =>
  `waiting CrashLoopBackOff: back-off ${seconds}s restarting failed container=c pod=p_default(UID)`;
const BACK_OFF_EVENT = 'Warning BackOff Back-off restarting failed container c in pod p_default(UID)';
const CREATED = 'Normal Created Created container: c';
const pulled = (image: string) => `Normal Pulled Container image "${image}" already present on machine`;
const started = (image: string) => [CREATED, pulled(image), 'Normal Started Started container c'];
const TIMEOUT = `Get "http://ADDRESS:${PORT}/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`;

interface Fault {
  readonly title: string;
  readonly spec: Pod['spec'];
  readonly want: PodPicture;
  readonly events: readonly string[];
}

/** Asked until the program listens: what comes before would be another message. */
const LISTENS = { tcpSocket: { port: PORT }, periodSeconds: 1, failureThreshold: 60 };
const NOT_YET = `Warning Unhealthy Startup probe failed: dial tcp ADDRESS:${PORT}: connect: connection refused`;

const FAULTS: readonly Fault[] = [
  {
    title: 'lab/N13: a program that exits at once backs off, longer each time',
    spec: { containers: [sh('echo unknown flag >&2; exit 2')] },
    want: { phase: 'Running', state: backOff(20), lastState: 'terminated Error 2', restarts: 2, ready: UNREADY },
    events: [...started('sh'), BACK_OFF_EVENT],
  },
  {
    title: 'lab/N13: a program that ends well although it should not backs off too',
    spec: { containers: [sh('exit 0')] },
    want: {
      phase: 'Running',
      state: backOff(10),
      lastState: 'terminated Completed 0',
      restarts: 1,
      ready: UNREADY,
    },
    events: [...started('sh'), BACK_OFF_EVENT],
  },
  {
    title: 'lab/N9: a program that fails once and for all fails its pod',
    spec: { restartPolicy: 'Never', containers: [sh('exit 3')] },
    want: { phase: 'Failed', state: 'terminated Error 3', lastState: '', restarts: 0, ready: 'False PodFailed' },
    events: started('sh'),
  },
  {
    title: 'lab/N9: a program that is killed by a signal ends with 128 and its number',
    spec: { restartPolicy: 'Never', containers: [sh('kill -s SEGV $$$$')] },
    want: { phase: 'Failed', state: 'terminated Error 139', lastState: '', restarts: 0, ready: 'False PodFailed' },
    events: started('sh'),
  },
  {
    title: 'lab/P2: a program that is not there is told by its name, and tried again as any that crashes',
    spec: { containers: [program('/no/such/program')] },
    want: {
      phase: 'Running',
      state: backOff(10),
      lastState: 'terminated RunContainerError 127: cannot run /no/such/program: no such file',
      restarts: 1,
      ready: UNREADY,
    },
    events: [
      CREATED,
      pulled('sh'),
      BACK_OFF_EVENT,
      'Warning Failed Error: cannot run /no/such/program: no such file',
    ],
  },
  {
    title: 'lab/P2: a file that is no program is told by its name',
    spec: { restartPolicy: 'Never', containers: [program('/etc/passwd')] },
    want: {
      phase: 'Failed',
      state: 'terminated RunContainerError 126: cannot run /etc/passwd: it is not executable (mode 0644)',
      lastState: '',
      restarts: 0,
      ready: 'False PodFailed',
    },
    events: [
      CREATED,
      pulled('sh'),
      'Warning Failed Error: cannot run /etc/passwd: it is not executable (mode 0644)',
    ],
  },
  {
    title: 'lab/N22: a readiness probe that hangs keeps the pod out of service, and no more',
    spec: {
      containers: [
        {
          name: 'c',
          image: 'mute',
          startupProbe: LISTENS,
          readinessProbe: { httpGet: { port: PORT }, periodSeconds: 1 },
        },
      ],
    },
    want: { phase: 'Running', state: 'running', lastState: '', restarts: 0, ready: UNREADY },
    events: [...started('mute'), `Warning Unhealthy Readiness probe failed: ${TIMEOUT}`],
  },
  {
    title: 'lab/N22: a liveness probe that hangs ends the program, which starts again',
    spec: {
      containers: [
        {
          name: 'c',
          image: 'mute',
          startupProbe: LISTENS,
          livenessProbe: { httpGet: { port: PORT }, periodSeconds: 1, failureThreshold: 2 },
        },
      ],
    },
    want: { phase: 'Running', state: 'running', lastState: 'terminated Error 143', restarts: 1, ready: 'True' },
    events: [
      ...started('mute'),
      'Normal Killing Container c failed liveness probe, will be restarted',
      `Warning Unhealthy Liveness probe failed: ${TIMEOUT}`,
    ],
  },
  {
    title: 'lab/N21: a probe command that hangs is ended, with what it started',
    spec: {
      containers: [
        sh('exec sleep 600', { readinessProbe: { exec: { command: ['/bin/sleep', '600'] }, periodSeconds: 1 } }),
      ],
    },
    want: { phase: 'Running', state: 'running', lastState: '', restarts: 0, ready: UNREADY },
    events: [
      ...started('sh'),
      'Warning Unhealthy Readiness probe failed: command timed out: "/bin/sleep 600" timed out after 1s',
    ],
  },
  {
    title: 'lab/N25: a ConfigMap that a variable needs and that is not there is waited for',
    spec: {
      containers: [
        sh('exit 0', { env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'nope', key: 'k' } } }] }),
      ],
    },
    want: {
      phase: 'Pending',
      state: 'waiting CreateContainerConfigError: configmap "nope" not found',
      lastState: '',
      restarts: 0,
      ready: UNREADY,
    },
    events: [pulled('sh'), 'Warning Failed Error: configmap "nope" not found'],
  },
  {
    title: 'lab/N25: a Secret that is not there is waited for',
    spec: { containers: [sh('exit 0', { envFrom: [{ secretRef: { name: 'nope' } }] })] },
    want: {
      phase: 'Pending',
      state: 'waiting CreateContainerConfigError: secret "nope" not found',
      lastState: '',
      restarts: 0,
      ready: UNREADY,
    },
    events: [pulled('sh'), 'Warning Failed Error: secret "nope" not found'],
  },
  {
    title: 'lab/N27: a ConfigMap that a volume needs and that is not there holds the pod up',
    spec: {
      volumes: [{ name: 'v', configMap: { name: 'nope' } }],
      containers: [sh('exit 0', { volumeMounts: [{ name: 'v', mountPath: '/v' }] })],
    },
    want: { phase: 'Pending', state: 'waiting ContainerCreating', lastState: '', restarts: 0, ready: UNREADY },
    events: ['Warning FailedMount MountVolume.SetUp failed for volume "v" : configmap "nope" not found'],
  },
];

describe('a pod in trouble', { concurrency: 4 }, () => {
  for (const { title, spec, want, events } of FAULTS) {
    it(title, async () => {
      await using trial = await LabTrial.start();
      await trial.create('p', spec);
      let last = pictureOf(undefined);
      const isSo = (pod: Pod | undefined) => {
        last = pictureOf(pod);
        return isDeepStrictEqual(last, want);
      };
      await trial.until('p', isSo, 'as it should be', '1m').catch(() => {});
      assert.deepEqual(last, want);
      const told = async () => (await trial.events('p')).filter((event) => event !== NOT_YET);
      const hasAll = async () => {
        const all = await told();
        return events.every((event) => all.includes(event));
      };
      await trial.lab.until(hasAll, { within: '20s' }).catch(() => {});
      assert.deepEqual(await told(), events.toSorted());
    });
  }

  it('lab/N25: goes on by itself when what was missing is there', async () => {
    await using trial = await LabTrial.start({ clock: 'auto' });
    const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'late', key: 'k' } } }];
    await trial.create('p', { restartPolicy: 'Never', containers: [sh('echo "A is $A"', { env })] });
    await trial.untilState('p', 'waiting CreateContainerConfigError: configmap "late" not found');
    const metadata = { name: 'late', namespace: 'default' };
    await trial.cluster.client.create(ConfigMap, { metadata, data: { other: 'x' } });
    await trial.untilState(
      'p',
      `waiting CreateContainerConfigError: couldn't find key k in ConfigMap default/late`,
    );
    await trial.cluster.client.patch(ConfigMap, metadata, { type: 'merge', body: { data: { k: 'here' } } });
    await trial.until('p', (pod) => pictureOf(pod).phase === 'Succeeded', 'done');
    assert.equal(await trial.cluster.logs({ namespace: 'default', name: 'p' }), 'A is here\n');
  });

  it('lab/X5: a program whose port is in use is refused by the kernel, and crashes as anywhere', async () => {
    await using trial = await LabTrial.start();
    const spec = { hostNetwork: true, containers: [{ name: 'c', image: 'web' }] };
    await trial.create('first', spec);
    const hasListened = async () =>
      (await trial.cluster.logs({ namespace: 'default', name: 'first' }).catch(() => '')).includes('listening');
    await trial.lab.until(hasListened, { within: '1m' });
    await trial.create('second', spec);
    await trial.untilState('second', 'waiting CrashLoopBackOff');
    const { lastState, restarts, ready } = await trial.picture('second');
    assert.deepEqual([lastState, restarts, ready], ['terminated Error 1', 1, UNREADY]);
    assert.match(await trial.cluster.logs({ namespace: 'default', name: 'second' }), /EADDRINUSE/);
    assert.equal((await trial.picture('first')).ready, 'True');
  });

  it('lab/K2: a port that a pod asks for by name of its host is given once per node', async () => {
    await using trial = await LabTrial.start();
    const containers = [{ name: 'c', image: 'web', ports: [{ containerPort: PORT, hostPort: 18_080 }] }];
    await trial.create('first', { containers });
    await trial.untilReady('first');
    await trial.create('second', { containers });
    const scheduled = (pod: Pod | undefined) =>
      pod?.status?.conditions?.find(({ type }) => type === 'PodScheduled');
    await trial.until('second', (pod) => scheduled(pod) !== undefined, 'the scheduler has looked at it');
    const { status, reason, message = '' } = scheduled(await trial.pod('second')) ?? {};
    assert.deepEqual([status, reason], ['False', 'Unschedulable']);
    assert.match(
      message,
      /^0\/1 nodes are available: 1 node\(s\) didn't have free ports for the requested pod ports\./,
    );
  });
});

describe('a Deployment in trouble', () => {
  const conditionsOf = ({ status }: Deployment) =>
    (status?.conditions ?? [])
      .map(({ type, status: is, reason, message }) => `${type}=${is} ${reason}: ${message}`)
      .toSorted();

  it('lab/W12: says that it does not get on, and that it does when its program is right', async () => {
    await using trial = await LabTrial.start({ clock: 'auto' });
    const { lab, cluster } = trial;
    const key = { namespace: 'default', name: 'd' };
    const startMs = lab.clock.now().getTime();
    const readinessProbe = { tcpSocket: { port: PORT }, periodSeconds: 1 };
    const template = (...args: string[]) => ({
      metadata: { labels: { app: 'd' } },
      spec: { containers: [{ name: 'c', image: 'web', args, readinessProbe }] },
    });
    const spec = { selector: { matchLabels: { app: 'd' } }, template: template('--no-such-flag') };
    await cluster.client.create(Deployment, { metadata: key, spec });
    const progress = async (reason: string) =>
      (await cluster.client.get(Deployment, key)).status?.conditions?.some(
        (one) => one.type === 'Progressing' && one.reason === reason,
      ) === true;
    await lab.until(() => progress('ProgressDeadlineExceeded'), { within: '15m' });
    const tookMs = lab.clock.now().getTime() - startMs;
    assert.ok(tookMs >= 600_000 && tookMs < 615_000, `after ${tookMs} ms`);
    const stuck = await cluster.client.get(Deployment, key);
    const [, name = ''] = /ReplicaSet "(.*?)"/.exec(conditionsOf(stuck).join()) ?? [];
    assert.deepEqual(conditionsOf(stuck), [
      'Available=False MinimumReplicasUnavailable: Deployment does not have minimum availability.',
      `Progressing=False ProgressDeadlineExceeded: ReplicaSet "${name}" has timed out progressing.`,
    ]);
    await cluster.client.patch(Deployment, key, {
      type: 'merge',
      body: { spec: { template: template() } },
    });
    await lab.until(() => cluster.rolledOut('default', 'd'), { within: '2m' });
    await lab.until(() => progress('NewReplicaSetAvailable'), { within: '1m' });
    const [available, progressing = ''] = conditionsOf(await cluster.client.get(Deployment, key));
    assert.equal(available, 'Available=True MinimumReplicasAvailable: Deployment has minimum availability.');
    assert.match(
      progressing,
      /^Progressing=True NewReplicaSetAvailable: ReplicaSet "d-\w+" has successfully progressed\.$/,
    );
  });
});

describe('a node that is killed while pods run', () => {
  it('lab/N6: is given up after a while, and takes its pods up again when it is back', async () => {
    await using trial = await LabTrial.start({ clock: 'auto' });
    const { lab, cluster } = trial;
    await trial.create('p', { containers: [sh('trap "" TERM; sleep 600 & setsid sleep 600 & echo up; wait')] });
    await trial.untilReady('p');
    const { containerID } = await trial.container('p');
    await cluster.node('w-1').powerOff();
    assert.equal((await trial.picture('p')).state, 'running', 'nobody was told');

    const ready = async () => {
      const { status } = await cluster.client.get(Node, { name: 'w-1' });
      const found = status?.conditions?.find(({ type }) => type === 'Ready');
      if (found === undefined) throw new Error('the node does not say whether it is ready');
      return found;
    };
    await lab.until(async () => (await ready()).status === 'Unknown', { within: '2m' });
    const { reason, message } = await ready();
    assert.deepEqual([reason, message], ['NodeStatusUnknown', 'Kubelet stopped posting node status.']);
    await trial.until('p', (pod) => pictureOf(pod).ready.startsWith('False'), 'not ready');

    await cluster.node('w-1').powerOn();
    await lab.until(async () => (await ready()).status === 'True', { within: '1m' });
    await trial.until('p', (pod) => pictureOf(pod).restarts === 1 && pictureOf(pod).ready === 'True', 'restarted');
    const { lastState, phase } = await trial.picture('p');
    assert.deepEqual(
      [phase, lastState],
      [
        'Running',
        'terminated ContainerStatusUnknown 137: The container could not be located when the pod was deleted.  The container used to be Running',
      ],
    );
    const again = await trial.container('p');
    assert.equal(again.lastState?.terminated?.containerID, containerID);
    assert.notEqual(again.containerID, containerID);
  });
});
