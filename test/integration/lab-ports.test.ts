import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Deployment } from '../../src/api/generated/apps-v1.ts';
import { Node, Pod, Service } from '../../src/api/generated/core-v1.ts';
import type { Lab, LabCluster } from '../../src/lab/index.ts';
import { IMAGES, LabTrial, PORT, pictureOf } from '../support/lab-trial.ts';

const KEY = { namespace: 'default', name: 'web' };
const selector = { app: 'web' };

/** A program with a probe, a hook and a port of its node, behind a service. */
const deployment = (replicas: number) => ({
  metadata: KEY,
  spec: {
    replicas,
    selector: { matchLabels: selector },
    template: {
      metadata: { labels: selector },
      spec: {
        containers: [
          {
            name: 'c',
            image: 'web',
            readinessProbe: { httpGet: { port: PORT }, periodSeconds: 1 },
            lifecycle: { preStop: { httpGet: { port: PORT, path: '/bye' } } },
          },
        ],
      },
    },
  },
});

const service = {
  metadata: KEY,
  spec: { type: 'NodePort' as const, selector, ports: [{ port: 80, targetPort: PORT }] },
};

/** Who answers there, asked on a new connection each time. */
async function answers(lab: Lab, address: string, port: number, count: number): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let turn = 0; turn < count; turn++) {
    const response = await fetch(lab.urlOf(address, port), { headers: { connection: 'close' } });
    found.add(await response.text());
  }
  return found;
}

/** All pods answer at the address of the service, and at the port of a node. */
async function requireServed(lab: Lab, cluster: LabCluster): Promise<void> {
  await lab.until(() => cluster.rolledOut('default', 'web'), { within: '1m' });
  const pods = (await cluster.client.list(Pod, { namespace: 'default' })).items.map(
    ({ metadata }) => metadata.name,
  );
  const { clusterIP = '', ports: [port] = [] } = (await cluster.client.get(Service, KEY)).spec ?? {};
  const answering = () => answers(lab, clusterIP, 80, 9).catch(() => new Set());
  await lab.until(async () => (await answering()).size === pods.length, { within: '20s' });
  assert.deepEqual(await answers(lab, clusterIP, 80, 9), new Set(pods));
  assert.deepEqual(await answers(lab, await nodeAddress(cluster), port?.nodePort ?? 0, 9), new Set(pods));
  for (const name of pods) assert.match(await cluster.logs({ namespace: 'default', name }), /listening/);
}

async function nodeAddress(cluster: LabCluster): Promise<string> {
  const { status } = await cluster.client.get(Node, { name: 'w-1' });
  return status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '';
}

describe('a lab where all addresses are one', () => {
  it('lab/X10: runs clusters side by side, whose services are answered by their processes', async () => {
    const clusters = [
      { name: 'a', nodes: 2 },
      { name: 'b', nodes: 1 },
    ];
    await using trial = await LabTrial.start({ network: 'ports', clusters });
    const { lab } = trial;
    assert.match(lab.summary[0] ?? '', /^Network mode ports, because it was asked for/);
    for (const { name, nodes } of clusters) {
      const cluster = lab.cluster(name);
      assert.match(cluster.url, /^https:\/\/127\.0\.0\.1:\d+$/);
      assert.equal((await cluster.client.list(Node)).items.length, nodes);
      await cluster.client.create(Deployment, deployment(3));
      await cluster.client.create(Service, service);
    }
    assert.notEqual(lab.cluster('a').url, lab.cluster('b').url);
    for (const { name } of clusters) await requireServed(lab, lab.cluster(name));
  });

  it('lab/X10: programs in the network of their node are asked there, and told apart by node', async () => {
    const listens = `require('node:http').createServer((request, response) => {
      if (request.url === '/bye') require('node:fs').writeFileSync('/dev/termination-log', 'told to go');
      response.end(process.env.HOSTNAME);
    }).listen(${PORT})`;
    const images = { listens: { argv: ['node', '-e', listens] } };
    await using trial = await LabTrial.start({ network: 'ports', nodes: 2, images });
    const { lab, cluster } = trial;
    for (const nodeName of ['w-1', 'w-2']) {
      await trial.create(`on-${nodeName}`, {
        nodeName,
        hostNetwork: true,
        containers: [
          {
            name: 'c',
            image: 'listens',
            readinessProbe: { httpGet: { host: '127.0.0.1', port: PORT }, periodSeconds: 1 },
            lifecycle: { preStop: { httpGet: { port: PORT, path: '/bye' } } },
          },
        ],
      });
    }
    for (const nodeName of ['w-1', 'w-2']) {
      await trial.untilReady(`on-${nodeName}`);
      const address = await trial.addressOf(`on-${nodeName}`);
      assert.deepEqual(await answers(lab, address, PORT, 1), new Set([nodeName]));
    }
    const key = { namespace: 'default', name: 'on-w-1' };
    const body = { metadata: { finalizers: ['example.com/hold'] } };
    await cluster.client.patch(Pod, key, { type: 'merge', body });
    await cluster.client.delete(Pod, key);
    await trial.untilState('on-w-1', 'terminated');
    assert.equal((await trial.picture('on-w-1')).state, 'terminated Error 143: told to go');
    assert.deepEqual(await answers(lab, await trial.addressOf('on-w-2'), PORT, 1), new Set(['w-2']));
  });

  it('lab/X10: a program reaches others by their lab addresses', async () => {
    const asks = `fetch(process.env.URL).then((response) => response.text()).then(
      (text) => console.log('answer ' + text),
      (error) => { console.log(String(error.cause ?? error)); process.exit(1); },
    )`;
    const images = { ...IMAGES, asks: { argv: ['node', '-e', asks] } };
    await using trial = await LabTrial.start({ network: 'ports', images });
    const { cluster, lab } = trial;
    await cluster.client.create(Deployment, deployment(1));
    await cluster.client.create(Service, service);
    await lab.until(() => cluster.rolledOut('default', 'web'), { within: '1m' });
    const { clusterIP = '' } = (await cluster.client.get(Service, KEY)).spec ?? {};
    const urls = { address: `http://${clusterIP}`, name: 'http://web.default.svc.cluster.local' };
    for (const [name, value] of Object.entries(urls)) {
      await trial.create(name, {
        restartPolicy: 'OnFailure',
        containers: [{ name: 'c', image: 'asks', env: [{ name: 'URL', value }] }],
      });
      await trial.until(name, (pod) => pictureOf(pod).phase === 'Succeeded', 'answered');
      assert.match(await cluster.logs({ namespace: 'default', name }), /^answer web-/);
    }
  });
});
