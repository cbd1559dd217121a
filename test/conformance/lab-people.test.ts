import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { kubectl } from '../support/kubectl.ts';
import { type People, startPeople, WEB_PORT, web } from '../support/lab-people.ts';
import { needsOracle } from '../support/needs-oracle.ts';

/** A condition that somebody has to set before a pod is ready. */
const GATE = 'people.example/good';
const CLUSTER = { name: 'c1', controlPlane: 3, workers: 2 };

describe('kubectl with a lab', needsOracle('kubectl'), () => {
  let people: People;
  let said: People['said'];
  let refused: People['refused'];
  let applied: People['applied'];
  let config = '';
  before(async () => {
    people = await startPeople({ clusters: [CLUSTER] });
    ({ said, refused, applied } = people);
    config = people.lab.cluster().kubeconfigPath;
  });
  after(async () => {
    await people[Symbol.asyncDispose]();
  });

  const column = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await said('get', ...words)).split(/\s+/).filter((word) => word !== '');
  const webPods = (path = '{.metadata.name}') =>
    column('pods', '-l', 'app=web', '-o', `jsonpath={range .items[*]}${path}{"\\n"}{end}`);
  const rolledOut = (what = 'deploy/web') => said('rollout', 'status', what, '--timeout=25s');
  /** Until kubectl says it, for at most 20 s. */
  const until = async (pattern: RegExp, ...words: readonly string[]): Promise<string> => {
    let text = '';
    for (let tries = 0; tries < 100; tries++) {
      text = await said(...words);
      if (pattern.test(text)) return text;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    throw new assert.AssertionError({ message: `kubectl ${words.join(' ')} never said ${pattern}: ${text}` });
  };

  it('lab/N3: shows nodes with their roles, versions and addresses', async () => {
    const text = await said('get', 'nodes', '-o', 'wide');
    assert.match(
      text,
      /\ncp-1 +Ready +control-plane,master +\S+ +v1\.\d+\.0\+slipway +10\.\d+\.1\.1 +127\.\d+\.1\.1 /,
    );
    assert.match(text, /\nw-2 +Ready +worker .* 10\.\d+\.1\.5 +127\.\d+\.1\.5 +Slipway lab /);
    const node = await said('describe', 'node', 'cp-1');
    assert.match(node, /Taints: +node-role\.kubernetes\.io\/control-plane:NoSchedule\n/);
    assert.match(node, /Ready +True .* KubeletReady +kubelet is posting ready status/);
    assert.match(node, /HolderIdentity: +cp-1\n/);
    assert.match(node, /Non-terminated Pods: +\(0 in total\)/);
  });

  it('lab/W7: rolls a Deployment out, shows its history, goes back, restarts and scales it', async () => {
    assert.match(await applied(web()), /deployment\.apps\/web created/);
    assert.match(await rolledOut(), /deployment "web" successfully rolled out/);
    const [first] = await column('rs', '-l', 'app=web', '-o', 'jsonpath={.items[0].metadata.name}');
    await said('set', 'env', 'deploy/web', 'VERSION=v2');
    assert.match(await rolledOut(), /successfully rolled out/);
    assert.match(await said('rollout', 'history', 'deploy/web'), /REVISION[^\n]*\n1 [^\n]*\n2 /);
    assert.match(await said('rollout', 'undo', 'deploy/web'), /deployment\.apps\/web rolled back/);
    assert.match(await rolledOut(), /successfully rolled out/);
    assert.match(await said('rollout', 'history', 'deploy/web'), /REVISION[^\n]*\n2 [^\n]*\n3 /);
    const annotations = 'jsonpath={.metadata.annotations}';
    const kept = JSON.parse(await said('get', 'rs', first ?? '', '-o', annotations));
    assert.equal(kept['deployment.kubernetes.io/revision'], '3');
    assert.equal(kept['deployment.kubernetes.io/revision-history'], '1');
    assert.match(await said('rollout', 'restart', 'deploy/web'), /restarted/);
    assert.match(await rolledOut(), /successfully rolled out/);
    await said('scale', 'deploy/web', '--replicas=3');
    assert.match(await rolledOut(), /successfully rolled out/);
    await said('set', 'image', 'deploy/web', 'app=demo/web:2');
    assert.match(await rolledOut(), /successfully rolled out/);
    await said('wait', '--for=condition=Available', 'deploy/web', '--timeout=20s');
    assert.match(
      await said('get', 'deploy', 'web', '-o', 'wide'),
      /\nweb +3\/3 +3 +3 +\S+ +app +demo\/web:2 +app=web/,
    );
    const text = await said('describe', 'deploy', 'web');
    assert.match(text, /Replicas: +3 desired \| 3 updated \| 3 total \| 3 available \| 0 unavailable/);
    assert.match(text, /Progressing +True +NewReplicaSetAvailable/);
    assert.match(text, /deployment-controller +Scaled up replica set web-\w+ from 0 to 1/);
  });

  it('lab/X2: shows where pods run, and that none runs where it is not tolerated', async () => {
    const lines = (await said('get', 'pods', '-l', 'app=web', '-o', 'wide')).trim().split('\n').slice(1);
    assert.equal(lines.length, 3);
    for (const line of lines) assert.match(line, /^web-\w+-\w+ +1\/1 +Running +0 +\S+ +10\.\d+\.32\.\d+ +w-[12] /);
    const addresses = await webPods('{.status.podIP}');
    assert.equal(new Set(addresses).size, 3);
    const [pod = ''] = await webPods();
    const text = await said('describe', 'pod', pod);
    assert.match(text, /\nNode: +w-[12]\/10\.\d+\.1\.[45]\n/);
    assert.match(text, /Container ID: +slipway:\/\/[0-9a-f]{64}\n/);
    assert.match(
      text,
      /Mounts:\n +\/var\/run\/secrets\/kubernetes\.io\/serviceaccount from kube-api-access-\w+ \(ro\)/,
    );
    assert.match(
      text,
      /Normal +Scheduled .* default-scheduler +Successfully assigned default\/web-\S+ to w-[12]\n/,
    );
    assert.match(text, /Normal +Started .* kubelet +Started container app\n/);
  });

  it('lab/N40: shows the newest lines, those since a time, with times, and follows', async () => {
    const [pod = ''] = await webPods();
    await until(/line 3\n/, 'logs', pod);
    assert.match(await said('logs', pod), /^listening\nline 1\nline 2\nline 3\n/);
    assert.equal((await said('logs', pod, '--tail=2')).match(/^line \d+\n/gm)?.length, 2);
    assert.match(
      await said('logs', 'deploy/web', '--tail=1', '--timestamps'),
      /^\d{4}-\d\d-\d\dT[\d:]{8}\.\d+Z line/,
    );
    assert.doesNotMatch(await said('logs', pod, '--since=1s'), /listening/);
    assert.match(await said('logs', pod, '--since=1h', '--limit-bytes=9'), /^listening$/);
    assert.match(await refused('logs', pod, '-c', 'nope'), /container nope is not valid for pod web-/);
    assert.match(
      await refused('logs', pod, '--previous'),
      /previous terminated container "app" in pod "web-\S+ not found/,
    );
  });

  it('lab/N41: shows the run before this one after a crash', async () => {
    const [pod = ''] = await webPods();
    const [address = ''] = await column('pod', pod, '-o', 'jsonpath={.status.podIP}');
    await assert.rejects(fetch(`${people.lab.urlOf(address, WEB_PORT)}/crash`));
    await until(
      / 1$/,
      'get',
      'pod',
      pod,
      '-o',
      'jsonpath={.metadata.name} {.status.containerStatuses[0].restartCount}',
    );
    await said('wait', '--for=condition=Ready', `pod/${pod}`, '--timeout=20s');
    assert.match(await said('logs', pod, '--previous'), /^listening\n(line \d+\n)+crashing as asked\n$/);
    assert.match(await said('logs', pod), /^listening\n(line \d+\n)*$/);
    assert.match(
      await said('describe', 'pod', pod),
      /Last State: +Terminated\n +Reason: +Error\n +Exit Code: +3\n/,
    );
  });

  it('lab/W34: drains a node as far as a budget allows it, and goes on when the replacement is ready', async () => {
    /** Says of every pod that it is good. */
    const approve = async (): Promise<void> => {
      for (const pod of await webPods()) {
        const status = { conditions: [{ type: GATE, status: 'True' }] };
        // It may have gone meanwhile.
        await kubectl(config, 'patch', 'pod', pod, '--subresource=status', '-p', JSON.stringify({ status }));
      }
    };
    await said('delete', 'deploy', 'web', '--ignore-not-found', '--cascade=foreground', '--timeout=25s');
    await applied(web({ template: { readinessGates: [{ conditionType: GATE }] } }), budget());
    await until(/^2$/, 'get', 'deploy', 'web', '-o', 'jsonpath={.status.updatedReplicas}');
    const isRolledOut = rolledOut();
    await approve();
    await until(
      /^1 2$/,
      'get',
      'pdb',
      'web',
      '-o',
      'jsonpath={.status.disruptionsAllowed} {.status.expectedPods}',
    );
    assert.deepEqual((await webPods('{.spec.nodeName}')).toSorted(), ['w-1', 'w-2']);
    await isRolledOut;
    assert.match(await said('drain', 'w-1', '--ignore-daemonsets', '--timeout=25s'), /pod\/web-\S+ evicted/);
    assert.match(await said('get', 'node', 'w-1'), / Ready,SchedulingDisabled /);
    assert.match(await said('uncordon', 'w-1'), /node\/w-1 uncordoned/);
    // Nobody has said yet that the replacement is good.
    const text = await refused('drain', 'w-2', '--ignore-daemonsets', '--timeout=2s');
    assert.match(text, /Cannot evict pod as it would violate the pod's disruption budget\./);
    let isDrained = false;
    const drained = said('drain', 'w-2', '--ignore-daemonsets', '--timeout=28s').finally(() => {
      isDrained = true;
    });
    while (!isDrained) await approve();
    assert.match(await drained, /node\/w-2 drained/);
    assert.doesNotMatch((await webPods('{.spec.nodeName}')).join(' '), /w-2/);
    await said('uncordon', 'w-2');
    await said('delete', 'pdb/web', 'deploy/web', '--cascade=foreground', '--timeout=25s');
  });

  it('lab/N14: deletes at once when told so, and waits for the end otherwise', async () => {
    await applied(web());
    await rolledOut();
    const [one = '', two = ''] = await webPods();
    assert.match(await said('delete', 'pod', one, '--grace-period=0', '--force'), /pod "web-\S+ force deleted/);
    assert.match(await refused('get', 'pod', one), /pods "web-\S+ not found/);
    assert.match(await said('delete', 'pod', two, '--timeout=20s'), /pod "web-\S+ deleted/);
    await rolledOut();
    assert.match(await said('delete', 'deploy', 'web', '--cascade=foreground', '--timeout=25s'), /deleted/);
    assert.deepEqual(await webPods(), []);
  });

  it('lab/W29: waits for a Job, and follows its log to the end', async () => {
    await applied(job());
    assert.equal(await said('logs', '-f', 'job/count', '--pod-running-timeout=20s'), 'one\ntwo\nthree\n');
    assert.match(await said('wait', '--for=condition=complete', 'job/count', '--timeout=20s'), /condition met/);
    assert.match(await said('get', 'job', 'count'), /\ncount +Complete +1\/1 /);
    assert.match(await said('get', 'pods', '-l', 'job-name=count'), / Completed +0 /);
    await said('delete', 'job', 'count', '--timeout=20s');
    await said('wait', '--for=delete', 'pod', '-l', 'job-name=count', '--timeout=20s');
  });

  it('lab/W19: a DaemonSet runs where it is tolerated, and nowhere else', async () => {
    await applied(daemons([]));
    await rolledOut('ds/agent');
    assert.match(await said('get', 'ds', 'agent'), /\nagent +2 +2 +2 +2 +2 /);
    await applied(daemons([{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' }]));
    await rolledOut('ds/agent');
    assert.match(await said('get', 'ds', 'agent'), /\nagent +5 +5 +5 +5 +5 /);
    assert.match(await said('drain', 'w-1', '--ignore-daemonsets', '--timeout=20s'), /node\/w-1 drained/);
    assert.match(await said('get', 'ds', 'agent'), /\nagent +5 +5 +5 +5 +5 /);
    await said('uncordon', 'w-1');
    await said('delete', 'ds', 'agent', '--timeout=20s');
  });

  it('lab/N42: says at once what it cannot do', async () => {
    await applied(web({ replicas: 1 }));
    await rolledOut();
    const [pod = ''] = await webPods();
    assert.match(await refused('exec', pod, '--', 'ls'), /pods\/exec is not available: \w+/);
    assert.match(await refused('attach', pod), /pods\/attach is not available: \w+/);
    assert.match(await refused('port-forward', pod, '18080:80'), /pods\/portforward is not available: \w+/);
    assert.match(await refused('cp', import.meta.filename, `${pod}:/tmp/x`), /pods\/exec is not available: \w+/);
    assert.match(await refused('top', 'nodes'), /Metrics API not available/);
    assert.match(await refused('top', 'pods'), /Metrics API not available/);
    await said('delete', 'deploy', 'web');
  });
});

const budget = () => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web', namespace: 'default' },
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
});

const job = () => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'count', namespace: 'default' },
  spec: {
    template: {
      spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'demo/web', args: ['count'] }] },
    },
  },
});

/** Simulated: nobody needs their processes. */
const daemons = (tolerations: readonly object[]) => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent', namespace: 'default' },
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    updateStrategy: { rollingUpdate: { maxUnavailable: '100%' } },
    template: {
      metadata: { labels: { app: 'agent' } },
      spec: { tolerations, containers: [{ name: 'agent', image: 'agent' }] },
    },
  },
});
