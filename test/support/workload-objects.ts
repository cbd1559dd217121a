import type {
  Deployment,
  DeploymentCondition,
  DeploymentSpec,
  DeploymentStatus,
  ReplicaSet,
  ReplicaSetStatus,
} from '../../src/api/generated/apps-v1.ts';
import type { Pod, PodStatus, PodTemplateSpec } from '../../src/api/generated/core-v1.ts';
import { time } from '../../src/api/time.ts';

export const NOW = new Date('2026-01-01T12:00:00Z');
export const ago = (seconds: number): string => time(new Date(NOW.getTime() - seconds * 1000));

export const template = (image = 'web:1', labels: Record<string, string> = { app: 'web' }): PodTemplateSpec => ({
  metadata: { labels },
  spec: { containers: [{ name: 'web', image }] },
});

/** Without members that are undefined, as the server sends objects. */
const given = <T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  JSON.parse(JSON.stringify(members));

export interface DeploymentFields {
  readonly name?: string;
  readonly maxSurge?: number | string;
  readonly maxUnavailable?: number | string;
  readonly spec?: Partial<DeploymentSpec>;
  readonly status?: DeploymentStatus;
  readonly generation?: number;
  readonly annotations?: Record<string, string>;
}

/** A rolling one, as the server would complete it, unless `spec` says otherwise. */
export function deployment(replicas: number, fields: DeploymentFields = {}): Deployment {
  const { maxSurge = 0, maxUnavailable = 0, spec, status, generation, annotations } = fields;
  const { name = 'web' } = fields;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: given({ name, namespace: 'default', uid: 'deployment-uid', generation, annotations }),
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: template(),
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
      ...spec,
    },
    ...(status !== undefined && { status }),
  };
}

export interface SetFields {
  readonly created?: string;
  readonly template?: PodTemplateSpec;
  readonly status?: Partial<ReplicaSetStatus>;
  readonly annotations?: Record<string, string>;
  readonly minReadySeconds?: number;
  readonly generation?: number;
  readonly isLeaving?: boolean;
}

export function replicaSet(name: string, replicas: number, fields: SetFields = {}): ReplicaSet {
  const { created, status, annotations, minReadySeconds, generation, isLeaving } = fields;
  const metadata = { name, namespace: 'default', uid: `${name}-uid`, creationTimestamp: created ?? null };
  const deletionTimestamp = isLeaving === true ? ago(0) : undefined;
  const selector = { matchLabels: { app: 'web' } };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: given({ ...metadata, annotations, generation, deletionTimestamp }),
    spec: given({ replicas, selector, template: fields.template ?? template(), minReadySeconds }),
    status: { replicas: 0, ...status },
  };
}

export interface PodFields {
  readonly node?: string;
  readonly phase?: string;
  /** Since when; `null`: ready, and nobody says since when. */
  readonly readySince?: string | null;
  readonly created?: string;
  readonly restarts?: number;
  readonly sidecarRestarts?: number;
  readonly cost?: string;
  readonly labels?: Record<string, string>;
  readonly owner?: string;
  readonly isLeaving?: boolean;
}

export function pod(name: string, fields: PodFields = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: podMetadata(name, fields),
    spec: given({
      containers: [{ name: 'web' }],
      initContainers: [{ name: 'sidecar', restartPolicy: 'Always' as const }, { name: 'init' }],
      nodeName: fields.node,
    }),
    status: podStatus(fields),
  };
}

function podMetadata(name: string, { labels, created, cost, isLeaving, owner }: PodFields): Pod['metadata'] {
  const reference = { apiVersion: 'apps/v1', kind: 'ReplicaSet', controller: true };
  return given({
    name,
    uid: `${name}-uid`,
    labels: labels ?? { app: 'web' },
    creationTimestamp: created ?? null,
    annotations: cost === undefined ? undefined : { 'controller.kubernetes.io/pod-deletion-cost': cost },
    deletionTimestamp: isLeaving === true ? ago(0) : undefined,
    ownerReferences: owner === undefined ? undefined : [{ ...reference, name: owner, uid: owner }],
  });
}

function podStatus({ phase = 'Running', readySince, restarts = 0, sidecarRestarts = 0 }: PodFields): PodStatus {
  const since = typeof readySince === 'string' ? { lastTransitionTime: readySince } : {};
  const container = { ready: true, image: '', imageID: '' };
  return given({
    phase: phase as 'Running',
    conditions: readySince === undefined ? [] : [{ type: 'Ready', status: 'True', ...since }],
    containerStatuses: [{ ...container, name: 'web', restartCount: restarts }],
    initContainerStatuses: [
      { ...container, name: 'sidecar', restartCount: sidecarRestarts },
      { ...container, name: 'init', restartCount: 99 },
    ],
  });
}

export const progressing = (
  status: 'True' | 'False' | 'Unknown',
  reason: string,
  since = ago(0),
): DeploymentCondition => ({
  type: 'Progressing',
  status,
  reason,
  message: '',
  lastUpdateTime: since,
  lastTransitionTime: since,
});
