import { type Agent, INFRA_ENV_LABEL } from '../../api/assisted/agent-install-v1beta1.ts';

/**
 * On Agents: the Machine that they belong to; empty when somebody looked and there is none. Configs tell of their Agents
 * by it, so that not every one of them has to look at all hosts.
 */
export const AGENT_MACHINE_ANNOTATION = 'bootstrap.cluster.x-k8s.io/machine';

/** Pure: the name of the Machine; empty when there is none; undefined when nobody has looked yet. */
export const machineNameOf = ({ metadata: { annotations = {} } }: Agent): string | undefined =>
  annotations[AGENT_MACHINE_ANNOTATION];

/** Pure: the InfraEnv whose image an Agent booted. */
export const infraEnvNameOf = ({ metadata: { labels = {} } }: Agent): string => labels[INFRA_ENV_LABEL] ?? '';

export const isApproved = ({ spec }: Agent): boolean => spec.approved === true;

/** Pure: the one of several Agents of a Machine that stays: approved before not approved, old before new (G4). */
export function chosenAgent(agents: readonly Agent[]): Agent | undefined {
  const [first] = agents.toSorted(
    (a, b) =>
      Number(isApproved(b)) - Number(isApproved(a)) ||
      compare(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
      compare(a.metadata.name, b.metadata.name),
  );
  return first;
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
