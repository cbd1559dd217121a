import { Agent } from '../../../api/assisted/agent-install-v1beta1.ts';
import { keyOf, type ObjectKey } from '../../../api/object.ts';
import type { FinalizedReconciler } from '../../../kube/apply/with-finalizer.ts';
import { after, DONE, type ReconcileContext, type Result } from '../../../kube/controller/reconcile.ts';
import type { WorkloadNode } from '../workload/workload-clusters.ts';
import { isInstalled } from './agent-conditions.ts';
import { type AgentFacts, partOf, stateOf } from './agent-facts.ts';
import { agentStep } from './agent-state.ts';
import type { AssistedOptions } from './assisted-options.ts';
import { boundAgents, installOf } from './bound-agents.ts';
import { type Delays, delaysAt } from './delays.ts';
import { installStateOf } from './install-state.ts';
import { patchStatus } from './status-patch.ts';

export const AGENT_FINALIZER = 'agent.agent-install.openshift.io/ai-deprovision';

/** Takes a host from its first word to a node (S17, S19–S22). Everything it knows is in the Agent. */
export class AgentReconciler implements FinalizedReconciler<Agent> {
  readonly #options: AssistedOptions;
  readonly #delays: Delays;

  constructor(options: AssistedOptions) {
    this.#options = options;
    this.#delays = delaysAt(options.pace);
  }

  async reconcile(agent: Agent, context: ReconcileContext): Promise<Result> {
    const facts = await this.#facts(agent, context);
    const step = agentStep(facts);
    if (step.isJoining) return await this.#join(facts, context);
    await patchStatus(context, Agent, agent, step.status);
    this.#told(agent, step.status.debugInfo?.state ?? '', context);
    return step.waitMs === undefined || step.waitMs <= 0 ? DONE : after(step.waitMs);
  }

  /** The host is not of our concern any more; when it still looks for a cluster, it comes back. */
  finalize({ metadata }: Agent): Promise<'done'> {
    this.#options.hosts.forgotten(metadata.name);
    return Promise.resolve('done');
  }

  async #facts(agent: Agent, context: ReconcileContext): Promise<AgentFacts> {
    const { hosts, faults } = this.#options;
    const deployment = agent.spec.clusterDeploymentName;
    const install = deployment === undefined ? undefined : await installOf(context, deployment);
    return {
      agent,
      clusterState: install === undefined ? '' : installStateOf(install),
      siblings: deployment === undefined ? [] : await boundAgents(context, deployment),
      fault: faults?.agent(keyOf(agent)),
      isOn: hosts.find(agent.metadata.name) !== undefined,
      delays: this.#delays,
      now: context.now(),
    };
  }

  /** Its scripts say who it is; then it is a node, and only then that is written down. */
  async #join(facts: AgentFacts, context: ReconcileContext): Promise<Result> {
    const { agent } = facts;
    const deployment: ObjectKey = agent.spec.clusterDeploymentName ?? { name: '' };
    const cluster = this.#options.clusters.find(deployment);
    const identity = await this.#options.hosts.identify(agent.metadata.name, agent.spec.ignitionConfigOverrides);
    if (cluster === undefined || identity === undefined) return after(this.#delays.pollMs);
    for (const problem of identity.problems) context.events.warning(agent, 'UnitFailed', problem);
    if (identity.failure !== undefined) {
      const fault = { kind: 'error', message: identity.failure } as const;
      await patchStatus(context, Agent, agent, agentStep({ ...facts, fault }).status);
      return DONE;
    }
    await cluster.join(this.#nodeOf(agent, identity));
    await patchStatus(context, Agent, agent, agentStep(facts).status);
    return DONE;
  }

  #nodeOf(
    agent: Agent,
    identity: {
      readonly hostname: string;
      readonly labels: Readonly<Record<string, string>>;
      readonly providerId?: string;
    },
  ): WorkloadNode {
    const { name } = agent.metadata;
    const { hostname, labels, providerId } = identity;
    return {
      name: hostname,
      role: partOf(agent) === 'worker' ? 'worker' : 'control-plane',
      labels: { ...agent.spec.nodeLabels, ...labels },
      ...(providerId !== undefined && { providerId }),
      hostId: name,
      architecture: this.#options.hosts.find(name)?.architecture ?? 'amd64',
    };
  }

  #told(agent: Agent, state: string, { events }: ReconcileContext): void {
    if (isInstalled(state)) this.#options.hosts.installed(agent.metadata.name);
    if (state === stateOf(agent)) return;
    if (state === 'error') events.warning(agent, 'InstallationFailed', 'The installation of the host failed');
    if (isInstalled(state)) events.normal(agent, 'Installed', 'The host is installed');
  }
}
