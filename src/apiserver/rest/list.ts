import type { JsonObject } from '../../object/json.ts';
import type { ApiResponse } from '../request.ts';
import { type Entry, RevisionCompacted } from '../store/store.ts';
import { jsonAnswer } from './answers.ts';
import { continueToken, listExpired, parseContinueToken } from './continue-token.ts';
import { type ListOptions, listOptions } from './list-options.ts';
import { listHeader, negotiateList, presentList } from './present.ts';
import { waitForRevision } from './revisions.ts';
import { type Selection, selectionOf } from './selection.ts';
import { keyOf, listPrefix, type Scope } from './services.ts';

const COMMA = Buffer.from(',');
const LIST_END = Buffer.from(']}');

/** GET of a collection. */
export async function list(scope: Scope): Promise<ApiResponse> {
  const as = negotiateList(scope);
  const options = listOptions(scope);
  const selection = selectionOf(scope);
  await awaitRevision(scope, options);
  const page = pageOf(scope, options, selection);
  const metadata = pageMetadata(scope, page);
  if (as.mediaType === 'json' && as.transform === undefined) {
    return listBytes(scope, await scope.codec.items(page.entries, scope.resource), metadata);
  }
  const objects = await scope.codec.readAll(page.entries, scope.resource);
  return presentList(scope, { objects, metadata }, as);
}

/** `resourceVersion=N` means "not older than N" (L4): wait for it, but not for ever. */
async function awaitRevision(scope: Scope, { resourceVersion, continueToken: token }: ListOptions): Promise<void> {
  if (resourceVersion !== '' && resourceVersion !== '0') await waitForRevision(scope, Number(resourceVersion));
  // A token that nobody gave out may name a revision of the future.
  if (token !== '') await waitForRevision(scope, parseContinueToken(token, scope.store.incarnation).revision);
}

interface Page {
  readonly entries: readonly Entry[];
  /** Revision of the snapshot. */
  readonly revision: number;
  readonly next: string | undefined;
  readonly remaining: number | undefined;
}

function pageOf(scope: Scope, options: ListOptions, selection: Selection): Page {
  try {
    return snapshotPage(scope, options, selection);
  } catch (error) {
    if (!(error instanceof RevisionCompacted)) throw error;
    const { incarnation } = scope.store;
    if (options.continueToken === '') throw listExpired();
    const { start } = parseContinueToken(options.continueToken, incarnation);
    throw listExpired(continueToken({ revision: -1, start, incarnation }));
  }
}

function snapshotPage(scope: Scope, options: ListOptions, selection: Selection): Page {
  const { store } = scope;
  // resourceVersion=0 may be answered from a cache upstream, which ignores the limit (L4).
  const limit = options.resourceVersion === '0' && options.continueToken === '' ? 0 : options.limit;
  const { revision, start } = snapshotOf(scope, { ...options, limit });
  const isLatest = revision === store.revision && start === undefined;
  const entries = isLatest ? latestEntries(scope, selection) : store.listAt(listPrefixOf(scope), revision, start);
  return takePage(scope, { entries, revision, limit, selection });
}

const listPrefixOf = (scope: Scope): string => listPrefix(scope.resource, scope.info.namespace);

function snapshotOf(
  scope: Scope,
  options: ListOptions,
): { readonly revision: number; readonly start: string | undefined } {
  const { store } = scope;
  if (options.continueToken !== '') {
    const { revision, start } = parseContinueToken(options.continueToken, store.incarnation);
    const at = revision === -1 ? store.revision : revision;
    return { revision: at, start: `${listPrefixOf(scope)}${start}` };
  }
  const asked = options.resourceVersion === '' ? 0 : Number(options.resourceVersion);
  const isExact = options.match === 'Exact' || (asked > 0 && options.limit > 0 && options.match === '');
  return { revision: isExact && asked > 0 ? asked : store.revision, start: undefined };
}

/** The current state; one object when the selector names it. */
function latestEntries({ store, resource, info }: Scope, { name }: Selection): Iterable<Entry> {
  if (name === undefined || (resource.isNamespaced && info.namespace === '')) {
    return store.list(listPrefix(resource, info.namespace));
  }
  const entry = store.get(keyOf(resource, info.namespace, name));
  return entry === undefined ? [] : [entry];
}

interface Taking {
  readonly entries: Iterable<Entry>;
  readonly revision: number;
  readonly limit: number;
  readonly selection: Selection;
}

function takePage(scope: Scope, { entries, revision, limit, selection }: Taking): Page {
  const taken: Entry[] = [];
  let left = 0;
  for (const entry of entries) {
    if (!selection.isAll && !selection.matches(entry)) continue;
    if (limit === 0 || taken.length < limit) {
      taken.push(entry);
      continue;
    }
    left++;
    // Without a selector the rest is counted (L2); with one, a single match more is all that matters.
    if (!selection.isAll) break;
  }
  const last = taken.at(-1)?.key.slice(listPrefixOf(scope).length) ?? '';
  const next = left > 0 ? `${last}\0` : undefined;
  return { entries: taken, revision, next, remaining: left > 0 && selection.isAll ? left : undefined };
}

function pageMetadata({ store, resource }: Scope, { revision, next, remaining }: Page): JsonObject {
  const token = next === undefined ? '' : continueToken({ revision, start: next, incarnation: store.incarnation });
  return {
    ...((token !== '' || resource.isCustom) && { continue: token }),
    ...(remaining !== undefined && { remainingItemCount: remaining }),
    resourceVersion: String(revision),
  };
}

/** The stored bytes, one after the other (I2). */
function listBytes(scope: Scope, items: readonly Uint8Array[], metadata: JsonObject): ApiResponse {
  const head = JSON.stringify({ ...listHeader(scope), metadata }).slice(0, -1);
  const body: Uint8Array[] = [Buffer.from(`${head},"items":[`)];
  items.forEach((item, index) => {
    if (index > 0) body.push(COMMA);
    body.push(item);
  });
  body.push(LIST_END);
  return jsonAnswer(200, body);
}
