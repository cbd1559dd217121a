import type { StoreEvent } from './store.ts';

/** Places where a test may stop the store, to see what is left (reliability T3.3). */
export type StorePoint =
  | 'before-append'
  | 'after-append'
  | 'before-sync'
  | 'after-sync'
  | 'before-publish'
  | 'after-publish'
  | 'before-compact'
  | 'compact-before-commit'
  | 'after-compact'
  | 'before-checkpoint'
  | 'after-checkpoint'
  | 'before-rename'
  | 'after-rename'
  | 'before-dirsync'
  | 'after-dirsync';

export type OnPoint = (point: StorePoint) => void;

/** Mistakes that tests plant, to see that the torture finds them (reliability C0.4). */
export type StoreBug = 'no-sync' | 'early-acknowledge' | 'early-publish' | 'unchecked-rows' | 'retried-sync';

/** One step of a compaction: history in (from, to] goes, with the rows that only it needed. */
export interface CompactionStep {
  readonly from: number;
  readonly to: number;
  /** Revisions of superseded rows and of tombstones. */
  readonly doomed: readonly number[];
}

/**
 * `full`: the disk has no room, later writes may succeed. `broken`: what is on the disk is no longer known, so nothing
 * may be written until the store was opened, and thereby verified, again (P7).
 */
export class JournalFailure extends Error {
  override readonly name = 'JournalFailure';
  readonly kind: 'full' | 'broken';

  constructor(kind: 'full' | 'broken', message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** Where committed changes go. One operation at a time; a failed one throws or rejects with JournalFailure. */
export interface Journal {
  /** Calls `run` soon: when it pays to collect more writes first, a little later. */
  schedule(run: () => void): void;
  append(events: readonly StoreEvent[]): Promise<void> | undefined;
  compact(step: CompactionStep): Promise<void> | undefined;
  backup(file: string): Promise<void>;
  /** Why there is no room for more now; asked only after a failure of kind `full`. */
  lackOfRoom(): string | undefined;
  /** `isSound` is false when nothing more may be written, not even to tidy up. */
  close(isSound: boolean): Promise<void>;
}
