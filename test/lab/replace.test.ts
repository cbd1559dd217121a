import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { CertificateSigningRequest } from '../../src/api/generated/certificates-v1.ts';
import { ConfigMap, Service, ServiceAccount } from '../../src/api/generated/core-v1.ts';
import { ClusterRole } from '../../src/api/generated/rbac-v1.ts';
import { type Lab, startLab } from '../../src/lab/index.ts';
import { STAND_INS, type StandInName } from '../../src/lab/setup/lab-options.ts';
import { generateKeyPair } from '../../src/pki/key-pair.ts';
import { signingRequest } from '../../src/pki/signing-request.ts';

const accountOf = (name: string) => `system:serviceaccount:kube-system:${name}`;

/** Whom each stand-in acts as. */
const USERS: Readonly<Record<StandInName, readonly string[]>> = {
  deployment: [accountOf('deployment-controller')],
  replicaset: [accountOf('replicaset-controller')],
  daemonset: [accountOf('daemon-set-controller')],
  job: [accountOf('job-controller')],
  scheduler: ['system:kube-scheduler'],
  endpoints: [accountOf('endpointslice-controller'), accountOf('endpoint-controller')],
  disruption: [accountOf('disruption-controller')],
  nodeLifecycle: [
    accountOf('node-controller'),
    accountOf('taint-eviction-controller'),
    accountOf('pod-garbage-collector'),
  ],
  accounts: [accountOf('service-account-controller'), accountOf('root-ca-cert-publisher')],
  csrSigner: [accountOf('certificate-controller')],
  // Writes nothing; what it does is to be seen at its ports.
  proxy: [],
  node: ['system:node:w-1', 'system:node:w-2'],
};

const template = (app: string, more = '') =>
  `{ metadata: { labels: { app: ${app} } }, spec: { containers: [{ name: c, image: nginx }]${more} } }`;

/** Something to do for everybody. */
const WORK = `
apiVersion: v1
kind: Namespace
metadata: { name: fresh }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: default }
spec: { replicas: 2, selector: { matchLabels: { app: web } }, template: ${template('web')} }
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: { name: set, namespace: default }
spec: { replicas: 1, selector: { matchLabels: { app: set } }, template: ${template('set')} }
---
apiVersion: apps/v1
kind: DaemonSet
metadata: { name: agent, namespace: default }
spec: { selector: { matchLabels: { app: agent } }, template: ${template('agent')} }
---
apiVersion: batch/v1
kind: Job
metadata: { name: once, namespace: default }
spec: { template: ${template('once', ', restartPolicy: Never')} }
---
apiVersion: v1
kind: Pod
metadata: { name: lone, namespace: default, labels: { app: lone } }
spec: { containers: [{ name: c, image: nginx }] }
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: default }
spec: { selector: { app: web }, ports: [{ port: 80 }] }
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: web, namespace: default }
spec: { minAvailable: 1, selector: { matchLabels: { app: web } } }
`;

interface Outcome {
  /** Who wrote. */
  readonly users: ReadonlySet<string>;
  /** Somebody took connections for the service. */
  readonly isServed: boolean;
  /** A new namespace got what pods rely on: the server of the lab sees to that itself, which is faster. */
  readonly hasAccounts: boolean;
}

/** Time in which everybody has something to do. */
async function busyTime(lab: Lab): Promise<Outcome> {
  const cluster = lab.cluster();
  // Nobody else may do it, and without it there are no pods.
  const account = { namespace: 'default', name: 'default' };
  if ((await cluster.client.find(ServiceAccount, account)) === undefined)
    await cluster.client.create(ServiceAccount, { metadata: account });
  await cluster.apply(WORK);
  await request(lab);
  await lab.clock.advance(60_000);
  const { spec } = await cluster.client.get(Service, { namespace: 'default', name: 'web' });
  const isServed = await isOpen(lab, spec?.clusterIP ?? '');
  const fresh = await cluster.client.find(ServiceAccount, { namespace: 'fresh', name: 'default' });
  const authority = await cluster.client.find(ConfigMap, { namespace: 'fresh', name: 'kube-root-ca.crt' });
  if (hasNodes(lab)) await cluster.node('w-2').powerOff();
  await lab.clock.advance(600_000);
  const users = new Set(lab.writes().map(({ user }) => user));
  return { users, isServed, hasAccounts: fresh !== undefined || authority !== undefined };
}

const hasNodes = (lab: Lab): boolean => lab.writes().some(({ user }) => user.startsWith('system:node:'));

async function request(lab: Lab): Promise<void> {
  const wish = { commonName: 'jane', organizations: [], dnsNames: [], ipAddresses: [] };
  const pem = signingRequest(wish, await generateKeyPair());
  const { client } = lab.cluster();
  await client.create(CertificateSigningRequest, {
    metadata: { name: 'jane' },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
    },
  });
  const conditions = [{ type: 'Approved', status: 'True', reason: 'Test', message: 'because' }];
  const patch = { type: 'merge', body: { status: { conditions } } } as const;
  await client.patch(CertificateSigningRequest, { name: 'jane' }, patch, { subresource: 'approval' });
}

/** Whether anybody listens there; containers that are simulated take no connections, so that it is broken off at once. */
function isOpen(lab: Lab, clusterIP: string): Promise<boolean> {
  const { hostname, port } = new URL(lab.urlOf(clusterIP, 80));
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host: hostname, port: Number(port || 80) });
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  socket.once('connect', () => socket.destroy());
  return promise;
}

describe('the parts of a lab that can be switched off', () => {
  it('lab/A4: all have something to do when none is', async () => {
    await using lab = await startLab({ nodes: 2, clock: 'auto' });
    const { users, ...rest } = await busyTime(lab);
    const idle = STAND_INS.filter((name) => !USERS[name].some((user) => users.has(user)));
    assert.deepEqual({ idle, ...rest }, { idle: ['accounts', 'proxy'], isServed: true, hasAccounts: true });
  });

  for (const name of STAND_INS) {
    it(`lab/A4: ${name} does nothing when it is off, and has no rights`, async () => {
      await using lab = await startLab({ nodes: 2, clock: 'auto', replace: { [name]: 'off' } });
      const { users, isServed, hasAccounts } = await busyTime(lab);
      assert.deepEqual(
        USERS[name].filter((user) => users.has(user)),
        [],
      );
      if (name === 'proxy') assert.equal(isServed, false);
      assert.equal(hasAccounts, name !== 'accounts');
      const { items } = await lab.cluster().client.list(ClusterRole);
      const roles = new Set(USERS[name].map((user) => `slipway:lab:${user.slice(user.lastIndexOf(':') + 1)}`));
      assert.deepEqual(
        items.map(({ metadata }) => metadata.name).filter((role) => roles.has(role)),
        [],
      );
    });
  }
});
