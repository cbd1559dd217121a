import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { describe, it } from 'node:test';
import { CertificateRig } from '../../../../test/support/certificate-rig.ts';
import { Lease } from '../../../api/generated/coordination-v1.ts';
import { Node } from '../../../api/generated/core-v1.ts';
import { ClusterRoleBinding } from '../../../api/generated/rbac-v1.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import type { ExplicitAccess } from '../../../kube/config/explicit-access.ts';
import type { Connection, Transport } from '../../../kube/transport/transport.ts';
import { CertificateAuthority, type Credential } from '../../../pki/certificate-authority.ts';
import { TestEnv } from '../../../testing/index.ts';
import { startHeartbeat } from './heartbeat.ts';
import { basicFacts } from './node-facts.ts';
import { type RegistrationOptions, registerNode } from './register-node.ts';

const SYSTEM = {
  architecture: 'amd64',
  operatingSystem: 'linux',
  kernelVersion: '6.1.0',
  bootID: 'boot',
  machineID: 'machine',
  systemUUID: 'uuid',
};
const SETTINGS = { name: 'w-1', address: { api: '10.16.1.1', wire: '127.16.1.1' } };

/** What Kubernetes lets these groups do, and no more (A5). */
const ROLES = { 'system:nodes': 'system:node', 'system:bootstrappers': 'system:node-bootstrapper' };

async function cluster() {
  const env = await TestEnv.start();
  for (const [group, role] of Object.entries(ROLES)) {
    await env.client.create(ClusterRoleBinding, {
      metadata: { name: group },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: group }],
    });
  }
  const as = (user: string, group: string): Transport =>
    env.faults.around(env.activity.around(env.recorder.around(env.server.client(user, [group]))));
  const asNode = as('system:node:w-1', 'system:nodes');
  const register = (options: Partial<RegistrationOptions> = {}) =>
    registerNode({
      settings: SETTINGS,
      facts: () => basicFacts({ system: SYSTEM }),
      way: { mode: 'direct', transport: asNode },
      clock: env.clock,
      real: env.clock,
      log: SILENT_LOG,
      hold: (reason) => env.activity.hold(reason),
      ...options,
    });
  const node = () => env.client.get(Node, { name: 'w-1' });
  return { env, as, asNode, register, node, [Symbol.asyncDispose]: () => env[Symbol.asyncDispose]() };
}

type Cluster = Awaited<ReturnType<typeof cluster>>;

/** Connections whose user is who the credentials say, as an API server would find out. */
async function bootstrapping(lab: Cluster) {
  const { env } = lab;
  const validity = { now: env.clock.now(), validityMs: 86_400_000 };
  const authority = await CertificateAuthority.create({ commonName: 'ca', ...validity });
  const rig = new CertificateRig(env.client, { authority, commonName: 'ca', now: env.clock.now() });
  const dialled: string[] = [];
  let open = 0;
  const transportOf = ({ token, cert }: ExplicitAccess): Transport => {
    if (token === 'abcdef.0123456789abcdef') return lab.as('system:bootstrap:abcdef', 'system:bootstrappers');
    const subject = cert === undefined ? 'CN=system:anonymous' : new X509Certificate(Buffer.from(cert)).subject;
    return lab.as(/CN=(.*)/.exec(subject)?.[1] ?? '', /O=(.*)/.exec(subject)?.[1] ?? 'system:unauthenticated');
  };
  const dial = (access: ExplicitAccess): Connection => {
    dialled.push(`${access.url} ${access.token === undefined ? 'certificate' : 'token'}`);
    open++;
    return {
      transport: transportOf(access),
      host: 'test',
      refreshCredentials: () => {},
      [Symbol.asyncDispose]: async () => void open--,
    };
  };
  const way = {
    mode: 'bootstrap',
    url: 'https://10.16.1.254:6443',
    caPem: authority.certificatePem,
    token: 'abcdef.0123456789abcdef',
  } as const;
  const approveAll = async () => {
    await env.settle();
    await rig.decide('Approved');
    await rig.sign();
    await env.settle();
  };
  return { rig, dial, way, dialled, approveAll, open: () => open };
}

