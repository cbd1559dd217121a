import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { Agent } from '../../api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { BareMetalHost } from '../../api/metal3/metal3-v1alpha1.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { findCondition } from '../../object/conditions.ts';
import { HUB } from '../apiserver/hub-handover.ts';
import type { Phase, PhaseContext, Probe, ProbeAnswer } from '../journey/phase.ts';
import { shellWord, shownPath } from '../journey/plain-text.ts';
import { whileUp } from '../lab/lab-phase.ts';
import { hubAdmin } from './agent-providers.ts';
import { JOURNEY_CLUSTER } from './journey-cluster.ts';

const TRUE: ProbeAnswer = { isTrue: true };
/** What reasons begin with where nothing is wrong: something else has to come first. */
const ON_ITS_WAY = 'WaitingFor';
const { namespace, name } = JOURNEY_CLUSTER;

/** What must be true for the phase to succeed, in the order in which it becomes true (experience X31). */
export const clusterProbes: Phase['probes'] = [
  probe('the control plane is configured', controlPlaneProblem),
  probe('no host has failed', hostsAreWell),
  probe('the installation has not failed', installGoesOn),
  probe('all hosts have registered and are approved', agentsAreThere),
];

function probe(predicate: string, ask: (client: KubeClient) => Promise<string | undefined>): Probe {
  return {
    predicate,
    ask: async (context) => {
      const evidence = await ask(hubAdmin(HUB.get(context), context.clock));
      return evidence === undefined ? TRUE : { isTrue: false, evidence, next: whileUp(describeCommand(context)) };
    },
  };
}

const describeCommand = (context: PhaseContext): string =>
  `npx slipway describe cluster ${name} --kubeconfig ${shellWord(shownPath(context.folder, HUB.get(context).kubeconfigFile))}`;

/** What the control plane says is wrong with its own configuration; undefined when nothing is, or nobody has said so. */
export async function controlPlaneProblem(client: KubeClient): Promise<string | undefined> {
  const found = await client.find(OpenshiftAssistedControlPlane, JOURNEY_CLUSTER);
  const wrong = ['ClusterInstallConfigured', 'KubernetesVersionAvailable', 'MachinesCreated']
    .map((type) => findCondition(found, type))
    .find((condition) => condition?.status === 'False' && !condition.reason.startsWith(ON_ITS_WAY));
  return wrong === undefined ? undefined : `${wrong.type}: ${wrong.message}`;
}

async function hostsAreWell(client: KubeClient): Promise<string | undefined> {
  const { items } = await client.list(BareMetalHost, { namespace });
  const failed = items.find(({ status }) => (status?.errorMessage ?? '') !== '');
  return failed === undefined ? undefined : `host ${failed.metadata.name}: ${failed.status?.errorMessage}`;
}

async function installGoesOn(client: KubeClient): Promise<string | undefined> {
  const install = await client.find(AgentClusterInstall, JOURNEY_CLUSTER);
  const { state = '', stateInfo = '' } = install?.status?.debugInfo ?? {};
  return state === 'error' || state === 'cancelled' ? `the installation is ${state}: ${stateInfo}` : undefined;
}

async function agentsAreThere(client: KubeClient): Promise<string | undefined> {
  const [agents, hosts] = await Promise.all([
    client.list(Agent, { namespace }),
    client.list(BareMetalHost, { namespace }),
  ]);
  const missing = hosts.items.length - agents.items.length;
  if (missing > 0) return `${missing} of ${hosts.items.length} hosts have not registered with assisted-service`;
  const unapproved = agents.items.find(({ spec }) => spec.approved !== true);
  return unapproved === undefined
    ? undefined
    : `Agent ${unapproved.metadata.name} (${unapproved.status?.inventory?.hostname ?? 'no name'}) is not approved`;
}
