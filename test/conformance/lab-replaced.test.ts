import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Deployment, ReplicaSet } from '../../src/api/generated/apps-v1.ts';
import { CertificateSigningRequest } from '../../src/api/generated/certificates-v1.ts';
import { ConfigMap, Namespace, Node, Pod, ServiceAccount } from '../../src/api/generated/core-v1.ts';
import { PodDisruptionBudget } from '../../src/api/generated/policy-v1.ts';
import { type Lab, startLab } from '../../src/lab/index.ts';
import { STAND_INS } from '../../src/lab/setup/lab-options.ts';
import { generateKeyPair } from '../../src/pki/key-pair.ts';
import { signingRequest } from '../../src/pki/signing-request.ts';
import { answer, places, told, WEB_IMAGES, webYaml } from '../support/foreign-lab.ts';
import { kubectl } from '../support/kubectl.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { DYNAMIC_RESOURCES, startRealControllers } from '../support/real-controllers.ts';
import { scratchDirectory } from '../support/scratch.ts';

const needs = needsAll(
  needsOracle('kube-controller-manager'),
  needsOracle('kube-scheduler'),
  needsOracle('kubectl'),
);

/** What the lab stands in for, in the words of kube-controller-manager. */
const CONTROLLERS = [
  'deployment-controller',
  'replicaset-controller',
  'daemonset-controller',
  'job-controller',
  'ttl-after-finished-controller',
  'endpoints-controller',
  'endpointslice-controller',
  'disruption-controller',
  'node-lifecycle-controller',
  'taint-eviction-controller',
  'pod-garbage-collector-controller',
  'serviceaccount-controller',
  'root-ca-certificate-publisher-controller',
  'certificatesigningrequest-signing-controller',
];
/** Nodes and the proxy stay: they are what runs the containers. */
const KEPT = ['node', 'proxy'];
const OFF = Object.fromEntries(
  STAND_INS.filter((name) => !KEPT.includes(name)).map((name) => [name, 'off'] as const),
);

const IMAGES = { ...WEB_IMAGES, 'example.com/once': { argv: [process.execPath, '-e', '0'], entrypoint: 1 } };

