import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BOOT_METHOD, IGNITION_OVERRIDE } from '../../api/agent/bootstrap-v1alpha2.ts';
import {
  INSTALL_CONFIG_OVERRIDE,
  PLATFORM,
  PLATFORM_CLOUD_CONTROLLER_MANAGER,
} from '../../api/agent/controlplane-v1alpha3.ts';
import { agentDefinitions } from '../../api/agent/definitions.schema.ts';
import { CONVERSION_DATA_ANNOTATION } from '../../api/cluster-api/core-v1beta2.ts';
import { type ApiServer } from '../../apiserver/options.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { VirtualClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { PrometheusMetrics } from '../../kube/metrics/metrics.ts';
import {
  type ConfigurationOptions,
  webhookConfigurations,
  withConversion,
} from '../../kube/webhook/webhook-configurations.ts';
import { Webhooks } from '../../kube/webhook/webhooks.ts';
import { HUB_DATA_ANNOTATION } from '../conversion/conversion-data.ts';
import { registerBootstrapWebhooks, registerControlPlaneWebhooks } from './agent-webhooks.ts';

// Tests look into objects they have made themselves.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any;

const OPTIONS: ConfigurationOptions = {
  name: 'agent',
  address: { service: { namespace: 'system', name: 'hooks' } },
  trust: 'self-managed',
};

function agentWebhooks(): Webhooks {
  const webhooks = new Webhooks({ clock: new VirtualClock(), log: SILENT_LOG, metrics: new PrometheusMetrics() });
  registerBootstrapWebhooks(webhooks);
  registerControlPlaneWebhooks(webhooks);
  return webhooks;
}

interface Answer {
  readonly code: number;
  readonly body: Loose;
  readonly warnings: readonly string[];
}

/** Our API server with the kinds of both providers, and their webhooks in this process. */
class World implements AsyncDisposable {
  readonly #server: ApiServer;

  private constructor(server: ApiServer) {
    this.#server = server;
  }

  static async start(): Promise<World> {
    const webhooks = agentWebhooks();
    const crds = agentDefinitions().map((crd) => withConversion(crd, OPTIONS));
    const resolveService = () => webhooks.local;
    const world = new World(await startApiServer({ listen: false, crds, resolveService }));
    for (const object of webhookConfigurations(webhooks, OPTIONS)) {
      const plural = `${object.kind.toLowerCase()}s`;
      const made = await world.send('POST', `/apis/admissionregistration.k8s.io/v1/${plural}`, object);
      assert.equal(made.code, 201, JSON.stringify(made.body));
    }
    return world;
  }

  async send(method: string, target: string, body?: object, type = 'application/json'): Promise<Answer> {
    const answer = await this.#server.client()({
      method,
      target,
      headers: { 'content-type': type },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return {
      code: answer.status,
      body: JSON.parse(Buffer.from(await answer.bytes()).toString('utf8')),
      warnings: [answer.headers['warning'] ?? []]
        .flat()
        // What a deprecated version says of itself has tests of its own.
        .filter((text) => !text.includes('is deprecated')),
    };
  }

