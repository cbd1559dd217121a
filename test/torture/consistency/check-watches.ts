import { type Frame, type History, isIn, type Seen, type Violation, type Watch } from './history.ts';
import type { Change, Truth } from './truth.ts';

const GONE = 410;

interface Expected {
  readonly type: string;
  readonly revision: number;
  readonly seen: Seen;
}

/** T4.5: the promises of a watch, each its own (P14–P19). */
export function checkWatches(history: History, truth: Truth): readonly Violation[] {
  return history.watches.flatMap((watch) => checkWatch(watch, history, truth));
}

function checkWatch(watch: Watch, history: History, truth: Truth): readonly Violation[] {
  const named = (found: readonly Violation[]) =>
    found.map(({ rule, message }) => ({ rule, message: `${nameOf(watch)}: ${message}` }));
  const expired = watch.frames.find(({ type }) => type === 'ERROR');
  if (expired !== undefined) {
    const rest = watch.frames.filter((frame) => frame !== expired);
    return named([
      ...checkError(watch, expired, history),
      ...streamOf({ ...watch, frames: rest, openUntil: 0 }, truth),
    ]);
  }
  return named([...checkNotExpired(watch, history), ...streamOf(watch, truth)]);
}

const nameOf = ({ client, view, resourceVersion }: Watch): string =>
  `${client} of ${view.collection} ${view.namespace || 'everywhere'} ${view.selector} from "${resourceVersion}"`;

/** What came, as far as the server said where it starts. */
function streamOf(watch: Watch, truth: Truth): readonly Violation[] {
  const { resourceVersion, sendsInitial, frames } = watch;
  if (!sendsInitial && Number(resourceVersion) > 0)
    return checkStream(watch, frames, Number(resourceVersion), truth);
  if (sendsInitial) return checkInitial(watch, truth);
  return checkUnmarked(watch, truth);
}

/** The state up to the marker, then what follows. */
function checkInitial(watch: Watch, truth: Truth): readonly Violation[] {
  const end = watch.frames.findIndex(({ isInitialEnd }) => isInitialEnd);
  const marker = watch.frames[end];
  // Cut off before the end: nothing was promised yet.
  if (marker === undefined) return [];
  const { from } = truth.window({ invokedAt: watch.openedAt, returnedAt: Number.POSITIVE_INFINITY });
  const asked = watch.resourceVersion === '' ? from : Number(watch.resourceVersion);
  const stale =
    marker.revision < asked ? [{ rule: 'initial', message: `marker at ${marker.revision}, not ${asked}` }] : [];
  const state = watch.frames.slice(0, end);
  return [
    ...stale,
    ...(isState(watch, state, marker.revision, truth)
      ? []
      : [{ rule: 'initial', message: `the events before the marker are not the state at ${marker.revision}` }]),
    ...checkStream(watch, watch.frames.slice(end + 1), marker.revision, truth),
  ];
}

/** Without a marker some revision must explain how many of the events are the state. */
function checkUnmarked(watch: Watch, truth: Truth): readonly Violation[] {
  const { frames } = watch;
  const isSoFar = ({ size, revision }: { readonly size: number; readonly revision: number }) =>
    isState(watch, frames.slice(0, size), revision, truth) &&
    checkStream(watch, frames.slice(size), revision, truth).length === 0;
  if (sizesOf(watch, truth).some(isSoFar)) return [];
  // Closed before the whole state was there.
  if (watch.openUntil === 0 && frames.every(({ type }) => type === 'ADDED')) return [];
  return [{ rule: 'initial', message: 'no state explains the first events' }];
}

/** How many objects a view had at each revision, where that many events can have been the state. */
function sizesOf({ view, frames }: Watch, truth: Truth) {
  const other = frames.findIndex(({ type }) => type !== 'ADDED');
  const most = other < 0 ? frames.length : other;
  const counted = (seen: Seen | undefined) => (seen !== undefined && isIn(view, seen) ? 1 : 0);
  const sizes = [{ size: 0, revision: 0 }];
  for (const { before, after, revision } of truth.changes(view.collection)) {
    sizes.push({ size: (sizes.at(-1)?.size ?? 0) + counted(after) - counted(before), revision });
  }
  return sizes.filter(({ size, revision }) => size <= most && (frames[size]?.revision ?? revision) >= revision);
}

function isState({ view }: Watch, frames: readonly Frame[], revision: number, truth: Truth): boolean {
  const expected = truth.viewAt(view, revision);
  const byKey = new Map(frames.map((frame) => [frame.seen?.key, frame]));
  return (
    frames.length === expected.length &&
    expected.every(({ key, text, revision: at }) => {
      const frame = byKey.get(key);
      return frame?.type === 'ADDED' && frame.revision === at && frame.seen?.text === text;
    })
  );
}

function checkStream(watch: Watch, frames: readonly Frame[], after: number, truth: Truth): readonly Violation[] {
  const events = frames.filter(({ type }) => type !== 'BOOKMARK');
  const last = Math.max(watch.openUntil, after, ...frames.map(({ revision }) => revision));
  const expected = expectedEvents(watch, truth.changes(watch.view.collection)).filter(
    ({ revision }) => revision > after && revision <= last,
  );
  return [
    ...checkOrdered(events),
    ...checkUnique(events),
    ...checkResumed(events, after),
    ...checkBookmarks(frames, after),
    ...checkAtomic(events, truth, watch),
    ...checkReliable(events, expected),
  ];
}

