// The kinds of config-v1.ts as a lab serves them: what the operator relies on is checked as OpenShift checks it, every
// other field is kept. The names come from there, and a test compares the fields.
import * as z from 'zod';
import { defineKind } from '../schema/define-kind.ts';
import { cel, conditions, listAtomic, listMap, listSet, withRules } from '../schema/extensions.ts';
import {
  ApiServerConfig,
  ClusterOperator,
  ClusterVersion,
  FeatureGate,
  Infrastructure,
  Network,
  Proxy,
} from './config-v1.ts';

const platformType = z.enum([
  '',
  'AWS',
  'Azure',
  'BareMetal',
  'GCP',
  'Libvirt',
  'OpenStack',
  'None',
  'VSphere',
  'oVirt',
  'IBMCloud',
  'KubeVirt',
  'EquinixMetal',
  'PowerVS',
  'AlibabaCloud',
  'Nutanix',
  'External',
]);

const vsphereNetwork = z
  .object({
    network: z.string(),
    networkSubnetCidr: listSet(z.string().meta({ format: 'cidr' })),
    excludeNetworkSubnetCidr: listAtomic(z.string().meta({ format: 'cidr' })),
  })
  .partial();

const vsphereSpec = z
  .object({
    vcenters: listAtomic(
      z.object({
        server: z.string(),
        port: z.int32().min(1).max(32_767).optional(),
        datacenters: listSet(z.string()),
      }),
    ),
    failureDomains: listMap(
      ['name'],
      z.object({
        name: z.string(),
        region: z.string(),
        zone: z.string(),
        server: z.string(),
        topology: z.object({ datacenter: z.string() }),
      }),
    ),
    nodeNetworking: z.object({ external: vsphereNetwork, internal: vsphereNetwork }).partial(),
  })
  .partial();

/** Whoever installed the cluster decided it: nobody brings or takes away a cloud controller manager later (R17). */
const externalStatus = withRules(
  z
    .object({
      cloudControllerManager: withRules(
        z
          .object({
            state: withRules(
              z.enum(['', 'External', 'None']),
              cel('self == oldSelf', 'the state of the cloud controller manager is set once, at installation'),
            ),
          })
          .partial(),
        cel(
          "has(oldSelf.state) ? has(self.state) : !has(self.state) || self.state != 'External'",
          'the state of the cloud controller manager cannot be removed, and External cannot be added later',
        ),
      ),
    })
    .partial(),
  cel(
    'has(self.cloudControllerManager) == has(oldSelf.cloudControllerManager)',
    'cloudControllerManager is there from the installation on, or never',
  ),
);

const azureCloud = z.enum([
  '',
  'AzurePublicCloud',
  'AzureUSGovernmentCloud',
  'AzureChinaCloud',
  'AzureGermanCloud',
  'AzureStackCloud',
  'AzureUSSecCloud',
]);

export const InfrastructureDefinition = defineKind({
  ...Infrastructure,
  isForeign: true,
  description: 'What the cluster runs on.',
  spec: z.object({
    cloudConfig: z.object({ name: z.string(), key: z.string() }).partial().optional(),
    platformSpec: z
      .object({
        type: platformType,
        external: z.object({
          platformName: withRules(
            z.string(),
            cel("oldSelf == 'Unknown' || self == oldSelf", 'the name of the platform is set once'),
          ).default('Unknown'),
        }),
        vsphere: vsphereSpec,
      })
      .partial()
      .optional(),
  }),
  status: z.object({
    infrastructureName: z.string().optional(),
    platformStatus: z
      .object({
        type: platformType,
        azure: z.object({ cloudName: azureCloud }).partial(),
        external: externalStatus,
        vsphere: z
          .object({ apiServerInternalIPs: listAtomic(z.string()), ingressIPs: listAtomic(z.string()) })
          .partial(),
      })
      .partial()
      .optional(),
    controlPlaneTopology: z
      .enum(['HighlyAvailable', 'HighlyAvailableArbiter', 'SingleReplica', 'DualReplica', 'External'])
      .default('HighlyAvailable'),
    infrastructureTopology: z.enum(['HighlyAvailable', 'SingleReplica']).default('HighlyAvailable'),
    apiServerURL: z.string().optional(),
    apiServerInternalURI: z.string().optional(),
  }),
});

/** Older than the conditions of Kubernetes: less is required, and any text is a status. */
const configConditions = () =>
  listMap(
    ['type'],
    z.object({
      type: z.string(),
      status: z.string(),
      lastTransitionTime: z.iso.datetime({ offset: true }),
      reason: z.string().optional(),
      message: z.string().optional(),
    }),
  );

const statusOf = (type: string) => `.status.conditions[?(@.type=="${type}")]`;

