import type { JsonObject } from '../../api/json.ts';
import type { KubeObject } from '../../api/object.ts';
import { WEBHOOK_CERT_DIR } from '../program/flags.ts';
import type { Provider } from '../provider.ts';
import type { AgentNames } from './names.ts';

const COMPONENT = { bootstrap: 'agent-bootstrap', 'control-plane': 'agent-control-plane' } as const;
const HEALTH_PORT = 8081;
const METRICS_PORT = 8080;
const WEBHOOK_PORT = 9443;

/** The Deployment of a provider: passes the `restricted` Pod Security level, and stops as the runtime does. */
export function managerDeployment(
  provider: Provider,
  { namespace, account, secret }: AgentNames,
  image: string,
): KubeObject {
  const labels = { 'control-plane': account };
  const probe = (path: string): JsonObject => ({ httpGet: { path, port: HEALTH_PORT } });
  const container: JsonObject = {
    name: 'manager',
    image,
    args: ['run', COMPONENT[provider], '--leader-elect'],
    ports: [
      { name: 'metrics', containerPort: METRICS_PORT },
      { name: 'webhook', containerPort: WEBHOOK_PORT },
    ],
    livenessProbe: probe('/healthz'),
    readinessProbe: probe('/readyz'),
    // Node keeps more than upstream's program does, whose limit of 128 MiB this would not fit into.
    resources: { requests: { cpu: '10m', memory: '128Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      readOnlyRootFilesystem: true,
    },
    volumeMounts: [{ name: 'certs', mountPath: WEBHOOK_CERT_DIR, readOnly: true }],
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: account, namespace, labels },
    spec: {
      // Webhooks are asked at each write: one that is being replaced must not stop them.
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: account,
          // Ten seconds more than the 30 s in which a manager stops.
          terminationGracePeriodSeconds: 40,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [container],
          volumes: [{ name: 'certs', secret: { secretName: secret } }],
        },
      },
    },
  } as KubeObject;
}