/** What a watcher of a view must be told of each change. */
function expectedEvents({ view }: Watch, changes: readonly Change[]): readonly Expected[] {
  return changes.flatMap(({ before, after, revision, seen }) => {
    const wasIn = before !== undefined && isIn(view, before);
    const isNow = after !== undefined && isIn(view, after);
    if (isNow) return [{ type: wasIn ? 'MODIFIED' : 'ADDED', revision, seen: after }];
    // One that leaves is shown as it was when it still belonged (T6).
    return wasIn ? [{ type: 'DELETED', revision, seen: after === undefined ? seen : before }] : [];
  });
}

/** P14. */
function checkOrdered(events: readonly Frame[]): readonly Violation[] {
  return events.flatMap(({ revision }, index) => {
    const before = events[index - 1]?.revision ?? 0;
    return revision < before ? [{ rule: 'ordered', message: `${revision} came after ${before}` }] : [];
  });
}

/** P15. */
function checkUnique(events: readonly Frame[]): readonly Violation[] {
  const told = new Set<number>();
  return events.flatMap(({ revision }) => {
    if (told.has(revision)) return [{ rule: 'unique', message: `${revision} came twice` }];
    told.add(revision);
    return [];
  });
}

/** P16: an event shows one whole state, the one of its revision. */
function checkAtomic(events: readonly Frame[], truth: Truth, { view }: Watch): readonly Violation[] {
  const changes = new Map(truth.changes(view.collection).map((change) => [change.revision, change]));
  return events.flatMap(({ revision, seen }) => {
    const change = changes.get(revision);
    const states = [change?.seen.text, change?.before?.text];
    if (change !== undefined && seen !== undefined && seen.key === change.key && states.includes(seen.text))
      return [];
    return [{ rule: 'atomic', message: `the event at ${revision} shows what never was` }];
  });
}

/** P17: nothing is missing, nothing is made up, and each has the right type. */
function checkReliable(events: readonly Frame[], expected: readonly Expected[]): readonly Violation[] {
  const told = new Map(events.map((event) => [event.revision, event]));
  const due = new Set(expected.map(({ revision }) => revision));
  return [
    ...expected.flatMap(({ type, revision, seen }) => {
      const event = told.get(revision);
      if (event === undefined)
        return [{ rule: 'reliable', message: `${type} ${seen.key}@${revision} is missing` }];
      if (event.type !== type)
        return [{ rule: 'type', message: `${event.type} at ${revision} should be ${type}` }];
      const isRight = event.seen?.text === seen.text;
      return isRight ? [] : [{ rule: 'selector', message: `${type} at ${revision} shows the wrong state` }];
    }),
    ...events
      .filter(({ revision }) => !due.has(revision))
      .map(({ type, revision }) => ({ rule: 'selector', message: `${type} at ${revision} is not its business` })),
  ];
}

/** P18. */
function checkResumed(events: readonly Frame[], after: number): readonly Violation[] {
  return events
    .filter(({ revision }) => revision <= after)
    .map(({ revision }) => ({ rule: 'resumable', message: `got ${revision}, which is not after ${after}` }));
}

/** P19: behind a bookmark comes nothing that it spoke of. */
function checkBookmarks(frames: readonly Frame[], after: number): readonly Violation[] {
  let bookmark = 0;
  return frames.flatMap(({ type, revision }) => {
    if (type !== 'BOOKMARK') {
      return revision > bookmark
        ? []
        : [{ rule: 'bookmark', message: `${revision} came after bookmark ${bookmark}` }];
    }
    const isBack = revision < bookmark || revision < after;
    bookmark = Math.max(bookmark, revision);
    return isBack ? [{ rule: 'bookmark', message: `bookmark ${revision} goes back` }] : [];
  });
}

/** T4.6: 410 is for what was compacted, and for nothing else. */
function checkError(
  watch: Watch,
  { code }: Frame,
  { compactions, forgetsByItself }: History,
): readonly Violation[] {
  if (code !== GONE) return [{ rule: 'error', message: `ended with ${code}` }];
  const asked = Math.max(Number(watch.resourceVersion), ...watch.frames.map(({ revision }) => revision));
  if (forgetsByItself || compactions.some(({ revision }) => revision > asked)) return [];
  return [{ rule: 'expired', message: `${asked} is expired, but was never compacted` }];
}

function checkNotExpired(
  { resourceVersion, sendsInitial, openedAt }: Watch,
  history: History,
): readonly Violation[] {
  const asked = Number(resourceVersion);
  if (sendsInitial || !(asked > 0)) return [];
  const compacted = history.compactions.find(
    ({ revision, returnedAt }) => revision > asked && returnedAt < openedAt,
  );
  if (compacted === undefined) return [];
  return [{ rule: 'expired', message: `${asked} was compacted by ${compacted.revision} and is served` }];
}
