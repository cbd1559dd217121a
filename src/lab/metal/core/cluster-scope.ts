import { Cluster, PAUSED_ANNOTATION } from '../../../api/cluster-api/core-v1beta2.ts';
import type { Condition, Kind, KubeObject } from '../../../api/object.ts';
import { retryError } from '../../../base/errors.ts';
import { annotationChanged, generationChanged, type Predicate } from '../../../kube/controller/predicates.ts';
import { DONE, type ReconcileContext, type Result } from '../../../kube/controller/reconcile.ts';
import { orderV1beta2 } from '../../../object/condition-dialects.ts';
import { setCondition } from '../../../object/conditions.ts';
import { paused } from './told-conditions.ts';
import { writeChanges } from './write-changes.ts';

/** Rejects, to be tried again, while there is none: core does so for ever when the Cluster is gone (S9). */
export async function clusterOf(
  { metadata: { namespace = '', name }, kind }: KubeObject,
  clusterName: string,
  { client }: ReconcileContext,
): Promise<Cluster> {
  const cluster = await client.find(Cluster, { namespace, name: clusterName });
  if (cluster !== undefined) return cluster;
  const what = `spec.clusterName of ${kind} ${name} is ${clusterName}, and there is no such Cluster`;
  throw retryError('ClusterNotFound', `${what} in namespace ${namespace}; create it`);
}

/** What objects of a Cluster wait for: that it is there, has its infrastructure, is paused or deleted. Its counts are not. */
export const clusterMatters: Predicate<Cluster> = (event) =>
  generationChanged(event) ||
  annotationChanged(event) ||
  JSON.stringify(event.old?.status?.initialization) !== JSON.stringify(event.object.status?.initialization);

/** Nothing is to be done about the object for now. */
export const isPaused = ({ spec }: Cluster, { metadata: { annotations = {} } }: KubeObject): boolean =>
  spec?.paused === true || Object.hasOwn(annotations, PAUSED_ANNOTATION);

interface WithConditions extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[] };
}

/** All that is done about a paused object: it says so. */
export async function tellPaused<T extends WithConditions>(
  kind: Kind<T>,
  object: T,
  { client, now }: ReconcileContext,
): Promise<Result> {
  const { generation } = object.metadata;
  const fields = { ...paused(true), ...(generation !== undefined && { observedGeneration: generation }) };
  const { conditions } = setCondition(object.status?.conditions ?? [], fields, now());
  const status = { ...object.status, conditions: orderV1beta2(conditions) };
  // Every kind that is told of a pause has conditions in its status.
  await writeChanges(client, kind, object, { status } as unknown as Partial<T>);
  return DONE;
}
