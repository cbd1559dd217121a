import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { clusterManifests, hostManifests } from '../../../test/support/agent-manifests.ts';
import { BOTH, passing, startAgentProgram } from '../../../test/support/agent-programs.ts';
import { agentCrds, agentOutside } from '../../../test/support/agent-world.ts';
import { freePort } from '../../../test/support/cloud-program.ts';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { Cluster, Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { Lease } from '../../api/generated/coordination-v1.ts';
import { Namespace } from '../../api/generated/core-v1.ts';
import { ApiServerConfig } from '../../api/openshift/config-v1.ts';
import { openshiftDefinitions } from '../../api/openshift/definitions.schema.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { applyObject } from '../../kube/apply/apply-object.ts';
import { createRestMapper } from '../../kube/client/rest-mapper.ts';
import { isTrue } from '../../object/conditions.ts';
import { CertificateAuthority } from '../../pki/certificate-authority.ts';
import { TestEnv } from '../../testing/test-env.ts';

const DAY_MS = 86_400_000;
const NAMESPACE = 'test-capi';
const INFRASTRUCTURE = 'infrastructure.cluster.x-k8s.io';

async function startHub(options: { readonly isOpenShift?: boolean } = {}): Promise<TestEnv> {
  const crds = [...agentCrds(), ...(options.isOpenShift === true ? openshiftDefinitions() : [])];
  const env = await TestEnv.start({ crds, log: SILENT_LOG });
  for (const name of [NAMESPACE, 'other', 'capoa-bootstrap-system', 'capoa-controlplane-system'])
    await env.client.create(Namespace, { metadata: { name } });
  return env;
}

/** A folder as the volume of a Secret with a certificate is. */
async function certificates() {
  const directory = await scratchDirectory();
  const validity = { now: new Date('2025-12-31T00:00:00Z'), validityMs: 3650 * DAY_MS };
  const authority = await CertificateAuthority.create({ commonName: 'webhooks', ...validity });
  const { certificatePem, keys } = await authority.issue({
    kind: 'serving',
    commonName: 'localhost',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    ...validity,
  });
  await writeFile(join(directory.path, 'tls.crt'), certificatePem);
  await writeFile(join(directory.path, 'tls.key'), keys.privateKeyPem);
  return directory;
}

/** What the API server asks a webhook for conversion, with this highest version of TLS. */
function converted(port: number, maxVersion: 'TLSv1.2' | 'TLSv1.3' = 'TLSv1.3'): Promise<string> {
  const body = JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    request: { uid: 'u', desiredAPIVersion: 'bootstrap.cluster.x-k8s.io/v1alpha2', objects: [] },
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const asked = request(
    {
      host: '127.0.0.1',
      port,
      path: '/convert',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      rejectUnauthorized: false,
      maxVersion,
      agent: false,
    },
    (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => void chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString()));
    },
  );
  asked.on('error', reject);
  asked.end(body);
  return promise;
}

/** The owner of a config, so that its provider has something to say about it. */
async function machineWithConfig(env: TestEnv, namespace: string, labels: Readonly<Record<string, string>> = {}) {
  await env.client.create(Cluster, {
    metadata: { name: 'c', namespace },
    spec: { infrastructureRef: { apiGroup: INFRASTRUCTURE, kind: 'Metal3Cluster', name: 'c' } },
  });
  const ref = { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'OpenshiftAssistedConfig', name: 'm' };
  const infrastructure = { apiGroup: INFRASTRUCTURE, kind: 'Metal3Machine', name: 'm' };
  const machine = await env.client.create(Machine, {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Machine',
    metadata: { name: 'm', namespace, labels: { 'cluster.x-k8s.io/cluster-name': 'c' } },
    spec: { clusterName: 'c', bootstrap: { configRef: ref }, infrastructureRef: infrastructure },
  });
  await env.client.create(OpenshiftAssistedConfig, {
    metadata: {
      name: 'm',
      namespace,
      labels: { 'cluster.x-k8s.io/cluster-name': 'c', ...labels },
      ownerReferences: [
        { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', name: 'm', uid: machine.metadata.uid ?? '' },
      ],
    },
    spec: {},
  });
}

const isLookedAfter = async (env: TestEnv, namespace: string): Promise<boolean> =>
  ((await env.client.get(OpenshiftAssistedConfig, { namespace, name: 'm' })).metadata.finalizers ?? []).length > 0;

const apiServer = (spec: ApiServerConfig['spec']): ApiServerConfig => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'APIServer',
  metadata: { name: 'cluster' },
  spec: { ...spec },
});

