import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import type { JsonObject } from '../../object/json.ts';
import { parseYaml } from '../../object/yaml.ts';
import { TestEnv } from '../../testing/test-env.ts';
import type { Kind, KubeObject } from '../object.ts';
import { CredentialsRequest } from './cloudcredential-v1.ts';
import { ApiServerConfig, ClusterOperator, Infrastructure, Network, SINGLETON } from './config-v1.ts';
import { openshiftDefinitions } from './definitions.schema.ts';
import { KubeControllerManager } from './operator-v1.ts';

const ORIGINAL = join(
  import.meta.dirname,
  '../../../../shared/crds/openshift/10_config-operator_01_infrastructures.crd.yaml',
);

const served = () => TestEnv.start({ crds: openshiftDefinitions() });

/** Objects with whatever fields: what a type does not name is what these tests are about. */
const create = (client: KubeClient, kind: Kind, rest: object): Promise<KubeObject> =>
  client.create(kind, { metadata: SINGLETON, ...rest });

const patched = (client: KubeClient, kind: Kind, body: JsonObject, subresource?: string): Promise<KubeObject> =>
  client.patch(kind, SINGLETON, { type: 'merge', body }, subresource === undefined ? {} : { subresource });

const statusPatched = (client: KubeClient, kind: Kind, status: JsonObject): Promise<KubeObject> =>
  patched(client, kind, { status }, 'status');

/** The fields of an object apart from its identity. */
function bodyOf(object: KubeObject): object {
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...body } = object;
  return body;
}

describe('the definitions of OpenShift on our API server', () => {
  it('operator/E7: gives topologies their defaults when there is a status, and the platform its name', async () => {
    await using env = await served();
    const created = await create(env.client, Infrastructure, { spec: { platformSpec: { external: {} } } });
    const spec = { platformSpec: { external: { platformName: 'Unknown' } } };
    assert.deepEqual(bodyOf(created), { spec });
    const written = await statusPatched(env.client, Infrastructure, { infrastructureName: 'a' });
    assert.deepEqual(bodyOf(written), {
      spec,
      status: {
        infrastructureName: 'a',
        controlPlaneTopology: 'HighlyAvailable',
        infrastructureTopology: 'HighlyAvailable',
      },
    });
  });

  it('keeps fields that nobody named, at every depth', async () => {
    await using env = await served();
    const spec = { platformSpec: { type: 'AWS', aws: { serviceEndpoints: [{ name: 'ec2' }] } }, other: [1] };
    assert.deepEqual(bodyOf(await create(env.client, Infrastructure, { spec })), { spec });
    const status = { platformStatus: { type: 'AWS', aws: { region: 'here' } }, etcdDiscoveryDomain: 'x' };
    const { status: got } = bodyOf(await statusPatched(env.client, Infrastructure, status)) as { status: object };
    assert.deepEqual(got, {
      ...status,
      controlPlaneTopology: 'HighlyAvailable',
      infrastructureTopology: 'HighlyAvailable',
    });
  });

  const refused = [
    { name: 'a platform that nobody knows', status: { platformStatus: { type: 'Moon' } } },
    { name: 'a topology that nobody knows', status: { controlPlaneTopology: 'Triple' } },
    {
      name: 'a state of the cloud controller manager that nobody knows',
      status: { platformStatus: { external: { cloudControllerManager: { state: 'Perhaps' } } } },
    },
  ];
  for (const { name, status } of refused) {
    it(`operator/E7: refuses ${name}`, async () => {
      await using env = await served();
      await create(env.client, Infrastructure, { spec: {} });
      await assert.rejects(statusPatched(env.client, Infrastructure, status), { reason: 'Invalid' });
    });
  }

  it('operator/R17: does not let anybody change whether there is a cloud controller manager', async () => {
    await using env = await served();
    const stateOf = (state: string) => ({ platformStatus: { external: { cloudControllerManager: { state } } } });
    await create(env.client, Infrastructure, { spec: {} });
    await statusPatched(env.client, Infrastructure, stateOf('None'));
    const change = statusPatched(env.client, Infrastructure, stateOf('External'));
    await assert.rejects(change, { reason: 'Invalid', message: /is set once, at installation/ });
    const removal = statusPatched(env.client, Infrastructure, {
      platformStatus: { external: { cloudControllerManager: null } },
    });
    await assert.rejects(removal, { reason: 'Invalid', message: /from the installation on, or never/ });
  });

  it('operator/R17: lets the name of an External platform be set once', async () => {
    await using env = await served();
    const nameOf = (platformName: string) => ({ spec: { platformSpec: { external: { platformName } } } });
    await create(env.client, Infrastructure, nameOf('Unknown'));
    await patched(env.client, Infrastructure, nameOf('acme'));
    await assert.rejects(patched(env.client, Infrastructure, nameOf('other')), { reason: 'Invalid' });
  });

  it('operator/E6: keeps status and the rest apart, but for Network, which has no such subresource', async () => {
    await using env = await served();
    const both = { spec: {}, status: { conditions: [] } };
    for (const kind of [Infrastructure, ClusterOperator, ApiServerConfig, KubeControllerManager]) {
      assert.deepEqual(bodyOf(await create(env.client, kind, both)), { spec: {} }, kind.kind);
    }
    assert.deepEqual(bodyOf(await create(env.client, Network, both)), both);
  });

  it('operator/E6: merges the conditions that two managers apply to a ClusterOperator', async () => {
    await using env = await served();
    await create(env.client, ClusterOperator, { spec: {} });
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    const apply = (fieldManager: string, ...types: readonly string[]) =>
      env.client.applyStatus(
        ClusterOperator,
        {
          metadata: SINGLETON,
          status: { conditions: types.map((type) => ({ type, status: 'True' as const, lastTransitionTime })) },
        },
        { fieldManager },
      );
    const typesOf = ({ status }: ClusterOperator) => status?.conditions?.map(({ type }) => type).toSorted();
    await apply('one', 'Available', 'Progressing');
    assert.deepEqual(typesOf(await apply('two', 'ConfigAvailable')), [
      'Available',
      'ConfigAvailable',
      'Progressing',
    ]);
    assert.deepEqual(typesOf(await apply('one', 'Available')), ['Available', 'ConfigAvailable']);
  });

  it('lets the adherence to TLS profiles be changed, not removed', async () => {
    await using env = await served();
    await create(env.client, ApiServerConfig, { spec: { tlsAdherence: 'StrictAllComponents' } });
    const change = (tlsAdherence: string | null) =>
      patched(env.client, ApiServerConfig, { spec: { tlsAdherence } });
    await change('LegacyAdheringComponentsOnly');
    await assert.rejects(change(null), { reason: 'Invalid', message: /can be changed, not removed/ });
    await assert.rejects(change('Perhaps'), { reason: 'Invalid' });
  });

  it('serves requests for credentials with what a cloud says in its own words', async () => {
    await using env = await served();
    const metadata = { name: 'ccm', namespace: 'default' };
    const spec = {
      secretRef: { namespace: 'here', name: 'cloud-credentials' },
      serviceAccountNames: ['cloud-controller-manager'],
      providerSpec: {
        apiVersion: 'acme.example/v1',
        kind: 'AcmeProviderSpec',
        roles: [{ name: 'load-balancer' }],
      },
    };
    const created = await env.client.create(CredentialsRequest, {
      apiVersion: 'cloudcredential.openshift.io/v1',
      kind: 'CredentialsRequest',
      metadata,
      spec,
    });
    assert.deepEqual(created.spec, spec);
  });
});

