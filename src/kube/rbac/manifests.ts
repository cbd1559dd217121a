import type { Json, JsonObject } from '../../api/json.ts';
import type { KubeObject } from '../../api/object.ts';
import { printYaml } from '../../object/yaml.ts';
import { type Component, needsByNamespace, roleFor } from './component-roles.ts';
import { type DeploymentOptions, deploymentOf } from './deployment.ts';

export interface ManifestOptions extends Component {
  readonly deployment: DeploymentOptions;
  /** Ports of the Service by name; without any there is no Service, without `metrics` no metrics. */
  readonly ports?: Readonly<Record<string, number>>;
  /** Made by `webhookConfigurations()`. */
  readonly webhooks?: readonly KubeObject[];
  readonly definitions?: readonly KubeObject[];
  /** The Secret for a certificate authority of its own: installed empty, so that nobody needs the right to create it. */
  readonly certificateSecret?: string;
  /** Anything else, such as a PrometheusRule. */
  readonly more?: readonly KubeObject[];
}

/** What must be there before what: the order in which one pass installs everything. Unknown kinds come last. */
const KIND_ORDER: readonly string[] = [
  'Namespace',
  'CustomResourceDefinition',
  'ServiceAccount',
  'Secret',
  'ConfigMap',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'Service',
  'Deployment',
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
];

/** Everything that installs a component, in one order (B2). Throws a userError for a need that no role may hold (B4). */
export function manifests(options: ManifestOptions): readonly KubeObject[] {
  const { webhooks = [], definitions = [], more = [] } = options;
  const objects = [
    ...roleFor(options),
    ...secretOf(options),
    ...serviceOf(options),
    deploymentOf(options, options.deployment),
    ...webhooks,
    ...definitions,
    ...more,
  ];
  return objects.toSorted(compareObjects);
}

/** The same as YAML, one document per object; what a role has beyond its means is explained above it (B4). */
export function printManifests(options: ManifestOptions): string {
  const needs = needsByNamespace(options);
  return manifests(options)
    .map((object) => {
      const isRole = object.kind === 'ClusterRole' || object.kind === 'Role';
      const reasons = isRole ? (needs.get(object.metadata.namespace ?? '') ?? []) : [];
      return `---\n${reasonLines(reasons)}${printYaml(object)}`;
    })
    .join('');
}

function reasonLines(needs: readonly Component['needs'][number][]): string {
  const lines = needs.flatMap(({ resource, verbs, reason }) => {
    const text = (reason ?? '').replaceAll(/\s+/g, ' ').trim();
    return text === '' ? [] : [`# ${resource} (${verbs.join(', ')}): ${text}\n`];
  });
  return [...new Set(lines)].toSorted().join('');
}

function secretOf({ certificateSecret, namespace, labels }: ManifestOptions): readonly KubeObject[] {
  if (certificateSecret === undefined) return [];
  const metadata = { name: certificateSecret, namespace, ...(labels !== undefined && { labels }) };
  return [{ apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque' } as KubeObject];
}

function serviceOf({ name, namespace, labels, ports = {} }: ManifestOptions): readonly KubeObject[] {
  const entries = Object.entries(ports).toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)));
  if (entries.length === 0) return [];
  const spec: JsonObject = {
    selector: { 'app.kubernetes.io/name': name },
    // The API server calls webhooks on 443 unless told otherwise.
    ports: entries.map(
      ([port, number]): Json => ({ name: port, port: port === 'webhook' ? 443 : number, targetPort: number }),
    ),
  };
  const metadata = { name, namespace, ...(labels !== undefined && { labels }) };
  return [{ apiVersion: 'v1', kind: 'Service', metadata, spec } as KubeObject];
}

function rank({ kind }: KubeObject): number {
  const at = KIND_ORDER.indexOf(kind);
  return at < 0 ? KIND_ORDER.length : at;
}

const sortText = ({ kind, metadata: { namespace = '', name } }: KubeObject): string =>
  [kind, namespace, name].join('\n');

function compareObjects(a: KubeObject, b: KubeObject): number {
  const [left, right] = [sortText(a), sortText(b)];
  return rank(a) - rank(b) || (left < right ? -1 : Number(left > right));
}
