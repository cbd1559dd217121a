import {
  CLUSTER_NAME_LABEL,
  Cluster,
  type ContractReference,
  DELETE_MACHINE_ANNOTATION,
  DEPLOYMENT_NAME_LABEL,
  Machine,
  type MachineSelector,
  MachineSet,
  type MachineTemplate,
  SET_NAME_LABEL,
} from '../../../api/cluster-api/core-v1beta2.ts';
import type { KubeObject } from '../../../api/object.ts';
import { fieldAt } from '../../../api/unstructured.ts';
import { isTrue } from '../../../object/conditions.ts';
import { labelSelectorOf, printLabelSelector } from '../../../object/label-selector.ts';
import { childName, nameHash } from '../../../object/name-hash.ts';
import { labelValueProblems } from '../../../object/names.ts';
import { hasControllerReference, ownedBy, setOwnerReference } from '../../../object/owner-references.ts';
import { condition, deleting, paused, type Told, toldStatus, v1beta1 } from './told-conditions.ts';

export const MACHINE_SET_FINALIZER = 'cluster.x-k8s.io/machineset';
const HASH_LENGTH = 5;

/** Names as label values: one that is too long is replaced by a hash. */
export const labelText = (name: string): string => (labelValueProblems(name).length === 0 ? name : nameHash(name));

interface Selecting {
  readonly clusterName: string;
  readonly selector: MachineSelector;
  readonly template: MachineTemplate;
}

/** What a manifest may leave out: a selector that selects something, and labels of Machines that it selects (S28). */
export function selected({ clusterName, selector, template }: Selecting, own: Readonly<Record<string, string>>) {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  const isSelective = Object.keys(matchLabels).length > 0 || matchExpressions.length > 0;
  const given = { ...(!isSelective && own), [CLUSTER_NAME_LABEL]: clusterName };
  const { metadata = {}, spec } = template;
  return {
    selector: { ...selector, matchLabels: { ...matchLabels, ...given } },
    template: {
      ...template,
      metadata: { ...metadata, labels: { ...given, ...metadata.labels, [CLUSTER_NAME_LABEL]: clusterName } },
      spec: { ...spec, clusterName },
    },
  };
}

/** The metadata of an object of a Cluster that must not go before it has cleaned up. */
export const kept = <T extends KubeObject>(object: T, clusterName: string, finalizer: string): T['metadata'] => {
  const { finalizers = [], labels = {} } = object.metadata;
  return {
    ...object.metadata,
    labels: { ...labels, [CLUSTER_NAME_LABEL]: clusterName },
    finalizers: finalizers.includes(finalizer) ? finalizers : [...finalizers, finalizer],
  };
};

/** A MachineSet with what core and its webhook give every MachineSet (S28). Pure. */
export function adoptedSet(set: MachineSet, cluster: Cluster): MachineSet {
  const owned = hasControllerReference(set) ? set : setOwnerReference(cluster, set, { kind: Cluster });
  const { spec, metadata } = owned;
  return {
    ...owned,
    metadata: kept(owned, spec.clusterName, MACHINE_SET_FINALIZER),
    spec: {
      ...spec,
      replicas: spec.replicas ?? 1,
      ...selected(spec, { [SET_NAME_LABEL]: labelText(metadata.name) }),
    },
  };
}

/** What every Machine of the set carries, and is given again when the set changes. */
export function machineMeta({ metadata, spec }: MachineSet): {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
} {
  const { [DEPLOYMENT_NAME_LABEL]: deployment } = metadata.labels ?? {};
  return {
    labels: {
      ...spec.template.metadata?.labels,
      [SET_NAME_LABEL]: labelText(metadata.name),
      ...(deployment !== undefined && { [DEPLOYMENT_NAME_LABEL]: deployment }),
      [CLUSTER_NAME_LABEL]: spec.clusterName,
    },
    annotations: { ...spec.template.metadata?.annotations },
  };
}

/**
 * Names of Machines to make, the first that are free. They follow from the set alone: who dies between two of the three
 * objects of a Machine finds the first ones again.
 */
export function freeNames({ metadata }: MachineSet, taken: ReadonlySet<string>, count: number): readonly string[] {
  const names: string[] = [];
  for (let index = 0; names.length < count; index++) {
    const hash = nameHash(metadata.namespace ?? '', metadata.name, String(index)).slice(0, HASH_LENGTH);
    const name = childName(metadata.name, hash);
    if (!taken.has(name) && !names.includes(name)) names.push(name);
  }
  return names;
}

