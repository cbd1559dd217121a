import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OpenshiftAssistedConfigV1alpha1 } from '../../api/agent/bootstrap-v1alpha1.ts';
import type {
  OpenshiftAssistedConfig,
  OpenshiftAssistedConfigTemplate,
} from '../../api/agent/bootstrap-v1alpha2.ts';
import type { OpenshiftAssistedControlPlaneV1alpha2 } from '../../api/agent/controlplane-v1alpha2.ts';
import type { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { CONVERSION_DATA_ANNOTATION } from '../../api/cluster-api/core-v1beta2.ts';
import { configConversion, templateConversion } from './config-conversion.ts';
import { controlPlaneConversion } from './control-plane-conversion.ts';
import { HUB_DATA_ANNOTATION } from './conversion-data.ts';

const metadata = { name: 'a', namespace: 'demo', labels: { l: '1' } };
const TIME = '2026-01-01T00:00:00Z';

const hubConfig = (rest: Partial<OpenshiftAssistedConfig> = {}): OpenshiftAssistedConfig => ({
  apiVersion: 'bootstrap.cluster.x-k8s.io/v1alpha2',
  kind: 'OpenshiftAssistedConfig',
  metadata,
  ...rest,
});
const oldConfig = (rest: Partial<OpenshiftAssistedConfigV1alpha1> = {}): OpenshiftAssistedConfigV1alpha1 => ({
  apiVersion: 'bootstrap.cluster.x-k8s.io/v1alpha1',
  kind: 'OpenshiftAssistedConfig',
  metadata,
  ...rest,
});

describe('conversion of OpenshiftAssistedConfigs', () => {
  const toHub = [
    { name: 'a name of the Secret', status: { ready: false, dataSecretName: 's' }, initialization: true },
    { name: 'ready alone', status: { ready: true }, initialization: true },
    { name: 'neither', status: { ready: false }, initialization: undefined },
  ];
  for (const { name, status, initialization } of toHub) {
    it(`agent/V1: ${name} says whether the Secret is created`, () => {
      const hub = configConversion.toHub(oldConfig({ status }));
      assert.equal(hub.status?.initialization?.dataSecretCreated, initialization);
      assert.equal(hub.status?.dataSecretName, status.dataSecretName);
    });
  }

  it('agent/V1: copies the spec, the generation and the conditions', () => {
    const spec = {
      sshAuthorizedKey: 'k',
      nodeRegistration: { name: '$METADATA_NAME', kubeletExtraLabels: ['a=b'] },
    };
    const conditions = [{ type: 'Ready', status: 'False', severity: 'Info', lastTransitionTime: TIME } as const];
    const hub = configConversion.toHub(
      oldConfig({ spec, status: { ready: false, observedGeneration: 3, conditions } }),
    );
    assert.deepEqual([hub.apiVersion, hub.spec], ['bootstrap.cluster.x-k8s.io/v1alpha2', spec]);
    assert.deepEqual(hub.status, { observedGeneration: 3, v1beta1Conditions: conditions });
    assert.deepEqual(hub.metadata.labels, { l: '1' });
  });

  it('agent/V2: writes ready always, and no empty name', () => {
    assert.deepEqual(configConversion.toSpoke(hubConfig()).status, { ready: false });
    const status = { dataSecretName: '', initialization: { dataSecretCreated: true } };
    assert.deepEqual(configConversion.toSpoke(hubConfig({ status })).status, { ready: true });
  });

  it('agent/V3: keeps the older version as JSON without metadata in the annotation that upstream reads', () => {
    const spoke = oldConfig({ spec: { sshAuthorizedKey: 'k' }, status: { ready: true, failureReason: 'Bad' } });
    const hub = configConversion.toHub({ ...spoke, metadata: { ...metadata, annotations: { mine: 'x' } } });
    const { [CONVERSION_DATA_ANNOTATION]: data = '', ...others } = hub.metadata.annotations ?? {};
    assert.deepEqual(others, { mine: 'x' });
    assert.deepEqual(JSON.parse(data), {
      apiVersion: spoke.apiVersion,
      kind: spoke.kind,
      spec: spoke.spec,
      status: spoke.status,
    });
    assert.equal(
      data,
      '{"apiVersion":"bootstrap.cluster.x-k8s.io/v1alpha1","kind":"OpenshiftAssistedConfig","spec":{"sshAuthorizedKey":"k"},"status":{"failureReason":"Bad","ready":true}}',
    );
    const back = configConversion.toSpoke(hub);
    assert.deepEqual([back.status, back.metadata.annotations], [spoke.status, { mine: 'x' }]);
  });

  it('agent/V6: what v1alpha1 cannot say is in an annotation there, and comes back', () => {
    const spec = { preBootstrapCommands: ['true'], nodeRegistration: { providerID: 'p' }, sshAuthorizedKey: 'k' };
    const spoke = configConversion.toSpoke(hubConfig({ spec }));
    assert.deepEqual(spoke.spec, { sshAuthorizedKey: 'k' });
    assert.deepEqual(Object.keys(spoke.metadata.annotations ?? {}), [HUB_DATA_ANNOTATION]);
    const edited = { ...spoke, spec: { sshAuthorizedKey: 'other' } };
    const {
      spec: stored,
      metadata: { annotations },
    } = configConversion.toHub(edited);
    assert.deepEqual(stored, {
      preBootstrapCommands: ['true'],
      nodeRegistration: { providerID: 'p' },
      sshAuthorizedKey: 'other',
    });
    assert.equal(annotations?.[HUB_DATA_ANNOTATION], undefined);
  });

  it('needs no annotation where v1alpha1 says it all', () => {
    const status = { dataSecretName: 's', initialization: { dataSecretCreated: true } };
    const spoke = configConversion.toSpoke(hubConfig({ spec: { sshAuthorizedKey: 'k' }, status }));
    assert.equal(spoke.metadata.annotations, undefined);
  });

  it('agent/X8: part of what is kept stays when another part of it is outdated', () => {
    const written = oldConfig({ status: { ready: false, dataSecretName: 's', failureReason: 'Bad' } });
    const hub = configConversion.toHub(written);
    const changed = { ...hub, status: { initialization: { dataSecretCreated: true } } };
    assert.deepEqual(configConversion.toSpoke(changed).status, { ready: true, failureReason: 'Bad' });
  });
});

describe('conversion of OpenshiftAssistedConfigTemplates', () => {
  const template = (inner: object): OpenshiftAssistedConfigTemplate =>
    ({
      apiVersion: 'bootstrap.cluster.x-k8s.io/v1alpha2',
      kind: 'OpenshiftAssistedConfigTemplate',
      metadata,
      spec: { template: inner },
    }) as OpenshiftAssistedConfigTemplate;

  it('agent/V7: copies labels, annotations and what both versions have of the spec', () => {
    const inner = { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } }, spec: { osImageVersion: '4' } };
    const spoke = templateConversion.toSpoke(template(inner));
    assert.deepEqual(spoke.spec.template, inner);
    assert.deepEqual(templateConversion.toHub(spoke).spec.template, inner);
  });

  it('agent/V7: leaves out metadata that says nothing, which v1alpha2 refuses', () => {
    const spoke = templateConversion.toSpoke(template({ spec: {} }));
    const hub = templateConversion.toHub({ ...spoke, spec: { template: { metadata: {}, spec: {} } } });
    assert.deepEqual(hub.spec.template, { spec: {} });
    assert.deepEqual(templateConversion.toSpoke(hub).spec.template, { metadata: {}, spec: {} });
  });
});

