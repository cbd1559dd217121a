// The kinds of infrastructure-v1beta2.ts as a lab serves them, in both versions that Metal3 serves: what readers rely on
// is checked as Metal3 checks it, every other field is kept. The names come from there, and a test compares the fields.
//
// Metal3 converts between the versions with a webhook. A lab has none and needs none: what differs there has another
// name in each version, so an object is kept as it was written and readers look for both names. The exceptions are the
// failure domains of a Metal3Cluster, a list in v1beta2 and a map in v1beta1; v1beta1 does not check them here.
import * as z from 'zod';
import {
  apiEndpoint,
  contractLabels,
  deprecatedStatus,
  failureDomains,
  machineAddress,
  notEmpty,
  templateMeta,
} from '../cluster-api/shapes.schema.ts';
import type { Column } from '../schema/crd.ts';
import { defineKind } from '../schema/define-kind.ts';
import { defineVersions } from '../schema/define-versions.ts';
import { conditions, mapAtomic, preserveUnknown } from '../schema/extensions.ts';
import {
  Metal3Cluster,
  Metal3ClusterTemplate,
  Metal3DataTemplate,
  Metal3Machine,
  Metal3MachineTemplate,
} from './infrastructure-v1beta2.ts';
import { cleaningMode, diskFormat, secretReference } from './metal3-v1alpha1.schema.ts';

const METAL3 = {
  isForeign: true,
  categories: ['cluster-api'],
  labels: {
    'cluster.x-k8s.io/provider': 'infrastructure-metal3',
    ...contractLabels({ v1beta1: 'v1beta1', v1beta2: 'v1beta2' }),
  },
} as const;

/** What API servers say about a deprecated version that has no words of its own. */
const deprecated = (kind: string) => ({
  version: 'v1beta1',
  deprecationWarning: `infrastructure.cluster.x-k8s.io/v1beta1 ${kind} is deprecated`,
});

const NONE = { conversion: { strategy: 'None' } } as const;
const AGE: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
const CLUSTER: Column = {
  name: 'Cluster',
  type: 'string',
  jsonPath: '.metadata.labels.cluster\\.x-k8s\\.io/cluster-name',
};
const text = (name: string, jsonPath: string): Column => ({ name, type: 'string', jsonPath });

const initialization = () => notEmpty(z.object({ provisioned: z.boolean() }).partial());

const METAL3_CLUSTER = {
  ...Metal3Cluster,
  ...METAL3,
  description: 'A cluster on bare metal: where its API is.',
  shortNames: ['m3c', 'm3cluster', 'm3clusters', 'metal3c', 'metal3cluster'],
};
const ENDPOINT = text('Endpoint', '.spec.controlPlaneEndpoint');

const clusterSpec = () =>
  z.object({ controlPlaneEndpoint: apiEndpoint(), cloudProviderEnabled: z.boolean() }).partial();

const clusterSpecV1beta1 = () =>
  z
    .object({
      controlPlaneEndpoint: z.object({ host: z.string(), port: z.int() }),
      cloudProviderEnabled: z.boolean(),
      noCloudProvider: z.boolean(),
    })
    .partial();

export const Metal3ClusterDefinition = defineKind({
  ...METAL3_CLUSTER,
  columns: [
    AGE,
    text('Provisioned', '.status.initialization.provisioned'),
    text('Error', '.status.deprecated.v1beta1.failureReason'),
    CLUSTER,
    ENDPOINT,
  ],
  spec: clusterSpec().optional(),
  status: z
    .object({
      initialization: initialization(),
      failureDomains: failureDomains(),
      conditions: conditions(),
      deprecated: deprecatedStatus(),
    })
    .partial(),
});

export const Metal3ClusterV1beta1Definition = defineKind({
  ...METAL3_CLUSTER,
  ...deprecated('Metal3Cluster'),
  columns: [AGE, text('Ready', '.status.ready'), text('Error', '.status.failureReason'), CLUSTER, ENDPOINT],
  spec: clusterSpecV1beta1().optional(),
  status: z.object({ ready: z.boolean() }).partial(),
});

const METAL3_CLUSTER_TEMPLATE = {
  ...Metal3ClusterTemplate,
  ...METAL3,
  description: 'What the topology of a Cluster makes Metal3Clusters from.',
  shortNames: ['m3ct'],
};

export const Metal3ClusterTemplateDefinition = defineKind({
  ...METAL3_CLUSTER_TEMPLATE,
  spec: z.object({ template: z.object({ metadata: notEmpty(templateMeta()).optional(), spec: clusterSpec() }) }),
});

const Metal3ClusterTemplateV1beta1Definition = defineKind({
  ...METAL3_CLUSTER_TEMPLATE,
  ...deprecated('Metal3ClusterTemplate'),
  spec: z.object({ template: z.object({ spec: clusterSpecV1beta1() }) }).optional(),
});

const matchLabels = () => z.object({ matchLabels: z.record(z.string(), z.string()) }).partial();

