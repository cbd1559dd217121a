import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { type Node, Secret } from '../../api/generated/core-v1.ts';
import { BareMetalHost } from '../../api/metal3/metal3-v1alpha1.ts';
import type { KubeObject } from '../../api/object.ts';
import { ageMs, ageText } from './age.ts';
import { agentState, missingAgentState } from './agent-state.ts';
import { assistedConfigState, infraEnvState } from './assisted-state.ts';
import { bootstrapState, infrastructureState } from './contract-state.ts';
import { type ClusterFacts, listingOf, looked, objectsOf } from './facts.ts';
import { hostState } from './host-state.ts';
import { groupKindOf, isAssistedConfig, isMetal3Machine } from './known-kinds.ts';
import type { MachineParts } from './machine-parts.ts';
import { machineState } from './machine-state.ts';
import { nodeState } from './node-state.ts';
import { isBeingDeleted, referenceAt, textAt } from './object-fields.ts';
import { placeOf, type Row, referredRow, rowOf, type State } from './row.ts';
import { conditionIn, isTold } from './told-condition.ts';

/** A Machine with everything that it is made of. */
export function machineRow(facts: ClusterFacts, parts: MachineParts): Row {
  const { machine } = parts;
  const calm = isBeingDeleted(machine) ? leaving : (row: Row) => row;
  const config = mapped(configRow(facts, parts), calm);
  const infrastructure = mapped(infrastructureRow(facts, parts), calm);
  const [host] = infrastructure?.children ?? [];
  const infraEnv = mapped(infraEnvRow(facts, parts, config), calm);
  const agents = agentRows(facts, parts, config, host).map(calm);
  const node = mapped(nodeRow(facts, parts), calm);
  const agent = agents.find(({ health }) => health !== 'done') ?? agents[0];
  const rows = { config, infraEnv, agent, infrastructure, node };
  const children = [config, ...secretRows(facts, parts), infraEnv, ...agents, infrastructure, node];
  return rowOf(
    machine,
    machineState(machine, rows, facts.at),
    children.filter((row) => row !== undefined),
  );
}

const mapped = (row: Row | undefined, change: (row: Row) => Row): Row | undefined =>
  row === undefined ? undefined : change(row);

/** What stops working because its Machine goes is no problem; what failed, or does not go, is. */
const leaving = ({ next, ...row }: Row): Row => {
  const children = row.children.map(leaving);
  const isExpected = row.health === 'attention' && row.word !== 'deleting';
  return isExpected
    ? { ...row, health: 'waiting', children }
    : { ...row, ...(next !== undefined && { next }), children };
};

const isAgentWay = ({ config, machine }: MachineParts): boolean => {
  const reference = referenceAt(machine, 'spec', 'bootstrap', 'configRef');
  return config === undefined
    ? reference !== undefined && isAssistedConfig(reference)
    : isAssistedConfig(groupKindOf(config));
};

function configRow(facts: ClusterFacts, { machine }: MachineParts): Row | undefined {
  const reference = referenceAt(machine, 'spec', 'bootstrap', 'configRef');
  if (reference === undefined) return undefined;
  return referredRow(reference, looked(facts, reference), (object) => {
    const state = isAssistedConfig(reference)
      ? assistedConfigState(object, facts.at)
      : bootstrapState(object, facts.at);
    const age = state.health === 'done' ? dataAge(facts, object, machine) : undefined;
    return rowOf(object, { ...state, why: state.why ?? age });
  });
}

const dataSecretName = (config: KubeObject | undefined, machine: KubeObject): string =>
  (config === undefined ? '' : textAt(config, 'status', 'dataSecretName')) ||
  textAt(machine, 'spec', 'bootstrap', 'dataSecretName');

/** How old the data is: hosts that boot with old data may meet a service that has forgotten them. */
function dataAge(facts: ClusterFacts, config: KubeObject, machine: KubeObject): string | undefined {
  const name = dataSecretName(config, machine);
  const secret = objectsOf(facts, Secret).find(({ metadata }) => metadata.name === name);
  const ms = secret === undefined ? undefined : ageMs(secret.metadata.creationTimestamp, facts.at);
  return ms === undefined ? undefined : `data ${ageText(ms)} old`;
}

/** The bootstrap Secret: whether it is there and since when, never what is in it. */
function secretRows(facts: ClusterFacts, { config, machine }: MachineParts): readonly Row[] {
  const name = dataSecretName(config, machine);
  const listing = listingOf(facts, Secret);
  if (name === '' || listing === undefined || listing.unread !== undefined) return [];
  const secret = listing.objects.find(({ metadata }) => metadata.name === name);
  if (secret !== undefined) {
    const since = secret.metadata.creationTimestamp ?? undefined;
    return [{ ...rowOf(secret, { health: 'done', word: 'there', since }), isExtra: true }];
  }
  // A Machine that has its Node does not need it any more, and people tidy up.
  if (textAt(machine, 'status', 'nodeRef', 'name') !== '' || isBeingDeleted(machine)) return [];
  const why =
    'the bootstrap data that the Machine names is not there, or has no label with the name of the Cluster';
  return [
    placeOf('Secret', name, {
      health: 'failed',
      word: 'missing',
      why,
      next: `delete Machine ${machine.metadata.name}, so that another one is made`,
    }),
  ];
}

function infraEnvRow(facts: ClusterFacts, parts: MachineParts, config: Row | undefined): Row | undefined {
  const { infraEnv } = parts;
  if (infraEnv !== undefined) return rowOf(infraEnv, infraEnvState(infraEnv, facts.at));
  const isExpected = isAgentWay(parts) && config?.health !== 'done' && config?.word !== 'held';
  if (!isExpected || config?.word === 'missing' || isBeingDeleted(parts.machine)) return undefined;
  return placeOf('InfraEnv', '', { health: 'waiting', word: 'none yet', why: 'the config makes it' });
}

