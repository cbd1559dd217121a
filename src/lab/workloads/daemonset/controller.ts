import { ControllerRevision, DaemonSet } from '../../../api/generated/apps-v1.ts';
import { Node, Pod } from '../../../api/generated/core-v1.ts';
import { type KubeObject, keyOf } from '../../../api/object.ts';
import type { ObjectEvent } from '../../../kube/cache/cache.ts';
import { type Controller, controllerFor } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import { labelChanged, type Predicate } from '../../../kube/controller/predicates.ts';
import { needs } from '../../../kube/rbac/need.ts';
import type { JsonObject } from '../../../object/json.ts';
import { matchesLabels } from '../../../object/label-selector.ts';
import { hasControllerReference } from '../../../object/owner-references.ts';
import { semanticEqual } from '../../../object/semantic-equality.ts';
import { selectorOf } from '../pods/claims.ts';
import { DaemonSetReconciler } from './reconcile.ts';

/** The daemon sets that may want something which nobody controls. */
const orphanKeys: MapFunction<KubeObject> = (object, { cache }) => {
  const { namespace = '', labels } = object.metadata;
  if (hasControllerReference(object)) return [];
  const sets = cache.informer(DaemonSet).list({ namespace });
  return sets.filter(({ spec }) => matchesLabels(selectorOf(spec.selector), { ...labels })).map(keyOf);
};

const allSets: MapFunction<Node> = (_node, { cache }) => cache.informer(DaemonSet).list().map(keyOf);

/** Heartbeats are no news: only labels and taints say where daemon pods belong (A6). */
const isPlacementChanged: Predicate<Node> = (event) => labelChanged(event) || isTaintChanged(event);

const isTaintChanged = ({ old, object }: ObjectEvent<Node>): boolean =>
  !semanticEqual(taintsOf(old), taintsOf(object));

// Plain JSON that came from the server.
const taintsOf = (node: Node | undefined) => (node?.spec.taints ?? []) as unknown as JsonObject[];

/** Stands in for the DaemonSet controller of Kubernetes (W19–W25). */
export const daemonSetController = (): Controller =>
  controllerFor(DaemonSet)
    .owns(Pod)
    .owns(ControllerRevision)
    .watches(Pod, orphanKeys)
    .watches(ControllerRevision, orphanKeys)
    .watches(Node, allSets, [isPlacementChanged])
    .needs(
      needs(Pod, ['create', 'patch', 'delete']),
      needs(ControllerRevision, ['create', 'patch', 'delete']),
      needs(DaemonSet, ['update'], { subresource: 'status' }),
    )
    .reconcile(new DaemonSetReconciler());