const original = existsSync(ORIGINAL) ? readFileSync(ORIGINAL, 'utf8') : undefined;
const skip = original === undefined ? `${ORIGINAL} is not there` : false;

/** Every form that `platformStatus.external` can have. */
const FORMS: readonly (JsonObject | null)[] = [
  null,
  {},
  { cloudControllerManager: {} },
  ...['', 'External', 'None'].map((state) => ({ cloudControllerManager: { state } })),
];

/** Which steps from one form to another a definition allows: `{} -> {}: yes`. */
async function allowedSteps(crd: JsonObject): Promise<readonly string[]> {
  await using env = await TestEnv.start({ crds: [crd] });
  const write = (name: string, external: JsonObject | null) =>
    env.client.patch(
      Infrastructure,
      { name },
      // A merge patch would keep what was there before.
      { type: 'json', body: [{ op: 'add', path: '/status', value: { platformStatus: statusWith(external) } }] },
      { subresource: 'status' },
    );
  const pairs = FORMS.flatMap((before) => FORMS.map((after) => ({ before, after })));
  const steps: string[] = [];
  for (const [at, { before, after }] of pairs.entries()) {
    const name = `step-${at}`;
    await create(env.client, Infrastructure, { metadata: { name }, spec: {} });
    await write(name, before);
    const isAllowed = await write(name, after).then(
      () => true,
      () => false,
    );
    steps.push(`${JSON.stringify(before)} -> ${JSON.stringify(after)}: ${isAllowed ? 'yes' : 'no'}`);
  }
  return steps;
}

const statusWith = (external: JsonObject | null): JsonObject => ({
  type: 'External',
  ...(external !== null && { external }),
});

describe('the state of the cloud controller manager', { skip }, () => {
  it('operator/E7: can go where the definition of OpenShift lets it go, and nowhere else', async () => {
    const [ours] = openshiftDefinitions();
    assert.ok(ours !== undefined && original !== undefined);
    const got = await allowedSteps(ours);
    assert.deepEqual(got, await allowedSteps(parseYaml(original) as JsonObject));
    assert.equal(got.length, 36);
    assert.ok(got.some((step) => step.endsWith('no')) && got.some((step) => step.endsWith('yes')));
  });
});
