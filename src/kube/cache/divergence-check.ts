import { type KubeObject, keyOf, keyText } from '../../api/object.ts';
import { retryError } from '../../base/errors.ts';
import type { LiveReader } from '../client/kube-client.ts';
import { isSameState } from './object-changes.ts';
import { type ListScope, listPages } from './object-list.ts';
import { versionOf } from './own-write.ts';
import { compareVersions } from './resource-version.ts';

export interface Comparison {
  readonly live: LiveReader;
  readonly scope: ListScope;
  /** What the cache held at `version`; is used up. */
  readonly held: Map<string, KubeObject>;
  readonly version: string;
  readonly signal: AbortSignal;
}

/**
 * Keys at which the cache differs from the server at the very same version (P21): events that were lost, swapped or made
 * up. Reads only metadata. Rejects when the server does not have that version any more: then nothing is known.
 */
export async function divergentKeys({ live, scope, held, version, signal }: Comparison): Promise<string[]> {
  const different: string[] = [];
  const take = async (items: readonly KubeObject[]): Promise<boolean> => {
    for (const item of items) {
      const key = keyText(keyOf(item));
      const known = held.get(key);
      if (!isAhead(known, version) && (known === undefined || !isSameState(known, item))) different.push(key);
      held.delete(key);
    }
    return true;
  };
  const restart = (): void => {
    throw retryError('Expired', 'the pages of the comparison expired');
  };
  const metadata = { ...scope, metadataOnly: true };
  const options = { resourceVersion: version, resourceVersionMatch: 'Exact', signal } as const;
  await listPages(live, metadata, options, { take, restart });
  const missing = [...held].filter(([, object]) => !isAhead(object, version)).map(([key]) => key);
  return [...different, ...missing];
}

/** What was looked up is newer than what the watch has shown: that version says nothing about it. */
const isAhead = (object: KubeObject | undefined, version: string): boolean =>
  object !== undefined && compareVersions(versionOf(object), version) > 0;
