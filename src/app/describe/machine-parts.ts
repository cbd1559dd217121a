import { INFRA_ENV_CONFIG_LABEL } from '../../api/agent/bootstrap-v1alpha2.ts';
import { Agent, INFRA_ENV_LABEL, InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import type { Node } from '../../api/generated/core-v1.ts';
import { HOST_ANNOTATION, HOST_UUID_LABEL } from '../../api/metal3/infrastructure-v1beta2.ts';
import { BareMetalHost } from '../../api/metal3/metal3-v1alpha1.ts';
import type { KubeObject } from '../../api/object.ts';
import { isRecord } from '../../object/record.ts';
import { type ClusterFacts, looked, objectsOf } from './facts.ts';
import { isOwnedBy, recordsAt, referenceAt, textAt } from './object-fields.ts';

/** On Agents: the Machine that the bootstrap provider has found for them; empty when there is none. */
const AGENT_MACHINE = 'bootstrap.cluster.x-k8s.io/machine';
/** On configs: the InfraEnv that they share with others. */
const SHARED_INFRA_ENV = 'bootstrap.cluster.x-k8s.io/infra-env';
/** On Agents that the baremetal-operator of assisted-service made: the host. */
const AGENT_HOST = 'agent-install.openshift.io/bmh';

/** What belongs to one Machine. */
export interface MachineParts {
  readonly machine: KubeObject;
  readonly config: KubeObject | undefined;
  readonly infrastructure: KubeObject | undefined;
  readonly infraEnv: KubeObject | undefined;
  readonly host: KubeObject | undefined;
  readonly agents: readonly KubeObject[];
  readonly node: Node | undefined;
  /** What runs on the host by its label or its name, whether or not the Machine has found it. */
  readonly hostNode: Node | undefined;
}

/** Finds out what belongs to which Machine, by reference, label, owner and, for Agents, by network card. */
export function partsOf(facts: ClusterFacts, machines: readonly KubeObject[]): readonly MachineParts[] {
  const index = indexOf(facts);
  const parts = machines.map((machine) => withoutAgents(facts, index, machine));
  const byMachine = new Map(parts.map((part) => [part.machine.metadata.name, part]));
  const owner = (agent: KubeObject) => ownerOf(agent, byMachine, parts);
  const owned = Map.groupBy(objectsOf(facts, Agent), owner);
  return parts.map((part) => ({ ...part, agents: owned.get(part.machine.metadata.name) ?? [] }));
}

interface Index {
  readonly infraEnvs: ReadonlyMap<string, KubeObject>;
  readonly infraEnvOfConfig: ReadonlyMap<string, KubeObject>;
  readonly hosts: ReadonlyMap<string, KubeObject>;
  readonly hostOfConsumer: ReadonlyMap<string, KubeObject>;
  readonly nodes: ReadonlyMap<string, Node>;
  readonly nodeOfProvider: ReadonlyMap<string, Node>;
  readonly nodeOfHost: ReadonlyMap<string, Node>;
}

function indexOf(facts: ClusterFacts): Index {
  const infraEnvs = objectsOf(facts, InfraEnv);
  const hosts = objectsOf(facts, BareMetalHost);
  const nodes = facts.nodes.type === 'read' ? facts.nodes.nodes : [];
  const by = <T extends KubeObject>(objects: readonly T[], key: (object: T) => string) =>
    new Map(objects.filter((object) => key(object) !== '').map((object) => [key(object), object]));
  return {
    infraEnvs: by(infraEnvs, ({ metadata }) => metadata.name),
    infraEnvOfConfig: by(infraEnvs, ({ metadata }) => metadata.labels?.[INFRA_ENV_CONFIG_LABEL] ?? ''),
    hosts: by(hosts, ({ metadata }) => metadata.name),
    hostOfConsumer: by(hosts, (host) => textAt(host, 'spec', 'consumerRef', 'name')),
    nodes: by(nodes, ({ metadata }) => metadata.name),
    nodeOfProvider: by(nodes, (node) => textAt(node, 'spec', 'providerID')),
    nodeOfHost: by(nodes, ({ metadata }) => metadata.labels?.[HOST_UUID_LABEL] ?? ''),
  };
}

function withoutAgents(facts: ClusterFacts, index: Index, machine: KubeObject): MachineParts {
  const config = foundAt(facts, machine, 'spec', 'bootstrap', 'configRef');
  const infrastructure = foundAt(facts, machine, 'spec', 'infrastructureRef');
  const node =
    index.nodes.get(textAt(machine, 'status', 'nodeRef', 'name')) ??
    index.nodeOfProvider.get(textAt(machine, 'spec', 'providerID'));
  const host = hostOf(index, infrastructure);
  return {
    machine,
    config,
    infrastructure,
    infraEnv: infraEnvOf(index, machine, config),
    host,
    agents: [],
    node,
    hostNode: index.nodeOfHost.get(host?.metadata.uid ?? '') ?? index.nodes.get(host?.metadata.name ?? ''),
  };
}

function foundAt(facts: ClusterFacts, object: KubeObject, ...path: readonly string[]): KubeObject | undefined {
  const reference = referenceAt(object, ...path);
  const result = reference === undefined ? undefined : looked(facts, reference);
  return result?.type === 'found' ? result.object : undefined;
}

/** The one that it shares, the one that names it, or the one of its name. */
function infraEnvOf(index: Index, machine: KubeObject, config: KubeObject | undefined): KubeObject | undefined {
  if (config === undefined) return undefined;
  const named = config.metadata.labels?.[SHARED_INFRA_ENV] ?? textAt(config, 'status', 'infraEnvRef', 'name');
  return (
    index.infraEnvs.get(named) ??
    index.infraEnvOfConfig.get(config.metadata.name) ??
    ownNamed(index.infraEnvs.get(machine.metadata.name), machine, config)
  );
}

const ownNamed = (infraEnv: KubeObject | undefined, machine: KubeObject, config: KubeObject) =>
  infraEnv !== undefined && (isOwnedBy(infraEnv, machine) || isOwnedBy(infraEnv, config)) ? infraEnv : undefined;

/** The annotation of Metal3, or the host that says whom it serves. */
function hostOf(index: Index, infrastructure: KubeObject | undefined): KubeObject | undefined {
  if (infrastructure === undefined) return undefined;
  const named = (infrastructure.metadata.annotations?.[HOST_ANNOTATION] ?? '').split('/').at(-1) ?? '';
  return index.hosts.get(named) ?? index.hostOfConsumer.get(infrastructure.metadata.name);
}

/** The name of the Machine of an Agent; empty when it has none. */
function ownerOf(
  agent: KubeObject,
  byMachine: ReadonlyMap<string, MachineParts>,
  parts: readonly MachineParts[],
): string {
  const { annotations = {}, labels = {}, name } = agent.metadata;
  const told = annotations[AGENT_MACHINE];
  if (told !== undefined && (told === '' || byMachine.has(told))) return told;
  const hostName = labels[AGENT_HOST] ?? '';
  const found =
    soleUserOf(labels[INFRA_ENV_LABEL] ?? '', parts) ??
    parts.find((part) => isHostOf(agent, part, hostName, name));
  return found?.machine.metadata.name ?? '';
}

/** An InfraEnv of one Machine has only hosts of that Machine; of a shared one nobody knows without looking closer. */
function soleUserOf(infraEnv: string, parts: readonly MachineParts[]): MachineParts | undefined {
  const [only, second] = parts.filter((part) => infraEnv !== '' && part.infraEnv?.metadata.name === infraEnv);
  const isShared = only?.config?.metadata.labels?.[SHARED_INFRA_ENV] !== undefined;
  return second === undefined && !isShared ? only : undefined;
}

function isHostOf(agent: KubeObject, { host, config }: MachineParts, hostName: string, name: string): boolean {
  if (config !== undefined && textAt(config, 'status', 'agentRef', 'name') === name) return true;
  if (host === undefined) return false;
  if (host.metadata.name === hostName) return true;
  const known = new Set(
    [textAt(host, 'spec', 'bootMACAddress'), ...macsAt(host, 'mac', 'status', 'hardware', 'nics')]
      .filter((mac) => mac !== '')
      .map((mac) => mac.toLowerCase()),
  );
  const cards = macsAt(agent, 'macAddress', 'status', 'inventory', 'interfaces');
  return cards.some((mac) => known.has(mac.toLowerCase()));
}

const macsAt = (object: KubeObject, field: string, ...path: readonly string[]): readonly string[] =>
  recordsAt(object, ...path).flatMap((card) =>
    isRecord(card) && typeof card[field] === 'string' ? [card[field]] : [],
  );

/** Agents that booted an image of this cluster, or were bound to it, and belong to no Machine. */
export function strayAgents(facts: ClusterFacts, parts: readonly MachineParts[]): readonly KubeObject[] {
  const owned = new Set(parts.flatMap(({ agents }) => agents));
  const infraEnvs = new Set(
    parts.flatMap(({ infraEnv }) => (infraEnv === undefined ? [] : [infraEnv.metadata.name])),
  );
  const { name } = facts.cluster.metadata;
  return objectsOf(facts, Agent).filter((agent) => {
    const isOurs =
      infraEnvs.has(agent.metadata.labels?.[INFRA_ENV_LABEL] ?? '') ||
      textAt(agent, 'spec', 'clusterDeploymentName', 'name') === name;
    return isOurs && !owned.has(agent);
  });
}