export const ClusterOperatorDefinition = defineKind({
  ...ClusterOperator,
  isForeign: true,
  description: 'How a part of the platform is doing.',
  shortNames: ['co'],
  columns: [
    { name: 'Version', type: 'string', jsonPath: '.status.versions[?(@.name=="operator")].version' },
    { name: 'Available', type: 'string', jsonPath: `${statusOf('Available')}.status` },
    { name: 'Progressing', type: 'string', jsonPath: `${statusOf('Progressing')}.status` },
    { name: 'Degraded', type: 'string', jsonPath: `${statusOf('Degraded')}.status` },
    { name: 'Since', type: 'date', jsonPath: `${statusOf('Available')}.lastTransitionTime` },
  ],
  spec: z.object({}),
  status: z
    .object({
      conditions: configConditions(),
      versions: z.array(z.object({ name: z.string(), version: z.string() })),
      relatedObjects: z.array(
        z.object({
          group: z.string(),
          resource: z.string(),
          namespace: z.string().optional(),
          name: z.string(),
        }),
      ),
    })
    .partial(),
});

const desiredUpdate = () =>
  withRules(
    z
      .object({
        version: z.string(),
        image: z.string(),
        architecture: z.enum(['Multi', '']),
        force: z.boolean(),
      })
      .partial(),
    cel(
      "has(self.architecture) && has(self.image) ? (self.architecture == '' || self.image == '') : true",
      'an update names an architecture or an image, not both',
    ),
    cel(
      "has(self.architecture) && self.architecture != '' ? has(self.version) && self.version != '' : true",
      'an update that names an architecture names a version, too',
    ),
  );

export const ClusterVersionDefinition = defineKind({
  ...ClusterVersion,
  isForeign: true,
  description: 'The release that the cluster runs, and those before it.',
  columns: [
    { name: 'Version', type: 'string', jsonPath: '.status.history[?(@.state=="Completed")].version' },
    { name: 'Available', type: 'string', jsonPath: `${statusOf('Available')}.status` },
    { name: 'Progressing', type: 'string', jsonPath: `${statusOf('Progressing')}.status` },
    { name: 'Since', type: 'date', jsonPath: `${statusOf('Progressing')}.lastTransitionTime` },
    { name: 'Status', type: 'string', jsonPath: `${statusOf('Progressing')}.message` },
  ],
  // Who tries something out writes no bookkeeping of the cluster-version operator, so it may be missing here.
  spec: z
    .object({
      clusterID: z.string(),
      channel: z.string(),
      desiredUpdate: desiredUpdate(),
    })
    .partial(),
  status: z.object({
    conditions: configConditions().optional(),
    desired: z.object({ version: z.string(), image: z.string().optional() }),
    history: listAtomic(
      z.object({
        state: z.string(),
        startedTime: z.iso.datetime({ offset: true }).optional(),
        completionTime: z.iso.datetime({ offset: true }).nullable().optional(),
        version: z.string().optional(),
        image: z.string().optional(),
        verified: z.boolean().optional(),
      }),
    ).optional(),
    observedGeneration: z.int().optional(),
    versionHash: z.string().optional(),
    availableUpdates: listAtomic(z.object({ version: z.string(), image: z.string() }))
      .nullable()
      .optional(),
  }),
});

const gateNames = z.array(z.object({ name: z.string().regex(/^([A-Za-z0-9-]+\.)*[A-Za-z0-9-]+\.?$/) }));

export const FeatureGateDefinition = defineKind({
  ...FeatureGate,
  isForeign: true,
  description: 'What is on and off in the cluster, by version.',
  spec: z.object({}),
  status: z
    .object({
      conditions: conditions(),
      featureGates: listMap(
        ['version'],
        z.object({ version: z.string(), enabled: gateNames.optional(), disabled: gateNames.optional() }),
      ),
    })
    .partial(),
});

export const ProxyDefinition = defineKind({
  ...Proxy,
  isForeign: true,
  description: 'The way out of the cluster.',
  spec: z.object({ trustedCA: z.object({ name: z.string() }).optional() }),
  status: z.object({ httpProxy: z.string(), httpsProxy: z.string(), noProxy: z.string() }).partial(),
});

export const NetworkDefinition = defineKind({
  ...Network,
  isForeign: true,
  description: 'The addresses of the cluster.',
  // There is none: the status of this kind is written with the rest.
  subresources: { status: false },
  spec: z.object({ serviceNetwork: listAtomic(z.string()).optional() }),
  status: z.object({ conditions: conditions() }).partial(),
});

const tlsProfile = z
  .object({
    type: z.enum(['Old', 'Intermediate', 'Modern', 'Custom']),
    custom: z
      .object({
        ciphers: listAtomic(z.string()),
        minTLSVersion: z.enum(['VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13']),
      })
      .partial()
      .nullable(),
  })
  .partial();

export const ApiServerConfigDefinition = defineKind({
  ...ApiServerConfig,
  isForeign: true,
  description: 'How API servers, and whoever follows them, serve.',
  spec: withRules(
    z.object({
      tlsAdherence: z.enum(['LegacyAdheringComponentsOnly', 'StrictAllComponents']).optional(),
      tlsSecurityProfile: tlsProfile.optional(),
    }),
    cel('!has(oldSelf.tlsAdherence) || has(self.tlsAdherence)', 'tlsAdherence can be changed, not removed'),
  ),
  status: z.object({}),
});
