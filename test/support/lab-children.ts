import { fileURLToPath } from 'node:url';
import type { ImageCatalogue } from '../../src/lab/index.ts';

const PROGRAM = fileURLToPath(new URL('./lab-child.ts', import.meta.url));

/** Programs that run as children of a lab: one of ours that writes, and a shell. */
export const CHILDREN = {
  'test/child': { argv: ['node', '--conditions=slipway-source', PROGRAM], entrypoint: 3 },
  'test/sh': { argv: ['/bin/sh', '-c'], entrypoint: 2 },
} as const satisfies ImageCatalogue;

/** Lets the pods of `default` do everything. */
export const CHILD_RIGHTS = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: children }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin }
subjects: [{ kind: ServiceAccount, name: default, namespace: default }]
`;

/** A pod with one container of the catalogue. */
export const childPod = (name: string, container: object, spec: object = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { ...spec, containers: [{ name: 'c', ...container }] },
  });

/** The writing child: what it is told, beside that it serves no metrics. */
export const writer = (flags: readonly string[] = [], env: Readonly<Record<string, string>> = {}) => ({
  image: 'test/child',
  args: ['--metrics-bind-address=0', ...flags],
  env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
});

/** Three pods of an image that nobody has: they are simulated. */
export const WEB = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: default }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: app, image: nginx }] }
`;