  merge(target: string, body: object): Promise<Answer> {
    return this.send('PATCH', target, body, 'application/merge-patch+json');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

const configs = (version: string, name = ''): string =>
  `/apis/bootstrap.cluster.x-k8s.io/${version}/namespaces/default/openshiftassistedconfigs${name && `/${name}`}`;
const templates = (version: string, name = ''): string =>
  `/apis/bootstrap.cluster.x-k8s.io/${version}/namespaces/default/openshiftassistedconfigtemplates${name && `/${name}`}`;
const planes = (version: string, name = ''): string =>
  `/apis/controlplane.cluster.x-k8s.io/${version}/namespaces/default/openshiftassistedcontrolplanes${name && `/${name}`}`;

const config = (version: string, spec: object = {}, annotations: Readonly<Record<string, string>> = {}) => ({
  apiVersion: `bootstrap.cluster.x-k8s.io/${version}`,
  kind: 'OpenshiftAssistedConfig',
  metadata: { name: 'c', annotations },
  spec,
});
const template = (version: string, inner: object) => ({
  apiVersion: `bootstrap.cluster.x-k8s.io/${version}`,
  kind: 'OpenshiftAssistedConfigTemplate',
  metadata: { name: 't' },
  spec: { template: inner },
});
const REF = { kind: 'Metal3MachineTemplate', name: 'm' };
const plane = (spec: object = {}, annotations: Readonly<Record<string, string>> = {}) => ({
  apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha3',
  kind: 'OpenshiftAssistedControlPlane',
  metadata: { name: 'p', annotations },
  spec: {
    distributionVersion: '4.20.1',
    replicas: 3,
    machineTemplate: { infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', ...REF } },
    ...spec,
  },
});
const oldPlane = (spec: object = {}) => ({
  ...plane(spec),
  apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
  spec: {
    distributionVersion: '4.20.1',
    replicas: 3,
    machineTemplate: {
      infrastructureRef: { apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta1', ...REF },
    },
    ...spec,
  },
});

const HUB_ONLY = { preBootstrapCommands: ['true'], nodeRegistration: { name: '$METADATA_NAME', providerID: 'p' } };

describe('the configuration of the webhooks', () => {
  it('agent/W1: has the paths, names and policies that upstream has for configs', () => {
    const [configuration, ...more]: readonly Loose[] = webhookConfigurations(agentWebhooks(), OPTIONS);
    assert.deepEqual(more, []);
    const found = configuration.webhooks.filter(({ name }: Loose) => name.endsWith('.bootstrap.cluster.x-k8s.io'));
    const expected = ['v1alpha1', 'v1alpha2'].map((version) => ({
      name: `${version}.validation.openshiftassistedconfig.bootstrap.cluster.x-k8s.io`,
      path: `/validate-bootstrap-cluster-x-k8s-io-${version}-openshiftassistedconfig`,
      failurePolicy: 'Fail',
      sideEffects: 'None',
      versions: [version],
      operations: ['CREATE', 'UPDATE', 'DELETE'],
      resources: ['openshiftassistedconfigs'],
    }));
    assert.deepEqual(
      found.map(({ name, failurePolicy, sideEffects, clientConfig, rules: [rule] }: Loose) => ({
        name,
        path: clientConfig.service.path,
        failurePolicy,
        sideEffects,
        versions: rule.apiVersions,
        operations: rule.operations,
        resources: rule.resources,
      })),
      expected,
    );
  });

  it('keeps nobody from writing the other kinds while it cannot be asked', () => {
    const [{ webhooks }]: readonly Loose[] = webhookConfigurations(agentWebhooks(), OPTIONS) as [Loose];
    const ours = webhooks.filter(({ name }: Loose) => !name.endsWith('.bootstrap.cluster.x-k8s.io'));
    assert.deepEqual(
      ours.map(({ failurePolicy, rules }: Loose) => [failurePolicy, rules[0].resources[0]]),
      [
        ['Ignore', 'openshiftassistedconfigtemplates'],
        ['Ignore', 'openshiftassistedcontrolplanes'],
        ['Ignore', 'openshiftassistedcontrolplanetemplates'],
      ],
    );
  });

  it('converts the three kinds that have two versions', () => {
    assert.deepEqual(agentWebhooks().convertedDefinitions, [
      'openshiftassistedconfigs.bootstrap.cluster.x-k8s.io',
      'openshiftassistedconfigtemplates.bootstrap.cluster.x-k8s.io',
      'openshiftassistedcontrolplanes.controlplane.cluster.x-k8s.io',
    ]);
  });
});

describe('OpenshiftAssistedConfigs on an API server', () => {
  for (const version of ['v1alpha1', 'v1alpha2']) {
    it(`agent/W1: a change of the spec in ${version} is a bad request, other changes and deletion are not`, async () => {
      await using world = await World.start();
      assert.equal(
        (await world.send('POST', configs(version), config(version, { sshAuthorizedKey: 'k' }))).code,
        201,
      );
      const refused = await world.merge(configs(version, 'c'), { spec: { sshAuthorizedKey: 'other' } });
      assert.equal(refused.code, 400);
      assert.equal(refused.body.reason, 'BadRequest');
      assert.match(refused.body.message, /denied the request: spec is immutable$/);
      assert.equal((await world.merge(configs(version, 'c'), { metadata: { labels: { a: 'b' } } })).code, 200);
      assert.equal((await world.merge(configs(version, 'c'), { spec: { additionalNTPSources: [] } })).code, 200);
      const status = { status: { dataSecretName: 's' } };
      assert.equal((await world.merge(`${configs(version, 'c')}/status`, status)).code, 200);
      assert.equal((await world.send('DELETE', configs(version, 'c'))).code, 200);
    });
  }

  it('agent/V1: is the same in both versions, and keeps what only one of them says', async () => {
    await using world = await World.start();
    await world.send('POST', configs('v1alpha1'), config('v1alpha1', { sshAuthorizedKey: 'k' }));
    const status = { status: { ready: true, dataSecretName: 's', failureReason: 'Bad' } };
    await world.merge(`${configs('v1alpha1', 'c')}/status`, status);
    const { body: hub } = await world.send('GET', configs('v1alpha2', 'c'));
    assert.equal(hub.apiVersion, 'bootstrap.cluster.x-k8s.io/v1alpha2');
    assert.deepEqual(hub.spec, { sshAuthorizedKey: 'k', cpuArchitecture: 'x86_64' });
    assert.deepEqual(hub.status, { initialization: { dataSecretCreated: true }, dataSecretName: 's' });
    assert.notEqual(hub.metadata.annotations[CONVERSION_DATA_ANNOTATION], undefined);
    const { body: spoke } = await world.send('GET', configs('v1alpha1', 'c'));
    assert.deepEqual(spoke.status, status.status);
    assert.equal(spoke.metadata.annotations?.[CONVERSION_DATA_ANNOTATION], undefined);
  });

  it('agent/W2: a write in v1alpha1 takes nothing away that only v1alpha2 can say', async () => {
    await using world = await World.start();
    await world.send('POST', configs('v1alpha2'), config('v1alpha2', HUB_ONLY));
    const patched = await world.merge(configs('v1alpha1', 'c'), { metadata: { labels: { a: 'b' } } });
    assert.deepEqual([patched.code, patched.warnings], [200, []]);
    const { body: read } = await world.send('GET', configs('v1alpha1', 'c'));
    assert.equal(read.spec.preBootstrapCommands, undefined);
    assert.equal((await world.send('PUT', configs('v1alpha1', 'c'), read)).code, 200);
    const { body: hub } = await world.send('GET', configs('v1alpha2', 'c'));
    assert.deepEqual(hub.spec, { ...HUB_ONLY, cpuArchitecture: 'x86_64' });
    assert.equal(hub.metadata.annotations[HUB_DATA_ANNOTATION], undefined);
  });

  for (const [name, annotations] of [
    ['without the annotation that keeps it', {}],
    ['with an annotation that nobody can read', { [HUB_DATA_ANNOTATION]: 'broken' }],
  ] as const) {
    it(`agent/W2: a write in v1alpha1 ${name} is refused, not a silent loss`, async () => {
      await using world = await World.start();
      await world.send('POST', configs('v1alpha2'), config('v1alpha2', HUB_ONLY));
      const { body: read } = await world.send('GET', configs('v1alpha1', 'c'));
      const body = { ...read, metadata: { ...read.metadata, annotations } };
      const refused = await world.send('PUT', configs('v1alpha1', 'c'), body);
      assert.deepEqual([refused.code, refused.body.reason], [400, 'BadRequest']);
      assert.match(
        refused.warnings.join(),
        /v1alpha1 cannot say spec\.preBootstrapCommands, spec\.nodeRegistration\.pro/,
      );
      const { body: hub } = await world.send('GET', configs('v1alpha2', 'c'));
      assert.deepEqual(hub.spec.preBootstrapCommands, ['true']);
    });
  }

  for (const version of ['v1alpha1', 'v1alpha2']) {
    it(`agent/X14: warns once in ${version} of an image version that assisted-service refuses, and takes it`, async () => {
      await using world = await World.start();
      const made = await world.send('POST', configs(version), config(version, { osImageVersion: '4.19' }));
      assert.equal(made.code, 201);
      assert.equal(made.warnings.length, 1);
      assert.match(made.warnings.join(), /spec\.osImageVersion is "?\\?"4\.19.*remove it/);
    });
  }

  it('agent/I4, agent/W3: warns of labels with which no kubelet starts, or which may have no effect, and takes them', async () => {
    await using world = await World.start();
    const kubeletExtraLabels = ['kubernetes.io/role=infra', 'a=$METADATA_UUID', 'alone'];
    const nodeRegistration = { kubeletExtraLabels };
    const made = await world.send('POST', configs('v1alpha2'), config('v1alpha2', { nodeRegistration }));
    assert.deepEqual([made.code, made.warnings.length], [201, 2]);
    const text = made.warnings.join('\n');
    assert.match(
      text,
      /spec\.nodeRegistration\.kubeletExtraLabels\[0\] is .*does not start.*node\.kubernetes\.io/,
    );
    assert.match(text, /kubeletExtraLabels\[2\] is .*is ignored/);
    const odd = template('v1alpha1', { spec: { nodeRegistration: { kubeletExtraLabels: ['a=$(x)'] } } });
    const taken = await world.send('POST', templates('v1alpha1'), odd);
    assert.deepEqual([taken.code, taken.warnings.length], [201, 1]);
    assert.match(
      taken.warnings.join(),
      /spec\.template\.spec\.nodeRegistration\.kubeletExtraLabels\[0\] has an invalid/,
    );
  });

  it('refuses a boot method that does not exist, unless it was stored before', async () => {
    await using world = await World.start();
    const refused = await world.send(
      'POST',
      configs('v1alpha2'),
      config('v1alpha2', {}, { [BOOT_METHOD]: 'usb' }),
    );
    assert.deepEqual([refused.code, refused.body.reason], [422, 'Invalid']);
    assert.match(refused.body.message, /boot-method must be ignition or live-iso, and is "usb"; correct it/);
    for (const method of ['ignition', 'live-iso']) {
      const annotated = config('v1alpha1', {}, { [BOOT_METHOD]: method });
      assert.equal((await world.send('POST', `${configs('v1alpha1')}?dryRun=All`, annotated)).code, 201);
    }
  });

  it('warns of an override that is no JSON', async () => {
    await using world = await World.start();
    const made = await world.send(
      'POST',
      configs('v1alpha2'),
      config('v1alpha2', {}, { [IGNITION_OVERRIDE]: '{' }),
    );
    assert.equal(made.code, 201);
    assert.match(made.warnings.join(), /ignition-override is no JSON and has no effect/);
  });
});

describe('OpenshiftAssistedConfigTemplates on an API server', () => {
  it('agent/V7: are the same in both versions, and lose nothing by a write in v1alpha1', async () => {
    await using world = await World.start();
    const inner = { metadata: { annotations: { a: 'b' } }, spec: { ...HUB_ONLY, cpuArchitecture: 'x86_64' } };
    assert.equal((await world.send('POST', templates('v1alpha2'), template('v1alpha2', inner))).code, 201);
    const changed = { spec: { template: { spec: { sshAuthorizedKey: 'k' } } } };
    const patched = await world.merge(templates('v1alpha1', 't'), changed);
    assert.equal(patched.code, 200, JSON.stringify(patched.body));
    const { body } = await world.send('GET', templates('v1alpha2', 't'));
    assert.deepEqual(body.spec.template, { ...inner, spec: { ...inner.spec, sshAuthorizedKey: 'k' } });
  });

  it('judges the annotations and the spec of what is made from them, in both versions', async () => {
    await using world = await World.start();
    for (const version of ['v1alpha1', 'v1alpha2']) {
      const bad = template(version, { metadata: { annotations: { [BOOT_METHOD]: 'usb' } } });
      assert.equal((await world.send('POST', templates(version), bad)).code, 422);
      const odd = template(version, { spec: { osImageVersion: '4.19' } });
      const taken = await world.send('POST', `${templates(version)}?dryRun=All`, odd);
      assert.equal(taken.code, 201);
      assert.match(taken.warnings.join(), /spec\.template\.spec\.osImageVersion/);
    }
  });

  it('warns who replaces one in v1alpha1 of what that takes away', async () => {
    await using world = await World.start();
    await world.send('POST', templates('v1alpha2'), template('v1alpha2', { spec: HUB_ONLY }));
    const { body: read } = await world.send('GET', templates('v1alpha1', 't'));
    const body = { ...read, metadata: { ...read.metadata, annotations: {} } };
    const replaced = await world.send('PUT', templates('v1alpha1', 't'), body);
    assert.equal(replaced.code, 200);
    assert.match(replaced.warnings.join(), /v1alpha1 cannot say spec\.template\.spec\.preBootstrapCommands/);
  });
});

describe('OpenshiftAssistedControlPlanes on an API server', () => {
  it('agent/V4: made in v1alpha2 it has the deletion timeout of the stored version', async () => {
    await using world = await World.start();
    assert.equal((await world.send('POST', planes('v1alpha2'), oldPlane())).code, 201);
    const { body } = await world.send('GET', planes('v1alpha3', 'p'));
    assert.deepEqual(body.spec.machineTemplate, {
      infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', ...REF },
      deletion: { nodeDeletionTimeoutSeconds: 10 },
    });
  });

  it('agent/X8: scaled in v1alpha3 it is scaled in v1alpha2, and the other way round', async () => {
    await using world = await World.start();
    await world.send('POST', planes('v1alpha2'), oldPlane());
    await world.merge(planes('v1alpha3', 'p'), { spec: { replicas: 5 } });
    assert.equal((await world.send('GET', planes('v1alpha2', 'p'))).body.spec.replicas, 5);
    await world.merge(planes('v1alpha2', 'p'), { spec: { replicas: 1 } });
    assert.equal((await world.send('GET', planes('v1alpha3', 'p'))).body.spec.replicas, 1);
    const scale = await world.send('GET', `${planes('v1alpha3', 'p')}/scale`);
    assert.equal(scale.body.spec.replicas, 1);
  });

  it('says which timeout cannot be read', async () => {
    await using world = await World.start();
    const { machineTemplate } = oldPlane().spec;
    const made = await world.send(
      'POST',
      planes('v1alpha2'),
      oldPlane({ machineTemplate: { ...machineTemplate, nodeDrainTimeout: 'soon' } }),
    );
    assert.match(made.body.message, /"soon" is not a duration; write a number with a unit/);
  });

  const refused = [
    { name: 'a platform that nobody knows', annotations: { [PLATFORM]: 'Moon' }, message: /platform is "Moon"/ },
    {
      name: 'a cloud controller manager that nobody knows',
      annotations: { [PLATFORM]: 'External', [PLATFORM_CLOUD_CONTROLLER_MANAGER]: 'Mine' },
      message: /cloud-controller-manager is "Mine"/,
    },
    {
      name: 'a boot method that nobody knows',
      annotations: { [BOOT_METHOD]: 'usb' },
      message: /is "usb"; correct it/,
    },
  ];
  for (const { name, annotations, message } of refused) {
    it(`refuses ${name}, in both versions`, async () => {
      await using world = await World.start();
      const made = await world.send('POST', planes('v1alpha3'), plane({}, annotations));
      assert.equal(made.code, 422, JSON.stringify(made.body));
      assert.match(made.body.message, message);
      const old = { ...oldPlane(), metadata: { name: 'p', annotations } };
      assert.equal((await world.send('POST', planes('v1alpha2'), old)).code, 422);
    });
  }

  it('agent/W3: warns of what upstream takes as well', async () => {
    await using world = await World.start();
    const config = { baseDomain: 'example.com', capabilities: { baselineCapability: 'v5' } };
    const spec = {
      distributionVersion: '4.12.0',
      config,
      openshiftAssistedConfigSpec: {
        osImageVersion: '4.12',
        nodeRegistration: { kubeletExtraLabels: ['a b=c'] },
      },
    };
    const made = await world.send('POST', planes('v1alpha3'), plane(spec, { [INSTALL_CONFIG_OVERRIDE]: '{}' }));
    assert.equal(made.code, 201, JSON.stringify(made.body));
    const text = made.warnings.join('\n');
    assert.match(text, /version 4\.12\.0 is not supported/);
    assert.match(text, /invalid baseline capability set/);
    assert.match(text, /spec\.openshiftAssistedConfigSpec\.osImageVersion/);
    assert.match(text, /spec\.openshiftAssistedConfigSpec\.nodeRegistration\.kubeletExtraLabels\[0\]/);
  });

  it('agent/X6: keeps the template where the contract has it through a write in v1alpha2, or warns', async () => {
    await using world = await World.start();
    const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', ...REF };
    const machineTemplate = { infrastructureRef, spec: { infrastructureRef } };
    await world.send('POST', planes('v1alpha3'), plane({ machineTemplate }));
    await world.merge(planes('v1alpha2', 'p'), { spec: { replicas: 1 } });
    const { body } = await world.send('GET', planes('v1alpha3', 'p'));
    assert.deepEqual(body.spec.machineTemplate.spec, { infrastructureRef });
    const annotations = { [HUB_DATA_ANNOTATION]: null };
    const lost = await world.merge(planes('v1alpha2', 'p'), { metadata: { annotations } });
    assert.match(lost.warnings.join(), /v1alpha2 cannot say spec\.machineTemplate\.spec/);
  });

  it('wants the template of machines in one of its two places', async () => {
    await using world = await World.start();
    const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', ...REF };
    const none = await world.send('POST', planes('v1alpha3'), plane({ machineTemplate: {} }));
    assert.equal(none.code, 422);
    assert.match(none.body.message, /spec\.machineTemplate: .*infrastructureRef is missing; name the template/);
    const machineTemplate = { spec: { infrastructureRef } };
    const made = await world.send('POST', planes('v1alpha3'), plane({ version: 'v1.33.0', machineTemplate }));
    assert.equal(made.code, 201, JSON.stringify(made.body));
    const annotations = { [HUB_DATA_ANNOTATION]: null };
    const lost = await world.merge(planes('v1alpha2', 'p'), { metadata: { annotations } });
    assert.match(lost.warnings.join(), /v1alpha2 cannot say spec\.machineTemplate\.spec, spec\.version/);
  });

  it('judges what a ClusterClass makes control planes from by what its patches cannot change', async () => {
    await using world = await World.start();
    const path =
      '/apis/controlplane.cluster.x-k8s.io/v1alpha3/namespaces/default/openshiftassistedcontrolplanetemplates';
    const template = (annotations: object, spec: object) => ({
      apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha3',
      kind: 'OpenshiftAssistedControlPlaneTemplate',
      metadata: { name: 't' },
      spec: { template: { metadata: { annotations }, spec } },
    });
    const refused = await world.send('POST', path, template({ [BOOT_METHOD]: 'floppy' }, {}));
    assert.equal(refused.code, 422);
    assert.match(refused.body.message, /boot-method must be ignition or live-iso, and is "floppy"/);
    const config = { openshiftAssistedConfigSpec: { osImageVersion: '4.20' } };
    const made = await world.send('POST', path, template({ [PLATFORM]: 'External' }, config));
    assert.equal(made.code, 201, JSON.stringify(made.body));
    assert.match(made.warnings.join(), /spec\.template\.spec\.openshiftAssistedConfigSpec\.osImageVersion/);
  });

  it('refuses one without a spec, which nobody could do anything with', async () => {
    await using world = await World.start();
    for (const version of ['v1alpha2', 'v1alpha3']) {
      const { spec: _spec, ...empty } = plane();
      const body = { ...empty, apiVersion: `controlplane.cluster.x-k8s.io/${version}` };
      const made = await world.send('POST', planes(version), body);
      assert.equal(made.code, 422);
      assert.match(made.body.message, /spec is missing/);
    }
  });
});