const GROUP = 'infrastructure.cluster.x-k8s.io';
const reference = { apiGroup: GROUP, kind: 'Metal3MachineTemplate', name: 'm' };
const oldReference = { apiVersion: `${GROUP}/v1beta1`, kind: 'Metal3MachineTemplate', name: 'm' };

type HubSpec = OpenshiftAssistedControlPlane['spec'];
type OldSpec = OpenshiftAssistedControlPlaneV1alpha2['spec'];

const hubPlane = (
  machineTemplate: Partial<HubSpec['machineTemplate']> = {},
  rest: Partial<OpenshiftAssistedControlPlane> = {},
): OpenshiftAssistedControlPlane => ({
  apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha3',
  kind: 'OpenshiftAssistedControlPlane',
  metadata,
  spec: {
    distributionVersion: '4.20.1',
    replicas: 3,
    machineTemplate: { infrastructureRef: reference, ...machineTemplate },
  },
  ...rest,
});
const oldPlane = (
  machineTemplate: Partial<OldSpec['machineTemplate']> = {},
  rest: Partial<OpenshiftAssistedControlPlaneV1alpha2> = {},
): OpenshiftAssistedControlPlaneV1alpha2 => ({
  apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
  kind: 'OpenshiftAssistedControlPlane',
  metadata,
  spec: {
    distributionVersion: '4.20.1',
    replicas: 3,
    machineTemplate: { infrastructureRef: oldReference, ...machineTemplate },
  },
  ...rest,
});