export interface MachineReferences {
  readonly infrastructureRef: ContractReference;
  readonly configRef: ContractReference | undefined;
}

export function machineOf(
  set: MachineSet,
  name: string,
  { infrastructureRef, configRef }: MachineReferences,
): Machine {
  const { spec } = set.spec.template;
  const { configRef: _template, ...bootstrap } = spec.bootstrap;
  return {
    apiVersion: `${Machine.group}/${Machine.version}`,
    kind: Machine.kind,
    metadata: {
      name,
      namespace: set.metadata.namespace ?? '',
      ...machineMeta(set),
      ...ownedBy(set, MachineSet),
    },
    spec: {
      ...spec,
      clusterName: set.spec.clusterName,
      bootstrap: { ...bootstrap, ...(configRef !== undefined && { configRef }) },
      infrastructureRef,
      deletion: { ...spec.deletion, nodeDeletionTimeoutSeconds: spec.deletion?.nodeDeletionTimeoutSeconds ?? 10 },
    },
  };
}

/** Who goes first when there are too many: those on their way out, those asked to go, the sick, then by age. Pure. */
export function machinesToDelete(
  set: MachineSet,
  machines: readonly Machine[],
  count: number,
): readonly Machine[] {
  const isOldestFirst = fieldAt(set, 'spec', 'deletion', 'order') === 'Oldest';
  const byAge = (a: Machine, b: Machine): number => createdAt(a) - createdAt(b) || compare(a, b);
  return machines
    .toSorted((a, b) => rank(a) - rank(b) || (isOldestFirst ? byAge(a, b) : byAge(b, a)))
    .slice(0, Math.max(0, count));
}

function rank(machine: Machine): number {
  const { deletionTimestamp, annotations = {} } = machine.metadata;
  if (deletionTimestamp !== undefined) return 0;
  if (Object.hasOwn(annotations, DELETE_MACHINE_ANNOTATION)) return 1;
  return machine.status?.nodeRef !== undefined && !isTrue(machine, 'Ready') ? 2 : 3;
}

const createdAt = ({ metadata: { creationTimestamp } }: Machine): number =>
  Date.parse(creationTimestamp ?? '') || 0;
const compare = (a: Machine, b: Machine): number => (a.metadata.name < b.metadata.name ? -1 : 1);

/** Counted before anything is changed, as core does. */
export function desiredSetStatus(
  set: MachineSet,
  machines: readonly Machine[],
  now: Date,
): NonNullable<MachineSet['status']> {
  const { generation } = set.metadata;
  const { replicas: wanted = 1 } = set.spec;
  const count = (type: string) => machines.filter((machine) => isTrue(machine, type)).length;
  return {
    ...set.status,
    ...toldStatus(set, setConditions(set, { wanted, found: machines.length, ready: count('Ready') }), now),
    // Plain JSON, whatever its type names.
    selector: printLabelSelector(labelSelectorOf(JSON.parse(JSON.stringify(set.spec.selector)))),
    replicas: machines.length,
    readyReplicas: count('Ready'),
    availableReplicas: count('Available'),
    upToDateReplicas: count('UpToDate'),
    ...(generation !== undefined && { observedGeneration: generation }),
  };
}

interface Counted {
  readonly wanted: number;
  readonly found: number;
  readonly ready: number;
}

/** The four that tell how a set of Machines is doing. */
function setConditions({ metadata }: MachineSet, { wanted, found, ready }: Counted): Told {
  const isDeleting = metadata.deletionTimestamp !== undefined;
  return {
    conditions: [
      ready === found
        ? condition('MachinesReady', { status: 'True', reason: found === 0 ? 'NoReplicas' : 'Ready' })
        : condition('MachinesReady', {
            status: 'False',
            reason: 'NotReady',
            message: `${ready} of ${found} Machines are ready`,
          }),
      scaling('Up', !isDeleting && found < wanted, found, wanted),
      scaling('Down', isDeleting || found > wanted, found, isDeleting ? 0 : wanted),
      deleting(isDeleting ? 'Deleting' : undefined),
      paused(false),
    ],
    v1beta1: [v1beta1('Ready', !isDeleting && found === wanted && ready === found, 'ScalingUp')],
  };
}

const scaling = (way: 'Up' | 'Down', isScaling: boolean, from: number, to: number) =>
  isScaling
    ? condition(`Scaling${way}`, {
        status: 'True',
        reason: `Scaling${way}`,
        message: `Scaling ${way.toLowerCase()} from ${from} to ${to} replicas`,
      })
    : condition(`Scaling${way}`, { status: 'False', reason: `NotScaling${way}` });
