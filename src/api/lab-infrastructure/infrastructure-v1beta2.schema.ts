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
import { conditions } from '../schema/extensions.ts';
import { LabCluster, LabMachine, LabMachineTemplate } from './infrastructure-v1beta2.ts';

const LAB = {
  categories: ['cluster-api'],
  labels: {
    'cluster.x-k8s.io/provider': 'infrastructure-slipway-lab',
    ...contractLabels({ v1beta2: 'v1beta2' }),
  },
} as const;

const AGE: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
const CLUSTER: Column = {
  name: 'Cluster',
  type: 'string',
  jsonPath: '.metadata.labels.cluster\\.x-k8s\\.io/cluster-name',
};
const PROVISIONED: Column = {
  name: 'Provisioned',
  type: 'string',
  jsonPath: '.status.initialization.provisioned',
};
const zoneName = () => z.string().min(1).max(256);
const initialization = () =>
  notEmpty(
    z
      .object({ provisioned: z.boolean().describe('Whether everything that the cloud has to do is done.') })
      .partial(),
  ).describe('What core waits for before it goes on.');

export const LabClusterDefinition = defineKind({
  ...LabCluster,
  ...LAB,
  description: 'A cluster on machines of the lab cloud: where its API is.',
  columns: [CLUSTER, PROVISIONED, AGE],
  spec: z
    .object({
      controlPlaneEndpoint: apiEndpoint().describe('Where the API of the cluster is.'),
      zones: z.array(zoneName()).max(100).describe('Where its machines may be; they become failure domains.'),
    })
    .partial()
    .optional(),
  status: z
    .object({
      initialization: initialization(),
      failureDomains: failureDomains(),
      conditions: conditions(),
      deprecated: deprecatedStatus(),
    })
    .partial(),
});

const machineSpec = () =>
  z
    .object({
      providerID: z
        .string()
        .min(1)
        .max(512)
        .describe('Of the instance, such as lab://zone-a/i-1; set by the lab.'),
      instanceType: z.string().min(1).max(256).describe('Of the instance, such as lab.large.'),
      zone: zoneName().describe('Of the instance, unless the Machine has a failure domain.'),
      imageId: z.string().min(1).max(256).describe('What its disk holds at first.'),
    })
    .partial();

export const LabMachineDefinition = defineKind({
  ...LabMachine,
  ...LAB,
  description: 'A machine that is an instance of the lab cloud.',
  columns: [
    CLUSTER,
    { name: 'ProviderID', type: 'string', jsonPath: '.spec.providerID' },
    { name: 'State', type: 'string', jsonPath: '.status.instanceState' },
    PROVISIONED,
    AGE,
  ],
  spec: machineSpec().optional(),
  status: z
    .object({
      initialization: initialization(),
      instanceId: z.string().describe('Of the instance in the cloud.'),
      instanceState: z.string().describe('What the cloud said of it last.'),
      failureDomain: zoneName().describe('The zone that the instance is in.'),
      addresses: z.array(machineAddress()).min(1).max(32).meta({ 'x-kubernetes-list-type': 'atomic' }),
      conditions: conditions(),
      deprecated: deprecatedStatus(),
    })
    .partial(),
});

export const LabMachineTemplateDefinition = defineKind({
  ...LabMachineTemplate,
  ...LAB,
  description: 'What LabMachines are made from.',
  columns: [AGE],
  spec: z.object({
    template: z.object({ metadata: notEmpty(templateMeta()).optional(), spec: machineSpec() }),
  }),
});
