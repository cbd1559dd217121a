import type { DaemonSet, DaemonSetSpec } from '../../src/api/generated/apps-v1-types.ts';
import type { Node, Pod, PodSpec, Taint } from '../../src/api/generated/core-v1-types.ts';
import type { Patch } from '../../src/kube/client/kube-client.ts';
import { ownedBy } from '../../src/object/owner-references.ts';

const NOW = new Date('2026-01-01T01:00:00Z');

/** For pure decisions about daemon sets: an hour after everything was made. */
export const now = NOW;
export const HASH = 'newhash';

export interface SetDetails extends Partial<Pick<DaemonSetSpec, 'minReadySeconds' | 'updateStrategy'>> {
  readonly spec?: Partial<PodSpec>;
  readonly annotations?: Record<string, string>;
}

export const daemonSet = ({ spec = {}, annotations = {}, ...rest }: SetDetails = {}): DaemonSet => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent', namespace: 'default', uid: 'uid-agent', generation: 3, annotations },
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    template: {
      metadata: { labels: { app: 'agent' } },
      spec: { containers: [{ name: 'agent', image: 'agent:1' }], ...spec },
    },
    ...rest,
  },
});

export const rolling = (maxUnavailable: number | string, maxSurge: number | string = 0) =>
  ({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } }) as const;

export interface NodeFacts {
  readonly labels?: Record<string, string>;
  readonly taints?: readonly Taint[];
  readonly unschedulable?: boolean;
}

export const nodeOf = (name: string, { labels = {}, taints = [], unschedulable }: NodeFacts = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels },
  spec: { taints, ...(unschedulable !== undefined && { unschedulable }) },
});

export interface PodFacts {
  readonly name?: string;
  readonly hash?: string;
  readonly phase?: 'Failed' | 'Pending' | 'Running' | 'Succeeded';
  /** Seconds before now; absent: not ready. */
  readonly readyFor?: number;
  /** Minutes before now. */
  readonly age?: number;
  readonly isLeaving?: boolean;
  /** It waits for the scheduler. */
  readonly isUnplaced?: boolean;
}

const ago = (seconds: number): string => new Date(NOW.getTime() - seconds * 1000).toISOString();

/** A pod of the daemon set on a node: of the newest template and running, unless told otherwise. */
export function daemonPodOn(node: string, facts: PodFacts = {}): Pod {
  const { name = `pod-${node}`, hash = HASH, phase = 'Running', age = 60 } = facts;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      creationTimestamp: ago(age * 60),
      labels: { app: 'agent', 'controller-revision-hash': hash },
      ...(facts.isLeaving === true && { deletionTimestamp: ago(0) }),
      ...ownedBy(daemonSet()),
    },
    spec: { containers: [], ...placeOf(node, facts) },
    status: { phase, conditions: readyConditions(facts) },
  };
}

const readyConditions = ({ readyFor }: PodFacts) =>
  readyFor === undefined ? [] : [{ type: 'Ready', status: 'True', lastTransitionTime: ago(readyFor) }];

const placeOf = (node: string, { isUnplaced = false }: PodFacts): Partial<PodSpec> => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
      },
    },
  },
  ...(!isUnplaced && { nodeName: node }),
});

/** Serves for a minute already. */
export const servingPod = (node: string, hash = HASH): Pod => daemonPodOn(node, { hash, readyFor: 60 });

export const AGENT = { namespace: 'default', name: 'agent' };

/** As a user creates one. Without a token, whose volume would have another name in every run. */
export const agent = (spec: Partial<PodSpec> = {}, more: Partial<DaemonSetSpec> = {}) => ({
  metadata: AGENT,
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    template: {
      metadata: { labels: { app: 'agent' } },
      spec: { containers: [{ name: 'agent', image: 'agent:1' }], automountServiceAccountToken: false, ...spec },
    },
    ...more,
  },
});

export const setImage = (image: string): Patch => ({
  type: 'strategic',
  body: { spec: { template: { spec: { containers: [{ name: 'agent', image }] } } } },
});
