import {
  CLUSTER_NAME_LABEL,
  Cluster,
  DEPLOYMENT_NAME_LABEL,
  MachineDeployment,
  MachineSet,
  type MachineTemplate,
} from '../../../api/cluster-api/core-v1beta2.ts';
import { fieldAt } from '../../../api/unstructured.ts';
import { labelSelectorOf, printLabelSelector } from '../../../object/label-selector.ts';
import { childName, nameHash } from '../../../object/name-hash.ts';
import { ownedBy, setOwnerReference } from '../../../object/owner-references.ts';
import { isRecord } from '../../../object/record.ts';
import { kept, labelText, selected } from './machine-set-desired.ts';
import {
  AVAILABLE,
  condition,
  deleting,
  paused,
  summary,
  type Told,
  toldStatus,
  v1beta1,
} from './told-conditions.ts';

export const MACHINE_DEPLOYMENT_FINALIZER = 'cluster.x-k8s.io/machinedeployment';
const HASH_LABEL = 'machine-template-hash';

/** A MachineDeployment with what core and its webhook give every one (S28). Pure. */
export function adoptedDeployment(deployment: MachineDeployment, cluster: Cluster): MachineDeployment {
  const owned = setOwnerReference(cluster, deployment, { kind: Cluster });
  const { spec, metadata } = owned;
  const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
  return {
    ...owned,
    metadata: kept(owned, spec.clusterName, MACHINE_DEPLOYMENT_FINALIZER),
    spec: {
      ...spec,
      replicas: spec.replicas ?? 1,
      ...selected(spec, { [DEPLOYMENT_NAME_LABEL]: labelText(metadata.name) }),
      ...(fieldAt(owned, 'spec', 'rollout') === undefined && {
        rollout: { strategy: { type: 'RollingUpdate', rollingUpdate } },
      }),
    },
  };
}

/** Templates with the same hash make the same Machines; what may change on a Machine that exists is no part of it. */
export function templateHash({ spec }: MachineTemplate): string {
  const { clusterName, bootstrap, infrastructureRef, version = '', failureDomain = '' } = spec;
  const { configRef, dataSecretName = '' } = bootstrap;
  const references = [configRef, infrastructureRef].flatMap((reference) => [
    reference?.apiGroup ?? '',
    reference?.kind ?? '',
    reference?.name ?? '',
  ]);
  return nameHash(clusterName, version, failureDomain, dataSecretName, ...references);
}

/** The MachineSet of the newest template. Its name follows from the template: the same one is never made twice. */
export function machineSetOf(deployment: MachineDeployment, replicas: number): MachineSet {
  const { metadata, spec } = deployment;
  const hash = templateHash(spec.template);
  const labels = {
    ...spec.template.metadata?.labels,
    [DEPLOYMENT_NAME_LABEL]: labelText(metadata.name),
    [CLUSTER_NAME_LABEL]: spec.clusterName,
    [HASH_LABEL]: hash,
  };
  return {
    apiVersion: `${MachineSet.group}/${MachineSet.version}`,
    kind: MachineSet.kind,
    metadata: {
      name: childName(metadata.name, hash.slice(0, 5)),
      namespace: metadata.namespace ?? '',
      labels,
      ...ownedBy(deployment, MachineDeployment),
    },
    spec: {
      clusterName: spec.clusterName,
      replicas,
      selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [HASH_LABEL]: hash } },
      template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
    },
  };
}

export interface Rollout {
  /** Replicas of the newest set. */
  readonly current: number;
  /** Replicas of older sets, by name. */
  readonly older: ReadonlyMap<string, number>;
}

