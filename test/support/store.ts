import { openSqliteStore, type SqliteStoreOptions } from '../../src/apiserver/store/sqlite-store.ts';
import type { Render, Store } from '../../src/apiserver/store/store.ts';
import { VirtualClock } from '../../src/base/clock.ts';
import type { Log, LogFields } from '../../src/base/log.ts';

export const CONFIG_MAPS = '/registry/core/configmaps/';
export const PODS = '/registry/core/pods/';

/** What the API server would store: JSON with the revision inside. */
export const rendered =
  (data: string): Render =>
  (revision) =>
    Buffer.from(JSON.stringify({ metadata: { resourceVersion: String(revision) }, data }));

export const dataOf = (bytes: Uint8Array | undefined): unknown =>
  bytes === undefined ? undefined : JSON.parse(Buffer.from(bytes).toString()).data;

/** All objects, as text that can be compared. */
export const contentOf = (store: Store): readonly string[] =>
  [...store.list('')].map(({ key, revision, createRevision, bytes }) =>
    [key, revision, createRevision, Buffer.from(bytes).toString()].join(' '),
  );

export interface Line {
  readonly level: string;
  readonly fields: LogFields;
  readonly message: string;
}

export function recordedLog(): { readonly log: Log; readonly lines: readonly Line[] } {
  const lines: Line[] = [];
  const at = (level: string) => (fields: LogFields, message: string) =>
    void lines.push({ level, fields, message });
  const log: Log = {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    child: () => log,
  };
  return { log, lines };
}

let seeds = 1;

/** A store on disk whose work happens on this thread; every one has identifiers of its own. */
export const openTestStore = (directory: string, options: Partial<SqliteStoreOptions> = {}): Promise<Store> =>
  openSqliteStore({
    directory,
    durability: 'full',
    clock: new VirtualClock({ seed: seeds++ }),
    onPoint: () => undefined,
    ...options,
  });
