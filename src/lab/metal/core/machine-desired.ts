import type { Machine, MachineSpec } from '../../../api/cluster-api/core-v1beta2.ts';
import { machineConditions } from './machine-conditions.ts';
import { dataSecretFor, isProvisioned, type MachineFacts, type NodeFact, phaseOf } from './machine-facts.ts';
import { addressesOf, failureDomainOf, providerIdOf } from './provider-contract.ts';
import { toldStatus } from './told-conditions.ts';

/** What providers have found out, in the spec of the Machine (S6, S7). Pure. */
export function desiredMachineSpec(machine: Machine, { config, infrastructure }: MachineFacts): MachineSpec {
  const { spec } = machine;
  const dataSecretName = dataSecretFor(machine, config);
  const isDone = isProvisioned(machine, infrastructure);
  const providerID = infrastructure === undefined || !isDone ? undefined : providerIdOf(infrastructure);
  const failureDomain = infrastructure === undefined || !isDone ? undefined : failureDomainOf(infrastructure);
  return {
    ...spec,
    bootstrap: { ...spec.bootstrap, ...(dataSecretName !== undefined && { dataSecretName }) },
    ...(providerID !== undefined && { providerID }),
    ...(failureDomain !== undefined && { failureDomain }),
  };
}

/** What core says of a Machine (S6–S8). Pure. */
export function desiredMachineStatus(
  machine: Machine,
  facts: MachineFacts,
  now: Date,
): NonNullable<Machine['status']> {
  const { status = {}, metadata } = machine;
  const isDone = isProvisioned(machine, facts.infrastructure);
  const addresses = facts.infrastructure === undefined || !isDone ? [] : addressesOf(facts.infrastructure);
  return {
    ...status,
    ...toldStatus(machine, machineConditions(machine, facts, now), now),
    ...initializationOf(machine, facts),
    ...(addresses.length > 0 && { addresses }),
    ...nodeStatus(facts.node),
    phase: phaseOf(machine, facts),
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
  };
}

/** Absent while nothing is done: an empty one is refused. */
function initializationOf(
  machine: Machine,
  { config, infrastructure }: MachineFacts,
): Pick<NonNullable<Machine['status']>, 'initialization'> {
  const initialization = {
    ...machine.status?.initialization,
    ...(dataSecretFor(machine, config) !== undefined && { bootstrapDataSecretCreated: true }),
    ...(isProvisioned(machine, infrastructure) && { infrastructureProvisioned: true }),
  };
  return Object.keys(initialization).length === 0 ? {} : { initialization };
}

function nodeStatus(fact: NodeFact): Pick<NonNullable<Machine['status']>, 'nodeRef' | 'nodeInfo'> {
  if (fact.state !== 'found') return {};
  const { nodeInfo } = fact.node.status ?? {};
  return {
    nodeRef: { name: fact.node.metadata.name },
    // A Node object is plain JSON, whatever its type names.
    ...(nodeInfo !== undefined && { nodeInfo: nodeInfo as unknown as Readonly<Record<string, unknown>> }),
  };
}
