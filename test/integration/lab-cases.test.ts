import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DaemonSet, Deployment } from '../../src/api/generated/apps-v1.ts';
import { ConfigMap, type ContainerStatus, Event, Pod, Secret } from '../../src/api/generated/core-v1.ts';
import { IMAGES, LabTrial, PORT, pictureOf } from '../support/lab-trial.ts';
import { until } from '../support/scratch.ts';

const KEY = { namespace: 'default', name: 'p' };
const sh = (text: string, more: Partial<Pod['spec']['containers'][0]> = {}) => ({
  name: 'c',
  image: 'sh',
  args: [text],
  ...more,
});

/** Between the end of the run before and the start of the one that goes on. */
function waitedSeconds({ state, lastState }: ContainerStatus): number | undefined {
  const [start, end] = [state?.running?.startedAt, lastState?.terminated?.finishedAt];
  return start === undefined || end === undefined ? undefined : (Date.parse(start) - Date.parse(end)) / 1000;
}

describe('restarts of a program with a wrong flag', () => {
  it('lab/N13: come after 0, 10, 20 and 40 s', async () => {
    await using trial = await LabTrial.start({ clock: 'auto' });
    const { lab } = trial;
    await trial.create('p', { containers: [{ name: 'c', image: 'web', args: ['--no-such-flag'] }] });
    // From the end of one run to the start of the next, in whole seconds as statuses have them.
    const waits = new Map<number, number>();
    const seen = (pod: Pod | undefined) => {
      const { restarts, state } = pictureOf(pod);
      for (const status of pod?.status?.containerStatuses ?? []) {
        const wait = waitedSeconds(status);
        if (wait !== undefined) waits.set(restarts, wait);
      }
      return restarts === 4 && state.startsWith('waiting CrashLoopBackOff');
    };
    await trial.until('p', seen, 'restarted four times', '10m');
    const rounded = [...waits.values()].map((seconds) => Math.round(seconds / 10) * 10);
    assert.deepEqual(rounded, [0, 10, 20, 40], `${[...waits.values()].join(', ')} s`);
    assert.match((await trial.picture('p')).state, /^waiting CrashLoopBackOff: back-off 1m20s /);
    await lab.settle();
  });
});

describe('a Deployment that recreates', () => {
  it('lab/W7b: starts the new program when the old one is gone, and its port is free', async () => {
    const server = `
      const { appendFileSync } = require('node:fs');
      const say = (text) => appendFileSync('/journal/journal', text + '\\n');
      const server = require('node:http').createServer((request, response) => response.end(process.env.VERSION));
      server.on('error', (error) => { say(process.env.VERSION + ' ' + error.code); process.exit(1); });
      server.listen(${PORT}, () => say(process.env.VERSION + ' listens'));
      process.on('SIGTERM', () => setTimeout(() => { say(process.env.VERSION + ' ends'); process.exit(0); }, 300));`;
    await using trial = await LabTrial.start({ images: { server: { argv: ['node', '-e', server] } } });
    const { cluster, lab } = trial;
    const key = { namespace: 'default', name: 'd' };
    const template = (version: string) => ({
      metadata: { labels: { app: 'd' } },
      spec: {
        hostNetwork: true,
        volumes: [{ name: 'journal', hostPath: { path: '/journal', type: 'DirectoryOrCreate' as const } }],
        containers: [
          {
            name: 'c',
            image: 'server',
            env: [{ name: 'VERSION', value: version }],
            volumeMounts: [{ name: 'journal', mountPath: '/journal' }],
            readinessProbe: { tcpSocket: { port: PORT }, periodSeconds: 1 },
          },
        ],
      },
    });
    const selector = { matchLabels: { app: 'd' } };
    await cluster.client.create(Deployment, {
      metadata: key,
      spec: { selector, strategy: { type: 'Recreate' }, template: template('one') },
    });
    await lab.until(() => cluster.rolledOut('default', 'd'), { within: '1m' });
    await cluster.client.patch(Deployment, key, { type: 'merge', body: { spec: { template: template('two') } } });
    await lab.until(() => cluster.rolledOut('default', 'd'), { within: '1m' });
    const journal = await readFile(join(lab.directory, '1/n/1/journal/journal'), 'utf8');
    assert.deepEqual(journal.trim().split('\n'), ['one listens', 'one ends', 'two listens']);
    const [pod] = (await cluster.client.list(Pod, { namespace: 'default' })).items;
    assert.equal(await (await fetch(lab.urlOf(pod?.status?.podIP ?? '', PORT))).text(), 'two');
  });
});

