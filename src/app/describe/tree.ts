import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import {
  CLUSTER_NAME_LABEL,
  CONTROL_PLANE_LABEL,
  DEPLOYMENT_NAME_LABEL,
  Machine,
  MachineDeployment,
  MachineSet,
} from '../../api/cluster-api/core-v1beta2.ts';
import { ClusterDeployment, ClusterImageSet } from '../../api/hive/hive-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { ageMs } from './age.ts';
import { agentState } from './agent-state.ts';
import { clusterDeploymentState, imageSetState, installState } from './assisted-state.ts';
import { clusterState } from './cluster-state.ts';
import { controlPlaneState, infrastructureState } from './contract-state.ts';
import { type ClusterFacts, listingOf, looked, objectsOf } from './facts.ts';
import { isAssistedControlPlane } from './known-kinds.ts';
import { type MachineParts, partsOf, strayAgents } from './machine-parts.ts';
import { isInstallRunning, machineRow } from './machine-row.ts';
import { replicasState } from './machine-state.ts';
import { nodeState } from './node-state.ts';
import { isBeingDeleted, isOwnedBy, type Reference, referenceAt, textAt } from './object-fields.ts';
import { hasProblem, placeOf, type Row, referredRow, rowOf } from './row.ts';

/** Everything that belongs to a cluster as one tree, each object with its state (experience X43). Pure. */
export function clusterTree(facts: ClusterFacts): Row {
  const { cluster, at } = facts;
  const machines = objectsOf(facts, Machine).toSorted(byName);
  const parts = partsOf(facts, machines);
  const masters = parts.filter(({ machine }) => Object.hasOwn(machine.metadata.labels ?? {}, CONTROL_PLANE_LABEL));
  const deployments = objectsOf(facts, MachineDeployment).toSorted(byName);
  const deployed = deployments.map((deployment) => ({
    deployment,
    parts: parts.filter((part) => !masters.includes(part) && isOfDeployment(part, deployment)),
  }));
  const taken = new Set([...masters, ...deployed.flatMap((one) => one.parts)]);
  const below = [
    ...referred(facts, referenceAt(cluster, 'spec', 'infrastructureRef'), (object) =>
      rowOf(object, infrastructureState(object, at)),
    ),
    ...controlPlaneRows(facts, masters),
    ...deployed.map((one) => deploymentRow(facts, one.deployment, one.parts)),
    ...parts.filter((part) => !taken.has(part)).map((part) => machineRow(facts, part)),
    ...strayAgents(facts, parts).map((agent) => strayRow(facts, agent)),
    ...nodeRows(facts, parts),
  ];
  return rowOf(cluster, clusterState(cluster, below, at), below);
}

const byName = (a: KubeObject, b: KubeObject): number =>
  a.metadata.name.localeCompare(b.metadata.name, 'en', { numeric: true });

function referred(
  facts: ClusterFacts,
  reference: Reference | undefined,
  make: (object: KubeObject) => Row,
): readonly Row[] {
  return reference === undefined ? [] : [referredRow(reference, looked(facts, reference), make)];
}

/** By label, as Cluster API sets it; by name of the set where somebody took the label away. */
const isOfDeployment = ({ machine }: MachineParts, { metadata }: KubeObject): boolean =>
  machine.metadata.labels?.[DEPLOYMENT_NAME_LABEL] === metadata.name ||
  (machine.metadata.ownerReferences ?? []).some(
    ({ kind, name }) => kind === 'MachineSet' && name.startsWith(`${metadata.name}-`),
  );

/** The control plane with what it installs and its Machines; these stand alone where no object stands for it. */
function controlPlaneRows(facts: ClusterFacts, masters: readonly MachineParts[]): readonly Row[] {
  const reference = referenceAt(facts.cluster, 'spec', 'controlPlaneRef');
  const machines = masters.map((part) => machineRow(facts, part));
  if (reference === undefined) return machines;
  const install = isAssistedControlPlane(reference) ? installRows(facts, reference) : [];
  const [row] = referred(facts, reference, (object) => controlPlaneRow(facts, object, [...install, ...machines]));
  if (row === undefined) return machines;
  return row.children.length > 0 || machines.length === 0
    ? [row]
    : [{ ...row, children: [...install, ...machines] }];
}

function controlPlaneRow({ at }: ClusterFacts, object: KubeObject, children: readonly Row[]): Row {
  const state = controlPlaneState(object, at);
  const isWorse = state.health === 'done' || state.health === 'working';
  // Its own words are about what it does; what is wrong below it is told there.
  return isWorse && children.some(hasProblem)
    ? rowOf(object, { ...state, health: 'attention', why: undefined }, children)
    : rowOf(object, state, children);
}

