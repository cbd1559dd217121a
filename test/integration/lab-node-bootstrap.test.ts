import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { ClusterRoleBinding } from '../../src/api/generated/rbac-v1.ts';
import { startApiServer } from '../../src/apiserver/start.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { createClient } from '../../src/kube/client/create-client.ts';
import { credentialFile } from '../../src/lab/node/registration/credential-file.ts';
import { hostSystem } from '../../src/lab/node/registration/host-system.ts';
import { basicFacts } from '../../src/lab/node/registration/node-facts.ts';
import { registerNode } from '../../src/lab/node/registration/register-node.ts';
import { CertificateAuthority } from '../../src/pki/certificate-authority.ts';
import { CertificateRig } from '../support/certificate-rig.ts';

const clock = new SystemClock();
const ROLES = { 'system:nodes': 'system:node', 'system:bootstrappers': 'system:node-bootstrapper' };
const TOKEN = 'abcdef.0123456789abcdef';

/** An API server with sockets, and the authority that it trusts. */
async function served(dataDir: string) {
  const user = { name: 'system:bootstrap:abcdef', groups: ['system:bootstrappers'] };
  const server = await startApiServer({
    dataDir,
    listen: { port: 0 },
    auth: { tokens: [{ token: TOKEN, user }] },
  });
  const client = createClient({ transport: server.client(), fieldManager: 'test', clock, log: SILENT_LOG });
  for (const [group, role] of Object.entries(ROLES)) {
    await client.create(ClusterRoleBinding, {
      metadata: { name: group },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
    });
  }
  const { authorityPem, authorityKeyPem } = JSON.parse(await readFile(join(dataDir, 'identity.json'), 'utf8'));
  const authority = CertificateAuthority.load('slipway', authorityPem, authorityKeyPem);
  return {
    server,
    authority,
    rig: new CertificateRig(client, { authority, commonName: 'slipway', now: clock.now() }),
  };
}

/** Somebody who says yes to everything. */
function approving(rig: CertificateRig): AsyncDisposable {
  const stop = new AbortController();
  const ended = (async () => {
    while (!stop.signal.aborted) {
      await rig.decide('Approved');
      await rig.sign();
      await clock.sleep(10);
    }
  })();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

it('lab/N1: a node bootstraps over TLS with a token, and comes back with the certificate that it kept', async () => {
  await using left = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'slipway-bootstrap-'));
  left.defer(() => rm(directory, { recursive: true, force: true }));
  const { server, authority, rig } = await served(join(directory, 'server'));
  left.defer(() => server.stop());
  const store = credentialFile(join(directory, 'node', 'kubelet-client-current.pem'));
  const system = await hostSystem('w-1');
  const options = {
    settings: { name: 'w-1', address: { api: '10.16.1.1', wire: '127.16.1.1' } },
    facts: () => basicFacts({ system }),
    way: { mode: 'bootstrap', url: server.url, caPem: authority.certificatePem, token: TOKEN, store },
    clock,
    real: clock,
    log: SILENT_LOG,
  } as const;
  {
    await using _approver = approving(rig);
    await using registered = await registerNode(options);
    assert.equal(registered.wasAdopted, false);
    const { certificatePem } = (await registered.serving) ?? { certificatePem: '' };
    assert.equal(
      new X509Certificate(certificatePem).subjectAltName,
      'DNS:w-1, IP Address:10.16.1.1, IP Address:127.16.1.1',
    );
  }
  const asked = (await rig.requests()).map(({ spec }) => `${spec.signerName} by ${spec.username}`);
  assert.deepEqual(asked.toSorted(), [
    'kubernetes.io/kube-apiserver-client-kubelet by system:bootstrap:abcdef',
    'kubernetes.io/kubelet-serving by system:node:w-1',
  ]);
  {
    await using registered = await registerNode({ ...options, way: { ...options.way, token: 'worthless' } });
    assert.equal(registered.wasAdopted, true);
  }
});
