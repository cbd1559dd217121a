import { isDeepStrictEqual } from 'node:util';
import type { ClusterOperator } from '../../api/openshift/config-v1.ts';
import type { Controller } from '../../kube/controller/controller.ts';
import { byType, type Predicate } from '../../kube/controller/predicates.ts';
import type { Need } from '../../kube/rbac/need.ts';
import { MANAGEMENT_STATE } from '../operator/management-state.ts';
import { watchedSingletons } from './places.ts';
import { conditionTypes, type SyncController } from './sync-conditions.ts';

/**
 * Somebody else changed what this controller said of itself, or took the whole object away, and the main controller
 * would wait for it without end (R29); or the operator goes on after a pause (D3).
 */
export const changesReport = (controller: SyncController): Predicate<ClusterOperator> => {
  const types = conditionTypes(controller);
  const facts = ({ metadata, status }: ClusterOperator) => [
    metadata.annotations?.[MANAGEMENT_STATE],
    ...(status?.conditions ?? []).filter(({ type }) => types.includes(type)),
  ];
  return byType({
    update: ({ old, object }) => old === undefined || !isDeepStrictEqual(facts(old), facts(object)),
  });
};

/**
 * A controller reads ConfigMaps in these namespaces, one object of each kind that has no namespace, and nothing else (R3):
 * its rights end there as well.
 */
export function withinReach(
  controller: Controller,
  { namespaces, clusterOperator }: { readonly namespaces: readonly string[]; readonly clusterOperator: string },
): Controller {
  const names = new Map(watchedSingletons({ clusterOperator }).map(([kind, name]) => [kind.plural, name]));
  const reach = (need: Need): readonly Need[] => {
    if (need.namespace !== undefined) return [need];
    if (need.scope !== 'Cluster') return namespaces.map((namespace) => ({ ...need, namespace }));
    const name = names.get(need.resource);
    return [name === undefined ? need : { ...need, names: [name] }];
  };
  return { ...controller, needs: controller.needs.flatMap(reach) };
}
