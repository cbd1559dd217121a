import { isDeepStrictEqual } from 'node:util';
import type { ClusterOperator } from '../../api/openshift/config-v1.ts';
import type { ObjectEvent } from '../../kube/cache/cache.ts';
import type { Predicate } from '../../kube/controller/predicates.ts';
import { isSaid, type StatusUpdate } from './operator-status.ts';

/** Who writes to a ClusterOperator; `OperatorStatus` is one. */
export interface StatusSpeaker {
  /** What was sent last, maybe without an answer; undefined before the first write. */
  readonly sent: StatusUpdate | undefined;
}

/**
 * What we said ourselves wakes nobody: an error whose text differs each time would be written without end, and without
 * the pause that failures make (R53, R58).
 */
export const isForeignTo =
  (speaker: StatusSpeaker): Predicate<ClusterOperator> =>
  ({ type, old, object }: ObjectEvent<ClusterOperator>) => {
    const { sent } = speaker;
    if (type !== 'update' || old === undefined || sent === undefined || !isSaid(object, sent)) return true;
    const own = new Set(sent.conditions.map((condition) => condition.type));
    const foreign = ({ metadata, status: { conditions = [] } = {} }: ClusterOperator) => [
      metadata.annotations ?? {},
      metadata.deletionTimestamp ?? '',
      conditions.filter((condition) => !own.has(condition.type)),
    ];
    return !isDeepStrictEqual(foreign(old), foreign(object));
  };
