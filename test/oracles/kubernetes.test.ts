import assert from 'node:assert/strict';
import { createPublicKey, X509Certificate } from 'node:crypto';
import { existsSync, globSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { requiredVersion } from '../../oracles/cache.ts';
import { ORACLES } from '../../oracles/registry.ts';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import { kubectl } from '../support/kubectl.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';

/** One request over TLS that trusts the instance's authority and presents no certificate. */
function bareGet({ url, authorityPem }: ControlPlane, path: string, headers: Record<string, string> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const request = get(`${url}${path}`, { ca: authorityPem, agent: false, headers }, (response) => {
    const { statusCode: status = 0 } = response;
    text(response).then((body) => resolve({ status, body }), reject);
  });
  request.on('error', reject);
  return promise;
}

/** Local addresses of the listening TCP sockets of a process, from the kernel's own tables. */
function listeningAddresses(pid: number): readonly string[] {
  const sockets = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`)));
  const rows = ['tcp', 'tcp6'].flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n'));
  const columns = rows.map((row) => row.trim().split(/\s+/));
  const listening = columns.filter((row) => row[3] === '0A' && sockets.has(`socket:[${row[9]}]`));
  return listening.map(([, local = '']) => (local.startsWith('0100007F:') ? '127.0.0.1' : local));
}

function pinnedVersion(): string {
  const source = ORACLES.find(({ name }) => name === 'kube-apiserver')?.source;
  if (source?.kind !== 'go') throw new Error('kube-apiserver is not built from a Go module');
  return requiredVersion(source, 'k8s.io/kubernetes');
}

const needs = needsAll(
  needsOracle('etcd', { min: '3.5.13' }),
  needsOracle('kube-apiserver'),
  needsOracle('kubectl'),
);

describe('a real control plane', needs, () => {
  let cluster: ControlPlane;
  before(async () => {
    cluster = await startKubernetes();
  });
  after(() => cluster.stop());

  it('lists its namespaces to kubectl with a client certificate of ours', async () => {
    const { stdout, stderr, code } = await kubectl(cluster.admin, 'get', 'namespaces', '--output=name');
    assert.equal(code, 0, stderr);
    const names = stdout.trim().split('\n');
    for (const name of ['default', 'kube-node-lease', 'kube-public', 'kube-system']) {
      assert.ok(names.includes(`namespace/${name}`), `${name} is missing in ${names.join(', ')}`);
    }
  });

  it('refuses an anonymous request for namespaces with 403, as the user system:anonymous', async () => {
    const { status, body } = await bareGet(cluster, '/api/v1/namespaces');
    assert.equal(status, 403);
    assert.match(body, /User \\"system:anonymous\\" cannot list resource \\"namespaces\\"/);
  });

  it('refuses a token it does not know with 401', async () => {
    const { status } = await bareGet(cluster, '/api/v1/namespaces', { authorization: 'Bearer unknown' });
    assert.equal(status, 401);
  });

  it('oracles/C3: refuses a user without roles by name, and serves one in system:masters', async () => {
    const plain = await kubectl(await cluster.user('jane', ['dev']), 'get', 'namespaces');
    assert.equal(plain.code, 1);
    assert.match(
      plain.stderr,
      /\(Forbidden\): namespaces is forbidden: User "jane" cannot list resource "namespaces"/,
    );
    const master = await kubectl(await cluster.user('jane', ['dev', 'system:masters']), 'get', 'namespaces');
    assert.equal(master.code, 0, master.stderr);
  });

  it('oracles/C3: reads every organisation of the certificate as a group', async () => {
    const { stdout } = await kubectl(
      await cluster.user('jane', ['dev', 'ops']),
      'auth',
      'whoami',
      '--output=json',
    );
    assert.deepEqual(JSON.parse(stdout).status.userInfo.username, 'jane');
    assert.deepEqual(JSON.parse(stdout).status.userInfo.groups, ['dev', 'ops', 'system:authenticated']);
  });

  it('oracles/A3: reports the pinned version', async () => {
    const { stdout } = await kubectl(cluster.admin, 'get', '--raw', '/version');
    assert.equal(JSON.parse(stdout).gitVersion, pinnedVersion());
  });

  it('oracles/P1: listens on the loopback address only', () => {
    const pidFiles = globSync(join(cluster.directory, '**/*.pid'));
    const pids = pidFiles.map((file): number => JSON.parse(readFileSync(file, 'utf8')).pid);
    const addresses = pids.flatMap(listeningAddresses);
    assert.deepEqual(addresses, ['127.0.0.1', '127.0.0.1'], 'etcd has a port for peers, kube-apiserver its own');
  });

  it('oracles/C2: signs service-account tokens with a key of their own', () => {
    const read = (name: string) => readFileSync(join(cluster.directory, name), 'utf8');
    const tokens = createPublicKey(read('service-account.key'));
    assert.ok(tokens.equals(createPublicKey(read('service-account.pub'))));
    assert.equal(tokens.equals(new X509Certificate(read('ca.crt')).publicKey), false);
  });

  it('oracles/A1: is ready in every part', async () => {
    const { stdout } = await kubectl(cluster.admin, 'get', '--raw', '/readyz?verbose');
    assert.match(stdout, /readyz check passed/);
  });
});

const needsManager = needsAll(needs, needsOracle('kube-controller-manager'));

describe('a real control plane with controllers', needsManager, () => {
  it('oracles/K4: gives a new namespace its default ServiceAccount, and leaves nothing behind', async () => {
    let directory: string;
    {
      await using cluster = await startKubernetes({ controllerManager: true });
      directory = cluster.directory;
      const created = await kubectl(cluster.admin, 'create', 'namespace', 'fresh');
      assert.equal(created.code, 0, created.stderr);
      const waited = await kubectl(
        cluster.admin,
        'wait',
        '--for=create',
        '--timeout=20s',
        '--namespace=fresh',
        'serviceaccount/default',
      );
      assert.equal(waited.code, 0, waited.stderr);
    }
    assert.equal(existsSync(directory), false);
  });
});
