import type { DaemonSet } from '../../../api/generated/apps-v1-types.ts';
import type { Node, Pod, PodSpec, Toleration } from '../../../api/generated/core-v1-types.ts';
import { nodeMatches } from '../placement/node-affinity.ts';
import { untolerated } from '../placement/taints.ts';

const EVICTION_KEYS = ['not-ready', 'unreachable'];
const SCHEDULING_KEYS = ['disk-pressure', 'memory-pressure', 'pid-pressure', 'unschedulable'];
const HOST_NETWORK_KEYS = ['network-unavailable'];

/** The tolerations of a daemon pod: those of the template, and what lets it stay on nodes in trouble (W20). */
export function daemonTolerations({
  tolerations = [],
  hostNetwork = false,
}: Pick<PodSpec, 'tolerations' | 'hostNetwork'>): readonly Toleration[] {
  const added = [
    ...EVICTION_KEYS.map((key) => toleration(key, 'NoExecute')),
    ...SCHEDULING_KEYS.map((key) => toleration(key, 'NoSchedule')),
    ...(hostNetwork ? HOST_NETWORK_KEYS.map((key) => toleration(key, 'NoSchedule')) : []),
  ];
  return added.reduce(withToleration, tolerations);
}

const toleration = (key: string, effect: 'NoExecute' | 'NoSchedule'): Toleration => ({
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  effect,
});

/** In the place of one for the same taints, such as one that ends after some seconds; else at the end. */
function withToleration(all: readonly Toleration[], added: Toleration): readonly Toleration[] {
  return all.some((one) => isAlike(one, added))
    ? all.map((one) => (isAlike(one, added) ? added : one))
    : [...all, added];
}

const isAlike = (a: Toleration, b: Toleration): boolean =>
  a.key === b.key && a.effect === b.effect && a.operator === b.operator && (a.value ?? '') === (b.value ?? '');

export interface NodeFit {
  /** A node without a daemon pod gets one. */
  readonly shouldRun: boolean;
  /** A daemon pod that is there may stay. */
  readonly shouldContinue: boolean;
}

const NOT_HERE: NodeFit = { shouldRun: false, shouldContinue: false };

/** What the daemon set wants of a node (W19). What fits into a node is for the scheduler to say. */
export function nodeFit({ spec: { template } }: DaemonSet, node: Node): NodeFit {
  const spec: PodSpec = template.spec ?? { containers: [] };
  const { nodeName = '' } = spec;
  if ((nodeName !== '' && nodeName !== node.metadata.name) || !nodeMatches(spec, node)) return NOT_HERE;
  const { taints } = node.spec;
  const tolerations = daemonTolerations(spec);
  return {
    shouldRun: untolerated(taints, tolerations, ['NoSchedule', 'NoExecute']) === undefined,
    shouldContinue: untolerated(taints, tolerations, ['NoExecute']) === undefined,
  };
}

/** The node that a daemon pod is on, or is meant for; undefined for a pod that says neither (W21). */
export function targetNode({ spec }: Pick<Pod, 'spec'>): string | undefined {
  if (spec.nodeName !== undefined && spec.nodeName !== '') return spec.nodeName;
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const fields = (terms ?? []).flatMap(({ matchFields = [] }) => matchFields);
  const names = fields.find(({ key, operator }) => key === 'metadata.name' && operator === 'In')?.values ?? [];
  return names.length === 1 ? names[0] : undefined;
}