function agentRows(
  facts: ClusterFacts,
  parts: MachineParts,
  config: Row | undefined,
  host: Row | undefined,
): readonly Row[] {
  const { agents, machine } = parts;
  const around = {
    machine: machine.metadata.name,
    isInstalling: isInstallRunning(facts) && !isMaster(machine),
  };
  if (agents.length > 0) return agents.map((agent) => rowOf(agent, agentState(agent, facts.at, around)));
  const isOver = textAt(machine, 'status', 'nodeRef', 'name') !== '' || isBeingDeleted(machine);
  const isHeld = config?.word === 'held';
  if (!isAgentWay(parts) || isOver || isHeld || config?.word === 'missing') return [];
  return [placeOf('Agent', '', missingAgentState(config, host, facts.at))];
}

const isMaster = ({ metadata }: KubeObject): boolean =>
  Object.hasOwn(metadata.labels ?? {}, 'cluster.x-k8s.io/control-plane');

/** Whether an installation runs that takes no more hosts, as the bootstrap provider sees it (agent B9, X9). */
export function isInstallRunning(facts: ClusterFacts): boolean {
  return objectsOf(facts, AgentClusterInstall).some((install) => {
    const state = textAt(install, 'status', 'debugInfo', 'state');
    if (['', 'insufficient', 'pending-for-input', 'adding-hosts', 'installed'].includes(state)) return false;
    return state !== 'ready' || isTold(install, 'RequirementsMet', 'True');
  });
}

function infrastructureRow(facts: ClusterFacts, parts: MachineParts): Row | undefined {
  const { machine, host } = parts;
  const reference = referenceAt(machine, 'spec', 'infrastructureRef');
  if (reference === undefined) return undefined;
  return referredRow(reference, looked(facts, reference), (object) => {
    const children = host === undefined ? [] : [rowOf(host, hostState(host, facts.at))];
    const state = infrastructureState(object, facts.at);
    const isOpen = isMetal3Machine(reference) && state.health !== 'done' && !isBeingDeleted(object);
    return rowOf(object, isOpen ? metal3State(facts, parts, object, state) : state, children);
  });
}

/** What a Metal3Machine that is not ready waits for, where its own conditions do not say it. */
function metal3State(facts: ClusterFacts, parts: MachineParts, object: KubeObject, state: State): State {
  const { host, hostNode } = parts;
  if (host === undefined) return withoutHost(facts, object, state);
  return (hostNode === undefined ? undefined : foreignNode(hostNode, state)) ?? state;
}

/** Metal3 knows a Node only by a provider ID of its own, and no Node ever gets another one. */
function foreignNode({ metadata, spec }: Node, { since }: State): State | undefined {
  const { providerID = '' } = spec;
  if (providerID === '' || providerID.startsWith('metal3://')) return undefined;
  return {
    health: 'attention',
    word: 'not linked',
    since,
    why: `Node ${metadata.name} has provider ID ${providerID}, not one of Metal3`,
    next: 'the cluster works without it; for Machines that find their Nodes, install on the infrastructure provider of that cloud, or let Metal3 give provider IDs',
  };
}

/** Hosts that can be chosen before long. */
const COMING: ReadonlySet<string> = new Set(['', 'registering', 'inspecting', 'preparing', 'deprovisioning']);
const FREE: ReadonlySet<string> = new Set(['available', 'ready']);

/** A Metal3Machine that found no host: whether there is one to be found, now or soon, is the question. */
function withoutHost(facts: ClusterFacts, object: KubeObject, state: State): State {
  const told = conditionIn(object, 'AssociateBareMetalHost') ?? conditionIn(object, 'AssociateBMH');
  const isLooking = told?.status === 'False' && !told.reason.startsWith('Waiting');
  if (!isLooking) return state;
  const hosts = objectsOf(facts, BareMetalHost);
  const unused = hosts.filter((host) => textAt(host, 'spec', 'consumerRef', 'name') === '');
  const count = (states: ReadonlySet<string>) =>
    unused.filter((host) => states.has(textAt(host, 'status', 'provisioning', 'state'))).length;
  const { namespace = '' } = object.metadata;
  const [free, coming] = [count(FREE), count(COMING)];
  if (coming > 0)
    return {
      health: 'waiting',
      word: 'no host yet',
      since: told.since,
      why: `${coming} of ${hosts.length} BareMetalHosts in namespace ${namespace} are being made ready`,
    };
  return {
    health: 'attention',
    word: 'no host',
    since: told.since,
    why: `no BareMetalHost was chosen: ${free} of ${hosts.length} in namespace ${namespace} are free`,
    next:
      free === 0
        ? `add a BareMetalHost to namespace ${namespace}, or free one; kubectl -n ${namespace} get baremetalhost shows them`
        : `compare spec.hostSelector of ${object.kind} ${object.metadata.name} with the labels of the hosts that are free`,
  };
}

function nodeRow(facts: ClusterFacts, { machine, node }: MachineParts): Row | undefined {
  if (node !== undefined) return rowOf({ ...node, apiVersion: 'v1', kind: 'Node' }, nodeState(node));
  const name = textAt(machine, 'status', 'nodeRef', 'name');
  if (name === '' || facts.nodes.type !== 'read' || isBeingDeleted(machine)) return undefined;
  return placeOf('Node', name, {
    health: 'failed',
    word: 'missing',
    why: 'the Machine names it, but the cluster does not have it',
    next: `delete Machine ${machine.metadata.name}, so that another one is made`,
  });
}
