// The kinds of core-v1beta2.ts as a lab serves them: what readers rely on is checked as Cluster API checks it, every
// other field is kept. The names come from there, and a test compares the fields.
//
// Real clusters serve v1beta1 of these four kinds as well. The two versions differ in most places, so that needs the
// conversion webhook of the real core manager; a lab has none, and nobody in it asks for v1beta1.
import * as z from 'zod';
import type { Column } from '../schema/crd.ts';
import { defineKind } from '../schema/define-kind.ts';
import { conditions, listMap, preserveUnknown } from '../schema/extensions.ts';
import { Cluster, MACHINE_PHASES, Machine, MachineDeployment, MachineSet } from './core-v1beta2.ts';
import {
  apiEndpoint,
  contractLabels,
  contractReference,
  deprecatedStatus,
  dnsName,
  failureDomains,
  labelSelector,
  machineAddress,
  machineDeletion,
  notEmpty,
  templateMeta,
} from './shapes.schema.ts';

const CORE = {
  isForeign: true,
  categories: ['cluster-api'],
  labels: { 'cluster.x-k8s.io/provider': 'cluster-api', ...contractLabels({ v1beta2: 'v1beta2' }) },
} as const;

const SCALE = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
};

/** Only with `-o wide`. */
const WIDE = { priority: 10 };
const AGE: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
const PAUSED: Column = { ...condition('Paused'), ...WIDE };
const CLUSTER_NAME: Column = { name: 'Cluster', type: 'string', jsonPath: '.spec.clusterName' };
const PHASE: Column = { name: 'Phase', type: 'string', jsonPath: '.status.phase' };

function condition(type: string, name = type): Column {
  return { name, type: 'string', jsonPath: `.status.conditions[?(@.type=="${type}")].status` };
}

const count = (name: string, jsonPath: string): Column => ({ name, type: 'integer', jsonPath });

/** Machines of the control plane or workers, counted by core. */
const counts = (short: string, field: string): readonly Column[] => [
  count(`${short} Desired`, `.status.${field}.desiredReplicas`),
  { ...count(`${short} Current`, `.status.${field}.replicas`), ...WIDE },
  { ...count(`${short} Ready`, `.status.${field}.readyReplicas`), ...WIDE },
  count(`${short} Available`, `.status.${field}.availableReplicas`),
  count(`${short} Up-to-date`, `.status.${field}.upToDateReplicas`),
];

const cidrBlocks = () =>
  z.object({
    cidrBlocks: z.array(z.string().min(1).max(43)).min(1).max(100).meta({ 'x-kubernetes-list-type': 'atomic' }),
  });

const generation = () => z.int().min(1);

const topology = () =>
  z.object({
    classRef: z.object({ name: dnsName() }),
    version: z.string().min(1).max(256),
    workers: notEmpty(
      z
        .object({
          machineDeployments: listMap(
            ['name'],
            z.object({
              class: z.string().min(1).max(256),
              name: dnsName().max(63),
              replicas: z.int32().optional(),
            }),
          ).meta({ minItems: 1, maxItems: 2000 }),
        })
        .partial(),
    ).optional(),
  });

export const ClusterDefinition = defineKind({
  ...Cluster,
  ...CORE,
  description: 'A cluster: where its control plane and its infrastructure are described.',
  shortNames: ['cl'],
  columns: [
    { name: 'ClusterClass', type: 'string', jsonPath: '.spec.topology.classRef.name' },
    condition('Available'),
    ...counts('CP', 'controlPlane'),
    ...counts('W', 'workers'),
    PAUSED,
    PHASE,
    AGE,
    { name: 'Version', type: 'string', jsonPath: '.spec.topology.version' },
  ],
  spec: notEmpty(
    z
      .object({
        paused: z.boolean(),
        clusterNetwork: notEmpty(z.object({ pods: cidrBlocks(), services: cidrBlocks() }).partial()),
        controlPlaneEndpoint: apiEndpoint(),
        controlPlaneRef: contractReference(),
        infrastructureRef: contractReference(),
        topology: topology(),
      })
      .partial(),
  ),
  status: notEmpty(
    z
      .object({
        conditions: conditions(),
        initialization: notEmpty(
          z.object({ infrastructureProvisioned: z.boolean(), controlPlaneInitialized: z.boolean() }).partial(),
        ),
        failureDomains: failureDomains(),
        phase: z.enum(['Pending', 'Provisioning', 'Provisioned', 'Deleting', 'Failed', 'Unknown']),
        observedGeneration: generation(),
        deprecated: deprecatedStatus(),
      })
      .partial(),
  ),
});

