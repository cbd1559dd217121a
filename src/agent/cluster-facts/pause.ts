import { type Cluster, PAUSED_ANNOTATION } from '../../api/cluster-api/core-v1beta2.ts';
import type { KubeObject } from '../../api/object.ts';

/** Pure: why nothing is to be done for an object; undefined when it is not paused (X11). */
export function pauseReason(cluster: Cluster | undefined, object: KubeObject): string | undefined {
  const reasons = [
    ...(cluster?.spec?.paused === true ? ['Cluster spec.paused is set to true'] : []),
    ...(Object.hasOwn(object.metadata.annotations ?? {}, PAUSED_ANNOTATION)
      ? [`${object.kind} has the ${PAUSED_ANNOTATION} annotation`]
      : []),
  ];
  return reasons.length === 0 ? undefined : reasons.join(', ');
}
