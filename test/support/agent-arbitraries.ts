import fc from 'fast-check';
import type {
  OpenshiftAssistedConfigTemplateV1alpha1,
  OpenshiftAssistedConfigV1alpha1,
} from '../../src/api/agent/bootstrap-v1alpha1.ts';
import type {
  OpenshiftAssistedConfig,
  OpenshiftAssistedConfigTemplate,
} from '../../src/api/agent/bootstrap-v1alpha2.ts';
import type { OpenshiftAssistedControlPlaneV1alpha2 } from '../../src/api/agent/controlplane-v1alpha2.ts';
import type { OpenshiftAssistedControlPlane } from '../../src/api/agent/controlplane-v1alpha3.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { JsonObject } from '../../src/object/json.ts';
import { parseJson, stringifyJson } from '../../src/object/json-text.ts';

// Objects of the Agent providers, of every shape that an API server can hand out, and with fields that nobody knows.

type Shape = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Each field there or not, and sometimes one that no version has. */
const fields = (shape: Shape): fc.Arbitrary<JsonObject> =>
  fc
    .tuple(
      fc.record({ ...shape }, { requiredKeys: [] }),
      fc.option(fc.jsonValue({ maxDepth: 1 }), { nil: undefined, freq: 5 }),
    )
    // All of it is JSON.
    .map(([known, unknown]) => ({ ...known, ...(unknown !== undefined && { xUnknown: unknown }) }) as JsonObject);

const all = (needed: Shape, shape: Shape = {}): fc.Arbitrary<JsonObject> =>
  fc.tuple(fc.record({ ...needed }), fields(shape)).map(([a, b]) => ({ ...b, ...a }) as JsonObject);

const text = fc.string({ maxLength: 6 });
const word = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/);
const texts = fc.array(text, { maxLength: 3 });
const texts0 = fc.dictionary(word, text, { maxKeys: 2 });
const name = fields({ name: text });
const count = fc.integer({ min: 0, max: 5 });
const time = fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z');
const state = fc.constantFrom('True', 'False', 'Unknown');

const selector = fields({
  matchLabels: texts0,
  matchExpressions: fc.array(all({ key: word, operator: fc.constant('In') }, { values: texts }), { maxLength: 2 }),
});

const registration = { name: text, kubeletExtraLabels: texts };
const common = {
  proxy: fields({ httpProxy: text, httpsProxy: text, noProxy: text }),
  pullSecretRef: name,
  additionalNTPSources: texts,
  sshAuthorizedKey: text,
  nmStateConfigLabelSelector: selector,
  cpuArchitecture: fc.constantFrom('x86_64', 'arm64'),
  kernelArguments: fc.array(fields({ operation: fc.constant('append'), value: word }), { maxLength: 2 }),
  additionalTrustBundle: text,
  osImageVersion: text,
};

const spokeConfigSpec = fields({ ...common, nodeRegistration: fields(registration) });
const hubConfigSpec = fields({
  ...common,
  preBootstrapCommands: texts,
  postBootstrapCommands: texts,
  bootstrapCommandSentinelDir: text,
  postBootstrapKubeconfigPath: text,
  nodeRegistration: fields({ ...registration, providerID: text }),
});

const templateMeta = fields({ labels: texts0, annotations: texts0 });
const reference = fields({
  apiVersion: fc.constantFrom('infrastructure.cluster.x-k8s.io/v1beta1', 'a.example/v1', 'b.example/v2', 'v1'),
  kind: fc.constantFrom('Metal3MachineTemplate', 'OtherTemplate'),
  name: word,
  namespace: word,
  uid: word,
  resourceVersion: word,
  fieldPath: word,
});
const contractReference = all({
  apiGroup: fc.constantFrom('infrastructure.cluster.x-k8s.io', 'a.example'),
  kind: fc.constantFrom('Metal3MachineTemplate', 'OtherTemplate'),
  name: word,
});

