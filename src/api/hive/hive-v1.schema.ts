// The kinds of hive-v1.ts as a lab serves them: what readers rely on is checked as Hive checks it, every other field is
// kept. The names come from there, and a test compares the fields.
import * as z from 'zod';
import { clusterMetadata, localReference, probedConditions } from '../assisted/shapes.schema.ts';
import { defineKind } from '../schema/define-kind.ts';
import { preserveUnknown } from '../schema/extensions.ts';
import { ClusterDeployment, ClusterImageSet } from './hive-v1.ts';

const label = (name: string, key: string) => ({
  name,
  type: 'string' as const,
  jsonPath: `.metadata.labels.hive\\.openshift\\.io/${key}`,
});

export const ClusterDeploymentDefinition = defineKind({
  ...ClusterDeployment,
  isForeign: true,
  description: 'A cluster that is, or will be, installed.',
  shortNames: ['cd'],
  columns: [
    { name: 'InfraID', type: 'string', jsonPath: '.spec.clusterMetadata.infraID' },
    label('Platform', 'cluster-platform'),
    label('Region', 'cluster-region'),
    label('Version', 'version'),
    label('ClusterType', 'cluster-type'),
    {
      name: 'ProvisionStatus',
      type: 'string',
      jsonPath: ".status.conditions[?(@.type=='Provisioned')].reason",
    },
    { name: 'PowerState', type: 'string', jsonPath: '.status.powerState' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: z
    .object({
      clusterName: z.string(),
      baseDomain: z.string(),
      platform: z.object({ agentBareMetal: preserveUnknown() }).partial(),
      pullSecretRef: localReference().optional(),
      clusterInstallRef: z
        .object({ group: z.string(), version: z.string(), kind: z.string(), name: z.string() })
        .optional(),
      installed: z.boolean().optional(),
      clusterMetadata: clusterMetadata().optional(),
    })
    .optional(),
  status: z.object({ conditions: probedConditions() }).partial(),
});

export const ClusterImageSetDefinition = defineKind({
  ...ClusterImageSet,
  isForeign: true,
  description: 'A release that clusters can be installed with.',
  shortNames: ['imgset'],
  columns: [{ name: 'Release', type: 'string', jsonPath: '.spec.releaseImage' }],
  spec: z.object({ releaseImage: z.string() }).optional(),
  status: z.object({}),
});
