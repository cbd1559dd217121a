import type { ConfigMap, Namespace } from '../../api/generated/core-v1.ts';
import type { InstallNames } from './install-options.ts';

const LEVELS = ['enforce', 'audit', 'warn'] as const;

/**
 * The namespace (O5). Run level 0 leaves security context constraints out of it: the API that serves them runs only after
 * the first node was initialised, which is what this program is for.
 */
export const namespaceOf = ({ namespace }: InstallNames): Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: namespace,
    annotations: { 'openshift.io/node-selector': '', 'workload.openshift.io/allowed': 'management' },
    labels: {
      'openshift.io/run-level': '0',
      ...Object.fromEntries(LEVELS.map((level) => [`pod-security.kubernetes.io/${level}`, 'privileged'])),
      ...Object.fromEntries(LEVELS.map((level) => [`pod-security.kubernetes.io/${level}-version`, 'latest'])),
      'security.openshift.io/scc.podSecurityLabelSync': 'false',
    },
  },
  spec: {},
});

/** The name of the ConfigMap with what the cluster trusts. */
export const trustedCaName = ({ name }: Pick<InstallNames, 'name'>): string => `${name}-trusted-ca`;

/** The key under which OpenShift puts the bundle. */
export const TRUSTED_CA_KEY = 'ca-bundle.crt';

/**
 * Empty, for OpenShift to fill (O10): the one that the platform's own programs use is not in this namespace. Without
 * `data`, so that applying it again does not take the bundle away.
 */
export const trustedCaOf = (names: InstallNames): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: trustedCaName(names),
    namespace: names.namespace,
    labels: { ...names.labels, 'config.openshift.io/inject-trusted-cabundle': 'true' },
  },
});
