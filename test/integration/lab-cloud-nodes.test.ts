import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { connect } from 'node:tls';
import { CertificateSigningRequest } from '../../src/api/generated/certificates-v1.ts';
import { Node, Pod, Service } from '../../src/api/generated/core-v1.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { type Lab, type LabCluster, startLab } from '../../src/lab/index.ts';

/** Somebody who says yes to every node. */
async function approveAll(client: KubeClient): Promise<void> {
  const { items } = await client.list(CertificateSigningRequest);
  for (const request of items.filter(({ status }) => (status?.conditions ?? []).length === 0)) {
    const condition = { type: 'Approved', status: 'True' as const, reason: 'Test', message: 'known' };
    await client.patch(
      CertificateSigningRequest,
      request.metadata,
      { type: 'merge', body: { status: { conditions: [condition] } } },
      { subresource: 'approval' },
    );
  }
}

/** Whether the certificate of the API server is good for a name. */
async function isTrusted({ url, kubeconfigPath }: LabCluster, servername: string): Promise<boolean> {
  const { hostname: host, port } = new URL(url);
  const [, encoded = ''] = /certificate-authority-data: (\S+)/.exec(await readFile(kubeconfigPath, 'utf8')) ?? [];
  const socket = connect({ host, port: Number(port), servername, ca: Buffer.from(encoded, 'base64') });
  try {
    await once(socket, 'secureConnect');
    return true;
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error, String(error));
    assert.equal(error.code, 'ERR_TLS_CERT_ALTNAME_INVALID');
    return false;
  } finally {
    socket.destroy();
  }
}

