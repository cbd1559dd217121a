import { type Entry, RevisionCompacted, type Store } from '../../../src/apiserver/store/store.ts';
import type { Frame, History, Watch } from './history.ts';

export interface StoreMutant {
  readonly name: string;
  /** One of these must be found. */
  readonly rules: readonly string[];
  /** Plants the mistake into the store of a running server. */
  readonly plant: (store: Store) => void;
}

const WATCHED = /^\/registry\/(core\/configmaps|consistency)/;

/** Replaces how the history is read, once per place: a mistake for ever would be a loop. */
function misreadHistory(
  store: Store,
  misread: (prefix: string, after: number) => ReturnType<Store['history']> | undefined,
): void {
  const history = store.history.bind(store);
  const done = new Set<string>();
  store.history = (prefix, after) => {
    const place = `${prefix} ${after}`;
    if (!WATCHED.test(prefix) || done.has(place)) return history(prefix, after);
    done.add(place);
    return misread(prefix, after) ?? history(prefix, after);
  };
}

const compactedBy = (store: Store, after: number): boolean => after < store.compactRevision;

export const STORE_MUTANTS: readonly StoreMutant[] = [
  {
    name: 'a watch resumes at its revision instead of after it',
    rules: ['resumable', 'unique'],
    plant: (store) => {
      const history = store.history.bind(store);
      misreadHistory(store, (prefix, after) =>
        compactedBy(store, after - 1) ? undefined : history(prefix, after - 1),
      );
    },
  },
  {
    name: 'a watch resumes two after its revision',
    rules: ['reliable'],
    plant: (store) => {
      const history = store.history.bind(store);
      misreadHistory(store, (prefix, after) =>
        compactedBy(store, after) ? undefined : [...history(prefix, after)].slice(1),
      );
    },
  },
  {
    name: 'the pages of a list read the current state',
    rules: ['pages', 'snapshot'],
    plant: (store) => {
      store.listAt = (prefix, _revision, start = prefix) =>
        [...store.list(prefix)].filter(({ key }) => key >= start);
    },
  },
  {
    name: 'a read is older than the own write',
    rules: ['read'],
    plant: (store) => {
      const before = new Map<string, Entry | undefined>();
      store.subscribe('/registry/', ({ key, previous }) => before.set(key, previous));
      const get = store.get.bind(store);
      let reads = 0;
      store.get = (key) =>
        WATCHED.test(key) && before.has(key) && ++reads % 3 === 0 ? before.get(key) : get(key);
    },
  },
  {
    name: 'one revision more than was kept can be watched from',
    rules: ['expired', 'reliable'],
    plant: (store) => {
      const history = store.history.bind(store);
      store.history = (prefix, after) => history(prefix, after === store.compactRevision - 1 ? after + 1 : after);
    },
  },
  {
    name: 'one revision less than was kept can be watched from',
    rules: ['expired'],
    plant: (store) => {
      const history = store.history.bind(store);
      store.history = (prefix, after) => {
        if (WATCHED.test(prefix) && store.compactRevision > 0 && after === store.compactRevision) {
          throw new RevisionCompacted(after, after + 1);
        }
        return history(prefix, after);
      };
    },
  },
];

export interface StreamMutant {
  readonly name: string;
  readonly rules: readonly string[];
  /** What the client would have got; undefined when there was no occasion. */
  readonly change: (frames: readonly Frame[], watch: Watch) => readonly Frame[] | undefined;
}

/** Where in a plain stream of changes something can go wrong with a change that comes after another one. */
function occasion(frames: readonly Frame[], { sendsInitial, resourceVersion }: Watch): number {
  if (sendsInitial || !(Number(resourceVersion) > 0)) return -1;
  return frames.findIndex(({ seen }, index) => seen !== undefined && frames[index - 1]?.seen !== undefined);
}

const bookmarkAt = ({ revision }: Frame): Frame => ({ type: 'BOOKMARK', revision, code: 0, isInitialEnd: false });

export const STREAM_MUTANTS: readonly StreamMutant[] = [
  {
    name: 'a bookmark overtakes queued events',
    rules: ['bookmark'],
    change: (frames, watch) => {
      const index = occasion(frames, watch);
      const overtaken = frames[index];
      return overtaken && frames.toSpliced(index, 0, bookmarkAt(overtaken));
    },
  },
  {
    name: 'an object that leaves the selection is called modified',
    rules: ['type'],
    change: (frames, { view, sendsInitial, resourceVersion }) => {
      if (view.selector === '' || sendsInitial || !(Number(resourceVersion) > 0)) return undefined;
      const index = frames.findIndex(({ type }) => type === 'DELETED');
      const frame = frames[index];
      return frame && frames.with(index, { ...frame, type: 'MODIFIED' });
    },
  },
  {
    name: 'two events change places',
    rules: ['ordered'],
    change: (frames, watch) => {
      const index = occasion(frames, watch);
      const [first, second] = [frames[index - 1], frames[index]];
      return first && second && frames.with(index - 1, second).with(index, first);
    },
  },
  {
    name: 'an event is lost',
    rules: ['reliable'],
    change: (frames, watch) => {
      const index = occasion(frames, watch);
      return index < 0 ? undefined : frames.toSpliced(index - 1, 1);
    },
  },
];

/** The same history with one watch changed; undefined when none gives occasion. */
export function mutated(history: History, { change }: StreamMutant): History | undefined {
  for (const [index, watch] of history.watches.entries()) {
    const frames = watch.frames.some(({ type }) => type === 'ERROR') ? undefined : change(watch.frames, watch);
    if (frames !== undefined) return { ...history, watches: history.watches.with(index, { ...watch, frames }) };
  }
  return undefined;
}
