import * as z from 'zod';
import { templateMeta, v1beta1Conditions } from '../cluster-api/shapes.schema.ts';
import { defineKind } from '../schema/define-kind.ts';
import { objectReference } from './bootstrap-v1alpha1.schema.ts';
import { commonConfigSpec } from './config-spec.schema.ts';
import { controlPlaneConfig } from './control-plane-config.schema.ts';
import { OpenshiftAssistedControlPlaneV1alpha2 } from './controlplane-v1alpha2.ts';
import { COLUMNS, CONTROL_PLANE_NAMES } from './controlplane-v1alpha3.schema.ts';

/** Go's way to write a time span; which texts are one is found out when they are read, as upstream does. */
const timeout = (what: string) =>
  z.string().optional().describe(`${what}, such as \`1m30s\`; 0 is without limit.`);
const machines = (which: string) => z.int32().describe(`Machines ${which}.`);

export const OpenshiftAssistedControlPlaneV1alpha2Definition = defineKind({
  ...OpenshiftAssistedControlPlaneV1alpha2,
  ...CONTROL_PLANE_NAMES,
  deprecationWarning: 'v1alpha2 is deprecated, use v1alpha3',
  columns: [
    COLUMNS.cluster,
    {
      name: 'Initialized',
      type: 'boolean',
      jsonPath: '.status.initialized',
      description: 'The control plane can be asked',
    },
    {
      name: 'API Server Available',
      type: 'boolean',
      jsonPath: '.status.ready',
      description: 'The API server answers',
    },
    COLUMNS.desired,
    COLUMNS.replicas,
    COLUMNS.ready,
    {
      name: 'Up-To-Date',
      type: 'integer',
      jsonPath: '.status.updatedReplicas',
      description: 'Machines that are as they should be',
    },
    {
      name: 'Unavailable',
      type: 'integer',
      jsonPath: '.status.unavailableReplicas',
      description: 'Machines that are not available',
    },
    COLUMNS.age,
    COLUMNS.distributionVersion,
  ],
  spec: z
    .object({
      distributionVersion: z
        .string()
        .describe('Version of OpenShift, such as `4.20.1`. A change is an upgrade in place.'),
      replicas: z.int32().optional().describe('Machines of the control plane; 0 when missing.'),
      config: controlPlaneConfig().optional().describe('How the cluster is installed.'),
      machineTemplate: z
        .object({
          metadata: templateMeta().optional().describe('Labels and annotations of the machines.'),
          infrastructureRef: objectReference().describe('Template of the infrastructure machines.'),
          nodeDrainTimeout: timeout('How long draining the node may take'),
          nodeVolumeDetachTimeout: timeout('How long detaching the volumes of the node may take'),
          nodeDeletionTimeout: timeout('How long deleting the Node object is tried'),
        })
        .describe('What the machines of the control plane are made from.'),
      openshiftAssistedConfigSpec: commonConfigSpec()
        .optional()
        .describe('How the machines are booted and registered.'),
    })
    .describe('The control plane that is wanted.')
    .optional(),
  status: z
    .object({
      clusterDeploymentRef: objectReference().describe('The ClusterDeployment of the cluster.'),
      conditions: v1beta1Conditions().describe('How the control plane is doing.'),
      selector: z.string().describe('Label selector of the machines.'),
      replicas: machines('that there are'),
      readyReplicas: machines('that are ready'),
      updatedReplicas: machines('that are as they should be'),
      unavailableReplicas: machines('that are not available'),
      version: z.string().describe('Version of Kubernetes that the release has, without `v`.'),
      distributionVersion: z.string().describe('Version of OpenShift that runs.'),
      initialized: z.boolean().describe('The control plane can be asked.'),
      ready: z.boolean().describe('The API server answers.'),
      failureReason: z.string().describe('Why the control plane cannot be made, in one word.'),
      failureMessage: z.string().describe('Why the control plane cannot be made, in a sentence.'),
    })
    .partial()
    .describe('How the control plane is doing.'),
});
