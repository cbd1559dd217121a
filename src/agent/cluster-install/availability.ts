import type { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import type { ConditionFields } from '../../object/conditions.ts';
import { AVAILABLE, isMet, isUnmet } from '../control-plane/conditions.ts';

/** The control plane answers: from here on only workers and operators are missing (K6, X25). */
const AVAILABLE_STATES: ReadonlySet<string> = new Set(['finalizing', 'installed', 'adding-hosts']);

export const installState = ({ status }: AgentClusterInstall): string => status?.debugInfo?.state ?? '';

export const isInstalled = (install: AgentClusterInstall): boolean => AVAILABLE_STATES.has(installState(install));

/** Whether the control plane is there, and if it never will be, why. Pure. */
export function availability(install: AgentClusterInstall): ConditionFields {
  const state = installState(install);
  if (isInstalled(install)) return isMet(AVAILABLE);
  if (state === 'error') return isUnmet(AVAILABLE, 'InstallationFailed', ending(install, 'failed'));
  if (state === 'cancelled') return isUnmet(AVAILABLE, 'InstallationCancelled', ending(install, 'was cancelled'));
  return isUnmet(AVAILABLE, 'ControlPlaneInstalling', `Controlplane installing, status: ${state}`);
}

function ending(install: AgentClusterInstall, how: string): string {
  const { conditions = [], debugInfo } = install.status ?? {};
  const told = conditions
    .filter(({ type, status }) => (type === 'Failed' || type === 'Stopped') && status === 'True')
    .flatMap(({ message = '' }) => (message === '' ? [] : [message]));
  const causes = [...new Set([...told, debugInfo?.stateInfo ?? ''])].filter((cause) => cause !== '');
  const cause = causes.length === 0 ? 'assisted-service gives no cause' : causes.join('; ');
  const advice = 'look at the Agents and their hosts, then delete the Cluster and make it anew';
  return `the installation ${how}: ${cause}; ${advice}`;
}
