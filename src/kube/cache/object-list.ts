import { type Kind, type KubeObject, type ObjectList } from '../../api/object.ts';
import { isExpired } from '../client/api-error.ts';
import type { ListOptions, LiveReader } from '../client/kube-client.ts';
import { badData } from './object-form.ts';

const PAGE = 500;

/** What is listed: a part of a resource. */
export interface ListScope {
  readonly kind: Kind;
  readonly namespace?: string | undefined;
  readonly labels?: string | undefined;
  readonly fields?: string | undefined;
  readonly metadataOnly?: boolean | undefined;
}

export const scopeOptions = ({ namespace, labels, fields, metadataOnly }: ListScope) => ({
  ...(namespace !== undefined && { namespace }),
  ...(labels !== undefined && { labels }),
  ...(fields !== undefined && { fields }),
  ...(metadataOnly !== undefined && { metadataOnly }),
});

export interface Pages {
  /** False when an object of the page was taken before. */
  readonly take: (items: readonly KubeObject[]) => Promise<boolean>;
  /** Forget what was taken: everything comes once more. */
  readonly restart: () => void;
}

/**
 * Everything in a scope, given to `take` page by page; resolves to the version of the list. Not paged when served from
 * the server's memory (version 0). Pages that expire, repeat or go in a circle are followed by one list of everything,
 * so that nothing is missing without being deleted.
 */
export async function listPages(
  live: LiveReader,
  scope: ListScope,
  options: ListOptions,
  pages: Pages,
): Promise<string> {
  const base = { ...scopeOptions(scope), ...(options.signal !== undefined && { signal: options.signal }) };
  const first = await live.list(scope.kind, {
    ...base,
    ...options,
    ...(options.resourceVersion !== '0' && { limit: PAGE }),
  });
  const version = versionOfList(first);
  const next = (token: string) => live.list(scope.kind, { ...base, limit: PAGE, continue: token });
  if (await areTaken(first, next, pages)) return version;
  pages.restart();
  const whole = await live.list(scope.kind, { ...base, resourceVersion: '' });
  if (!(await pages.take(whole.items)) || tokenOf(whole) !== '') {
    throw badData('a list with the same object twice, or a part where everything was asked for');
  }
  return versionOfList(whole);
}

/** Follows the pages; false when they do not lead to the end. */
async function areTaken(
  first: ObjectList,
  next: (token: string) => Promise<ObjectList>,
  { take }: Pages,
): Promise<boolean> {
  const tokens = new Set<string>();
  for (let list = first; await take(list.items); ) {
    const token = tokenOf(list);
    if (token === '') return true;
    if (tokens.has(token)) return false;
    tokens.add(token);
    try {
      list = await next(token);
    } catch (error) {
      if (isExpired(error)) return false;
      throw error;
    }
  }
  return false;
}

const tokenOf = ({ metadata }: ObjectList): string => metadata.continue ?? '';

function versionOfList({ metadata }: ObjectList): string {
  const { resourceVersion = '' } = metadata;
  if (resourceVersion === '' || resourceVersion === '0') throw badData('a list without resourceVersion');
  return resourceVersion;
}