const uniqueByType = (condition: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject[]> =>
  fc.uniqueArray(condition, { maxLength: 3, selector: ({ type }) => type });
const conditionType = fc.constantFrom('Ready', 'Available', 'MachinesReady', 'KubeconfigAvailable');
const v1beta1Conditions = uniqueByType(
  all(
    { type: conditionType, status: state, lastTransitionTime: time },
    { severity: fc.constantFrom('Info', 'Warning', 'Error'), reason: word, message: fc.string({ minLength: 1 }) },
  ),
);
const conditions = uniqueByType(
  all(
    { type: conditionType, status: state, lastTransitionTime: time, reason: word, message: text },
    { observedGeneration: count },
  ),
);

const timeout = fc.constantFrom('0s', '10s', '90s', '1m30s', '1m30.5s', '2h', '0');
const seconds = fc.constantFrom(0, 5, 10, 90, 7200);
const deletion = fields({
  nodeDrainTimeoutSeconds: seconds,
  nodeVolumeDetachTimeoutSeconds: seconds,
  nodeDeletionTimeoutSeconds: seconds,
});

const controlPlaneConfig = fields({
  apiVIPs: texts,
  ingressVIPs: texts,
  manifestsConfigMapRefs: fc.array(name, { maxLength: 2 }),
  diskEncryption: fields({ enableOn: fc.constant('all'), mode: fc.constant('tang'), tangServers: text }),
  mastersSchedulable: fc.boolean(),
  clusterName: text,
  baseDomain: text,
  pullSecretRef: name,
  imageRegistryRef: name,
  capabilities: fields({ baselineCapability: text, additionalEnabledCapabilities: texts }),
});

const objects = <T extends KubeObject>(
  apiVersion: string,
  kind: string,
  spec: fc.Arbitrary<JsonObject>,
  status: fc.Arbitrary<JsonObject>,
): fc.Arbitrary<T> =>
  fc
    .tuple(
      all(
        { name: word },
        { namespace: word, labels: texts0, annotations: texts0, generation: count, finalizers: texts },
      ),
      fields({ spec, status }),
    )
    // As it comes from a server: large numbers are as the reader of JSON makes them. The shapes are those of the kind.
    .map(([metadata, body]) => {
      const written = stringifyJson({ apiVersion, kind, metadata, ...body });
      return parseJson(written).value as unknown as T;
    });

const BOOTSTRAP = 'bootstrap.cluster.x-k8s.io';
const CONTROL_PLANE = 'controlplane.cluster.x-k8s.io';

export const arbitraryConfig = objects<OpenshiftAssistedConfig>(
  `${BOOTSTRAP}/v1alpha2`,
  'OpenshiftAssistedConfig',
  hubConfigSpec,
  fields({
    conditions,
    initialization: fields({ dataSecretCreated: fc.boolean() }),
    dataSecretName: word,
    observedGeneration: fc.integer({ min: 1, max: 4 }),
    v1beta1Conditions,
  }),
);

export const arbitraryOldConfig = objects<OpenshiftAssistedConfigV1alpha1>(
  `${BOOTSTRAP}/v1alpha1`,
  'OpenshiftAssistedConfig',
  spokeConfigSpec,
  fields({
    infraEnvRef: reference,
    agentRef: name,
    ready: fc.boolean(),
    dataSecretName: text,
    failureReason: text,
    failureMessage: text,
    observedGeneration: count,
    conditions: v1beta1Conditions,
  }),
);

export const arbitraryTemplate = objects<OpenshiftAssistedConfigTemplate>(
  `${BOOTSTRAP}/v1alpha2`,
  'OpenshiftAssistedConfigTemplate',
  all({ template: fields({ metadata: templateMeta, spec: hubConfigSpec }) }),
  fields({}),
);

export const arbitraryOldTemplate = objects<OpenshiftAssistedConfigTemplateV1alpha1>(
  `${BOOTSTRAP}/v1alpha1`,
  'OpenshiftAssistedConfigTemplate',
  all({ template: fields({ metadata: templateMeta, spec: spokeConfigSpec }) }),
  fields({}),
);

const MACHINES = { metadata: templateMeta, deletion };
const contractTemplate = fields({ infrastructureRef: contractReference, deletion });

export const arbitraryControlPlane = objects<OpenshiftAssistedControlPlane>(
  `${CONTROL_PLANE}/v1alpha3`,
  'OpenshiftAssistedControlPlane',
  all(
    {
      distributionVersion: text,
      machineTemplate: fc.oneof(
        all({ infrastructureRef: contractReference }, { ...MACHINES, spec: contractTemplate }),
        // As a ClusterClass writes it.
        all({ spec: all({ infrastructureRef: contractReference }, { deletion }) }, MACHINES),
      ),
    },
    { version: word, replicas: count, config: controlPlaneConfig, openshiftAssistedConfigSpec: hubConfigSpec },
  ),
  fields({
    conditions,
    initialization: fields({ controlPlaneInitialized: fc.boolean() }),
    selector: word,
    replicas: count,
    readyReplicas: count,
    availableReplicas: count,
    upToDateReplicas: count,
    version: word,
    distributionVersion: word,
    observedGeneration: count,
  }),
);

export const arbitraryOldControlPlane = objects<OpenshiftAssistedControlPlaneV1alpha2>(
  `${CONTROL_PLANE}/v1alpha2`,
  'OpenshiftAssistedControlPlane',
  all(
    {
      distributionVersion: text,
      machineTemplate: all(
        { infrastructureRef: reference },
        {
          metadata: templateMeta,
          nodeDrainTimeout: timeout,
          nodeVolumeDetachTimeout: timeout,
          nodeDeletionTimeout: timeout,
        },
      ),
    },
    { replicas: count, config: controlPlaneConfig, openshiftAssistedConfigSpec: spokeConfigSpec },
  ),
  fields({
    clusterDeploymentRef: reference,
    conditions: v1beta1Conditions,
    selector: text,
    replicas: count,
    readyReplicas: count,
    updatedReplicas: count,
    unavailableReplicas: count,
    version: text,
    distributionVersion: text,
    initialized: fc.boolean(),
    ready: fc.boolean(),
    failureReason: text,
    failureMessage: text,
  }),
);
