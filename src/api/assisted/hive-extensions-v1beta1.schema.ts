// AgentClusterInstall as a lab serves it: what readers rely on is checked as assisted-service checks it, every other
// field is kept. The names come from hive-extensions-v1beta1.ts, and a test compares the fields.
import * as z from 'zod';
import { defineKind } from '../schema/define-kind.ts';
import { cel, preserveUnknown, withRules } from '../schema/extensions.ts';
import { AgentClusterInstall } from './hive-extensions-v1beta1.ts';
import {
  clusterMetadata,
  diskEncryption,
  localReference,
  probedConditions,
  proxySettings,
} from './shapes.schema.ts';

const platformType = () => z.enum(['', 'BareMetal', 'None', 'VSphere', 'Nutanix', 'External']);

const external = () =>
  z.object({
    platformName: withRules(
      z.string(),
      cel("oldSelf == 'Unknown' || self == oldSelf", 'the name of the platform is set once'),
    ).default('Unknown'),
    cloudControllerManager: z.enum(['', 'External']).default(''),
  });

const networking = () =>
  z
    .object({
      clusterNetwork: z.array(z.object({ cidr: z.string(), hostPrefix: z.int32().optional() })),
      serviceNetwork: z.array(z.string()),
      machineNetwork: z.array(z.object({ cidr: z.string() })),
      networkType: z.enum(['OpenShiftSDN', 'OVNKubernetes', 'CiscoACI', 'Cilium', 'Calico', 'None']),
      userManagedNetworking: z.boolean(),
    })
    .partial();

export const AgentClusterInstallDefinition = defineKind({
  ...AgentClusterInstall,
  isForeign: true,
  description: 'How a cluster is installed, and how far that is.',
  shortNames: ['aci'],
  columns: [
    { name: 'Cluster', type: 'string', jsonPath: '.spec.clusterDeploymentRef.name' },
    { name: 'State', type: 'string', jsonPath: '.status.debugInfo.state' },
  ],
  spec: z.object({
    clusterDeploymentRef: localReference(),
    imageSetRef: z.object({ name: z.string() }).optional(),
    provisionRequirements: z.object({
      controlPlaneAgents: z.int(),
      workerAgents: z.int().min(0).optional(),
      arbiterAgents: z.int().min(0).optional(),
    }),
    platformType: platformType().optional(),
    external: external().optional(),
    apiVIPs: z.array(z.string()).max(2).optional(),
    ingressVIPs: z.array(z.string()).max(2).optional(),
    diskEncryption: diskEncryption().optional(),
    mastersSchedulable: z.boolean().optional(),
    proxy: proxySettings().optional(),
    sshPublicKey: z.string().optional(),
    networking: networking(),
    manifestsConfigMapRefs: z.array(z.object({ name: z.string() })).optional(),
    clusterMetadata: clusterMetadata().optional(),
    holdInstallation: z.boolean().optional(),
    ignitionEndpoint: preserveUnknown().optional(),
  }),
  status: z
    .object({
      conditions: probedConditions(),
      debugInfo: z
        .object({ state: z.string(), stateInfo: z.string(), eventsURL: z.string(), logsURL: z.string() })
        .partial(),
      progress: z.object({ totalPercentage: z.int() }),
      platformType: platformType(),
      userManagedNetworking: z.boolean(),
    })
    .partial(),
});