function installRows(facts: ClusterFacts, controlPlane: Reference): readonly Row[] {
  const { at } = facts;
  const deployment = ofCluster(facts, ClusterDeployment, controlPlane);
  const install = ofCluster(facts, AgentClusterInstall, controlPlane);
  const imageSet = textAt(install ?? facts.cluster, 'spec', 'imageSetRef', 'name');
  const sets = objectsOf(facts, ClusterImageSet).filter(({ metadata }) => metadata.name === imageSet);
  return [
    ...(deployment === undefined
      ? []
      : [{ ...rowOf(deployment, clusterDeploymentState(deployment, at)), isExtra: true }]),
    ...(install === undefined ? missingInstall(facts, deployment) : [rowOf(install, installState(install, at))]),
    ...sets.map((set) => ({ ...rowOf(set, imageSetState(set)), isExtra: true })),
  ];
}

/** Named as the control plane, or with the label of the Cluster. */
function ofCluster(
  facts: ClusterFacts,
  kind: Parameters<typeof objectsOf>[1],
  { name }: Reference,
): KubeObject | undefined {
  const objects = objectsOf(facts, kind);
  const { name: cluster } = facts.cluster.metadata;
  return (
    objects.find(({ metadata }) => metadata.labels?.[CLUSTER_NAME_LABEL] === cluster) ??
    objects.find(({ metadata }) => metadata.name === name)
  );
}

/** What the control plane makes right after the ClusterDeployment is not missing before that. */
const GRACE_MS = 60_000;

/** The ClusterDeployment names its installation; before that there is just none yet. */
function missingInstall(facts: ClusterFacts, deployment: KubeObject | undefined): readonly Row[] {
  const { kind, group } = AgentClusterInstall;
  const unread = listingOf(facts, AgentClusterInstall)?.unread;
  if (unread !== undefined) return [placeOf(kind, '', { health: 'skipped', word: 'not read', why: unread })];
  const named = deployment === undefined ? undefined : referenceAt(deployment, 'spec', 'clusterInstallRef');
  const isNew = (ageMs(deployment?.metadata.creationTimestamp, facts.at) ?? 0) < GRACE_MS;
  if (named === undefined || isNew)
    return [placeOf(kind, '', { health: 'waiting', word: 'none yet', why: 'the control plane makes it' })];
  const reference = { ...named, group };
  return referred(facts, reference, (object) => rowOf(object, installState(object, facts.at)));
}

/** With its sets where these were read; Machines that no set claims stand beside them. */
function deploymentRow(facts: ClusterFacts, deployment: KubeObject, parts: readonly MachineParts[]): Row {
  const { at } = facts;
  const rows = parts.map((part) => ({ part, row: machineRow(facts, part) }));
  const sets = objectsOf(facts, MachineSet)
    .filter((set) => isOwnedBy(set, deployment))
    .toSorted(byName);
  const inSets = sets.map((set) => {
    const own = rows.filter(({ part }) => isOwnedBy(part.machine, set)).map(({ row }) => row);
    return { ...rowOf(set, replicasState(set, at, own), own), isExtra: true };
  });
  const loose = rows.filter(({ part }) => !sets.some((set) => isOwnedBy(part.machine, set)));
  const machines = rows.map(({ row }) => row);
  const children = [...inSets, ...loose.map(({ row }) => row)];
  return rowOf(deployment, replicasState(deployment, at, machines), children);
}

const strayRow = (facts: ClusterFacts, agent: KubeObject): Row =>
  rowOf(agent, agentState(agent, facts.at, { machine: '', isInstalling: isInstallRunning(facts) }));

/** What is known of Nodes beyond those of Machines. */
function nodeRows({ nodes, cluster }: ClusterFacts, parts: readonly MachineParts[]): readonly Row[] {
  // Of a cluster that goes, Machines go before their Nodes.
  if (nodes.type === 'none' || isBeingDeleted(cluster)) return [];
  if (nodes.type === 'unread')
    return [placeOf('Nodes', '', { health: 'skipped', word: 'not read', why: nodes.why })];
  const taken = new Set(parts.map(({ node }) => node));
  return nodes.nodes
    .filter((node) => !taken.has(node))
    .map((node) => {
      const state = nodeState(node);
      const row = rowOf({ ...node, apiVersion: 'v1', kind: 'Node' }, state);
      return { ...row, why: state.why ?? 'it belongs to no Machine' };
    });
}
