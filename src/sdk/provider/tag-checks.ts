import { types } from 'node:util';
import { messageOf } from '../../base/errors.ts';
import { isPlain } from './plain-copy.ts';
import type { TagRules } from './provider-definition.ts';
import { callable, found, type Note, optional, record, regexp, type Shape, whole } from './shape.ts';

const CODE = 'SW2116';

/** The installer makes infrastructure ids of this length at most. */
const SAMPLE_IDS = ['acme-production-eu1-x7k2p', 'acme-production-eu1-q9w4z'] as const;

/** Under which tag the things of a cluster are found when the definition does not say. */
export const defaultClusterKey = (clusterId: string): string => `kubernetes.io/cluster/${clusterId}`;

/** The key of the cluster tag for an id as long as they get; undefined when the definition makes none. */
export function longestClusterKey({ clusterKey = defaultClusterKey }: TagRules): string | undefined {
  try {
    return clusterKey('a'.repeat(27));
  } catch {
    return undefined;
  }
}

const fields = record<TagRules>({
  clusterKey: optional(callable),
  maxKey: optional(whole(1)),
  maxValue: optional(whole(5)),
  allowed: optional(regexp),
});

export const tagRules: Shape = (value, path, note) => {
  fields(value, path, note);
  if (!isPlain(value)) return;
  const { clusterKey = defaultClusterKey, allowed } = value;
  if (typeof clusterKey !== 'function') return;
  const keys = SAMPLE_IDS.map((id) =>
    keyFor(clusterKey as (id: string) => unknown, id, `${path}.clusterKey`, note),
  );
  const [first, second] = keys;
  if (first === undefined || second === undefined) return;
  if (first === second) {
    note({
      path: `${path}.clusterKey`,
      code: CODE,
      message: `${path}.clusterKey must differ between clusters, but gave ${found(first)} for two`,
      hint: 'make the id part of the key, such as `acme/cluster/${id}`',
      why: 'what belongs to one cluster would be removed with the other',
    });
  }
  if (types.isRegExp(allowed) && !allowed.global && !allowed.sticky && !allowed.test(first)) {
    note({
      path: `${path}.allowed`,
      code: CODE,
      message: `${path}.allowed must match the key of the cluster tag, but ${found(allowed)} does not match ${found(first)}`,
      hint: 'give a clusterKey of allowed letters',
      why: 'nothing of the cluster could be found again',
    });
  }
};

/** The same in every call: one finding for one cause. */
function keyFor(clusterKey: (id: string) => unknown, id: string, path: string, note: Note): string | undefined {
  const wrong = (trouble: string): void => {
    if (id !== SAMPLE_IDS[0]) return;
    note({
      path,
      code: CODE,
      message: `${path} must return the key of a tag, but for ${found(id)} it ${trouble}`,
      hint: 'return text, such as `acme/cluster/${id}`',
    });
  };
  try {
    const key = clusterKey(id);
    if (typeof key === 'string' && key.trim() !== '') return key;
    if (types.isPromise(key)) key.catch(() => {});
    wrong(`returned ${found(key)}`);
  } catch (thrown) {
    wrong(`threw ${found(messageOf(thrown))}`);
  }
  return undefined;
}