describe('registerNode', () => {
  it('lab/N1: registers directly, as the node, with what it is given', async () => {
    await using lab = await cluster();
    await using registered = await lab.register();
    assert.deepEqual([registered.wasAdopted, registered.serving], [false, undefined]);
    assert.equal(registered.node.metadata.name, 'w-1');
    assert.match(registered.version.minor, /^\d+$/);
    const managers = (await lab.node()).metadata.managedFields?.map(({ manager }) => manager);
    assert.deepEqual(new Set(managers), new Set(['slipway/lab/node']));
  });

  it('lab/N2: the Node is there with labels, annotation, status and nothing of a cloud', async () => {
    await using lab = await cluster();
    await using _registered = await lab.register();
    const { metadata, spec, status = {} } = await lab.node();
    assert.equal(metadata.labels?.['kubernetes.io/hostname'], 'w-1');
    assert.equal(metadata.annotations?.['volumes.kubernetes.io/controller-managed-attach-detach'], 'true');
    // The taint is the API server's: nothing is scheduled to a new node before a controller saw that it is ready.
    assert.deepEqual(spec, { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] });
    assert.equal(status.addresses?.length, 3);
    assert.match(JSON.stringify(status.nodeInfo), /"kubeletVersion":"v1\.\d+\.0\+slipway"/);
  });

  it('lab/N2: with a cloud it is tainted, and says nothing of where it is', async () => {
    await using lab = await cluster();
    const settings = { ...SETTINGS, cloudProvider: 'external', forcedAddress: '10.16.1.1' } as const;
    await using _registered = await lab.register({ settings });
    const { metadata, spec, status } = await lab.node();
    assert.ok(
      spec?.taints?.some(
        ({ key, value, effect }) =>
          key === 'node.cloudprovider.kubernetes.io/uninitialized' && value === 'true' && effect === 'NoSchedule',
      ),
    );
    assert.equal(spec?.providerID, undefined);
    assert.equal(metadata.annotations?.['alpha.kubernetes.io/provided-node-ip'], '10.16.1.1');
    assert.deepEqual(status?.addresses, [{ type: 'Hostname', address: 'w-1' }]);
  });

  it('lab/N5: adopts the Node that is there: labels corrected, taints and the rest kept', async () => {
    await using lab = await cluster();
    const taints = [{ key: 'mine', effect: 'NoExecute' }] as const;
    await lab.env.client.create(Node, {
      metadata: { name: 'w-1', labels: { 'kubernetes.io/arch': 'sparc', mine: 'too' } },
      spec: { taints, providerID: 'lab://i-1', unschedulable: true },
    });
    const { uid } = (await lab.node()).metadata;
    await using registered = await lab.register({ settings: { ...SETTINGS, cloudProvider: 'external' } });
    assert.equal(registered.wasAdopted, true);
    const { metadata, spec } = await lab.node();
    assert.equal(metadata.uid, uid);
    assert.deepEqual([metadata.labels?.['kubernetes.io/arch'], metadata.labels?.['mine']], ['amd64', 'too']);
    assert.deepEqual([spec?.providerID, spec?.unschedulable], ['lab://i-1', true]);
    assert.deepEqual(spec?.taints?.map(({ key }) => key).toSorted(), ['mine', 'node.kubernetes.io/not-ready']);
  });

  it('lab/N5: writes nothing to a Node that is as it left it', async () => {
    await using lab = await cluster();
    await (await lab.register())[Symbol.asyncDispose]();
    lab.env.recorder.clear();
    await using registered = await lab.register();
    assert.equal(registered.wasAdopted, true);
    assert.deepEqual(
      lab.env.recorder.writes.map(({ method, status }) => [method, status]),
      [['POST', 409]],
    );
  });

  it('lab/N5: creates the Node when the one that was there goes in between', async () => {
    await using lab = await cluster();
    await lab.env.client.create(Node, { metadata: { name: 'w-1' } });
    let isGone = false;
    const transport: Transport = async (request) => {
      if (request.method === 'GET' && request.target.startsWith('/api/v1/nodes/w-1') && !isGone) {
        isGone = true;
        await lab.env.client.delete(Node, { name: 'w-1' });
      }
      return lab.asNode(request);
    };
    await using registered = await lab.register({ way: { mode: 'direct', transport } });
    assert.deepEqual([isGone, registered.wasAdopted], [true, false]);
  });

  it('lab/N1: waits for an API server that is not there yet', async () => {
    await using lab = await cluster();
    using _away = lab.env.faults.arm({ matches: () => true, fault: { kind: 'reset' }, times: 30 });
    await using registered = await lab.env.throughTime(lab.register());
    assert.equal(registered.wasAdopted, false);
    assert.ok(lab.env.clock.monotonicMs() > 60_000);
  });

  it('lab/N1: ends while it waits, when it is told to', async () => {
    await using lab = await cluster();
    using _away = lab.env.faults.arm({ matches: () => true, fault: { kind: 'reset' } });
    const stop = new AbortController();
    const registering = assert.rejects(lab.register({ signal: stop.signal }), /powered off/);
    await lab.env.advance(1000);
    stop.abort(new Error('powered off'));
    await lab.env.throughTime(registering);
  });

  it('says at once what only an edit helps against', async () => {
    await using lab = await cluster();
    const settings = { ...SETTINGS, labels: { 'not a label': 'x' } };
    await assert.rejects(lab.register({ settings }), { reason: 'Invalid', message: /not a label/ });
    const transport = lab.as('somebody', 'nobody');
    await assert.rejects(lab.register({ way: { mode: 'direct', transport } }), { reason: 'Forbidden' });
  });

  it('lab/N1: dials with a certificate that is handed over', async () => {
    await using lab = await cluster();
    const { dial, dialled, open } = await bootstrapping(lab);
    const validity = { now: lab.env.clock.now(), validityMs: 1000 };
    const authority = await CertificateAuthority.create({ commonName: 'ca', ...validity });
    const { certificatePem, keys } = await authority.issue({
      kind: 'client',
      commonName: 'system:node:w-1',
      organizations: ['system:nodes'],
      ...validity,
    });
    const access = { url: 'https://10.16.1.254:6443', cert: certificatePem, key: keys.privateKeyPem };
    const registered = await lab.register({ way: { mode: 'direct', access }, dial });
    assert.deepEqual(dialled, ['https://10.16.1.254:6443 certificate']);
    await registered[Symbol.asyncDispose]();
    assert.equal(open(), 0);
  });

  it('lab/N1: bootstraps: a client certificate by token, then the Node, then a serving certificate', async () => {
    await using lab = await cluster();
    const { rig, dial, way, dialled, approveAll, open } = await bootstrapping(lab);
    const registering = lab.register({ way, dial });
    await lab.env.settle();
    assert.equal(await lab.env.client.find(Node, { name: 'w-1' }), undefined, 'nobody has approved yet');
    const [first] = await rig.requests();
    assert.deepEqual(
      [first?.spec.username, first?.spec.signerName],
      ['system:bootstrap:abcdef', 'kubernetes.io/kube-apiserver-client-kubelet'],
    );
    await approveAll();
    const registered = await lab.env.throughTime(registering);
    assert.equal(registered.wasAdopted, false);
    await lab.env.settle();
    const second = (await rig.requests()).find(({ spec }) => spec.signerName === 'kubernetes.io/kubelet-serving');
    assert.equal(second?.spec.username, 'system:node:w-1');
    await approveAll();
    const { certificatePem } = (await registered.serving) ?? { certificatePem: '' };
    assert.equal(
      new X509Certificate(certificatePem).subjectAltName,
      'DNS:w-1, IP Address:10.16.1.1, IP Address:127.16.1.1',
    );
    assert.deepEqual(dialled, ['https://10.16.1.254:6443 token', 'https://10.16.1.254:6443 certificate']);
    await registered[Symbol.asyncDispose]();
    assert.equal(open(), 0);
  });

  it('lab/N1: needs nobody to approve it again when it kept its certificate', async () => {
    await using lab = await cluster();
    const { rig, dial, way, dialled, approveAll } = await bootstrapping(lab);
    let kept: Credential | undefined;
    const store = { load: async () => kept, save: async (credential: Credential) => void (kept = credential) };
    const registering = lab.register({ way: { ...way, store }, dial });
    await approveAll();
    await (await lab.env.throughTime(registering))[Symbol.asyncDispose]();
    await using again = await lab.register({ way: { ...way, store }, dial });
    assert.equal(again.wasAdopted, true);
    assert.deepEqual(dialled.slice(2), ['https://10.16.1.254:6443 certificate']);
    const client = (await rig.requests()).filter(({ spec }) => spec.usages?.includes('client auth'));
    assert.equal(client.length, 1);
  });

  it('lab/N1: leaves nothing open when it is denied', async () => {
    await using lab = await cluster();
    const { rig, dial, way, open } = await bootstrapping(lab);
    const registering = assert.rejects(lab.register({ way, dial }), { reason: 'CertificateDenied' });
    await lab.env.settle();
    await rig.decide('Denied');
    await lab.env.throughTime(registering);
    assert.equal(open(), 0);
  });

  it('lab/N1: nobody has to wait for the serving certificate; it ends with the node', async () => {
    await using lab = await cluster();
    const { dial, way, approveAll } = await bootstrapping(lab);
    const registering = lab.register({ way, dial });
    await approveAll();
    const registered = await lab.env.throughTime(registering);
    const serving = assert.rejects(registered.serving ?? Promise.resolve(), /node w-1 has ended/);
    await registered[Symbol.asyncDispose]();
    await lab.env.throughTime(serving);
  });

  it('lab/N4: a node that dies at any write, done or not, is whole again after its next start', async () => {
    for (const isDone of [true, false]) {
      for (let dying = 0; dying < 4; dying++) {
        await using lab = await cluster();
        let writes = 0;
        const mortal: Transport = async (request) => {
          if (request.method === 'GET') return lab.asNode(request);
          const isLast = writes++ >= dying;
          if (isLast && !isDone) throw new Error('dead');
          const answer = await lab.asNode(request);
          if (isLast) throw new Error('dead');
          return answer;
        };
        await live(lab, mortal).catch(() => {});
        await live(lab, lab.asNode);
        const { metadata, status } = await lab.node();
        assert.equal(status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
        const lease = await lab.env.client.get(Lease, { namespace: 'kube-node-lease', name: 'w-1' });
        assert.deepEqual(lease.metadata.ownerReferences?.[0]?.uid, metadata.uid);
      }
    }
  });
});

/** Twenty seconds in the life of a node. */
async function live({ env, register }: Cluster, transport: Transport): Promise<void> {
  await using registered = await register({ way: { mode: 'direct', transport } });
  const facts = () => basicFacts({ system: SYSTEM });
  const { client, version, wasAdopted, settings } = registered;
  const options = { settings, facts, version, client, clock: env.clock, log: SILENT_LOG };
  const heartbeat = startHeartbeat({ ...options, isReported: !wasAdopted });
  await env.advance(20_000);
  await env.throughTime(heartbeat.stopHeartbeat());
}
