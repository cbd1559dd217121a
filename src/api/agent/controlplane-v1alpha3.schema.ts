import * as z from 'zod';
import {
  contractLabels,
  contractReference,
  machineDeletion,
  notEmpty,
  templateMeta,
} from '../cluster-api/shapes.schema.ts';
import type { Column } from '../schema/crd.ts';
import { defineKind } from '../schema/define-kind.ts';
import { cel, conditions, withRules } from '../schema/extensions.ts';
import { configSpec } from './config-spec.schema.ts';
import { controlPlaneConfig, SCALE } from './control-plane-config.schema.ts';
import { OpenshiftAssistedControlPlane, OpenshiftAssistedControlPlaneTemplate } from './controlplane-v1alpha3.ts';

/** clusterctl finds what belongs to a provider by it. */
const PROVIDER_LABEL = { 'cluster.x-k8s.io/provider': 'control-plane-openshift-assisted' };

/** What both versions say. */
export const CONTROL_PLANE_NAMES = {
  description: 'A control plane of OpenShift that the assisted installer makes, without a bootstrap node.',
  shortNames: ['oacp', 'oacps'],
  labels: {
    ...PROVIDER_LABEL,
    ...contractLabels({ v1beta1: 'v1alpha2', v1beta2: 'v1alpha3' }),
  },
  subresources: { scale: SCALE, status: true },
  // Upstream does not require it and cannot do anything without it.
  rules: { root: [cel('has(self.spec)', 'spec is missing')] },
} as const;

const count = (name: string, jsonPath: string, description: string): Column => ({
  name,
  type: 'integer',
  jsonPath,
  description,
});

/** Columns that both versions have; between them are some of their own. */
export const COLUMNS = {
  cluster: {
    name: 'Cluster',
    type: 'string',
    jsonPath: ".metadata.labels['cluster\\.x-k8s\\.io/cluster-name']",
    description: 'Name of the Cluster',
  },
  desired: { ...count('Desired', '.spec.replicas', 'Machines that are wanted'), priority: 10 },
  replicas: count('Replicas', '.status.replicas', 'Machines that there are'),
  ready: count('Ready', '.status.readyReplicas', 'Machines that are ready'),
  age: {
    name: 'Age',
    type: 'date',
    jsonPath: '.metadata.creationTimestamp',
    description: 'Time since the control plane was created',
  },
  distributionVersion: {
    name: 'Distribution Version',
    type: 'string',
    jsonPath: '.spec.distributionVersion',
    description: 'Version of OpenShift that is wanted',
  },
} as const satisfies Readonly<Record<string, Column>>;

const deletion = () => machineDeletion().describe('How long the steps of deleting a machine may take.');

const machineMetadata = () =>
  notEmpty(templateMeta()).optional().describe('Labels and annotations of the machines.');

const machineTemplate = () =>
  withRules(
    z.object({
      metadata: machineMetadata(),
      infrastructureRef: contractReference().optional().describe('Template of the infrastructure machines.'),
      deletion: deletion().default({ nodeDeletionTimeoutSeconds: 10 }),
      spec: z
        .object({
          infrastructureRef: contractReference().describe('Template of the infrastructure machines.'),
          deletion: deletion(),
        })
        .partial()
        .optional()
        .describe(
          'The same where the contract of Cluster API has it, and where a ClusterClass writes it; the fields beside it win.',
        ),
    }),
    // Upstream requires it beside `spec`, where no ClusterClass can write it.
    cel(
      'has(self.infrastructureRef) || (has(self.spec) && has(self.spec.infrastructureRef))',
      'infrastructureRef is missing; name the template of the infrastructure machines',
    ),
  );

const KUBERNETES_VERSION =
  'Version of Kubernetes that the topology of a Cluster asks for, such as `v1.33.5`: the release must have at least this one. `distributionVersion` is what is installed.';

const machines = (which: string) => z.int32().describe(`Machines ${which}.`);

export const OpenshiftAssistedControlPlaneDefinition = defineKind({
  ...OpenshiftAssistedControlPlane,
  ...CONTROL_PLANE_NAMES,
  columns: [
    COLUMNS.cluster,
    {
      name: 'Initialized',
      type: 'boolean',
      jsonPath: '.status.initialization.controlPlaneInitialized',
      description: 'The control plane can be asked',
    },
    COLUMNS.desired,
    COLUMNS.replicas,
    COLUMNS.ready,
    count('Up-To-Date', '.status.upToDateReplicas', 'Machines that are as they should be'),
    count('Available', '.status.availableReplicas', 'Machines that are available'),
    COLUMNS.age,
    COLUMNS.distributionVersion,
  ],
  spec: z
    .object({
      distributionVersion: z
        .string()
        .describe('Version of OpenShift, such as `4.20.1`. A change is an upgrade in place.'),
      version: z.string().min(1).max(256).optional().describe(KUBERNETES_VERSION),
      replicas: z.int32().optional().describe('Machines of the control plane; 0 when missing.'),
      config: controlPlaneConfig().optional().describe('How the cluster is installed.'),
      machineTemplate: machineTemplate().describe('What the machines of the control plane are made from.'),
      openshiftAssistedConfigSpec: configSpec().optional().describe('How the machines are booted and registered.'),
    })
    .describe('The control plane that is wanted.')
    .optional(),
  status: z
    .object({
      conditions: conditions().meta({ maxItems: 32 }).describe('How the control plane is doing.'),
      initialization: notEmpty(
        z.object({ controlPlaneInitialized: z.boolean().describe('The control plane can be asked.') }).partial(),
      ).describe('What happens once in the life of the control plane.'),
      selector: z.string().min(1).max(4096).describe('Label selector of the machines.'),
      replicas: machines('that there are'),
      readyReplicas: machines('that are ready'),
      availableReplicas: machines('that are available'),
      upToDateReplicas: machines('that are as they should be'),
      version: z.string().min(1).max(256).describe('Version of Kubernetes that the release has, without `v`.'),
      distributionVersion: z.string().describe('Version of OpenShift that runs.'),
      observedGeneration: z.int().min(1).describe('Generation that the controller last worked on.'),
    })
    .partial()
    .describe('How the control plane is doing.'),
});

const TEMPLATE_SPEC = 'What the control planes of all clusters have in common; the ClusterClass patches the rest.';

export const OpenshiftAssistedControlPlaneTemplateDefinition = defineKind({
  ...OpenshiftAssistedControlPlaneTemplate,
  description: 'What a ClusterClass makes OpenshiftAssistedControlPlanes from.',
  categories: ['cluster-api'],
  labels: {
    ...PROVIDER_LABEL,
    // Nobody has templates that follow the older contract.
    ...contractLabels({ v1beta2: 'v1alpha3' }),
  },
  columns: [COLUMNS.age],
  spec: z
    .object({
      template: z
        .object({
          metadata: notEmpty(templateMeta())
            .optional()
            .describe('Labels and annotations of the control planes: platform and boot method are said here.'),
          spec: z
            .object({
              distributionVersion: z.string().describe('Version of OpenShift, such as `4.20.1`.'),
              config: controlPlaneConfig().partial().describe('How the clusters are installed.'),
              machineTemplate: z
                .object({ metadata: machineMetadata(), deletion: deletion().optional() })
                .describe('What the machines of the control planes have in common.'),
              openshiftAssistedConfigSpec: configSpec().describe('How the machines are booted and registered.'),
            })
            .partial()
            .describe(TEMPLATE_SPEC),
        })
        .describe('What the control planes are made from.'),
    })
    .describe('What the control planes are made from.'),
});
