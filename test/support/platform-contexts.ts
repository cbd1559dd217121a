import type { Infrastructure, PlatformStatus } from '../../src/api/openshift/config-v1.ts';
import { cloudFeatureGates, featureGates } from '../../src/cloud-operator/config/feature-gates.ts';
import { MANAGED_NAMESPACE, type RenderContext } from '../../src/cloud-operator/definition.ts';

/** Every image that a built-in platform can ask for, by its key in `images.json`. */
const IMAGES: Readonly<Record<string, string>> = {
  cloudControllerManagerOperator: 'registry.example/operator:1',
  cloudControllerManagerAWS: 'registry.example/aws:1',
  cloudControllerManagerAzure: 'registry.example/azure:1',
  cloudNodeManagerAzure: 'registry.example/azure-node:1',
  cloudControllerManagerGCP: 'registry.example/gcp:1',
  cloudControllerManagerIBM: 'registry.example/ibm:1',
  cloudControllerManagerOpenStack: 'registry.example/openstack:1',
  cloudControllerManagerVSphere: 'registry.example/vsphere:1',
  cloudControllerManagerPowerVS: 'registry.example/powervs:1',
  cloudControllerManagerNutanix: 'registry.example/nutanix:1',
};

/** What a cluster of this platform is rendered with: all images, nothing else that would change anything. */
export function platformContext(status: PlatformStatus, changes: Partial<RenderContext> = {}): RenderContext {
  const infra: Infrastructure = {
    apiVersion: 'config.openshift.io/v1',
    kind: 'Infrastructure',
    metadata: { name: 'cluster' },
    spec: { cloudConfig: { name: 'cloud-provider-config', key: 'config' } },
    status: { infrastructureName: 'cluster-x7k2p', platformStatus: status },
  };
  return {
    infra,
    platformType: status.type ?? '',
    platformName: '',
    managedNamespace: MANAGED_NAMESPACE,
    singleReplica: false,
    images: new Map(Object.entries(IMAGES)),
    gates: featureGates([], ['VSphereMixedNodeEnv', 'AWSServiceLBNetworkSecurityGroup']),
    ccmFeatureGates: '',
    tls: { minVersion: '', cipherSuites: '' },
    ...changes,
  };
}

const GATES = featureGates(['VSphereMixedNodeEnv', 'CloudControllerManagerWebhook']);

/** What can differ between two clusters of one platform. */
const SETTINGS: Readonly<Record<string, Partial<RenderContext>>> = {
  plain: {},
  proxy: {
    proxy: {
      apiVersion: 'config.openshift.io/v1',
      kind: 'Proxy',
      metadata: { name: 'cluster' },
      status: { httpProxy: 'http://proxy:1', httpsProxy: 'https://proxy:2', noProxy: '.cluster.local' },
    },
  },
  tls12: {
    tls: {
      minVersion: 'VersionTLS12',
      cipherSuites: 'TLS_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
    },
  },
  tls13: { tls: { minVersion: 'VersionTLS13', cipherSuites: '' } },
  gates: { gates: GATES, ccmFeatureGates: cloudFeatureGates(GATES) },
};

/** Each of them with several control-plane machines and with one. The first is `ha.plain`. */
export const PLATFORM_VARIANTS: readonly (readonly [name: string, changes: Partial<RenderContext>])[] = [
  false,
  true,
].flatMap((singleReplica) =>
  Object.entries(SETTINGS).map(
    ([name, changes]) => [`${singleReplica ? 'sno' : 'ha'}.${name}`, { singleReplica, ...changes }] as const,
  ),
);
