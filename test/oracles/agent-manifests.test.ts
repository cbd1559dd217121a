import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ControlPlane } from '../../oracles/run/control-plane.ts';
import { agentDefinitions } from '../../src/api/agent/definitions.schema.ts';
import { assistedDefinitions } from '../../src/api/assisted/definitions.schema.ts';
import { clusterApiDefinitions } from '../../src/api/cluster-api/definitions.schema.ts';
import { hiveDefinitions } from '../../src/api/hive/definitions.schema.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { metal3Definitions } from '../../src/api/metal3/definitions.schema.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { adminClient } from '../support/admin-client.ts';
import { applyAll, placedAgent, renderedAgent, webhookPlace } from '../support/agent-oracle-installation.ts';
import { startProvidersProcess } from '../support/agent-oracle-process.ts';
import { kubectl } from '../support/kubectl.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { RawClient } from '../support/raw-client.ts';

const needs = needsAll(
  needsOracle('etcd', { min: '3.5.13' }),
  needsOracle('kube-apiserver'),
  needsOracle('kubectl'),
);

/** Of cert-manager, as far as an API server has to know it: whatever is written is taken. */
const certManagerDefinition = (kind: string): KubeObject =>
  ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.toLowerCase()}s.cert-manager.io` },
    spec: {
      group: 'cert-manager.io',
      scope: 'Namespaced',
      names: { kind, plural: `${kind.toLowerCase()}s` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  }) as unknown as KubeObject;

const stream = (objects: readonly KubeObject[]): string =>
  objects.map((one) => `---\n${JSON.stringify(one)}\n`).join('');

/** Kinds that say where a webhook is. */
const isCalling = (kind: string): boolean => /^CustomResourceDefinition$|WebhookConfiguration$/.test(kind);

const CONFIGS = '/apis/bootstrap.cluster.x-k8s.io';
const CONTROL_PLANES = '/apis/controlplane.cluster.x-k8s.io';
const JSON_BODY = { 'content-type': 'application/json' };

describe('what installs the Agent providers, on a real Kubernetes', needs, () => {
  const parts = new AsyncDisposableStack();
  let cluster: ControlPlane;
  let client: KubeClient;
  let raw: RawClient;
  before(async () => {
    cluster = parts.use(await startKubernetes());
    client = await adminClient(parts, cluster.admin);
    raw = parts.use(new RawClient(cluster.admin));
    await applyAll(client, ['Issuer', 'Certificate'].map(certManagerDefinition));
    const others = [
      ...clusterApiDefinitions(),
      ...assistedDefinitions(),
      ...hiveDefinitions(),
      ...metal3Definitions(),
    ];
    await applyAll(client, others as unknown as readonly KubeObject[]);
  });
  after(() => parts.disposeAsync());

  for (const signer of ['cert-manager', 'service-ca'] as const) {
    it(`agent/P2: is taken without a warning, and changes nothing the second time: ${signer}`, async () => {
      const file = join(cluster.directory, `${signer}.yaml`);
      await writeFile(file, stream(renderedAgent(signer)));
      const apply = () =>
        kubectl(cluster.admin, 'apply', '--server-side', '--force-conflicts', '--validate=strict', '-f', file);
      const first = await apply();
      assert.equal(first.code, 0, first.stderr);
      assert.doesNotMatch(first.stderr, /warning/i);
      assert.equal(first.stdout.trim().split('\n').length, renderedAgent(signer).length);
      assert.equal((await apply()).code, 0);
    });
  }

  it('agent/P2: its kinds are established, and kubectl explains their fields', async () => {
    for (const { metadata } of agentDefinitions()) {
      const waited = await kubectl(
        cluster.admin,
        'wait',
        '--for=condition=Established',
        `crd/${metadata.name}`,
        '--timeout=20s',
      );
      assert.equal(waited.code, 0, waited.stderr);
    }
    for (const path of [
      'openshiftassistedconfigs.spec.nodeRegistration.kubeletExtraLabels',
      'openshiftassistedcontrolplanes.spec.config.apiVIPs',
      'openshiftassistedcontrolplanes.spec.machineTemplate.infrastructureRef',
      'openshiftassistedconfigtemplates.spec.template.spec',
    ]) {
      const { code, stdout, stderr } = await kubectl(cluster.admin, 'explain', path);
      assert.equal(code, 0, stderr);
      const [, description = ''] = stdout.split('DESCRIPTION:');
      assert.doesNotMatch(description.trim().split('\n')[0] ?? '', /^<empty>$/, path);
    }
  });

  describe('with the program of both providers as a process', () => {
    before(async () => {
      const place = await webhookPlace(cluster.directory);
      // Whoever applied a Service owns it: a URL beside it would be one too many.
      const file = join(cluster.directory, 'placed.yaml');
      await writeFile(file, stream(placedAgent(place).filter(({ kind }) => isCalling(kind))));
      const { code, stderr } = await kubectl(cluster.admin, 'replace', '-f', file);
      assert.equal(code, 0, stderr);
      await startProvidersProcess(parts, { directory: cluster.directory, kubeconfig: cluster.admin, place });
    });

    const inNamespace = (group: string, version: string, plural: string, name = '') =>
      `${group}/${version}/namespaces/default/${plural}${name === '' ? '' : `/${name}`}`;
    const create = (path: string, object: JsonObject) =>
      raw.json<JsonObject>(path, { method: 'POST', headers: JSON_BODY, body: JSON.stringify(object) });

    const configPath = (version: string, name = '') =>
      inNamespace(CONFIGS, version, 'openshiftassistedconfigs', name);
    const spec = {
      cpuArchitecture: 'x86_64',
      kernelArguments: [{ operation: 'append', value: 'a=b' }],
      nodeRegistration: { name: '$METADATA_NAME', kubeletExtraLabels: ['a=$B'] },
    };

    it('agent/V1, agent/V2, agent/V3: a config of v1alpha1 is one of v1alpha2, and is what it was', async () => {
      await create(configPath('v1alpha1'), {
        apiVersion: 'bootstrap.cluster.x-k8s.io/v1alpha1',
        kind: 'OpenshiftAssistedConfig',
        metadata: { name: 'old' },
        spec,
      });
      const status = {
        ready: true,
        dataSecretName: 'old',
        infraEnvRef: { name: 'i' },
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
      };
      await raw.json(`${configPath('v1alpha1', 'old')}/status`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json' },
        body: JSON.stringify({ status }),
      });
      const hub = await raw.json<JsonObject>(configPath('v1alpha2', 'old'));
      assert.deepEqual(hub['spec'], spec);
      assert.partialDeepStrictEqual(hub['status'], {
        dataSecretName: 'old',
        initialization: { dataSecretCreated: true },
      });
      const spoke = await raw.json<JsonObject>(configPath('v1alpha1', 'old'));
      assert.deepEqual(spoke['spec'], spec);
      // The provider has looked at it meanwhile, and says so.
      assert.partialDeepStrictEqual(spoke['status'], status);
    });

    it('agent/V4, agent/V5: a control plane of v1alpha2 is one of v1alpha3, and is what it was', async () => {
      const path = (version: string, name = '') =>
        inNamespace(CONTROL_PLANES, version, 'openshiftassistedcontrolplanes', name);
      const infrastructureRef = {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1',
        kind: 'Metal3MachineTemplate',
        name: 't',
        namespace: 'default',
      };
      const old = {
        distributionVersion: '4.20.1',
        replicas: 3,
        config: { baseDomain: 'example.com' },
        machineTemplate: { infrastructureRef, nodeDrainTimeout: '1m30s' },
        openshiftAssistedConfigSpec: spec,
      };
      await create(path('v1alpha2'), {
        apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
        kind: 'OpenshiftAssistedControlPlane',
        metadata: { name: 'old' },
        spec: old,
      });
      const hub = await raw.json<JsonObject>(path('v1alpha3', 'old'));
      assert.partialDeepStrictEqual(hub['spec'], {
        replicas: 3,
        machineTemplate: {
          infrastructureRef: {
            apiGroup: 'infrastructure.cluster.x-k8s.io',
            kind: 'Metal3MachineTemplate',
            name: 't',
          },
          deletion: { nodeDrainTimeoutSeconds: 90 },
        },
      });
      const spoke = await raw.json<JsonObject>(path('v1alpha2', 'old'));
      assert.deepEqual(spoke['spec'], old);
    });

    it('agent/W1: the spec of a config never changes; everything else does', async () => {
      await create(configPath('v1alpha2'), {
        apiVersion: 'bootstrap.cluster.x-k8s.io/v1alpha2',
        kind: 'OpenshiftAssistedConfig',
        metadata: { name: 'fixed' },
        spec,
      });
      const patch = (version: string, body: JsonObject) =>
        raw.send(configPath(version, 'fixed'), {
          method: 'PATCH',
          headers: { 'content-type': 'application/merge-patch+json' },
          body: JSON.stringify(body),
        });
      for (const version of ['v1alpha1', 'v1alpha2']) {
        const { status, body } = await patch(version, { spec: { osImageVersion: '4.20' } });
        assert.equal(status, 400, body.toString());
        assert.match(body.toString(), /denied the request: spec is immutable","reason":"BadRequest"/);
      }
      assert.equal((await patch('v1alpha2', { metadata: { labels: { a: 'b' } } })).status, 200);
      assert.equal((await raw.send(configPath('v1alpha1', 'fixed'), { method: 'DELETE' })).status, 200);
    });

    it('agent/P1: shows old versions with a warning that they are deprecated', async () => {
      const { code, stderr, stdout } = await kubectl(
        cluster.admin,
        'get',
        'openshiftassistedconfigs.v1alpha1.bootstrap.cluster.x-k8s.io',
        'old',
      );
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^NAME/);
      assert.match(stderr, /deprecated, use .*v1alpha2/);
    });
  });
});
