import { IGNITION_OVERRIDE, type OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import type { Agent } from '../../api/assisted/agent-install-v1beta1.ts';
import type { Machine } from '../../api/cluster-api/core-v1beta2.ts';
import type { JsonObject } from '../../api/json.ts';
import { isJsonObject, jsonEqual } from '../../object/json.ts';
import { isControlPlane } from '../cluster-facts/config-owner.ts';
import { installIgnition } from '../ignition/install-ignition.ts';
import { installerArgs } from '../ignition/installer-args.ts';
import { checkLabels } from '../ignition/label-check.ts';
import { AGENT_MACHINE_ANNOTATION, chosenAgent, isApproved } from './agent-machine.ts';
import type { Host } from './host-match.ts';
import { resolvedNode } from './host-metadata.ts';

/** What is known of an Agent that belongs to a Machine. */
export interface AgentFacts {
  readonly agent: Agent;
  readonly machine: Machine;
  readonly config: OpenshiftAssistedConfig;
  /** Every Agent of this Machine, this one included. */
  readonly rivals: readonly Agent[];
  /** An installation is in progress that its Machine has to wait for. */
  readonly isHeld: boolean;
  /** Only where the host booted an ISO. */
  readonly host?: Host;
}

export type AgentOutcome = 'approved' | 'held' | 'duplicate';

export interface AgentPlan {
  readonly outcome: AgentOutcome;
  /** What to change; empty when nothing. */
  readonly patch: JsonObject;
  /** The Agent that has the Machine. */
  readonly chosen: Agent;
}

/** Pure: role, approval and what the installed node gets (G3 to G7). Throws a user error where the config is wrong. */
export function plannedAgent(facts: AgentFacts): AgentPlan {
  const { agent, machine, config, rivals, isHeld, host } = facts;
  const chosen = chosenAgent(rivals) ?? agent;
  const outcome = outcomeOf(agent, chosen, isHeld);
  const { spec = {} } = config;
  const node = host === undefined ? { spec, labels: {} } : resolvedNode(spec, host);
  // Only with the values of the host is it known what its labels are.
  if (host !== undefined) checkLabels(node.spec);
  const wanted = {
    role: isControlPlane(machine) ? 'master' : 'worker',
    approved: outcome === 'approved',
    ignitionConfigOverrides: installIgnition(node.spec, config.metadata.annotations?.[IGNITION_OVERRIDE]),
    installerArgs: installerArgs(node.spec),
    ...(node.hostname !== undefined && { hostname: node.hostname }),
    ...(Object.keys(node.labels).length > 0 && { nodeLabels: { ...node.labels } }),
  };
  return { outcome, chosen, patch: changes(agent, wanted, machine.metadata.name) };
}

/** Who takes part in an installation goes on doing so; who comes while it runs waits. */
function outcomeOf(agent: Agent, chosen: Agent, isHeld: boolean): AgentOutcome {
  if (chosen.metadata.name !== agent.metadata.name) return 'duplicate';
  return isHeld && !isApproved(agent) ? 'held' : 'approved';
}

/** States in which a host takes no part in an installation: only then an approval can be taken back. */
const EARLY = new Set([
  '',
  'discovering',
  'discovering-unbound',
  'known',
  'known-unbound',
  'insufficient',
  'insufficient-unbound',
  'disconnected',
  'disconnected-unbound',
  'pending-for-input',
  'binding',
]);

/** Pure: an Agent that belongs to no Machine is marked and not approved, whoever approved it. */
export function strayPatch(agent: Agent): JsonObject {
  const isEarly = EARLY.has(agent.status?.debugInfo?.state ?? '');
  return changes(agent, isEarly ? { approved: false } : {}, '');
}

function changes(agent: Agent, wanted: JsonObject, machine: string): JsonObject {
  // Objects are plain JSON, whatever their type says.
  const { spec: has } = agent as unknown as { readonly spec: JsonObject };
  const spec = Object.fromEntries(
    Object.entries(wanted).filter(([name, value]) =>
      isJsonObject(value) ? !includes(has[name], value) : !jsonEqual(has[name] ?? unsaid(value), value),
    ),
  );
  const isMarked = agent.metadata.annotations?.[AGENT_MACHINE_ANNOTATION] === machine;
  return {
    ...(!isMarked && { metadata: { annotations: { [AGENT_MACHINE_ANNOTATION]: machine } } }),
    ...(Object.keys(spec).length > 0 && { spec }),
  };
}

/** What says nothing of an approval has none. */
const unsaid = (value: unknown): false | undefined => (typeof value === 'boolean' ? false : undefined);

/** A merge patch leaves labels alone that others set. */
const includes = (has: unknown, wanted: JsonObject): boolean =>
  isJsonObject(has) && Object.entries(wanted).every(([name, value]) => jsonEqual(has[name], value));
