import type { JsonObject } from '../../src/api/json.ts';
import type { ObjectKey } from '../../src/api/object.ts';

/** Of the release that a cluster has, and of the one that comes after it. */
export const VERSIONS = ['4.21.0', '4.21.1'] as const;

/** What a cluster of a platform is like. */
export interface PlatformStory {
  readonly name: string;
  readonly platformStatus: JsonObject;
  readonly platformSpec?: JsonObject;
  /** What its administrator wrote, by key. */
  readonly cloudConfig?: Readonly<Record<string, string>>;
  readonly gates?: readonly string[];
  /** What the credentials operator produces. */
  readonly secrets?: readonly string[];
  /** How many the operator deploys. */
  readonly objects: number;
  /** Where its cloud config comes from, if it is told what can happen to any platform. */
  readonly trustSource?: ObjectKey;
}

export const PLATFORMS: readonly PlatformStory[] = [
  {
    name: 'AWS',
    platformStatus: { type: 'AWS', aws: { region: 'here' } },
    objects: 5,
    trustSource: { namespace: 'openshift-config-managed', name: 'kube-cloud-config' },
  },
  {
    name: 'Azure',
    platformStatus: { type: 'Azure', azure: { cloudName: 'AzurePublicCloud' } },
    cloudConfig: { 'cloud.conf': '{"cloud":"AzurePublicCloud","tenantId":"t"}' },
    secrets: ['azure-cloud-credentials'],
    objects: 12,
  },
  {
    name: 'Azure Stack Hub',
    platformStatus: { type: 'Azure', azure: { cloudName: 'AzureStackCloud' } },
    cloudConfig: { 'cloud.conf': '{"cloud":"AzureStackCloud"}', endpoints: '{"name":"AzureStackCloud"}' },
    secrets: ['azure-cloud-credentials'],
    objects: 6,
  },
  {
    name: 'GCP',
    platformStatus: { type: 'GCP', gcp: { projectID: 'p', region: 'here' } },
    cloudConfig: { 'cloud.conf': '[global]\nproject-id = p\n' },
    secrets: ['gcp-ccm-cloud-credentials'],
    objects: 7,
  },
  {
    name: 'IBMCloud',
    platformStatus: { type: 'IBMCloud' },
    cloudConfig: { 'cloud.conf': '[provider]\nregion = here\n' },
    secrets: ['ibm-cloud-credentials'],
    objects: 3,
  },
  {
    name: 'PowerVS',
    platformStatus: { type: 'PowerVS' },
    cloudConfig: { 'cloud.conf': '[provider]\nregion = here\n' },
    secrets: ['ibm-cloud-credentials'],
    objects: 3,
  },
  {
    name: 'VSphere',
    platformStatus: { type: 'VSphere' },
    cloudConfig: { 'cloud.conf': 'global: {}\nvcenter:\n  a:\n    server: a\n    datacenters: [d]\n' },
    gates: ['VSphereMultiVCenterDay2', 'VSphereMixedNodeEnv', 'CloudControllerManagerWebhook'],
    secrets: ['vsphere-cloud-credentials'],
    objects: 9,
  },
  {
    name: 'Nutanix',
    platformStatus: { type: 'Nutanix' },
    cloudConfig: { 'cloud.conf': '{"prismCentral":{}}' },
    secrets: ['nutanix-credentials'],
    objects: 7,
  },
  {
    name: 'OpenStack',
    platformStatus: { type: 'OpenStack' },
    cloudConfig: {
      'cloud.conf': '[Global]\nsecret-name = openstack-credentials\nsecret-namespace = kube-system\n',
    },
    secrets: ['openstack-cloud-credentials'],
    objects: 3,
  },
];

/** The example of a partner, on platform External. */
export const ACME: PlatformStory = {
  name: 'acme',
  platformSpec: { type: 'External', external: { platformName: 'acme-cloud' } },
  platformStatus: { type: 'External', external: { cloudControllerManager: { state: 'External' } } },
  cloudConfig: { 'cloud.conf': 'endpoint: https://acme.invalid\n' },
  secrets: ['cloud-credentials'],
  objects: 3,
  trustSource: { namespace: 'openshift-config', name: 'cloud-provider-config' },
};
