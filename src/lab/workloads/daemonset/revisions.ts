import { type ControllerRevision, DaemonSet } from '../../../api/generated/apps-v1.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import type { Json, JsonObject } from '../../../api/json.ts';
import type { CreateOf } from '../../../api/object.ts';
import { jsonEqual } from '../../../object/json.ts';
import { ownedBy } from '../../../object/owner-references.ts';
import { templateHash } from '../pods/template-hash.ts';
import { HASH_LABEL } from './daemon-pod.ts';

/** The template of each time, kept so that a daemon set can go back to it (W22). */
export interface History {
  /** Of the newest template; more than one only when two were made for it. The one to keep comes first. */
  readonly current: readonly ControllerRevision[];
  /** The lowest revision first. */
  readonly old: readonly ControllerRevision[];
  /** What the number of the newest one has to be. */
  readonly revision: number;
}

const LONGEST_PREFIX = 223;

/** Pure: which revision is the newest template's. */
export function historyOf(set: DaemonSet, revisions: readonly ControllerRevision[]): History {
  const sorted = revisions.toSorted((a, b) => a.revision - b.revision);
  const isCurrent = (one: ControllerRevision) => isRevisionOf(one, set);
  const old = sorted.filter((one) => !isCurrent(one));
  return { current: sorted.filter(isCurrent).toReversed(), old, revision: (old.at(-1)?.revision ?? 0) + 1 };
}

/** Whether a revision holds the template that the daemon set has now. */
export const isRevisionOf = ({ data }: ControllerRevision, set: DaemonSet): boolean =>
  // Plain JSON that came from the server.
  jsonEqual(data as JsonObject | undefined, templatePatch(set));

/** A strategic merge patch: `kubectl rollout undo` sends it as it is. */
const templatePatch = ({ spec: { template } }: DaemonSet) =>
  ({ spec: { template: { ...(template as Json as JsonObject), $patch: 'replace' } } }) satisfies JsonObject;

/** What the pods of a revision are labelled with. */
export const hashOf = ({ metadata: { labels, name } }: ControllerRevision): string => labels?.[HASH_LABEL] ?? name;

/** Pure: the revision of the newest template. */
export function newRevision(set: DaemonSet, revision: number): CreateOf<ControllerRevision> {
  const { name, namespace, annotations } = set.metadata;
  const { template } = set.spec;
  const hash = templateHash(template, set.status?.collisionCount);
  return {
    metadata: {
      name: `${name.slice(0, LONGEST_PREFIX)}-${hash}`,
      ...(namespace !== undefined && { namespace }),
      labels: { ...template.metadata?.labels, [HASH_LABEL]: hash },
      ...(annotations !== undefined && { annotations }),
      ...ownedBy(set, DaemonSet),
    },
    data: templatePatch(set),
    revision,
  };
}

/** Pure: revisions beyond the limit, the oldest first; not those that pods still have. */
export function expiredRevisions(
  { spec }: DaemonSet,
  old: readonly ControllerRevision[],
  pods: readonly Pod[],
): readonly ControllerRevision[] {
  const live = new Set(pods.map(({ metadata }) => metadata.labels?.[HASH_LABEL]));
  const surplus = Math.max(0, old.length - (spec.revisionHistoryLimit ?? 10));
  return old.filter((one) => !live.has(hashOf(one))).slice(0, surplus);
}
