import type { Infrastructure, PlatformStatus } from '../../src/api/openshift/config-v1.ts';
import { builtInRegistry } from '../../src/cloud-operator/index.ts';
import { printYaml } from '../../src/object/yaml.ts';

/** The Infrastructure of a cluster to be, as installers write it. */
export const infrastructureText = (
  platformStatus: PlatformStatus | undefined,
  cloudConfig?: NonNullable<Infrastructure['spec']>['cloudConfig'],
): string =>
  printYaml({
    apiVersion: 'config.openshift.io/v1',
    kind: 'Infrastructure',
    metadata: { name: 'cluster' },
    spec: { ...(cloudConfig !== undefined && { cloudConfig }), platformSpec: {} },
    status: { infrastructureName: 'east-x7k2p', ...(platformStatus !== undefined && { platformStatus }) },
  });

/** The ConfigMap with images, for every platform or those that are given. */
export const imagesText = (images: Readonly<Record<string, string>> = builtInRegistry().imagesJson()): string =>
  configMapText('cloud-controller-manager-images', { 'images.json': JSON.stringify(images) });

export const configMapText = (
  name: string,
  data: Readonly<Record<string, string>>,
  namespace = name === 'kube-cloud-config' ? 'openshift-config-managed' : 'openshift-config',
): string => printYaml({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data });

/** A Secret as people write it. */
export const secretText = (name: string, content: Readonly<Record<string, unknown>>): string =>
  printYaml({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, ...content });