describe('a ConfigMap that changes', () => {
  it('lab/N27: is swapped at once: a program that reads all the time never sees a mix', async () => {
    const reader = `
      const { readFileSync, realpathSync, writeSync } = require('node:fs');
      const seen = new Set();
      setInterval(() => {
        for (let turn = 0; turn < 20; turn++) {
          try {
            const folder = realpathSync('/config/..data');
            const [a, b] = ['a', 'b'].map((name) => readFileSync(folder + '/' + name, 'utf8'));
            const version = a.slice(0, 4);
            const words = a === b && a === (version + ',').repeat(4000) ? version : 'MIX';
            if (!seen.has(words)) writeSync(1, words + '\\n');
            seen.add(words);
          } catch (error) {
            if (error.code !== 'ENOENT') writeSync(1, String(error) + '\\n');
          }
          if (readFileSync('/config/a', 'utf8').length !== 20_000) writeSync(1, 'TORN\\n');
        }
      }, 1);`;
    await using trial = await LabTrial.start({ images: { reader: { argv: ['node', '-e', reader] } } });
    const { client } = trial.cluster;
    const metadata = { namespace: 'default', name: 'config' };
    const data = (version: number) => {
      const value = `${1000 + version},`.repeat(4000);
      return { a: value, b: value };
    };
    await client.create(ConfigMap, { metadata, data: data(0) });
    await trial.create('p', {
      volumes: [{ name: 'v', configMap: { name: 'config' } }],
      containers: [{ name: 'c', image: 'reader', volumeMounts: [{ name: 'v', mountPath: '/config' }] }],
    });
    await trial.untilReady('p');
    const log = async () => (await trial.cluster.logs(KEY)).trim().split('\n');
    await trial.lab.until(async () => (await log()).at(-1) === '1000', { within: '20s' });
    let version = 0;
    // On a busy machine the program sees few of them: then there are more.
    while (version < 40 || (version < 400 && (await log()).length <= 5)) {
      await client.patch(ConfigMap, metadata, { type: 'merge', body: { data: data(++version) } });
      await sleep(25);
    }
    await trial.lab.until(async () => (await log()).at(-1) === String(1000 + version), { within: '20s' });
    const versions = (await log()).map(Number);
    assert.deepEqual(
      versions,
      versions.toSorted((a, b) => a - b),
      'never an older one after a newer one',
    );
    assert.ok(versions.length > 5 && versions.every((version) => version >= 1000), versions.join(' '));
  });
});

const runsOf = (pod: Pod | undefined) =>
  pod?.status?.containerStatuses?.map(({ containerID, restartCount }) => [containerID, restartCount]);

/** Whether it is ready and not the one that was there before. */
const isAnother = (now: Pod | undefined, before: Pod): boolean =>
  now !== undefined && now.metadata.uid !== before.metadata.uid && pictureOf(now).ready === 'True';

