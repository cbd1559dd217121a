import { BOOTSTRAP_GROUP, OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { CLUSTER_GROUP, CONTROL_PLANE_LABEL, Machine, WATCH_LABEL } from '../../api/cluster-api/core-v1beta2.ts';
import type { KubeObject, ObjectKey, OwnerReference } from '../../api/object.ts';
import type { Reader } from '../../kube/client/kube-client.ts';

const groupOf = ({ apiVersion }: OwnerReference): string =>
  apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')));

/** Pure: who a config was made for, whatever version the reference names; the first one counts (B2). */
export const configOwnerOf = ({ metadata: { ownerReferences = [] } }: KubeObject): OwnerReference | undefined =>
  ownerReferences.find(
    (reference) =>
      groupOf(reference) === CLUSTER_GROUP && (reference.kind === 'Machine' || reference.kind === 'MachinePool'),
  );

/** Pure: every Machine that owns an object, in the order of its references. */
export const machineOwnersOf = ({ metadata: { ownerReferences = [] } }: KubeObject): readonly OwnerReference[] =>
  ownerReferences.filter((reference) => groupOf(reference) === CLUSTER_GROUP && reference.kind === 'Machine');

/** The Machine of a config; undefined where there is none, or another one of the same name by now (B2, B3). */
export async function findOwnerMachine(client: Reader, config: KubeObject): Promise<Machine | undefined> {
  const owner = configOwnerOf(config);
  return owner?.kind === 'Machine' ? findMachine(client, config, owner) : undefined;
}

export async function findMachine(
  client: Reader,
  { metadata: { namespace = '' } }: KubeObject,
  { name, uid }: OwnerReference,
): Promise<Machine | undefined> {
  const machine = await client.find(Machine, { namespace, name });
  return machine?.metadata.uid === uid ? machine : undefined;
}

/** Pure: the config that a Machine names; undefined where it is of another kind. */
export function configKeyOf({ metadata: { namespace = '' }, spec }: Machine): ObjectKey | undefined {
  const { configRef } = spec.bootstrap;
  const isOurs = configRef?.apiGroup === BOOTSTRAP_GROUP && configRef.kind === OpenshiftAssistedConfig.kind;
  return isOurs ? { namespace, name: configRef.name } : undefined;
}

/** Pure: only the key of the label counts. */
export const isControlPlane = ({ metadata: { labels = {} } }: KubeObject): boolean =>
  Object.hasOwn(labels, CONTROL_PLANE_LABEL);

/** Pure: whether an object is for the program that watches for this label; without a filter all are. */
export const isWatched = ({ metadata: { labels = {} } }: KubeObject, watchFilter: string | undefined): boolean =>
  watchFilter === undefined || labels[WATCH_LABEL] === watchFilter;
