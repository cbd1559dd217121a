import type { Taint, Toleration } from '../../../api/generated/core-v1-types.ts';

export type TaintEffect = Taint['effect'];

/** The first taint with one of the effects that no toleration covers; undefined when a pod may be there. */
export const untolerated = (
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
  effects: readonly TaintEffect[],
): Taint | undefined =>
  taints?.find(
    (taint) => effects.includes(taint.effect) && tolerations?.some((one) => tolerates(one, taint)) !== true,
  );

/**
 * Whether a toleration covers a taint: no effect covers all effects, no key with `Exists` covers all keys. `Gt` and `Lt`
 * cover nothing: upstream has them behind a gate that is off.
 */
export function tolerates({ key = '', operator, value = '', effect }: Toleration, taint: Taint): boolean {
  if (effect !== undefined && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (operator === undefined || operator === 'Equal') && value === (taint.value ?? '');
}