describe('a static pod', () => {
  it('lab/N37: runs without an API server, and keeps its process whatever happens to its mirror', async () => {
    await using trial = await LabTrial.start();
    const { lab, cluster } = trial;
    const manifests = join(lab.directory, '1/n/1/etc/kubernetes/manifests');
    await mkdir(manifests, { recursive: true });
    cluster.node('w-1').partition(true);
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'ccm', namespace: 'kube-system' },
      spec: {
        hostNetwork: true,
        volumes: [{ name: 'run', hostPath: { path: '/run', type: 'DirectoryOrCreate' } }],
        containers: [
          sh('echo $$$$ >> /run/pids; exec sleep 600', { volumeMounts: [{ name: 'run', mountPath: '/run' }] }),
        ],
      },
    };
    await writeFile(join(manifests, 'ccm.json'), JSON.stringify(pod));
    const pids = join(lab.directory, '1/n/1/run/pids');
    await until(() => existsSync(pids), 'the program runs while there is no API server', 40_000);
    const key = { namespace: 'kube-system', name: 'ccm-w-1' };
    assert.equal(await cluster.client.find(Pod, key), undefined, 'nobody knows of it');

    cluster.node('w-1').partition(false);
    const mirror = async () => await cluster.client.find(Pod, key);
    const isRunning = async () => pictureOf(await mirror()).ready === 'True';
    await lab.until(isRunning, { within: '1m' });
    const first = await mirror();
    assert.ok(first?.metadata.annotations?.['kubernetes.io/config.mirror'], 'it is a mirror');
    assert.deepEqual(
      first.metadata.ownerReferences?.map(({ kind, name }) => [kind, name]),
      [['Node', 'w-1']],
    );
    await cluster.client.delete(Pod, key, { gracePeriodSeconds: 0 });
    await lab.until(async () => isAnother(await mirror(), first), { within: '1m' });
    assert.deepEqual(runsOf(await mirror()), runsOf(first));
    const written = await readFile(pids, 'utf8');
    assert.match(written, /^\d+\n$/, 'it was started once');
    process.kill(Number(written), 0);
    await rm(join(manifests, 'ccm.json'));
    await lab.until(async () => (await mirror()) === undefined, { within: '1m' });
  });
});