const clusterName = () => z.string().min(1).max(63);

const machineSpec = () =>
  z.object({
    clusterName: clusterName(),
    bootstrap: z.object({ configRef: contractReference(), dataSecretName: z.string().min(0).max(253) }).partial(),
    infrastructureRef: contractReference(),
    version: z.string().min(1).max(256).optional(),
    providerID: z.string().min(1).max(512).optional(),
    failureDomain: z.string().min(1).max(256).optional(),
    deletion: machineDeletion().optional(),
  });

export const MachineDefinition = defineKind({
  ...Machine,
  ...CORE,
  description: 'A machine that is, or will be, a node.',
  shortNames: ['ma'],
  columns: [
    CLUSTER_NAME,
    { name: 'Node Name', type: 'string', jsonPath: '.status.nodeRef.name' },
    { name: 'Provider ID', type: 'string', jsonPath: '.spec.providerID', ...WIDE },
    { name: 'Failure domain', type: 'string', jsonPath: '.status.failureDomain' },
    condition('Ready'),
    condition('Available'),
    condition('UpToDate', 'Up-to-date'),
    address('Internal-IP', 'InternalIP'),
    address('External-IP', 'ExternalIP'),
    { name: 'OS-Image', type: 'string', jsonPath: '.status.nodeInfo.osImage', ...WIDE },
    PAUSED,
    PHASE,
    AGE,
    { name: 'Version', type: 'string', jsonPath: '.spec.version' },
  ],
  spec: machineSpec(),
  status: notEmpty(
    z
      .object({
        conditions: conditions(),
        initialization: notEmpty(
          z.object({ infrastructureProvisioned: z.boolean(), bootstrapDataSecretCreated: z.boolean() }).partial(),
        ),
        nodeRef: z.object({ name: dnsName() }),
        nodeInfo: preserveUnknown(),
        addresses: z.array(machineAddress()).max(256).meta({ 'x-kubernetes-list-type': 'atomic' }),
        phase: z.enum(MACHINE_PHASES),
        observedGeneration: generation(),
        deprecated: deprecatedStatus(),
      })
      .partial(),
  ),
});

function address(name: string, type: string): Column {
  return { name, type: 'string', jsonPath: `.status.addresses[?(@.type=="${type}")].address`, ...WIDE };
}

const machineTemplate = () => z.object({ metadata: notEmpty(templateMeta()).optional(), spec: machineSpec() });

const machineCounts = {
  conditions: conditions(),
  selector: z.string().min(1).max(4096),
  replicas: z.int32(),
  readyReplicas: z.int32(),
  availableReplicas: z.int32(),
  upToDateReplicas: z.int32(),
  observedGeneration: generation(),
};

const REPLICAS: readonly Column[] = [
  count('Desired', '.spec.replicas'),
  count('Current', '.status.replicas'),
  count('Ready', '.status.readyReplicas'),
  count('Available', '.status.availableReplicas'),
  count('Up-to-date', '.status.upToDateReplicas'),
];
const TEMPLATE_VERSION: Column = { name: 'Version', type: 'string', jsonPath: '.spec.template.spec.version' };

export const MachineSetDefinition = defineKind({
  ...MachineSet,
  ...CORE,
  description: 'So many machines of one form.',
  shortNames: ['ms'],
  columns: [CLUSTER_NAME, ...REPLICAS, PAUSED, AGE, TEMPLATE_VERSION],
  subresources: { scale: SCALE },
  spec: z.object({
    clusterName: clusterName(),
    replicas: z.int32().optional(),
    selector: labelSelector(),
    template: machineTemplate(),
  }),
  status: notEmpty(z.object(machineCounts).partial()),
});

export const MachineDeploymentDefinition = defineKind({
  ...MachineDeployment,
  ...CORE,
  description: 'So many machines of one form, which may change.',
  shortNames: ['md'],
  columns: [CLUSTER_NAME, condition('Available'), ...REPLICAS, PAUSED, PHASE, AGE, TEMPLATE_VERSION],
  subresources: { scale: SCALE },
  spec: z.object({
    clusterName: clusterName(),
    replicas: z.int32().optional(),
    selector: labelSelector(),
    template: machineTemplate(),
    paused: z.boolean().optional(),
  }),
  status: notEmpty(
    z
      .object({
        ...machineCounts,
        phase: z.enum(['ScalingUp', 'ScalingDown', 'Running', 'Failed', 'Unknown']),
      })
      .partial(),
  ),
});
