import type { Node, Taint } from '../../api/generated/core-v1-types.ts';

/** Of machines that are off; without a value, as other programs know it (ccm §5). */
export const SHUTDOWN_TAINT = {
  key: 'node.cloudprovider.kubernetes.io/shutdown',
  effect: 'NoSchedule',
} as const satisfies Taint;

const isShutdownTaint = ({ key, effect }: Taint): boolean =>
  key === SHUTDOWN_TAINT.key && effect === SHUTDOWN_TAINT.effect;

const isPlain = ({ value = '', timeAdded }: Taint): boolean => value === '' && timeAdded === undefined;

/** A node that has not said anything is not ready (L2). */
export const isReady = ({ status }: Node): boolean =>
  status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';

export const hasShutdownTaint = ({ spec }: Node): boolean => (spec.taints ?? []).some(isShutdownTaint);

/** The taints with this one, in its place when it is there in another form; undefined when nothing is to be written (L6). */
export function taintsWhileOff(node: Node): readonly Taint[] | undefined {
  const taints = node.spec.taints ?? [];
  if (isReady(node) || taints.some((taint) => isShutdownTaint(taint) && isPlain(taint))) return undefined;
  if (!hasShutdownTaint(node)) return [...taints, SHUTDOWN_TAINT];
  return taints.map((taint) => (isShutdownTaint(taint) ? SHUTDOWN_TAINT : taint));
}

/** The taints without this one; undefined when nothing is to be written (L3). */
export function taintsWhileReady(node: Node): readonly Taint[] | undefined {
  if (!isReady(node) || !hasShutdownTaint(node)) return undefined;
  return (node.spec.taints ?? []).filter((taint) => !isShutdownTaint(taint));
}