const profile = (type: 'Old' | 'Modern') => ({
  type: 'merge' as const,
  body: { spec: { tlsSecurityProfile: { type } } },
});

describe('the program of the Agent providers', () => {
  it('agent/P1: both in one process install a cluster with the rights that they say they need', async () => {
    await using env = await startHub();
    await using outside = await agentOutside(env);
    await env.startManager({ name: 'stand-ins', add: outside.controllers });
    await using program = await startAgentProgram(env, BOTH, {
      argv: ['--leader-elect'],
      http: outside.http,
      connectWorkload: (kubeconfig) => outside.workloads.connect(kubeconfig),
    });
    const target = { client: env.client, mapper: createRestMapper(env.client, env.clock) };
    for (const object of [...hostManifests(5), ...clusterManifests()])
      await applyObject(target, object, { force: true });
    const key = { namespace: NAMESPACE, name: 'test-multinode' };
    const isAvailable = async () => isTrue(await env.client.get(OpenshiftAssistedControlPlane, key), 'Available');
    for (let minute = 0; minute < 180 && !(await isAvailable()); minute++) await env.advance(60_000);
    assert.ok(await isAvailable(), program.lines.slice(-20).join(''));
    const machines = (await env.client.list(Machine, { namespace: NAMESPACE })).items;
    assert.equal(machines.length, 5);
    program.stop();
    assert.equal(await passing(env, program.exit), 0);
  });

  for (const [provider, name, namespace] of [
    ['bootstrap', '08dff33b.cluster.x-k8s.io', 'capoa-bootstrap-system'],
    ['control-plane', '09dff44b.cluster.x-k8s.io', 'capoa-controlplane-system'],
  ] as const) {
    it(`agent/P1: ${provider} leads with the Lease of upstream, and gives it back at its end`, async () => {
      await using env = await startHub();
      await using program = await startAgentProgram(env, [provider], { argv: ['--leader-elect'] });
      await env.settle();
      const { spec } = await env.client.get(Lease, { namespace, name });
      assert.match(spec?.holderIdentity ?? '', /^agent_/);
      program.stop();
      assert.equal(await passing(env, program.exit), 0);
      assert.equal((await env.client.get(Lease, { namespace, name })).spec?.holderIdentity, '');
    });
  }

  it('agent/P1: without --leader-elect no Lease is written', async () => {
    await using env = await startHub();
    await using _program = await startAgentProgram(env, BOTH);
    await env.advance(60_000);
    assert.deepEqual((await env.client.list(Lease)).items, []);
  });

  it('agent/P1: a second one waits until the first is gone', async () => {
    await using env = await startHub();
    const argv = ['--leader-elect', '--leader-elect-namespace=other'];
    await using first = await startAgentProgram(env, ['bootstrap'], { argv });
    await using _second = await startAgentProgram(env, ['bootstrap'], { argv, name: 'second' });
    const holder = async () =>
      (await env.client.get(Lease, { namespace: 'other', name: '08dff33b.cluster.x-k8s.io' })).spec
        ?.holderIdentity;
    await env.advance(60_000);
    assert.match((await holder()) ?? '', /^agent_/);
    first.stop();
    await passing(env, first.exit);
    await env.advance(60_000);
    assert.match((await holder()) ?? '', /^second_/);
  });

  it('agent/P1: looks at one namespace when told so', async () => {
    await using env = await startHub();
    for (const namespace of [NAMESPACE, 'other']) await machineWithConfig(env, namespace);
    await using _program = await startAgentProgram(env, ['bootstrap'], { argv: [`--namespace=${NAMESPACE}`] });
    await env.advance(1000);
    assert.deepEqual([await isLookedAfter(env, NAMESPACE), await isLookedAfter(env, 'other')], [true, false]);
  });

  it('agent/P1: looks at objects with a label when told so', async () => {
    await using env = await startHub();
    await machineWithConfig(env, NAMESPACE, { 'cluster.x-k8s.io/watch-filter': 'ours' });
    await machineWithConfig(env, 'other', { 'cluster.x-k8s.io/watch-filter': 'theirs' });
    await using _program = await startAgentProgram(env, ['bootstrap'], { argv: ['--watch-filter=ours'] });
    await env.advance(1000);
    assert.deepEqual([await isLookedAfter(env, NAMESPACE), await isLookedAfter(env, 'other')], [true, false]);
  });

  it('agent/P1: serves webhooks where it is told, on a Kubernetes that is no OpenShift', async () => {
    await using env = await startHub();
    await using directory = await certificates();
    const port = await freePort();
    const argv = [
      `--webhook-port=${port}`,
      '--webhook-bind-address=127.0.0.1',
      `--webhook-cert-dir=${directory.path}`,
    ];
    await using program = await startAgentProgram(env, BOTH, { argv });
    assert.match(await converted(port, 'TLSv1.2'), /"status":"Success"/, program.lines.join(''));
  });

  it('agent/P1: without a certificate says once what to do, and ends with 2', async () => {
    await using env = await startHub();
    const argv = ['--webhook-port=9443', '--webhook-cert-dir=/nonexistent/certs'];
    await using program = await startAgentProgram(env, BOTH, { argv });
    assert.equal(await program.exit, 2);
    assert.equal(program.lines.length, 1, program.lines.join(''));
    assert.match(
      program.lines.join(''),
      /the webhooks have no certificate: cannot read \/nonexistent\/certs\/tls\.crt/,
    );
    assert.match(program.lines.join(''), /--webhook-cert-dir, or serve no webhooks with --webhook-port=0/);
  });

  it('agent/P1: shows its flags', async () => {
    await using env = await startHub();
    await using program = await startAgentProgram(env, ['bootstrap'], {
      argv: ['--help'],
      usage: 'slipway run agent-bootstrap',
    });
    assert.equal(await program.exit, 0);
    const text = program.out.join('');
    assert.match(text, /^Usage: slipway run agent-bootstrap/);
    for (const flag of [
      '--leader-elect',
      '--metrics-bind-address',
      '--health-probe-bind-address',
      '--webhook-cert-dir',
    ])
      assert.ok(text.includes(flag), flag);
    assert.deepEqual(program.lines, []);
  });

  const wrong = [
    { argv: ['--unheard-of'], env: {}, want: /--unheard-of is not known/ },
    { argv: ['--webhook-port=many'], env: {}, want: /--webhook-port/ },
    { argv: ['--namespace=Not One'], env: {}, want: /--namespace: "Not One"/ },
    { argv: [], env: { USE_INTERNAL_IMAGE_URL: 'perhaps' }, want: /USE_INTERNAL_IMAGE_URL must be true or false/ },
    {
      argv: [],
      env: { ASSISTED_CA_BUNDLE_NAME: 'ca', ASSISTED_CA_BUNDLE_NAMESPACE: '' },
      want: /ASSISTED_CA_BUNDLE_NAME is "ca" and ASSISTED_CA_BUNDLE_NAMESPACE is ""; set both, or make both empty/,
    },
  ];
  for (const { argv, env: variables, want } of wrong) {
    it(`agent/P1, agent/E7: ends with 2 for ${argv.join(' ') || Object.keys(variables).join()}`, async () => {
      await using env = await startHub();
      await using program = await startAgentProgram(env, BOTH, { argv, env: variables, granted: [] });
      assert.equal(await program.exit, 2);
      assert.match(program.lines.join(''), want);
    });
  }

  it('agent/P3: says which rights are missing', async () => {
    await using env = await startHub();
    await using program = await startAgentProgram(env, ['control-plane'], { granted: [] });
    assert.equal(await passing(env, program.exit), 1);
    assert.match(program.lines.join(''), /\*\.infrastructure\.cluster\.x-k8s\.io/);
  });
});

