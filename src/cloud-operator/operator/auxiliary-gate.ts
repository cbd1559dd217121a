import type { ClusterOperator } from '../../api/openshift/config-v1.ts';

/** What config-sync says of its two controllers; the doubled word is upstream's (R57). */
const CONTROLLERS = ['CloudConfigController', 'TrustedCABundleControllerController'] as const;

/** Whether the operands find their configuration where they look for it (R29). */
export type AuxiliaryGate =
  | { readonly state: 'open' }
  /** Nobody has said that all is well. */
  | { readonly state: 'waiting'; readonly message: string }
  | { readonly state: 'failed'; readonly message: string };

export function auxiliaryGate(operator: ClusterOperator | undefined): AuxiliaryGate {
  const conditions = operator?.status?.conditions ?? [];
  const isTrue = (type: string) => conditions.some((one) => one.type === type && one.status === 'True');
  const failures = conditions
    .filter(({ type }) => CONTROLLERS.some((name) => type === `${name}Degraded`) && isTrue(type))
    .map(({ type, message = '' }) => `${type} condition is set to True: ${message}`)
    .toSorted();
  if (failures.length > 0) {
    return { state: 'failed', message: `failed to apply resources because ${failures.join('; ')}` };
  }
  const missing = CONTROLLERS.map((name) => `${name}Available`).filter((type) => !isTrue(type));
  if (missing.length === 0) return { state: 'open' };
  return {
    state: 'waiting',
    message: `waiting for cloud-config-sync: ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} not True`,
  };
}
