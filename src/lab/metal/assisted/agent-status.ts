import type { Agent } from '../../../api/assisted/agent-install-v1beta1.ts';
import { time } from '../../../api/time.ts';
import { agentConditions, isInstalled } from './agent-conditions.ts';
import { type AgentFacts, type AgentStatus, DAY_2, isSame, type Move, partOf, stateOf } from './agent-facts.ts';
import { withConditions } from './assisted-conditions.ts';
import { type HostPart, percentageOf, stagesOf } from './stages.ts';

/** The first master by name bootstraps, unless another one does already. */
export function isBootstrap(agent: Agent, siblings: readonly Agent[]): boolean {
  const masters = siblings.filter(({ spec }) => spec.role === 'master' && spec.approved === true);
  const chosen =
    masters.find(({ status }) => status?.bootstrap === true) ??
    masters.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))[0];
  return chosen !== undefined && isSame(chosen, agent);
}

/** Pure: what an Agent says after a move, or without one. */
export function statusAfter(facts: AgentFacts, move: Move | undefined): AgentStatus {
  const { agent, clusterState, siblings, now } = facts;
  const { status = {} } = agent;
  const state = move?.state ?? stateOf(agent);
  const stateInfo = move?.info ?? status.debugInfo?.stateInfo ?? '';
  const isChosen =
    state === 'preparing-for-installation' ? isBootstrap(agent, siblings) : status.bootstrap === true;
  const part = isChosen ? 'bootstrap' : partOf(agent);
  return {
    ...status,
    ...(isChosen && { bootstrap: true }),
    role: roleOf(agent),
    kind: kindOf(status.kind, state, clusterState),
    debugInfo: { ...status.debugInfo, state, stateInfo },
    ...progressAfter(status, move, { part, now }),
    conditions: withConditions(status.conditions ?? [], agentConditions({ agent, state, stateInfo }), now),
  };
}

const roleOf = ({ spec: { role = '' } }: Agent): string => (role === '' ? 'auto-assign' : role);

/** A host that was there before the installation ended without being part of it is added like any later one. */
function kindOf(kind: string | undefined, state: string, clusterState: string): string {
  if (isInstalled(state) && kind !== undefined) return kind;
  return clusterState === 'adding-hosts' ? DAY_2 : (kind ?? 'Host');
}

function progressAfter(
  { progress: old }: AgentStatus,
  move: Move | undefined,
  { part, now }: { readonly part: HostPart; readonly now: Date },
): Pick<AgentStatus, 'progress'> {
  const { stage } = move ?? {};
  if (stage === undefined) return old === undefined ? {} : { progress: old };
  const at = time(now);
  return {
    progress: {
      currentStage: stage,
      progressInfo: '',
      installationPercentage: percentageOf(part, stage),
      stageStartTime: at,
      stageUpdateTime: at,
      progressStages: stagesOf(part),
    },
  };
}
