import { CONTROL_PLANE_GROUP, OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import {
  CLUSTER_GROUP,
  CLUSTER_NAME_LABEL,
  Cluster,
  PAUSED_ANNOTATION,
  WATCH_LABEL,
} from '../../api/cluster-api/core-v1beta2.ts';
import type { KubeObject, ObjectKey, OwnerReference } from '../../api/object.ts';
import type { Reader } from '../../kube/client/kube-client.ts';
import type { MapFunction } from '../../kube/controller/event-keys.ts';

const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')));

const ownersOf = ({ metadata: { ownerReferences = [] } }: KubeObject): readonly OwnerReference[] =>
  ownerReferences;

/** The namespace of a namespaced object; the server never leaves it out. */
export const namespaceOf = ({ metadata: { namespace = '' } }: KubeObject): string => namespace;

/** The control plane that an object belongs to: by group and kind, whatever the version (C12, K1). */
export const controlPlaneKeyOf = (object: KubeObject): ObjectKey | undefined => {
  const owner = ownersOf(object).find(
    ({ apiVersion, kind }) =>
      kind === OpenshiftAssistedControlPlane.kind && groupOf(apiVersion) === CONTROL_PLANE_GROUP,
  );
  return owner === undefined ? undefined : { namespace: namespaceOf(object), name: owner.name };
};

/** By group, kind and name, as upstream does it: references of both versions count. */
export const isOfControlPlane = (object: KubeObject, controlPlane: OpenshiftAssistedControlPlane): boolean =>
  namespaceOf(object) === namespaceOf(controlPlane) &&
  controlPlaneKeyOf(object)?.name === controlPlane.metadata.name;

/** Core has taken the object over: a Machine owns it. */
export const isOfMachine = (object: KubeObject): boolean =>
  ownersOf(object).some(({ apiVersion, kind }) => kind === 'Machine' && groupOf(apiVersion) === CLUSTER_GROUP);

/** A reference that does not control: core puts that of the Machine in its place (C15). */
export const plainOwner = ({
  apiVersion,
  kind,
  metadata: { name, uid = '' },
}: OpenshiftAssistedControlPlane): OwnerReference => ({ apiVersion, kind, name, uid });

export const ownerClusterName = (controlPlane: KubeObject): string | undefined =>
  ownersOf(controlPlane).find(
    ({ apiVersion, kind }) => kind === Cluster.kind && groupOf(apiVersion) === CLUSTER_GROUP,
  )?.name;

/** Undefined until core has set the reference, and when the Cluster is gone. */
export async function findOwnerCluster(
  client: Pick<Reader, 'find'>,
  controlPlane: OpenshiftAssistedControlPlane,
): Promise<Cluster | undefined> {
  const name = ownerClusterName(controlPlane);
  return name === undefined ? undefined : client.find(Cluster, { namespace: namespaceOf(controlPlane), name });
}

/** Why nothing is done, as core words it; undefined when nobody paused (C5, X11). */
export function pauseReason(cluster: Cluster | undefined, object: KubeObject): string | undefined {
  const isAnnotated = Object.hasOwn(object.metadata.annotations ?? {}, PAUSED_ANNOTATION);
  const reasons = [
    ...(cluster?.spec?.paused === true ? ['Cluster spec.paused is set to true'] : []),
    ...(isAnnotated ? [`${object.kind} has the ${PAUSED_ANNOTATION} annotation`] : []),
  ];
  return reasons.length === 0 ? undefined : reasons.join(', ');
}

/** The server accepts a control plane without a spec, whatever the type says. */
export const hasSpec = (object: OpenshiftAssistedControlPlane): boolean =>
  (object as { readonly spec?: unknown }).spec !== undefined;

/** Whether this program is for the object; for all unless it was told otherwise (`--watch-filter`). */
export const isWatched = ({ metadata: { labels = {} } }: KubeObject, watchFilter: string | undefined): boolean =>
  watchFilter === undefined || watchFilter === '' || labels[WATCH_LABEL] === watchFilter;

/** The control plane that a Cluster names: its objects have the same name. */
export const controlPlaneOfCluster: MapFunction<Cluster> = ({ metadata: { namespace }, spec }) => {
  const { controlPlaneRef } = spec ?? {};
  const isOurs =
    controlPlaneRef?.kind === OpenshiftAssistedControlPlane.kind &&
    controlPlaneRef.apiGroup === CONTROL_PLANE_GROUP;
  return isOurs ? [{ namespace, name: controlPlaneRef.name }] : [];
};

/** The control planes of the cluster that an object's label names, in its namespace (X4, X20). */
export const controlPlanesOfLabel: MapFunction = ({ metadata: { namespace, labels = {} } }, { cache }) => {
  const cluster = labels[CLUSTER_NAME_LABEL];
  if (cluster === undefined || namespace === undefined) return [];
  return cache
    .informer(OpenshiftAssistedControlPlane)
    .list({ namespace })
    .filter((one) => ownerClusterName(one) === cluster || one.metadata.labels?.[CLUSTER_NAME_LABEL] === cluster)
    .map(({ metadata: { name } }) => ({ namespace, name }));
};
