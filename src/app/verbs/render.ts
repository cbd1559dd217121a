import { IMAGE_SETTING } from '../release.ts';
import type { SettingTable } from '../settings.ts';
import { defineVerb } from '../verb.ts';

export const RENDER_SETTINGS = {
  provider: {
    type: 'path',
    of: 'file',
    default: undefined,
    description:
      'the definition of the provider: a file, or the folder that it is in; provider.ts without it, and for cloud-operator the platforms of OpenShift, of which an id such as aws names one',
  },
  component: {
    type: 'string',
    default: 'cloud-controller-manager',
    description: 'what is installed: cloud-controller-manager',
  },
  image: IMAGE_SETTING,
  namespace: {
    type: 'string',
    default: undefined,
    description:
      'of deploy, rbac and bootstrap: where it runs; without it, the name of the provider and that of the component',
  },
  topology: {
    type: 'string',
    allowed: ['ha', 'sno'],
    default: 'ha',
    description: 'of deploy, rbac and bootstrap: ha is two replicas, sno is one, for a cluster of a single node',
  },
  'secure-port': {
    type: 'integer',
    min: 0,
    max: 65_535,
    default: 10_258,
    description:
      'of deploy, rbac and bootstrap: its port on the host; another where a second cloud controller manager can be, 0 for none',
  },
  'cloud-config': {
    type: 'string',
    allowed: ['none', 'configmap', 'secret'],
    default: 'none',
    description:
      'of deploy, rbac and bootstrap: what holds the cloud configuration, under the name cloud-config and the key cloud.conf',
  },
  'cluster-name': {
    type: 'string',
    default: undefined,
    description:
      'of deploy, rbac and bootstrap: what things in the cloud are named after, where a cloud serves several clusters',
  },
  'use-service-account-credentials': {
    type: 'boolean',
    default: false,
    description:
      'of deploy, rbac and bootstrap: each controller acts as its own account, which the program then may get tokens for',
  },
  mode: {
    type: 'string',
    allowed: ['replace', 'sidecar'],
    default: undefined,
    description:
      'of cloud-operator: instead of that of the payload, or beside it under names of its own, as for a provider of yours',
  },
  day1: {
    type: 'boolean',
    default: false,
    description: 'of cloud-operator: only what the manifests folder of an installer takes',
  },
  'cluster-infrastructure-file': {
    type: 'path',
    of: 'file',
    default: undefined,
    description: 'of bootstrap: the Infrastructure of the cluster to be; with it, pods are those of its platform',
  },
  'images-file': {
    type: 'path',
    of: 'file',
    default: undefined,
    description: 'of bootstrap and cloud-operator: the ConfigMap with images.json, such as that of a cluster',
  },
  'cloud-config-file': {
    type: 'path',
    of: 'file',
    default: undefined,
    description: 'of bootstrap: the ConfigMap with the cloud configuration, where the Infrastructure names one',
  },
  'credentials-file': {
    type: 'path',
    of: 'file',
    default: undefined,
    description: 'of bootstrap: the Secret that the provider reads on the bootstrap machine',
  },
  tls: {
    type: 'string',
    allowed: ['cert-manager', 'service-ca'],
    default: 'cert-manager',
    description:
      'of agent: who signs the certificates of webhooks; service-ca is that of OpenShift, cert-manager has to be installed',
  },
  'dest-dir': { type: 'path', of: 'folder', default: undefined, description: 'the same as --out' },
  out: {
    type: 'path',
    of: 'folder',
    default: undefined,
    description: 'write files there instead of one stream to standard output',
  },
  check: {
    type: 'boolean',
    default: false,
    description: 'write nothing; exit code 1 when the files in --out are not as they would be written now',
  },
} as const satisfies SettingTable;

/** Makes what installs a provider out of its definition. */
export const renderVerb = defineVerb({
  name: 'render',
  group: 'start here',
  summary: 'make what installs a provider on a cluster out of its definition',
  examples: [
    'slipway render deploy --provider provider.ts --image example.com/team/provider:1',
    'slipway render agent --out providers',
  ],
  positionals: [
    {
      name: 'WHAT',
      description:
        'deploy (everything), rbac (account and roles), bootstrap (static pods for the bootstrap machine), cloud-operator (the operator that deploys it), agent (the Agent providers for Cluster API, as clusterctl reads them), agent-crds (only their kinds, for providers that run on your machine)',
      isRequired: true,
    },
  ],
  settings: RENDER_SETTINGS,
  load: async () => {
    const { runRender } = await import('../render/render.ts');
    return runRender;
  },
});