describe('conversion of OpenshiftAssistedControlPlanes', () => {
  const { toHub, toSpoke } = controlPlaneConversion;

  it('agent/V4: durations become whole seconds, and agent/X8: a missing timeout for nodes is 10', () => {
    const timeouts = { nodeDrainTimeout: '1m30.9s', nodeVolumeDetachTimeout: '0s' };
    assert.deepEqual(toHub(oldPlane(timeouts)).spec.machineTemplate.deletion, {
      nodeDrainTimeoutSeconds: 90,
      nodeVolumeDetachTimeoutSeconds: 0,
      nodeDeletionTimeoutSeconds: 10,
    });
    assert.deepEqual(toHub(oldPlane()).spec.machineTemplate.deletion, { nodeDeletionTimeoutSeconds: 10 });
    const given = toHub(oldPlane({ nodeDeletionTimeout: '0s' }));
    assert.deepEqual(given.spec.machineTemplate.deletion, { nodeDeletionTimeoutSeconds: 0 });
  });

  for (const text of ['soon', '-5s', '600000h']) {
    it(`refuses a timeout of ${text} with the field and what is possible`, () => {
      assert.throws(() => toHub(oldPlane({ nodeDrainTimeout: text })), {
        message: new RegExp(`"${text}"`),
      });
    });
  }

  const references = [
    { apiVersion: 'a.example/v1', apiGroup: 'a.example' },
    { apiVersion: 'v1', apiGroup: '' },
    { apiVersion: '', apiGroup: '' },
  ];
  for (const { apiVersion, apiGroup } of references) {
    it(`agent/V4: a reference to ${apiVersion === '' ? 'no version' : apiVersion} has the group "${apiGroup}"`, () => {
      const infrastructureRef = { ...oldReference, apiVersion, namespace: 'demo' };
      const { machineTemplate } = toHub(oldPlane({ infrastructureRef })).spec;
      assert.deepEqual(machineTemplate.infrastructureRef, { ...reference, apiGroup });
    });
  }

  it('agent/V4: copies counters above zero, and what both versions say', () => {
    const status = {
      selector: 'a=b',
      replicas: 3,
      readyReplicas: 0,
      updatedReplicas: 2,
      unavailableReplicas: 1,
      version: '1.33.0',
      distributionVersion: '4.20.1',
      initialized: true,
      ready: true,
      conditions: [{ type: 'Available', status: 'True', severity: 'Info', lastTransitionTime: TIME } as const],
    };
    assert.deepEqual(toHub(oldPlane({}, { status })).status, {
      selector: 'a=b',
      replicas: 3,
      upToDateReplicas: 2,
      version: '1.33.0',
      distributionVersion: '4.20.1',
      initialization: { controlPlaneInitialized: true },
      conditions: [
        { type: 'Available', status: 'True', lastTransitionTime: TIME, reason: 'Unknown', message: '' },
      ],
    });
  });

  it('agent/V5: seconds become durations, the group gets v1beta1', () => {
    const deletion = { nodeDrainTimeoutSeconds: 90, nodeDeletionTimeoutSeconds: 10 };
    assert.deepEqual(toSpoke(hubPlane({ deletion })).spec.machineTemplate, {
      infrastructureRef: oldReference,
      nodeDrainTimeout: '1m30s',
      nodeDeletionTimeout: '10s',
    });
  });

  it('agent/V5: says how many are missing, whether it is initialized, and ready by the condition Available', () => {
    const condition = { status: 'True', lastTransitionTime: TIME, reason: 'R', message: 'm' } as const;
    const status = {
      replicas: 4,
      availableReplicas: 1,
      initialization: { controlPlaneInitialized: true },
      conditions: [{ ...condition, type: 'Available', observedGeneration: 2 }],
      version: '1.33.0',
    };
    assert.deepEqual(toSpoke(hubPlane({}, { status })).status, {
      replicas: 4,
      readyReplicas: 0,
      updatedReplicas: 0,
      unavailableReplicas: 2,
      initialized: true,
      ready: true,
      conditions: [{ ...condition, type: 'Available', severity: 'Info' }],
      version: '1.33.0',
    });
    const more = toSpoke(hubPlane({}, { status: { availableReplicas: 5 } }));
    assert.deepEqual([more.status?.unavailableReplicas, more.status?.ready], [0, false]);
    assert.equal(toSpoke(hubPlane()).status?.unavailableReplicas, 0);
  });

  it('agent/X8: replicas that were changed in the stored version are not those of the older one', () => {
    const hub = toHub(oldPlane({ infrastructureRef: { ...oldReference, apiVersion: `${GROUP}/v1alpha7` } }));
    const scaled = { ...hub, spec: { ...hub.spec, replicas: 5 } };
    const { replicas, machineTemplate } = toSpoke(scaled).spec;
    assert.equal(replicas, 5);
    assert.equal(machineTemplate.infrastructureRef.apiVersion, `${GROUP}/v1alpha7`, 'which only v1alpha2 can say');
  });

  it('agent/X8: a reference to another template has no uid of the one before', () => {
    const hub = toHub(oldPlane({ infrastructureRef: { ...oldReference, namespace: 'demo', uid: 'u' } }));
    const infrastructureRef = { ...reference, name: 'other' };
    const spec = { ...hub.spec, machineTemplate: { ...hub.spec.machineTemplate, infrastructureRef } };
    assert.deepEqual(toSpoke({ ...hub, spec }).spec.machineTemplate.infrastructureRef, {
      ...oldReference,
      name: 'other',
      namespace: 'demo',
    });
  });

  it('agent/X8: the severity of a condition that changed is not the one of before', () => {
    const conditions = [
      {
        type: 'Available',
        status: 'False',
        severity: 'Error',
        reason: 'R',
        message: 'm',
        lastTransitionTime: TIME,
      },
      { type: 'Ready', status: 'False', severity: 'Warning', reason: 'R', message: 'm', lastTransitionTime: TIME },
    ] as const;
    const hub = toHub(oldPlane({}, { status: { conditions } }));
    const changed = (hub.status?.conditions ?? []).map((one) =>
      one.type === 'Available' ? { ...one, status: 'True' as const } : one,
    );
    const { status } = toSpoke({ ...hub, status: { ...hub.status, conditions: changed } });
    assert.deepEqual(
      status?.conditions?.map(({ type, severity }) => [type, severity]),
      [
        ['Available', 'Info'],
        ['Ready', 'Warning'],
      ],
    );
  });

  it('agent/X6: the template where the contract has it survives a write of v1alpha2', () => {
    const spoke = toSpoke(hubPlane({ spec: { infrastructureRef: reference } }));
    assert.equal('spec' in spoke.spec.machineTemplate, false);
    const scaled = { ...spoke, spec: { ...spoke.spec, replicas: 1 } };
    assert.deepEqual(toHub(scaled).spec.machineTemplate.spec, { infrastructureRef: reference });
    assert.equal(toHub(scaled).spec.replicas, 1);
  });

  it('agent/X6: what a ClusterClass made is shown where v1alpha2 has it, and is the same after a write of v1alpha2', () => {
    const { infrastructureRef: _old, ...template } = hubPlane().spec.machineTemplate;
    const machineTemplate = { ...template, spec: { infrastructureRef: reference } };
    const made = { ...hubPlane(), spec: { ...hubPlane().spec, version: 'v1.33.0', machineTemplate } };
    const spoke = toSpoke(made);
    assert.equal('version' in spoke.spec, false);
    assert.equal(spoke.spec.machineTemplate.infrastructureRef.name, reference.name);
    const { spec } = toHub({ ...spoke, spec: { ...spoke.spec, replicas: 1 } });
    assert.deepEqual(spec, { ...made.spec, replicas: 1 });
  });

  it('converts what lacks needed fields, which somebody else refuses', () => {
    const incomplete = { ...oldPlane(), spec: {} } as OpenshiftAssistedControlPlaneV1alpha2;
    assert.deepEqual(toSpoke(toHub(incomplete)).spec, {});
    const { spec: _spec, ...nothing } = hubPlane();
    assert.equal('spec' in toSpoke(nothing as OpenshiftAssistedControlPlane), false);
  });
});
