import type { Agent } from '../../api/assisted/agent-install-v1beta1.ts';
import type { ConditionFields } from '../../object/conditions.ts';
import { chosenAgent, isApproved, machineNameOf } from '../agents/agent-machine.ts';
import { AGENTS_MATCHED } from './config-status.ts';

/** Names in a message; more help nobody. */
const MOST_NAMES = 10;

/**
 * Pure: what a config tells of the Agents of its InfraEnv: first of those of its own Machine, then of those that have
 * none. Undefined while there is nothing to tell.
 */
export function agentsCondition(agents: readonly Agent[], machine: string): ConditionFields | undefined {
  const own = agents.filter((agent) => machineNameOf(agent) === machine);
  const chosen = chosenAgent(own);
  const strays = agents.filter((agent) => machineNameOf(agent) === '');
  if (chosen === undefined && strays.length === 0) return undefined;
  if (own.length > 1 && chosen !== undefined) {
    const others = own.filter((agent) => agent !== chosen);
    return problem(
      'DuplicateAgent',
      `Agent ${chosen.metadata.name} is the host of Machine ${machine}; ${names(others)} claim to be the same host and are not approved; delete them`,
    );
  }
  if (chosen !== undefined && !isApproved(chosen))
    return problem(
      'AgentHeld',
      `Agent ${chosen.metadata.name} is not approved: an installation is in progress, and it is added when that is over`,
    );
  if (strays.length > 0)
    return problem(
      'AgentWithoutMachine',
      `${names(strays)} booted the ISO of this template and belong to no Machine, so they are not approved; switch these hosts off, or make Machines for them`,
    );
  return { type: AGENTS_MATCHED, status: 'True', reason: AGENTS_MATCHED, message: '' };
}

const problem = (reason: string, message: string): ConditionFields => ({
  type: AGENTS_MATCHED,
  status: 'False',
  reason,
  message,
});

function names(agents: readonly Agent[]): string {
  const all = agents.map(({ metadata }) => metadata.name).toSorted();
  const more = all.length - MOST_NAMES;
  const shown = all.slice(0, MOST_NAMES).join(', ');
  return `Agent${all.length === 1 ? '' : 's'} ${shown}${more > 0 ? ` and ${more} more` : ''}`;
}