/** A user of the cloud. */
async function cloudUser(lab: Lab) {
  const [credential] = lab.cloud.credentials();
  assert.ok(credential !== undefined);
  const { clientId, clientSecret } = credential;
  const ask = async (method: string, path: string, body?: object, token = '') => {
    const response = await fetch(`${lab.cloud.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token !== '' && { authorization: `Bearer ${token}` }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text;
  };
  const { token } = JSON.parse(await ask('POST', '/v1/tokens', { clientId, clientSecret }));
  return (method: string, path: string, body?: object) => ask(method, path, body, token);
}

/** An instance that is a node. */
async function bootedNode(lab: Lab, c1: LabCluster, ask: Ask): Promise<{ id: string; publicAddress: string }> {
  const userData = Buffer.from(
    await c1.userData({ name: 'w-9', labels: { 'node-role.kubernetes.io/worker': '' } }),
  );
  const wish = { name: 'w-9', type: 'lab.small', zone: 'a', userData: userData.toString('base64') };
  const { id } = JSON.parse(await ask('POST', '/v1/instances', wish));
  const isReady = async () => {
    await approveAll(c1.client);
    const node = await c1.client.find(Node, { name: 'w-9' });
    return node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  };
  await lab.until(isReady, { within: '5m' });
  return JSON.parse(await ask('GET', `/v1/instances/${id}`));
}

type Ask = (method: string, path: string, body?: object) => Promise<string>;
const POD = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default' },
  spec: { containers: [{ name: 'c', image: 'nobody/knows' }], tolerations: [{ operator: 'Exists' }] },
});

describe('instances of the cloud', () => {
  it('lab/C14: become nodes of the cluster that their user data names, and go with their power', async () => {
    await using lab = await startLab({ clusters: [{ name: 'c1' }], cloud: true, clock: 'auto' });
    const c1 = lab.cluster('c1');
    const ask = await cloudUser(lab);
    const { id } = await bootedNode(lab, c1, ask);
    const { privateAddress } = JSON.parse(await ask('GET', `/v1/instances/${id}`));
    const node = await c1.client.get(Node, { name: 'w-9' });
    assert.equal(node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address, privateAddress);
    assert.equal(node.metadata.labels?.['node-role.kubernetes.io/worker'], '');
    await ask('DELETE', `/v1/instances/${id}`);
    const isGone = async () => {
      const found = await c1.client.get(Node, { name: 'w-9' });
      return found.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'Unknown';
    };
    await lab.until(isGone, { within: '10m' });
  });

  it('lab/C28: are told who they are by the metadata service; lab/C29: and so are their pods unless the node forbids it', async () => {
    await using lab = await startLab({ clusters: [{ name: 'c1' }], cloud: true, clock: 'auto' });
    const c1 = lab.cluster('c1');
    const ask = await cloudUser(lab);
    const { id, publicAddress } = await bootedNode(lab, c1, ask);
    await c1.apply(POD);
    const podAddress = async () => (await c1.client.find(Pod, { namespace: 'default', name: 'p' }))?.status?.podIP;
    await lab.until(async () => (await podAddress()) !== undefined, { within: '1m' });
    const place = new URL(lab.urlOf(publicAddress.replace(/\.\d+\.\d+$/, '.0.169'), 80));
    const told = (from: string, path: string, body?: object): Promise<string> =>
      new Promise((resolve, reject) => {
        const to = { host: place.hostname, port: place.port, path, localAddress: from };
        const asked = request({ ...to, method: body ? 'PUT' : 'GET' }, (answer) => {
          text(answer).then(resolve, reject);
        });
        asked.on('error', reject);
        asked.end(body && JSON.stringify(body));
      });
    const podWire = ((await podAddress()) ?? '').replace(/^10\./, '127.');
    assert.equal(await told(publicAddress, '/v1/instance/id'), id);
    assert.equal(await told(podWire, '/v1/instance/id'), id);
    const rules = [{ action: 'deny', to: '169.254.169.254/32', namespaces: ['default'] }];
    await told(publicAddress, '/v1/egress', { rules });
    await assert.rejects(told(podWire, '/v1/instance/id'), { code: 'ECONNRESET' });
    assert.equal(await told(publicAddress, '/v1/instance/id'), id);
  });

  it('lab/C27: have a name server that knows the clusters', async () => {
    await using lab = await startLab({ clusters: [{ name: 'c1', nodes: 1 }], clock: 'auto' });
    const names = new Resolver();
    names.setServers([`${lab.dns.host}:${lab.dns.port}`]);
    const c1 = lab.cluster('c1');
    const node = await c1.client.get(Node, { name: 'w-1' });
    const wire = node.status?.addresses?.find(({ type }) => type === 'ExternalIP')?.address;
    assert.deepEqual(await names.resolve4('api.c1.lab.internal'), [new URL(c1.url).hostname]);
    assert.deepEqual(await names.resolve4('console.apps.c1.lab.internal'), [wire]);
    const service = await c1.client.get(Service, { namespace: 'default', name: 'kubernetes' });
    assert.deepEqual(await names.resolve4('kubernetes.default.svc.cluster.local'), [service.spec?.clusterIP]);
    for (const name of ['api', 'api-int'])
      assert.equal(await isTrusted(c1, `${name}.c1.lab.internal`), true, name);
    assert.equal(await isTrusted(c1, 'api.c2.lab.internal'), false);
  });

  it('lab/C14: say on their console why nothing was booted', async () => {
    await using lab = await startLab({ cloud: true, clock: 'auto' });
    const ask = await cloudUser(lab);
    const told = async (userData: string): Promise<string> => {
      const wish = { name: 'x', type: 'lab.small', zone: 'a', userData: Buffer.from(userData).toString('base64') };
      const { id } = JSON.parse(await ask('POST', '/v1/instances', wish));
      await lab.until(async () => JSON.parse(await ask('GET', `/v1/instances/${id}`)).state === 'running', {
        within: '1m',
      });
      await lab.settle();
      return await ask('GET', `/v1/instances/${id}/console`);
    };
    assert.match(await told('#cloud-config'), /user data is no Ignition config/);
    assert.match(await told('{"ignition":{"version":"2.2.0"}}'), /ignition\.version: must be a version 3/);
    assert.match(await told('{"ignition":{"version":"3.2.0"}}'), /no file \/etc\/kubernetes\/kubeconfig/);
  });
});
