import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { Pod, Service } from '../../src/api/generated/core-v1.ts';
import { Event } from '../../src/api/generated/events-v1.ts';
import { type Lab, startLab } from '../../src/lab/index.ts';
import { cloudUser, IMAGES, WEB_PORT, web } from '../support/lab-people.ts';

const WEB = { namespace: 'default', name: 'web' };
const LOCAL = { namespace: 'default', name: 'web-local' };

const podOf = (name: string, container: object, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name, labels: { app: name } },
  spec: {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 2,
    containers: [{ name: 'c', ...container }],
    ...spec,
  },
});

const service = (spec: object) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: WEB,
  spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: WEB_PORT }], ...spec },
});

const VIEWERS = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'viewers' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
  subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
};

/** Without keeping the connection: the next question may go to another backend. */
const ask = async (url: string): Promise<string> =>
  await (await fetch(url, { headers: { connection: 'close' } })).text();

describe('people of a lab with programs that serve', () => {
  let lab: Lab;
  before(async () => {
    lab = await startLab({ nodes: 2, cloud: true, images: IMAGES, maxGraceMs: 2000 });
    await lab.cluster().apply(JSON.stringify(web()));
    await lab.cluster().apply(JSON.stringify(service({ type: 'NodePort' })));
    await lab.until(() => lab.cluster().rolledOut('default', 'web'), { within: '30s' });
  });
  after(async () => {
    await lab[Symbol.asyncDispose]();
  });

  const podPhase = async (name: string) =>
    (await lab.cluster().client.get(Pod, { namespace: 'default', name })).status?.phase;
  const nodePort = async (of = WEB) =>
    (await lab.cluster().client.get(Service, of)).spec?.ports?.[0]?.nodePort ?? 0;
  const addressOf = (node: string) => `10.${octet()}.1.${node.replace('w-', '')}`;
  const octet = () => new URL(lab.cluster().url).hostname.split('.')[1];
  /** The log of a pod that has done what it does. */
  const outcome = async (pod: ReturnType<typeof podOf>): Promise<string> => {
    const { name } = pod.metadata;
    await lab.cluster().apply(JSON.stringify(pod));
    await lab.until(async () => (await podPhase(name)) === 'Succeeded', { within: '30s' });
    return await lab.cluster().logs({ namespace: 'default', name });
  };
  /** What those say that serve, on one node or on all. */
  const pods = async (node?: string): Promise<readonly string[]> =>
    (await lab.cluster().client.list(Pod, { namespace: 'default', labels: 'app=web' })).items
      .filter(({ spec }) => node === undefined || spec.nodeName === node)
      .map(({ metadata }) => `${metadata.name} of v1`);
  /** What a pod was warned of: `Reason: note`. */
  const warnings = async (pod: string): Promise<readonly string[]> =>
    (await lab.cluster().client.list(Event, { namespace: 'default' })).items
      .filter(({ regarding, type }) => regarding?.name === pod && type === 'Warning')
      .map(({ reason, note }) => `${reason}: ${note}`);
  /** What comes from asking often. */
  const answers = async (url: string): Promise<readonly string[]> => {
    const found = new Set<string>();
    for (let times = 0; times < 8; times++) found.add(await ask(url));
    return [...found].toSorted();
  };

  it('lab/X11: reach a Service at its address and at a port of every node', async () => {
    const { spec } = await lab.cluster().client.get(Service, WEB);
    const all = (await pods()).toSorted();
    assert.equal(all.length, 2);
    assert.deepEqual(await answers(lab.urlOf(spec?.clusterIP ?? '', 80)), all);
    for (const node of ['w-1', 'w-2'])
      assert.deepEqual(await answers(lab.urlOf(addressOf(node), await nodePort())), all);
  });

  it('lab/C27: find a Service by its name, as its pods do', async () => {
    const { spec } = await lab.cluster().client.get(Service, WEB);
    const resolver = new Resolver();
    resolver.setServers([`${lab.dns.host}:${lab.dns.port}`]);
    assert.deepEqual(await resolver.resolve4('web.default.svc.cluster.local'), [spec?.clusterIP]);
    await assert.rejects(resolver.resolve4('nobody.default.svc.cluster.local'), { code: 'ENOTFOUND' });
    const urls = [
      'http://web.default.svc/',
      'http://web.default.svc.cluster.local/',
      `http://${spec?.clusterIP}/`,
    ];
    const log = await outcome(podOf('asker', { image: 'demo/web', args: ['ask', ...urls] }));
    const all = await pods();
    for (const [at, line] of log.trim().split('\n').entries()) {
      assert.ok(line.startsWith(`${urls[at]} `), line);
      assert.ok(all.includes(line.slice(`${urls[at]} `.length)), line);
    }
  });

  it('lab/E4: a program in a pod finds the API server by its variables and by its name', async () => {
    await lab.cluster().apply(JSON.stringify(VIEWERS));
    const log = await outcome(podOf('own', { image: 'demo/own' }, { nodeName: 'w-2' }));
    assert.equal(log, `10.${octet()}.96.1: own on w-2\nkubernetes.default.svc: own on w-2\n`);
  });

  it('lab/X4: a port of the host leads to the pod that asks for it; a second one is rejected and told why', async () => {
    const ports = [{ containerPort: WEB_PORT, hostPort: 28_080 }];
    const holder = podOf('holder', { image: 'demo/web', ports }, { nodeName: 'w-1' });
    await lab.cluster().apply(JSON.stringify(holder));
    const url = lab.urlOf(addressOf('w-1'), 28_080);
    const isServed = async () => (await ask(url).catch(() => '')) === 'holder of v1';
    await lab.until(isServed, { within: '30s' });
    await lab.cluster().apply(JSON.stringify({ ...holder, metadata: { ...holder.metadata, name: 'second' } }));
    await lab.until(async () => (await podPhase('second')) === 'Failed', { within: '10s' });
    const { status } = await lab.cluster().client.get(Pod, { namespace: 'default', name: 'second' });
    assert.equal(status?.reason, 'NodePorts');
    assert.equal(
      status?.message,
      "Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    );
    assert.deepEqual(await warnings('second'), [
      "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
    ]);
    await lab.cluster().client.delete(Pod, { namespace: 'default', name: 'holder' });
    const isClosed = async () =>
      (await ask(url).catch((error: Error) => String(error.cause))).includes('ECONNREFUSED');
    await lab.until(isClosed, { within: '20s' });
  });

  it('lab/X4: a pod whose port somebody else has waits for it, and is told so', async () => {
    const { host, hostname, port } = new URL(lab.urlOf(addressOf('w-2'), 28_081));
    const stranger = createServer().listen(Number(port), hostname);
    await once(stranger, 'listening');
    const ports = [{ containerPort: WEB_PORT, hostPort: 28_081 }];
    await lab.cluster().apply(JSON.stringify(podOf('patient', { image: 'demo/web', ports }, { nodeName: 'w-2' })));
    await lab.until(async () => (await warnings('patient')).length > 0, { within: '10s' });
    const [text = ''] = await warnings('patient');
    assert.match(
      text,
      /^FailedCreatePodSandBox: cannot open host port TCP 28081 of node w-2 for pod patient_default\(/,
    );
    assert.equal(await podPhase('patient'), 'Pending');
    stranger.close();
    const isServed = async () => (await ask(`http://${host}`).catch(() => '')) === 'patient of v1';
    await lab.until(isServed, { within: '30s' });
    await lab.cluster().client.delete(Pod, { namespace: 'default', name: 'patient' });
  });

  it('lab/C15: reach nodes through a load balancer of the cloud: those that are well, and whom it lets in', async () => {
    const local = service({ type: 'NodePort', externalTrafficPolicy: 'Local' });
    await lab.cluster().apply(JSON.stringify({ ...local, metadata: LOCAL }));
    const cloud = await cloudUser(lab);
    const wish = {
      name: 'front',
      listeners: [{ port: 8443, targetPort: await nodePort(LOCAL) }],
      targets: ['w-1', 'w-2'].map((node) => ({ address: addressOf(node) })),
      healthCheck: { protocol: 'http', intervalSeconds: 1, timeoutSeconds: 1 },
    };
    const { id } = await cloud('POST', '/v1/load-balancers', wish);
    const path = `/v1/load-balancers/${id}`;
    const isActive = async () => (await cloud('GET', path)).state === 'active';
    await lab.until(isActive, { within: '30s' });
    const url = lab.urlOf((await cloud('GET', path)).address, 8443);
    const all = (await pods()).toSorted();
    /** Until these answer, and nobody else. */
    const answeredBy = (wanted: readonly string[]) =>
      lab.until(async () => isDeepStrictEqual(await answers(url).catch(() => []), wanted), { within: '30s' });
    await answeredBy(all);
    await cloud('PATCH', path, { sourceRanges: ['203.0.113.0/24'] });
    await lab.until(async () => (await ask(url).catch(() => 'closed')) === 'closed', { within: '20s' });
    await cloud('PATCH', path, { sourceRanges: [] });
    await lab.cluster().node('w-1').powerOff();
    await answeredBy(await pods('w-2'));
    await lab.cluster().node('w-1').powerOn();
    await answeredBy(all);
    await cloud('DELETE', path);
    await lab.until(async () => (await ask(url).catch(() => 'closed')) === 'closed', { within: '20s' });
  });
});