describe('the program of the Agent providers on OpenShift', () => {
  async function startServing(env: TestEnv, parts: AsyncDisposableStack) {
    const directory = parts.use(await certificates());
    const port = await freePort();
    const argv = [
      `--webhook-port=${port}`,
      '--webhook-bind-address=127.0.0.1',
      `--webhook-cert-dir=${directory.path}`,
    ];
    return { port, program: parts.use(await startAgentProgram(env, BOTH, { argv })) };
  }

  const hasStopped = (lines: readonly string[]): boolean => lines.some((line) => line.includes('starting anew'));

  it('agent/P4: takes the usual settings while components need not follow the profile, whatever happens to it', async () => {
    await using env = await startHub({ isOpenShift: true });
    await env.client.create(ApiServerConfig, apiServer({ tlsSecurityProfile: { type: 'Modern' } }));
    await using parts = new AsyncDisposableStack();
    const { port, program } = await startServing(env, parts);
    assert.match(await converted(port, 'TLSv1.2'), /"status":"Success"/);
    await env.client.patch(ApiServerConfig, { name: 'cluster' }, profile('Old'));
    await env.advance(60_000);
    assert.ok(!hasStopped(program.lines), program.lines.join(''));
  });

  it('agent/P4: follows the profile where all components must, and starts anew when it changes', async () => {
    await using env = await startHub({ isOpenShift: true });
    await env.client.create(
      ApiServerConfig,
      apiServer({ tlsAdherence: 'StrictAllComponents', tlsSecurityProfile: { type: 'Modern' } }),
    );
    await using parts = new AsyncDisposableStack();
    const { port, program } = await startServing(env, parts);
    assert.match(await converted(port), /"status":"Success"/);
    await assert.rejects(converted(port, 'TLSv1.2'));
    await env.client.patch(ApiServerConfig, { name: 'cluster' }, { type: 'merge', body: { spec: { other: 1 } } });
    await env.advance(1000);
    assert.ok(!hasStopped(program.lines), 'nothing of it is about TLS');
    await env.client.patch(ApiServerConfig, { name: 'cluster' }, profile('Old'));
    assert.equal(await passing(env, program.exit), 0);
    assert.ok(hasStopped(program.lines));
  });

  it('agent/P4: starts anew when components must follow from now on, and then stays', async () => {
    await using env = await startHub({ isOpenShift: true });
    await env.client.create(ApiServerConfig, apiServer({ tlsSecurityProfile: { type: 'Old' } }));
    await using parts = new AsyncDisposableStack();
    const { program } = await startServing(env, parts);
    await env.client.patch(
      ApiServerConfig,
      { name: 'cluster' },
      { type: 'merge', body: { spec: { tlsAdherence: 'StrictAllComponents' } } },
    );
    assert.equal(await passing(env, program.exit), 0);
    const { program: second } = await startServing(env, parts);
    await env.advance(60_000);
    assert.ok(!hasStopped(second.lines), second.lines.join(''));
  });

  it('agent/P4: asks again while nobody can say whether it is OpenShift', async () => {
    await using env = await startHub();
    let failures = 2;
    const transport = env.transportFor('agent');
    const kube: typeof transport = (asked) => {
      if (asked.target !== '/apis/config.openshift.io/v1' || failures === 0) return transport(asked);
      failures -= 1;
      return Promise.reject(new Error('no answer'));
    };
    await using directory = await certificates();
    const argv = [`--webhook-port=${await freePort()}`, `--webhook-cert-dir=${directory.path}`];
    const beganMs = env.clock.monotonicMs();
    await using program = await startAgentProgram(env, ['bootstrap'], { argv, kube });
    const told = program.lines.filter((line) => line.includes('Cannot tell whether this is OpenShift'));
    assert.equal(told.length, 2, program.lines.join(''));
    assert.ok(env.clock.monotonicMs() - beganMs >= 10_000);
  });
});
