import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import { ConfigMap, Namespace, Node, Pod, ServiceAccount } from '../../src/api/generated/core-v1.ts';
import { type LogFields, SILENT_LOG } from '../../src/base/log.ts';
import { type Lab, startLab } from '../../src/lab/index.ts';
import {
  answer,
  freeOctet,
  KUBELET_FLAGS,
  places,
  told,
  toldUntil,
  WEB_IMAGES,
  webYaml,
} from '../support/foreign-lab.ts';
import { kubectl } from '../support/kubectl.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';

const needs = needsAll(needsOracle('etcd'), needsOracle('kube-apiserver'), needsOracle('kubectl'));

/** Programs of containers that are alive, whoever their parent is. */
const containers = (): readonly string[] =>
  globSync('/proc/[0-9]*/cmdline').filter((file) => {
    try {
      return readFileSync(file, 'utf8').includes('support/web-program.ts');
    } catch {
      return false;
    }
  });

/** `name node` of pods that are ready. */
async function readyPods(lab: Lab): Promise<readonly string[]> {
  const { items } = await lab.cluster().client.list(Pod, { namespace: 'default' });
  return items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'))
    .map(({ metadata, spec }) => `${metadata.name} ${spec.nodeName ?? ''}`);
}

const isRolledOut = (lab: Lab) => lab.until(() => lab.cluster().rolledOut('default', 'web'), { within: '60s' });

