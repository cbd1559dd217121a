import type { Get, History, List, Seen, Violation } from './history.ts';
import { isSuccess, type Truth } from './truth.ts';

const GONE = 410;

/** T4.4: every read is the state at one revision, and as new as it was asked to be. */
export function checkReads(history: History, truth: Truth): readonly Violation[] {
  const gets = history.operations.filter((operation) => operation.kind === 'get');
  const lists = history.operations.filter((operation) => operation.kind === 'list');
  const whole = lists.filter(({ chain }) => chain === undefined);
  return [
    ...gets.flatMap((get) => checkGet(get, truth)),
    ...whole
      .filter(isSuccess)
      .flatMap((list) => [...checkFreshness(list, truth), ...checkState(list, list.items, truth)]),
    ...checkChains(lists, truth),
    ...checkMonotonic(whole.filter(isSuccess)),
    ...lists.flatMap((list) => checkExpired(list, history)),
  ];
}

function checkGet(get: Get, truth: Truth): readonly Violation[] {
  const { collection, key, status, seen } = get;
  if (status !== 200 && status !== 404) return [];
  const { from, to } = truth.window(get);
  const changes = truth.of(collection, key).filter(({ revision }) => revision > from && revision <= to);
  const states = [truth.objectAt(collection, key, from), ...changes.map(({ after }) => after)];
  const isRight = states.some((state) => isSame(state, seen));
  if (isRight) return [];
  const got = seen === undefined ? 'nothing' : String(seen.revision);
  return [{ rule: 'read', message: `${get.client} got ${got} as ${key} when the server was at ${from} to ${to}` }];
}

const isSame = (a: Seen | undefined, b: Seen | undefined): boolean =>
  a?.revision === b?.revision && a?.text === b?.text;

function checkFreshness(list: List, truth: Truth): readonly Violation[] {
  const { revision, resourceVersion, match } = list;
  const { from, to } = truth.window(list);
  const asked = resourceVersion === '' ? from : Number(resourceVersion);
  const problems = [
    revision > to && 'which was not there yet',
    revision < asked && `older than ${asked}`,
    match === 'Exact' && revision !== asked && `not exactly ${asked}`,
  ];
  return problems
    .filter((problem) => problem !== false)
    .map((problem) => ({ rule: 'freshness', message: `list of ${list.client} is at ${revision}, ${problem}` }));
}

function checkState(list: List, items: readonly Seen[], truth: Truth): readonly Violation[] {
  const expected = truth.viewAt(list.view, list.revision);
  if (expected.length === items.length && expected.every((seen, index) => isSame(seen, items[index]))) return [];
  const shown = (all: readonly Seen[]) => all.map(({ key, revision }) => `${key}@${revision}`).join(' ');
  const message = `${list.client} at ${list.revision}: ${shown(items)}; was: ${shown(expected)}`;
  return [{ rule: list.chain === undefined ? 'snapshot' : 'pages', message }];
}

/** The pages of one list are one snapshot. */
function checkChains(lists: readonly List[], truth: Truth): readonly Violation[] {
  const chains = Map.groupBy(
    lists.filter(({ chain }) => chain !== undefined),
    ({ chain }) => chain,
  );
  return [...chains.values()].flatMap((pages) => {
    const good = pages.filter(isSuccess);
    const [first] = good;
    if (first === undefined) return [];
    if (good.some(({ revision }) => revision !== first.revision)) {
      return [{ rule: 'pages', message: `${first.client}: pages of one list are of different revisions` }];
    }
    const isComplete = good.at(-1)?.hasMore === false;
    const items = good.flatMap(({ items: own }) => own);
    return [...checkFreshness(first, truth), ...(isComplete ? checkState(first, items, truth) : [])];
  });
}

/** A client is never shown an older state than before, even from a cache. */
function checkMonotonic(lists: readonly List[]): readonly Violation[] {
  const newest = new Map<string, number>();
  return lists
    .filter(({ resourceVersion }) => resourceVersion === '' || resourceVersion === '0')
    .toSorted((a, b) => a.invokedAt - b.invokedAt)
    .flatMap(({ client, view, revision }) => {
      const key = `${client} ${view.collection}`;
      const before = newest.get(key) ?? 0;
      newest.set(key, Math.max(before, revision));
      if (revision >= before) return [];
      return [{ rule: 'monotonic', message: `${client} saw ${before} and then ${revision}` }];
    });
}

/** 410 only for what was compacted. */
function checkExpired(list: List, history: History): readonly Violation[] {
  if (list.status !== GONE || history.forgetsByItself) return [];
  const isPossible = history.compactions.some(({ invokedAt }) => invokedAt < list.returnedAt);
  const asked = list.revision;
  const wasForgotten = history.compactions.some(
    ({ revision, invokedAt }) => invokedAt < list.returnedAt && revision > asked,
  );
  if (asked > 0 ? wasForgotten : isPossible) return [];
  return [{ rule: 'expired', message: `list of ${list.client} at ${asked} is expired without compaction` }];
}
