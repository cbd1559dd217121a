import type { JsonObject } from '../../api/json.ts';
import type { KubeObject } from '../../api/object.ts';

export interface DeploymentOptions {
  readonly image: string;
  /** After those that follow from the ports, so the last word is theirs. */
  readonly args?: readonly string[];
  /** 2 unless told otherwise: one leads, the other takes over. */
  readonly replicas?: number;
  /** Of the health server; 8081 unless told otherwise. */
  readonly healthPort?: number;
  readonly resources?: JsonObject;
}

interface Deployed {
  readonly name: string;
  readonly namespace: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** By name; `metrics` says where metrics are served, which without it are not. */
  readonly ports?: Readonly<Record<string, number>>;
}

const DEFAULT_RESOURCES: JsonObject = { requests: { cpu: '10m', memory: '128Mi' } };

/** A Deployment that passes the `restricted` Pod Security level and stops as the runtime does (M2). */
export function deploymentOf(
  { name, namespace, labels = {}, ports = {} }: Deployed,
  { image, args = [], replicas = 2, healthPort = 8081, resources = DEFAULT_RESOURCES }: DeploymentOptions,
): KubeObject {
  const selector = { 'app.kubernetes.io/name': name };
  const probe = (path: string): JsonObject => ({ httpGet: { path, port: healthPort } });
  const containerPorts = Object.entries(ports)
    .toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)))
    .map(([port, containerPort]): JsonObject => ({ name: port, containerPort }));
  const container: JsonObject = {
    name: 'controller',
    image,
    args: [
      '--leader-elect',
      `--health-probe-bind-address=:${healthPort}`,
      // Without a port that anybody can find, nothing would read them.
      `--metrics-bind-address=${ports['metrics'] === undefined ? '0' : `:${ports['metrics']}`}`,
      ...args,
    ],
    ...(containerPorts.length > 0 && { ports: containerPorts }),
    livenessProbe: probe('/healthz'),
    readinessProbe: probe('/readyz'),
    resources,
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels: { ...labels, ...selector } },
    spec: {
      replicas,
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: { ...labels, ...selector } },
        spec: {
          serviceAccountName: name,
          // Ten seconds more than the 30 s in which a manager stops.
          terminationGracePeriodSeconds: 40,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [container],
        },
      },
    },
  } as KubeObject;
}