describe('variables of a container', () => {
  it('lab/N24: are expanded from those before them, and nothing else', async () => {
    await using trial = await LabTrial.start();
    const { client } = trial.cluster;
    await client.create(Secret, {
      metadata: { namespace: 'default', name: 'keys' },
      stringData: { k: 'opensesame' },
    });
    const secret = (name: string, key: string, optional?: boolean) => ({
      valueFrom: { secretKeyRef: { name, key, ...(optional !== undefined && { optional }) } },
    });
    const env = [
      { name: 'LATE', value: '<$(A)>' },
      { name: 'A', value: 'a' },
      { name: 'B', value: '$(A)-b' },
      { name: 'C', value: '$(B)$(A)' },
      { name: 'ESCAPED', value: '$$(A)' },
      { name: 'TWICE', value: '$$$(A)' },
      { name: 'UNKNOWN', value: '$(NOBODY)' },
      { name: 'OPEN', value: '$(A' },
      { name: 'SECRET', ...secret('keys', 'k') },
      { name: 'FROM_SECRET', value: '$(SECRET)!' },
      { name: 'OPTIONAL', ...secret('nope', 'k', true) },
      { name: 'OPTIONAL_KEY', ...secret('keys', 'nope', true) },
      { name: 'AFTER_OPTIONAL', value: '$(OPTIONAL)' },
    ];
    const names = env.map(({ name }) => name);
    const program = `for (const name of ${JSON.stringify(names)}) console.log(name + '=' + process.env[name]);
      console.log(process.argv.slice(1).join(' '));`;
    const container = {
      name: 'c',
      image: 'any',
      command: ['node', '-e', program, '--'],
      args: ['--a=$(A)', '$$(A)', '$(NOBODY)'],
      env,
    };
    await trial.create('p', { restartPolicy: 'Never', containers: [{ ...container, image: 'sh' }] });
    await trial.until('p', (pod) => pictureOf(pod).phase === 'Succeeded', 'done');
    assert.deepEqual((await trial.cluster.logs(KEY)).trim().split('\n'), [
      'LATE=<$(A)>',
      'A=a',
      'B=a-b',
      'C=a-ba',
      'ESCAPED=$(A)',
      'TWICE=$a',
      'UNKNOWN=$(NOBODY)',
      'OPEN=$(A',
      'SECRET=opensesame',
      'FROM_SECRET=opensesame!',
      'OPTIONAL=undefined',
      'OPTIONAL_KEY=undefined',
      'AFTER_OPTIONAL=$(OPTIONAL)',
      '--a=a $(A) $(NOBODY)',
    ]);
  });

  it('lab/N25: a key of a Secret that must be there and is not is waited for', async () => {
    await using trial = await LabTrial.start();
    await trial.cluster.client.create(Secret, { metadata: { namespace: 'default', name: 'keys' } });
    const env = [{ name: 'A', valueFrom: { secretKeyRef: { name: 'keys', key: 'nope' } } }];
    await trial.create('p', { containers: [sh('exit 0', { env })] });
    await trial.untilState('p', 'waiting CreateContainerConfigError');
    assert.equal(
      (await trial.picture('p')).state,
      `waiting CreateContainerConfigError: couldn't find key nope in Secret default/keys`,
    );
  });

  it('lab/P3: are none of those of the host', async () => {
    const planted = {
      HTTP_PROXY: 'http://proxy.example:3128',
      https_proxy: 'http://proxy.example:3128',
      NODE_OPTIONS: '--no-warnings',
      NODE_DEBUG: 'http',
      npm_config_registry: 'http://registry.example',
      AWS_SECRET_ACCESS_KEY: 'very secret',
      KUBECONFIG: '/home/somebody/.kube/config',
      LD_LIBRARY_PATH: '/opt/lib',
    };
    const before = Object.fromEntries(Object.keys(planted).map((name) => [name, process.env[name]]));
    Object.assign(process.env, planted);
    try {
      await using trial = await LabTrial.start();
      await trial.create('p', {
        restartPolicy: 'Never',
        containers: [{ name: 'c', image: 'sh', command: ['/usr/bin/env'] }],
      });
      await trial.until('p', (pod) => pictureOf(pod).phase === 'Succeeded', 'done');
      const log = await trial.cluster.logs(KEY);
      const found = new Map(
        log
          .trim()
          .split('\n')
          .map((line) => [line.split('=', 1)[0], line]),
      );
      for (const [name, value] of Object.entries(planted)) {
        assert.ok(!log.includes(value), `${name} of the host has reached the program`);
        if (name !== 'NODE_OPTIONS') assert.equal(found.get(name), undefined, name);
      }
      assert.match(found.get('NODE_OPTIONS') ?? '', /^NODE_OPTIONS=--import=file:.*preload\.[jt]s$/);
      assert.equal(found.get('HOSTNAME'), 'HOSTNAME=p');
    } finally {
      for (const [name, value] of Object.entries(before)) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });
});

describe('two replicas in the network of their nodes', () => {
  it('lab/X4: listen at the same port at the same time, each on its node', async () => {
    const ccm = `require('node:http').createServer((request, response) => {
      response.statusCode = request.url === '/healthz' ? 200 : 404;
      response.end(process.env.NODE);
    }).listen(10258)`;
    const images = { ...IMAGES, ccm: { argv: ['node', '-e', ccm] } };
    await using trial = await LabTrial.start({ nodes: 2, images });
    const { lab, cluster } = trial;
    await cluster.client.create(DaemonSet, {
      metadata: { namespace: 'kube-system', name: 'ccm' },
      spec: {
        selector: { matchLabels: { app: 'ccm' } },
        template: {
          metadata: { labels: { app: 'ccm' } },
          spec: {
            hostNetwork: true,
            containers: [
              {
                name: 'c',
                image: 'ccm',
                env: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
                ports: [{ containerPort: 10_258 }],
                livenessProbe: { httpGet: { host: '127.0.0.1', port: 10_258, path: '/healthz' } },
                readinessProbe: { httpGet: { port: 10_258, path: '/healthz' }, periodSeconds: 1 },
              },
            ],
          },
        },
      },
    });
    const pods = async () => (await cluster.client.list(Pod, { namespace: 'kube-system' })).items;
    const areReady = async () => {
      const all = await pods();
      return all.length === 2 && all.every((pod) => pictureOf(pod).ready === 'True');
    };
    await lab.until(areReady, { within: '1m' });
    const answers = await Promise.all(
      (await pods()).map(async ({ status }) => {
        const response = await fetch(`${lab.urlOf(status?.hostIP ?? '', 10_258)}/healthz`);
        return `${response.status} ${await response.text()}`;
      }),
    );
    assert.deepEqual(answers.toSorted(), ['200 w-1', '200 w-2']);
    const { items } = await cluster.client.list(Event, { namespace: 'kube-system' });
    assert.deepEqual(
      items.filter(({ reason }) => reason === 'BackOff' || reason === 'Killing'),
      [],
    );
  });
});