describe('a lab whose controllers are the real ones', needs, () => {
  const parts = new AsyncDisposableStack();
  let lab: Lab | undefined;
  let admin = '';
  const theLab = (): Lab => {
    assert.ok(lab !== undefined);
    return lab;
  };
  const client = () => theLab().cluster().client;
  const until = (isTrue: () => Promise<boolean>) => theLab().until(isTrue, { within: '60s' });

  before(async () => {
    const { path } = parts.use(await scratchDirectory());
    const data = join(path, 'lab');
    lab = parts.use(await startLab({ nodes: 2, data, images: IMAGES, replace: OFF }));
    admin = lab.cluster().kubeconfigPath;
    await lab.cluster().apply(DYNAMIC_RESOURCES);
    const { url } = lab.cluster();
    // Nodes renew their Leases every 10 s.
    const extraArguments = ['--node-monitor-period=1s', '--node-monitor-grace-period=16s'];
    const dataDir = join(data, '1', 'api');
    parts.use(await startRealControllers({ dataDir, url, controllers: CONTROLLERS, extraArguments }));
  });
  after(() => parts.disposeAsync());

  it('lab/A4: a Deployment becomes processes, and its Service leads to them', async () => {
    await until(
      async () => (await client().find(ServiceAccount, { namespace: 'default', name: 'default' })) !== undefined,
    );
    await theLab().cluster().apply(webYaml(2));
    await theLab().until(() => theLab().cluster().rolledOut('default', 'web'), { within: '60s' });
    const { cluster, nodes } = await places(theLab(), admin);
    for (const url of [cluster, ...nodes]) assert.match(await answer(url), /^web-/);
    assert.match(await told(admin, 'get', 'endpoints', 'web'), /:8080,/);
    assert.match(await told(admin, 'logs', 'deployment/web'), /listening/);
    assert.match(await told(admin, 'describe', 'deployment', 'web'), /Scaled up replica set web-\w+ from 0 to 2/);
  });

  it('lab/A4: a rollout goes through, and can be undone', async () => {
    await told(admin, 'set', 'env', 'deployment/web', 'A=B');
    await told(admin, 'rollout', 'status', 'deployment/web', '--timeout=25s');
    await told(admin, 'rollout', 'undo', 'deployment/web');
    await told(admin, 'rollout', 'status', 'deployment/web', '--timeout=25s');
  });

  it('lab/A4: a DaemonSet is on every node, and a Job comes to its end', async () => {
    await theLab().cluster().apply(DAEMONS_AND_JOB);
    await told(admin, 'rollout', 'status', 'daemonset/agent', '--timeout=25s');
    await told(admin, 'wait', '--for=condition=Complete', 'job/once', '--timeout=25s');
    const { items } = await client().list(Pod, { namespace: 'default', labels: 'app=agent' });
    assert.deepEqual(new Set(items.map(({ spec }) => spec.nodeName)), new Set(['w-1', 'w-2']));
  });

  it('lab/A4: a budget is counted, and evictions keep to it', async () => {
    const spec = { minAvailable: 2, selector: { matchLabels: { app: 'web' } } };
    await client().create(PodDisruptionBudget, { metadata: { namespace: 'default', name: 'web' }, spec });
    const budget = () => client().get(PodDisruptionBudget, { namespace: 'default', name: 'web' });
    await until(async () => (await budget()).status?.currentHealthy === 2);
    const { stderr } = await kubectl(admin, 'drain', 'w-1', '--ignore-daemonsets', '--force', '--timeout=3s');
    assert.match(stderr, /Cannot evict pod as it would violate the pod's disruption budget/);
    await told(admin, 'uncordon', 'w-1');
    await client().delete(PodDisruptionBudget, { namespace: 'default', name: 'web' });
  });

  it('lab/A4: a new namespace gets its account and the authority', async () => {
    await client().create(Namespace, { metadata: { name: 'fresh' } });
    const at = (name: string) => ({ namespace: 'fresh', name });
    await until(async () => (await client().find(ServiceAccount, at('default'))) !== undefined);
    await until(async () => (await client().find(ConfigMap, at('kube-root-ca.crt'))) !== undefined);
  });

  it('lab/A4: a request for a certificate is signed when somebody approves it', async () => {
    const pem = signingRequest(
      { commonName: 'jane', organizations: [], dnsNames: [], ipAddresses: [] },
      await generateKeyPair(),
    );
    const request = Buffer.from(pem).toString('base64');
    const spec = { request, signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] as const };
    await client().create(CertificateSigningRequest, { metadata: { name: 'jane' }, spec });
    await told(admin, 'certificate', 'approve', 'jane');
    await until(
      async () =>
        ((await client().get(CertificateSigningRequest, { name: 'jane' })).status?.certificate ?? '') !== '',
    );
  });

  it('lab/A4: a node that is silent is found out, and its pods go elsewhere', async () => {
    await client().patch(
      Deployment,
      { namespace: 'default', name: 'web' },
      { type: 'merge', body: { spec: { template: { spec: { tolerations: IMPATIENT } } } } },
    );
    await told(admin, 'rollout', 'status', 'deployment/web', '--timeout=25s');
    await theLab().cluster().node('w-2').powerOff();
    const ready = async () => {
      const { status } = await client().get(Node, { name: 'w-2' });
      return status?.conditions?.find(({ type }) => type === 'Ready')?.status;
    };
    await until(async () => (await ready()) === 'Unknown');
    await until(async () => {
      const { items } = await client().list(Pod, { namespace: 'default', labels: 'app=web' });
      const running = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      return running.length === 2 && running.every(({ spec }) => spec.nodeName === 'w-1');
    });
    await theLab().cluster().node('w-2').powerOn();
    await until(async () => (await ready()) === 'True');
    await until(async () => ((await client().get(Node, { name: 'w-2' })).spec.taints ?? []).length === 0);
  });

  it('lab/A4: nobody of the lab did any of it', async () => {
    const { items: deployments } = await client().list(Deployment, { namespace: 'default' });
    const { items: sets } = await client().list(ReplicaSet, { namespace: 'default' });
    const { items: pods } = await client().list(Pod, { namespace: 'default' });
    const managers = [...deployments, ...sets, ...pods]
      .flatMap(({ metadata }) => metadata.managedFields ?? [])
      .map(({ manager = '' }) => manager)
      .filter((manager) => !/^kubectl(-|$)/.test(manager));
    // The administrator, the real controllers, and the nodes.
    const known = ['kube-controller-manager', 'kube-scheduler', 'slipway/lab', 'slipway/lab/node'];
    assert.deepEqual(
      [...new Set(managers)].filter((manager) => !known.includes(manager)),
      [],
    );
    assert.ok(managers.includes('kube-controller-manager'));
  });
});

const IMPATIENT = ['unreachable', 'not-ready'].map((what) => ({
  key: `node.kubernetes.io/${what}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 1,
}));

const DAEMONS_AND_JOB = `
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: agent, namespace: default }
spec:
  selector: { matchLabels: { app: agent } }
  template:
    metadata: { labels: { app: agent } }
    spec: { containers: [{ name: agent, image: example.com/agent }] }
---
apiVersion: batch/v1
kind: Job
metadata: { name: once, namespace: default }
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{ name: once, image: example.com/once }]
`;
