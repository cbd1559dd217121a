import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { Agent, INFRA_ENV_LABEL, InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import { CLUSTER_NAME_LABEL, Cluster, type Machine } from '../../api/cluster-api/core-v1beta2.ts';
import type { JsonObject } from '../../api/json.ts';
import { type KubeObject, keyOf } from '../../api/object.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../kube/controller/reconcile.ts';
import {
  configKeyOf,
  configOwnerOf,
  findMachine,
  findOwnerMachine,
  isWatched,
  machineOwnersOf,
} from '../cluster-facts/config-owner.ts';
import { findInstallation, isHeld } from '../cluster-facts/installation.ts';
import { pauseReason } from '../cluster-facts/pause.ts';
import { isShared, SHARED_INFRA_ENV_LABEL } from '../live-iso/shared-infra-env.ts';
import { infraEnvNameOf, machineNameOf } from './agent-machine.ts';
import { type AgentOutcome, type AgentPlan, plannedAgent, strayPatch } from './desired.ts';
import type { HostDirectory } from './host-directory.ts';
import { type Host, macsOf, matchingHosts } from './host-match.ts';

/** A look from time to time: hosts have no watch, and an event may get lost. */
const STRAY_MS = 20_000;
/** A duplicate takes the place of the one that has it when that goes. */
const AGAIN: Readonly<Record<AgentOutcome, Result>> = {
  approved: DONE,
  held: after(60_000),
  duplicate: after(20_000),
};

export interface AgentReconcilerOptions {
  readonly directory: HostDirectory;
  readonly watchFilter?: string;
}

/** The Machine of an Agent, and its host where that is how it was found. */
interface Belonging {
  readonly machine: Machine;
  readonly host?: Host;
}

/** Who shares an InfraEnv. */
interface Sharing {
  /** By the name of the infrastructure machine. */
  readonly machines: ReadonlyMap<string, Machine>;
  /** Of the Machines, also of those that are gone before their config. */
  readonly names: ReadonlySet<string>;
}

/**
 * Tells each Agent which node it is to become, and approves the one that is the host of a Machine (section 2.3). Agents
 * that have nothing to do with Cluster API are left alone (X12).
 */
export class AgentReconciler implements Reconciler<Agent> {
  readonly #options: AgentReconcilerOptions;

  constructor(options: AgentReconcilerOptions) {
    this.#options = options;
  }

  async reconcile(agent: Agent, context: ReconcileContext): Promise<Result> {
    const { client } = context;
    const { namespace = '', deletionTimestamp } = agent.metadata;
    const name = infraEnvNameOf(agent);
    if (deletionTimestamp !== undefined || name === '') return DONE;
    const infraEnv = await client.find(InfraEnv, { namespace, name });
    if (infraEnv === undefined) return DONE;
    if (isShared(infraEnv)) return this.#ofTemplate(agent, infraEnv, context);
    const machine = await firstOwner(client, infraEnv);
    return machine === undefined ? DONE : this.#ofMachine(agent, { machine }, context);
  }

  /** Several hosts boot the image of one InfraEnv: the host decides which Machine it is. */
  async #ofTemplate(agent: Agent, infraEnv: InfraEnv, context: ReconcileContext): Promise<Result> {
    const { client } = context;
    const { namespace = '' } = agent.metadata;
    const { machines, names } = await this.#machinesOf(client, infraEnv);
    if (names.size === 0) return DONE;
    const usable = (hosts: readonly Host[]) =>
      matchingHosts(
        agent,
        hosts.filter(({ infraMachine }) => machines.has(infraMachine)),
      );
    const matches = usable(
      await this.#options.directory.look(client.live, namespace, (hosts) => usable(hosts).length > 0),
    );
    const [host, second] = matches;
    const machine = machines.get(host?.infraMachine ?? '');
    if (host !== undefined && machine !== undefined && second === undefined)
      return this.#ofMachine(agent, { machine, host }, context);
    // A host that is not described any more is still the one that it was, and goes with the config that is on its way out.
    const isKnown = names.has(machineNameOf(agent) ?? '');
    if (isKnown || (host === undefined && macsOf(agent).length === 0)) return DONE;
    return this.#stray(agent, infraEnv, { matches, context });
  }

  async #machinesOf(client: KubeClient, { metadata }: InfraEnv): Promise<Sharing> {
    const { namespace = '', name } = metadata;
    const labels = { [SHARED_INFRA_ENV_LABEL]: name };
    const { items } = await client.list(OpenshiftAssistedConfig, { namespace, labels });
    const configs = items.filter((each) => isWatched(each, this.#options.watchFilter));
    const machines = new Map<string, Machine>();
    for (const config of configs) {
      const machine = await findOwnerMachine(client, config);
      if (machine !== undefined) machines.set(machine.spec.infrastructureRef.name, machine);
    }
    return { machines, names: new Set(configs.flatMap((config) => configOwnerOf(config)?.name ?? [])) };
  }

  async #ofMachine(agent: Agent, { machine, host }: Belonging, context: ReconcileContext): Promise<Result> {
    const { client } = context;
    const key = configKeyOf(machine);
    const config = key === undefined ? undefined : await client.find(OpenshiftAssistedConfig, key);
    if (config === undefined || !isWatched(config, this.#options.watchFilter)) return DONE;
    if (isLeaving(machine) || isLeaving(config)) return DONE;
    const { namespace = '' } = machine.metadata;
    const clusterKey = { namespace, name: machine.spec.clusterName };
    if (pauseReason(await client.find(Cluster, clusterKey), config) !== undefined) return DONE;
    const found = await findInstallation(client, clusterKey);
    const rivals = await rivalsOf(client, agent, host === undefined ? undefined : machine);
    const plan = plannedAgent({
      agent,
      machine,
      config,
      rivals,
      isHeld: 'install' in found && isHeld(machine, found.install),
      ...(host !== undefined && { host }),
    });
    if (await patched(client, agent, plan.patch)) tell(agent, machine, { plan, context });
    return AGAIN[plan.outcome];
  }

  /** Marked, so that every config of the InfraEnv names it; told where people look for hosts. */
  async #stray(
    agent: Agent,
    infraEnv: InfraEnv,
    { matches, context }: { readonly matches: readonly Host[]; readonly context: ReconcileContext },
  ): Promise<Result> {
    const { client, events } = context;
    const { namespace = '', labels = {} } = infraEnv.metadata;
    const cluster = await client.find(Cluster, { namespace, name: labels[CLUSTER_NAME_LABEL] ?? '' });
    if (pauseReason(cluster, infraEnv) !== undefined) return DONE;
    if (await patched(client, agent, strayPatch(agent))) {
      const note = strayNote(agent, matches);
      events.warning(agent, 'AgentWithoutMachine', note, { related: infraEnv });
      events.warning(infraEnv, 'AgentWithoutMachine', note, { related: agent });
    }
    return after(STRAY_MS);
  }
}

const isLeaving = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined;

/** The first Machine among the owners that exists (G1). */
async function firstOwner(client: KubeClient, infraEnv: InfraEnv): Promise<Machine | undefined> {
  for (const owner of machineOwnersOf(infraEnv)) {
    const machine = await findMachine(client, infraEnv, owner);
    if (machine !== undefined) return machine;
  }
  return undefined;
}

/** Every Agent of one InfraEnv, or of those the ones that are the same host (G4, X4). */
async function rivalsOf(
  client: KubeClient,
  agent: Agent,
  machine: Machine | undefined,
): Promise<readonly Agent[]> {
  const { namespace = '', name } = agent.metadata;
  const labels = { [INFRA_ENV_LABEL]: infraEnvNameOf(agent) };
  const { items } = await client.list(Agent, { namespace, labels });
  const others = items.filter(
    (other) =>
      other.metadata.name !== name &&
      !isLeaving(other) &&
      (machine === undefined || machineNameOf(other) === machine.metadata.name),
  );
  return [agent, ...others];
}

/** Whether there was something to change. With its uid: a host that registered anew is another Agent. */
async function patched(client: KubeClient, agent: Agent, patch: JsonObject): Promise<boolean> {
  if (Object.keys(patch).length === 0) return false;
  const { uid } = agent.metadata;
  const { metadata = {}, ...rest } = patch as { readonly metadata?: JsonObject };
  const body: JsonObject = { ...rest, metadata: { ...metadata, ...(uid !== undefined && { uid }) } };
  await client.patch(Agent, keyOf(agent), { type: 'merge', body });
  return true;
}

function tell(
  agent: Agent,
  machine: Machine,
  { plan, context: { events } }: { readonly plan: AgentPlan; readonly context: ReconcileContext },
): void {
  const name = `Machine ${machine.metadata.name}`;
  switch (plan.outcome) {
    case 'approved':
      if (agent.spec.approved !== true)
        events.normal(agent, 'AgentApproved', `The host is ${name}`, { related: machine });
      return;
    case 'held':
      events.normal(agent, 'AgentHeld', `The host is ${name}, which waits until the installation is over`, {
        related: machine,
      });
      return;
    case 'duplicate':
      events.warning(
        agent,
        'DuplicateAgent',
        `${name} has the host ${plan.chosen.metadata.name} already, so this one is not approved; delete one of them`,
        { related: machine },
      );
  }
}

function strayNote({ metadata: { name } }: Agent, matches: readonly Host[]): string {
  const hosts = matches.map(({ key }) => key.name).toSorted();
  const why =
    hosts.length === 0
      ? 'has the MAC addresses and the system UUID of no BareMetalHost of a Machine'
      : `could be any of the BareMetalHosts ${hosts.join(', ')}`;
  return `Agent ${name} ${why}, so it is not approved; switch the host off, or make a Machine for it`;
}
