import type { KubeObject } from '../../api/object.ts';
import { type ClusterFacts, looked } from './facts.ts';
import { nextAction } from './next-action.ts';
import { isNodeReady } from './node-state.ts';
import { numberAt, referenceAt, textAt } from './object-fields.ts';
import { causesIn, type Row } from './row.ts';
import { clusterTree } from './tree.ts';

/** A cluster as it was at one moment: what every form of output is made of. */
export interface ClusterReport {
  /** RFC 3339. */
  readonly at: string;
  readonly name: string;
  readonly namespace: string;
  readonly createdAt?: string;
  /** `OpenShift 4.20.3`, `Kubernetes v1.33.1`. */
  readonly version?: string;
  /** `host:port` of its API server. */
  readonly api?: string;
  /** Undefined while nobody knows. */
  readonly nodes?: { readonly ready: number; readonly total: number };
  /** Causes, not rows: what is wrong because of something below does not count. */
  readonly problems: number;
  readonly next?: string;
  readonly root: Row;
}

/** Pure. */
export function clusterReport(facts: ClusterFacts): ClusterReport {
  const { cluster, at, nodes } = facts;
  const { name, namespace = '', creationTimestamp } = cluster.metadata;
  const root = clusterTree(facts);
  const next = nextAction(root);
  const version = versionOf(facts);
  const api = endpointOf(cluster);
  return {
    at: at.toISOString(),
    name,
    namespace,
    ...(typeof creationTimestamp === 'string' && { createdAt: creationTimestamp }),
    ...(version !== undefined && { version }),
    ...(api !== undefined && { api }),
    ...(nodes.type === 'read' && {
      nodes: { ready: nodes.nodes.filter(isNodeReady).length, total: nodes.nodes.length },
    }),
    problems: causesIn(root).length,
    ...(next !== undefined && { next }),
    root,
  };
}

function versionOf(facts: ClusterFacts): string | undefined {
  const reference = referenceAt(facts.cluster, 'spec', 'controlPlaneRef');
  const found = reference === undefined ? undefined : looked(facts, reference);
  if (found?.type !== 'found') return undefined;
  const { object } = found;
  const text = (field: string) => textAt(object, 'status', field) || textAt(object, 'spec', field);
  const distribution = text('distributionVersion');
  if (distribution !== '') return `OpenShift ${distribution}`;
  return text('version') === '' ? undefined : `Kubernetes ${text('version')}`;
}

function endpointOf(cluster: KubeObject): string | undefined {
  const host = textAt(cluster, 'spec', 'controlPlaneEndpoint', 'host');
  const port = numberAt(cluster, 'spec', 'controlPlaneEndpoint', 'port');
  if (host === '' || port === undefined) return undefined;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
