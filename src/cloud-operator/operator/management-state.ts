import type { ClusterOperator } from '../../api/openshift/config-v1.ts';

/** On the ClusterOperator: how an administrator pauses the operator, or takes away what it deployed (D3). */
export const MANAGEMENT_STATE = 'slipway.dev/management-state';

const STATES = ['Managed', 'Unmanaged', 'Removed'] as const;
export type ManagementState = (typeof STATES)[number];

export interface ReadManagementState {
  readonly state: ManagementState;
  /** What was written there and means nothing. */
  readonly unknown?: string;
}

/** What is not understood changes nothing: a typing error must not take a cluster's cloud away. */
export function managementState(operator: ClusterOperator | undefined): ReadManagementState {
  const text = operator?.metadata.annotations?.[MANAGEMENT_STATE] ?? 'Managed';
  const state = STATES.find((one) => one === text);
  return state === undefined ? { state: 'Managed', unknown: text } : { state };
}

export const managementStateProblem = (unknown: string): string =>
  `annotation ${MANAGEMENT_STATE} is "${unknown}"; allowed are ${STATES.join(', ')}; going on as Managed`;