/** How many each set has next: never more than allowed at once, never fewer than allowed available. Pure. */
export function rolloutOf(
  deployment: MachineDeployment,
  current: MachineSet | undefined,
  older: readonly MachineSet[],
): Rollout {
  const { replicas: wanted = 1 } = deployment.spec;
  const { maxSurge, maxUnavailable } = limitsOf(deployment, wanted);
  const now = current?.spec.replicas ?? 0;
  const oldTotal = sum(older.map(({ spec }) => spec.replicas ?? 0));
  const room = Math.max(0, wanted + maxSurge - now - oldTotal);
  const next = now >= wanted || older.length === 0 ? wanted : Math.min(wanted, now + room);
  const available = sum([current, ...older].map((set) => set?.status?.availableReplicas ?? 0));
  const unavailableOld = sum(
    older.map(({ spec, status }) => Math.max(0, (spec.replicas ?? 0) - (status?.availableReplicas ?? 0))),
  );
  let leaving = Math.max(0, available - (wanted - maxUnavailable)) + unavailableOld;
  const scaled = older.map((set): readonly [string, number] => {
    const { replicas = 0 } = set.spec;
    const fewer = Math.min(replicas, leaving);
    leaving -= fewer;
    return [set.metadata.name, replicas - fewer];
  });
  return { current: next, older: new Map(scaled) };
}

function limitsOf(deployment: MachineDeployment, wanted: number) {
  const limits = fieldAt(deployment, 'spec', 'rollout', 'strategy', 'rollingUpdate');
  const { maxSurge = 1, maxUnavailable = 0 } = isRecord(limits) ? limits : {};
  return {
    maxSurge: amountOf(maxSurge, wanted, Math.ceil),
    maxUnavailable: amountOf(maxUnavailable, wanted, Math.floor),
  };
}

/** A number, or a share such as 25%. */
function amountOf(value: unknown, whole: number, round: (amount: number) => number): number {
  if (typeof value === 'number') return value;
  const share = /^(\d+)%$/.exec(String(value))?.[1];
  return share === undefined ? 0 : round((Number(share) * whole) / 100);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

export function desiredDeploymentStatus(
  deployment: MachineDeployment,
  sets: readonly MachineSet[],
  now: Date,
): NonNullable<MachineDeployment['status']> {
  const { generation } = deployment.metadata;
  const { replicas: wanted = 1 } = deployment.spec;
  const total = (field: 'replicas' | 'readyReplicas' | 'availableReplicas' | 'upToDateReplicas') =>
    sum(sets.map(({ status }) => status?.[field] ?? 0));
  const found = total('replicas');
  const available = total('availableReplicas');
  return {
    ...deployment.status,
    ...toldStatus(deployment, deploymentConditions(deployment, { wanted, found, available }), now),
    // Plain JSON, whatever its type names.
    selector: printLabelSelector(labelSelectorOf(JSON.parse(JSON.stringify(deployment.spec.selector)))),
    replicas: found,
    readyReplicas: total('readyReplicas'),
    availableReplicas: available,
    upToDateReplicas: total('upToDateReplicas'),
    phase: found === wanted && available === wanted ? 'Running' : found > wanted ? 'ScalingDown' : 'ScalingUp',
    ...(generation !== undefined && { observedGeneration: generation }),
  };
}

interface Counted {
  readonly wanted: number;
  readonly found: number;
  readonly available: number;
}

function deploymentConditions(deployment: MachineDeployment, { wanted, found, available }: Counted): Told {
  const { maxUnavailable } = limitsOf(deployment, wanted);
  const isAvailable = available >= wanted - maxUnavailable;
  const isDeleting = deployment.metadata.deletionTimestamp !== undefined;
  const deletion = deleting(isDeleting ? 'Deleting' : undefined);
  const message = `${available} available replicas, at least ${wanted - maxUnavailable} required`;
  const enough = condition(
    'Available',
    isAvailable ? { status: 'True', reason: 'Available' } : { status: 'False', reason: 'NotAvailable', message },
  );
  return {
    conditions: [
      summary('Available', [{ ...enough, type: 'Replicas' }, deletion], AVAILABLE),
      condition('ScalingUp', scaled(found < wanted, 'ScalingUp')),
      condition('ScalingDown', scaled(found > wanted, 'ScalingDown')),
      deletion,
      paused(false),
    ],
    v1beta1: [
      v1beta1('Ready', isAvailable, 'WaitingForAvailableMachines', message),
      v1beta1('Available', isAvailable, 'WaitingForAvailableMachines', message),
    ],
  };
}

const scaled = (isScaling: boolean, reason: string) =>
  isScaling ? ({ status: 'True', reason } as const) : ({ status: 'False', reason: `Not${reason}` } as const);
