import type { Deployment, ReplicaSet, StatefulSet } from '../../../api/generated/apps-v1-types.ts';
import type { Pod, ReplicationController } from '../../../api/generated/core-v1-types.ts';
import type { KubeObject, OwnerReference } from '../../../api/object.ts';
import { userError } from '../../../base/errors.ts';
import { controllerReferenceOf } from '../../../object/owner-references.ts';

/** Who may say how many pods there should be, of one namespace. */
export interface PodControllers {
  readonly deployments: readonly Deployment[];
  readonly replicaSets: readonly ReplicaSet[];
  readonly statefulSets: readonly StatefulSet[];
  readonly replicationControllers: readonly ReplicationController[];
}

export interface ExpectedScale {
  readonly count: number;
  /** Pods that nobody controls: they do not count. */
  readonly unmanaged: readonly string[];
}

/**
 * Pure: how many pods the controllers of these pods want, each controller once (W33). Throws a userError when nobody says
 * it for one of them: then no disruption is safe.
 */
export function expectedScale(pods: readonly Pod[], controllers: PodControllers): ExpectedScale {
  const scales = new Map<string, number>();
  const unmanaged: string[] = [];
  for (const pod of pods) {
    const reference = controllerReferenceOf(pod);
    if (reference === undefined) unmanaged.push(pod.metadata.name);
    else {
      const { uid, replicas } = controllerOf(reference, pod, controllers);
      scales.set(uid, replicas);
    }
  }
  return { count: [...scales.values()].reduce((sum, replicas) => sum + replicas, 0), unmanaged };
}

interface Scaled {
  readonly uid: string;
  readonly replicas: number;
}

function controllerOf(reference: OwnerReference, pod: Pod, controllers: PodControllers): Scaled {
  const { kind, apiVersion } = reference;
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  const lists: Readonly<Record<string, readonly Scalable[]>> = {
    'ReplicaSet.apps': controllers.replicaSets,
    'StatefulSet.apps': controllers.statefulSets,
    'ReplicationController.': controllers.replicationControllers,
  };
  const list = lists[`${kind}.${group}`];
  const who = `${kind} ${reference.name}, which controls pod ${pod.metadata.name},`;
  if (list === undefined)
    throw userError(
      'NoScale',
      `${who} does not say how many pods there should be; use minAvailable with a number`,
    );
  const found = byReference(list, reference);
  if (found === undefined) throw userError('NoController', `${who} is not there any more; delete the pod`);
  return byDeployment(found, controllers) ?? scaleOf(found);
}

interface Scalable extends KubeObject {
  readonly spec?: { readonly replicas?: number };
}

/** A set that belongs to a Deployment is one of several: their sum is what counts. */
function byDeployment(object: Scalable, { deployments }: PodControllers): Scaled | undefined {
  const owner = controllerReferenceOf(object);
  const found = owner?.kind === 'Deployment' ? byReference<Scalable>(deployments, owner) : undefined;
  return found === undefined ? undefined : scaleOf(found);
}

const scaleOf = ({ metadata, spec }: Scalable): Scaled => ({
  uid: metadata.uid ?? '',
  replicas: spec?.replicas ?? 1,
});

const byReference = <T extends KubeObject>(objects: readonly T[], { name, uid }: OwnerReference): T | undefined =>
  objects.find(({ metadata }) => metadata.name === name && metadata.uid === uid);