const machineSpec = () =>
  z
    .object({
      providerID: z.string().min(1).max(512),
      image: z.object({
        url: z.string().min(1).max(512).meta({ format: 'uri' }),
        checksum: z.string().min(0).max(512).optional(),
        checksumType: z.enum(['md5', 'sha256', 'sha512']).optional(),
        diskFormat: diskFormat().optional(),
      }),
      customDeploy: z.object({ method: z.string().min(1).max(512) }),
      userData: secretReference(),
      dataTemplate: mapAtomic(
        z.object({ name: z.string().min(1).max(253), namespace: z.string().min(1).max(253) }).partial(),
      ),
      hostSelector: matchLabels(),
      automatedCleaningMode: cleaningMode(),
      failureDomain: z.string().min(1).max(256),
    })
    .partial();

const machineSpecV1beta1 = () =>
  z
    .object({
      providerID: z.string(),
      image: z.object({
        url: z.string(),
        checksum: z.string().optional(),
        checksumType: z.enum(['md5', 'sha256', 'sha512']).optional(),
        format: diskFormat().optional(),
      }),
      customDeploy: z.object({ method: z.string() }),
      userData: secretReference(),
      dataTemplate: secretReference(),
      hostSelector: matchLabels(),
      automatedCleaningMode: cleaningMode(),
      failureDomain: z.string(),
    })
    .partial();

const METAL3_MACHINE = {
  ...Metal3Machine,
  ...METAL3,
  description: 'A machine that is a server of Metal3.',
  shortNames: ['m3m', 'm3machine', 'm3machines', 'metal3m', 'metal3machine'],
};
const PROVIDER_ID = text('ProviderID', '.spec.providerID');

export const Metal3MachineDefinition = defineKind({
  ...METAL3_MACHINE,
  columns: [AGE, PROVIDER_ID, text('Provisioned', '.status.initialization.provisioned'), CLUSTER],
  spec: machineSpec().optional(),
  status: z
    .object({
      initialization: initialization(),
      userData: secretReference(),
      addresses: z.array(machineAddress()).min(1).max(32).meta({ 'x-kubernetes-list-type': 'atomic' }),
      conditions: conditions(),
      deprecated: deprecatedStatus(),
    })
    .partial(),
});

export const Metal3MachineV1beta1Definition = defineKind({
  ...METAL3_MACHINE,
  ...deprecated('Metal3Machine'),
  columns: [AGE, PROVIDER_ID, text('Ready', '.status.ready'), CLUSTER, text('Phase', '.status.phase')],
  spec: machineSpecV1beta1().optional(),
  status: z
    .object({
      ready: z.boolean(),
      phase: z.string(),
      userData: secretReference(),
      addresses: z.array(machineAddress()),
    })
    .partial(),
});

const METAL3_MACHINE_TEMPLATE = {
  ...Metal3MachineTemplate,
  ...METAL3,
  description: 'What Metal3Machines are made from.',
  shortNames: ['m3mt', 'm3machinetemplate', 'm3machinetemplates', 'metal3mt', 'metal3machinetemplate'],
  columns: [AGE],
};

export const Metal3MachineTemplateDefinition = defineKind({
  ...METAL3_MACHINE_TEMPLATE,
  spec: z.object({
    nodeReuse: z.boolean().default(false),
    template: z.object({ metadata: notEmpty(templateMeta()).optional(), spec: machineSpec() }),
  }),
});

const Metal3MachineTemplateV1beta1Definition = defineKind({
  ...METAL3_MACHINE_TEMPLATE,
  ...deprecated('Metal3MachineTemplate'),
  spec: z
    .object({ nodeReuse: z.boolean().default(false), template: z.object({ spec: machineSpecV1beta1() }) })
    .optional(),
});

const METAL3_DATA_TEMPLATE = {
  ...Metal3DataTemplate,
  ...METAL3,
  labels: { ...METAL3.labels, 'clusterctl.cluster.x-k8s.io/move': '' },
  description: 'What hosts find on their config drive.',
  shortNames: ['m3dt', 'm3datatemplate', 'm3datatemplates', 'metal3dt', 'metal3datatemplate'],
  columns: [CLUSTER, AGE],
  subresources: { status: true },
};

export const Metal3DataTemplateDefinition = defineKind({
  ...METAL3_DATA_TEMPLATE,
  spec: z
    .object({
      clusterName: z.string().max(512),
      metaData: preserveUnknown(),
      networkData: preserveUnknown(),
    })
    .partial()
    .optional(),
  status: z.object({}),
});

const Metal3DataTemplateV1beta1Definition = defineKind({
  ...METAL3_DATA_TEMPLATE,
  ...deprecated('Metal3DataTemplate'),
  spec: z
    .object({
      clusterName: z.string().min(1),
      metaData: preserveUnknown().optional(),
      networkData: preserveUnknown().optional(),
    })
    .optional(),
  status: z.object({}),
});

/** Each with the version that objects are kept in first. */
export const metal3Versions = () => [
  defineVersions(Metal3ClusterDefinition, [Metal3ClusterV1beta1Definition], NONE),
  defineVersions(Metal3ClusterTemplateDefinition, [Metal3ClusterTemplateV1beta1Definition], NONE),
  defineVersions(Metal3MachineDefinition, [Metal3MachineV1beta1Definition], NONE),
  defineVersions(Metal3MachineTemplateDefinition, [Metal3MachineTemplateV1beta1Definition], NONE),
  defineVersions(Metal3DataTemplateDefinition, [Metal3DataTemplateV1beta1Definition], NONE),
];