describe('a lab at a real API server whose ClusterIPs are of the lab', needs, () => {
  let octet = 0;
  let plane: ControlPlane | undefined;
  let lab: Lab | undefined;
  let admin = '';
  const theLab = (): Lab => {
    assert.ok(lab !== undefined);
    return lab;
  };
  const start = () =>
    startLab({ octet, clusters: [{ name: 'real', nodes: 2, kubeconfig: admin }], images: WEB_IMAGES });

  before(async () => {
    octet = await freeOctet();
    const range = `--service-cluster-ip-range=10.${octet}.96.0/19`;
    plane = await startKubernetes({ extraArguments: { kubeApiserver: [...KUBELET_FLAGS, range] } });
    ({ admin } = plane);
    lab = await start();
    await lab.cluster().apply(webYaml(2));
    await isRolledOut(lab);
  });
  after(async () => {
    await lab?.[Symbol.asyncDispose]();
    await plane?.stop();
  });

  it('lab/X2: has its nodes there, with addresses that the server can dial', async () => {
    const { items } = await theLab().cluster().client.list(Node);
    const [seen] = items.map(({ metadata, status }) => ({
      name: metadata.name,
      addresses: status?.addresses?.map(({ type, address }) => `${type} ${address}`),
      port: status?.daemonEndpoints?.kubeletEndpoint?.Port,
    }));
    const addresses = [`InternalIP 10.${octet}.1.1`, `ExternalIP 127.${octet}.1.1`, 'Hostname w-1'];
    assert.deepEqual(seen, { name: 'w-1', addresses, port: 10_250 });
    assert.equal(items.length, 2);
  });

  it('lab/W39: gives namespaces their account and the authority of the server', async () => {
    const { client } = theLab().cluster();
    await client.create(Namespace, { metadata: { name: 'fresh' } });
    const at = (name: string) => ({ namespace: 'fresh', name });
    const isThere = async () => (await client.find(ServiceAccount, at('default'))) !== undefined;
    await theLab().until(isThere, { within: '20s' });
    const authority = async () => (await client.find(ConfigMap, at('kube-root-ca.crt')))?.data?.['ca.crt'];
    await theLab().until(async () => (await authority()) === plane?.authorityPem, { within: '20s' });
  });

  it('runs containers as processes, one on each node', async () => {
    assert.equal(containers().length, 2);
    const nodes = (await readyPods(theLab())).map((pod) => pod.split(' ')[1]);
    assert.deepEqual(new Set(nodes), new Set(['w-1', 'w-2']));
  });

  it('lab/X11: serves the Service at its ClusterIP and at every node', async () => {
    const { cluster, nodes } = await places(theLab(), admin);
    assert.equal(nodes.length, 2);
    for (const url of [cluster, ...nodes]) assert.match(await answer(url), /^web-/);
  });

  it('lab/N40: gives logs to kubectl: all of them, the last ones, and those to come', async () => {
    const [pod = ''] = (await readyPods(theLab())).map((text) => text.split(' ')[0]);
    assert.match(await told(admin, 'logs', pod), /^listening\nline 1\nline 2\n/m);
    assert.match(
      await told(admin, 'logs', 'deployment/web', '--tail=1', '--timestamps'),
      /^\d{4}-\S+Z line \d+\n$/,
    );
    const seen = Number((await told(admin, 'logs', pod, '--tail=1')).replace('line ', ''));
    await toldUntil(admin, new RegExp(`line ${seen + 8}\n`), 'logs', '-f', pod, '--tail=1');
  });

  it('lab/N40: gives the log of the run before to kubectl', async () => {
    const url = (await places(theLab(), admin)).cluster;
    const pod = await answer(url);
    const { code, stderr } = await kubectl(admin, 'logs', '--previous', pod);
    assert.deepEqual(
      [code, stderr.replace(/"\S+"/g, '"…"')],
      [1, 'Error from server (BadRequest): previous terminated container "…" in pod "…" not found\n'],
    );
    const { items } = await theLab()
      .cluster()
      .client.list(Pod, { fields: `metadata.name=${pod}` });
    const podIP = items[0]?.status?.podIP ?? '';
    await fetch(`${theLab().urlOf(podIP, 8080)}/crash`).catch(() => undefined);
    const restarts = () =>
      told(admin, 'get', 'pod', pod, '-ojsonpath={.status.containerStatuses[0].restartCount}');
    await theLab().until(async () => (await restarts()) === '1', { within: '20s' });
    assert.match(await told(admin, 'logs', '--previous', pod), /crashing as asked\n$/);
    assert.doesNotMatch(await told(admin, 'logs', pod), /crashing/);
    await theLab().until(async () => (await readyPods(theLab())).length === 2, { within: '20s' });
  });

  it('lab/N40: says that it does not open connections into containers', async () => {
    for (const words of [
      ['exec', 'deployment/web', '--', 'ls'],
      ['port-forward', 'deployment/web', ':8080'],
    ]) {
      const { code, stderr } = await kubectl(admin, ...words);
      assert.equal(code, 1);
      assert.match(stderr, /is not available: nodes of the lab do not open connections into containers yet/);
    }
  });

  it('is drained and uncordoned by kubectl', async () => {
    await told(admin, 'drain', 'w-1', '--ignore-daemonsets', '--timeout=25s');
    await isRolledOut(theLab());
    assert.deepEqual(new Set((await readyPods(theLab())).map((pod) => pod.split(' ')[1])), new Set(['w-2']));
    await told(admin, 'uncordon', 'w-1');
  });

  it('leaves the server and its objects as they are when it ends, and nothing on this machine', async () => {
    const { directory } = theLab();
    const pods = await readyPods(theLab());
    await theLab()[Symbol.asyncDispose]();
    lab = undefined;
    assert.deepEqual([containers(), existsSync(directory)], [[], false]);
    // As when machines lose their power: who looks after nodes notices, and nobody else knows.
    const names = await told(admin, 'get', 'nodes,pods', '-oname');
    const wanted = ['node/w-1', 'node/w-2', ...pods.map((pod) => `pod/${pod.split(' ')[0]}`)];
    assert.deepEqual(names.trim().split('\n'), wanted.toSorted());
    const again = await start();
    lab = again;
    // The machines are back, and start what they had.
    await lab.until(() => containers().length === 2, { within: '20s' });
    await lab.until(async () => (await readyPods(again)).length === 2, { within: '20s' });
    assert.deepEqual(await readyPods(lab), pods);
    assert.match(await answer((await places(lab, admin)).cluster), /^web-/);
    assert.match(await told(admin, 'logs', 'deployment/web', '--tail=1'), /^line \d+\n/);
  });
});

describe('a lab at a real API server whose ClusterIPs are not of the lab', needs, () => {
  it('lab/X1: says once that they are not reachable; node ports, pods and logs are', async () => {
    await using plane = await startKubernetes({ extraArguments: { kubeApiserver: KUBELET_FLAGS } });
    const warnings: string[] = [];
    const log = { ...SILENT_LOG, warn: (_: LogFields, text: string) => void warnings.push(text) };
    const cluster = { name: 'real', nodes: 2, kubeconfig: plane.admin };
    await using lab = await startLab(
      { clusters: [cluster], images: WEB_IMAGES },
      { log: { ...log, child: () => log } },
    );
    await lab.cluster().apply(webYaml(1));
    await isRolledOut(lab);
    for (const url of (await places(lab, plane.admin)).nodes) assert.match(await answer(url), /^web-/);
    await told(plane.admin, 'expose', 'deployment/web', '--name=more', '--port=80');
    assert.match(await told(plane.admin, 'logs', 'deployment/web'), /listening/);
    const strange = warnings.filter((text) => text.startsWith('ClusterIPs of this cluster are not'));
    assert.equal(strange.length, 1);
  });
});
