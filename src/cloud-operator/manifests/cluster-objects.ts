import type { ConfigMap, Namespace } from '../../api/generated/core-v1.ts';
import type { NetworkPolicy } from '../../api/generated/networking-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import type { ClusterOperator } from '../../api/openshift/config-v1.ts';
import { usualRelatedObjects } from '../operator/related-objects.ts';
import type { Installation } from './installation.ts';
import { IMAGES_CONFIG_MAP } from './operator-deployment.ts';

const LEVELS = ['enforce', 'audit', 'warn'] as const;

/** Run level 0 leaves security context constraints out of it: their API needs nodes that this brings up. */
export const namespaceOf = (name: string): Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name,
    annotations: { 'openshift.io/node-selector': '', 'workload.openshift.io/allowed': 'management' },
    labels: {
      'openshift.io/run-level': '0',
      'openshift.io/cluster-monitoring': 'true',
      ...Object.fromEntries(LEVELS.map((level) => [`pod-security.kubernetes.io/${level}`, 'privileged'])),
    },
  },
  spec: {},
});

export const imagesConfigMap = ({ names, images }: Installation): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: IMAGES_CONFIG_MAP, namespace: names.operatorNamespace },
  data: { 'images.json': `${JSON.stringify(images, undefined, 2)}\n` },
});

/** Nothing here serves pods; what runs on the network of the host is not touched by it. */
export const defaultDeny = (namespace: string): NetworkPolicy => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'default-deny', namespace },
  spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress'] },
});

/** Left out where there is no credentials operator (R90). */
export const credentialsRequest = (request: KubeObject): KubeObject => ({
  ...request,
  metadata: {
    ...request.metadata,
    annotations: { 'capability.openshift.io/name': 'CloudCredential+CloudControllerManager' },
  },
});

/**
 * With what the operator will say when it is done: the cluster version operator waits for these versions and refuses one
 * without any, and must-gather collects what is related before the operator has started.
 */
export const clusterOperator = ({ names, releaseVersion }: Installation): ClusterOperator => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'ClusterOperator',
  metadata: {
    name: names.clusterOperator,
    annotations: { 'exclude.release.openshift.io/internal-openshift-hosted': 'true' },
  },
  spec: {},
  status: {
    versions: [{ name: 'operator', version: releaseVersion }],
    relatedObjects: usualRelatedObjects(names),
  },
});
