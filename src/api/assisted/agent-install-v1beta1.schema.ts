// The kinds of agent-install-v1beta1.ts as a lab serves them: what readers rely on is checked as assisted-service checks
// it, every other field is kept. The names come from there, and a test compares the fields.
import * as z from 'zod';
import { labelSelector } from '../cluster-api/shapes.schema.ts';
import { defineKind } from '../schema/define-kind.ts';
import { Agent, InfraEnv } from './agent-install-v1beta1.ts';
import { heartbeatConditions, kernelArguments, localReference, proxySettings } from './shapes.schema.ts';

const clusterReference = () => z.object({ name: z.string(), namespace: z.string() }).partial();
const time = () => z.iso.datetime({ offset: true });

export const InfraEnvDefinition = defineKind({
  ...InfraEnv,
  isForeign: true,
  description: 'An environment that hosts boot into to be found.',
  columns: [
    { name: 'ISO Created At', type: 'string', jsonPath: '.status.createdTime' },
    { name: 'ISO URL', type: 'string', jsonPath: '.status.isoDownloadURL', priority: 1 },
  ],
  spec: z
    .object({
      clusterRef: clusterReference().optional(),
      additionalNTPSources: z.array(z.string()).optional(),
      additionalTrustBundle: z.string().optional(),
      cpuArchitecture: z.string().default('x86_64'),
      nmStateConfigLabelSelector: labelSelector().optional(),
      osImageVersion: z.string().optional(),
      proxy: proxySettings().optional(),
      pullSecretRef: localReference(),
      sshAuthorizedKey: z.string().optional(),
      imageType: z.string().optional(),
      ignitionConfigOverride: z.string().optional(),
      kernelArguments: kernelArguments().optional(),
    })
    .optional(),
  status: z
    .object({
      isoDownloadURL: z.string(),
      createdTime: time(),
      conditions: heartbeatConditions(),
      agentLabelSelector: labelSelector(),
      debugInfo: z.object({ eventsURL: z.string(), staticNetworkDownloadURL: z.string() }).partial(),
      bootArtifacts: z
        .object({
          initrd: z.string(),
          rootfs: z.string(),
          kernel: z.string(),
          ipxeScript: z.string(),
          discoveryIgnitionURL: z.string(),
        })
        .partial(),
    })
    .partial(),
});

const systemVendor = () =>
  z
    .object({
      manufacturer: z.string(),
      productName: z.string(),
      serialNumber: z.string(),
      virtual: z.boolean(),
    })
    .partial();

const inventory = () =>
  z
    .object({
      hostname: z.string(),
      cpu: z.object({ architecture: z.string(), count: z.int() }).partial(),
      memory: z.object({ physicalBytes: z.int(), usableBytes: z.int() }).partial(),
      interfaces: z.array(
        z.object({
          name: z.string().optional(),
          macAddress: z.string().optional(),
          flags: z.array(z.string()),
          ipV4Addresses: z.array(z.string()),
          ipV6Addresses: z.array(z.string()),
        }),
      ),
      systemVendor: systemVendor(),
      boot: z.object({ currentBootMode: z.string(), deviceType: z.string() }).partial(),
    })
    .partial();

const progress = () =>
  z
    .object({
      currentStage: z.string(),
      progressInfo: z.string(),
      installationPercentage: z.int(),
      stageStartTime: time(),
      stageUpdateTime: time(),
      progressStages: z.array(z.string()),
    })
    .partial();

export const AgentDefinition = defineKind({
  ...Agent,
  isForeign: true,
  description: 'A host that was found.',
  columns: [
    { name: 'Cluster', type: 'string', jsonPath: '.spec.clusterDeploymentName.name' },
    { name: 'Approved', type: 'boolean', jsonPath: '.spec.approved' },
    { name: 'Role', type: 'string', jsonPath: '.status.role' },
    { name: 'Stage', type: 'string', jsonPath: '.status.progress.currentStage' },
    { name: 'Hostname', type: 'string', jsonPath: '.status.inventory.hostname', priority: 1 },
    { name: 'Requested Hostname', type: 'string', jsonPath: '.spec.hostname', priority: 1 },
  ],
  spec: z
    .object({
      approved: z.boolean(),
      role: z.string(),
      hostname: z.string().optional(),
      clusterDeploymentName: clusterReference().optional(),
      ignitionConfigOverrides: z.string().optional(),
      installerArgs: z.string().optional(),
      nodeLabels: z.record(z.string(), z.string()).optional(),
      machineConfigPool: z.string().optional(),
      installation_disk_id: z.string().optional(),
    })
    .optional(),
  status: z
    .object({
      bootstrap: z.boolean(),
      role: z.string(),
      kind: z.string(),
      conditions: heartbeatConditions(),
      debugInfo: z.object({ state: z.string(), stateInfo: z.string(), eventsURL: z.string() }).partial(),
      inventory: inventory(),
      progress: progress(),
    })
    .partial(),
});
