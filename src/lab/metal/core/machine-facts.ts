import type { Cluster, Machine } from '../../../api/cluster-api/core-v1beta2.ts';
import type { Node } from '../../../api/generated/core-v1.ts';
import type { External } from './external-objects.ts';
import { dataSecretOf, isInfrastructureProvisioned, providerIdOf } from './provider-contract.ts';

/** What is known of the Node of a Machine. */
export type NodeFact =
  | { readonly state: 'unexpected' }
  | { readonly state: 'found'; readonly node: Node }
  | { readonly state: 'absent' }
  | { readonly state: 'unknown'; readonly why: string };

/** What a Machine's status is made of. */
export interface MachineFacts {
  readonly cluster: Cluster;
  readonly config: External | undefined;
  readonly infrastructure: External | undefined;
  readonly node: NodeFact;
  /** Why the deletion is where it is. */
  readonly deletion?: { readonly reason: string; readonly message: string };
}

/** What was once true stays so (S6): a Secret that is named has been created. */
export const dataSecretFor = (
  { spec: { bootstrap } }: Machine,
  config: External | undefined,
): string | undefined => bootstrap.dataSecretName ?? (config === undefined ? undefined : dataSecretOf(config));

/** Provisioned, and with the provider ID by which its Node is found (S7). */
export const isProvisioned = ({ status }: Machine, infrastructure: External | undefined): boolean =>
  status?.initialization?.infrastructureProvisioned === true ||
  (infrastructure !== undefined &&
    isInfrastructureProvisioned(infrastructure) &&
    providerIdOf(infrastructure) !== undefined);

export function phaseOf(machine: Machine, facts: MachineFacts): string {
  if (machine.metadata.deletionTimestamp !== undefined) return 'Deleting';
  if (isProvisioned(machine, facts.infrastructure))
    return machine.status?.nodeRef !== undefined || facts.node.state === 'found' ? 'Running' : 'Provisioned';
  return dataSecretFor(machine, facts.config) === undefined ? 'Pending' : 'Provisioning';
}
