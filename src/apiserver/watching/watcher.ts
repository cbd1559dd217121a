import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { StreamSink } from '../request.ts';
import type { Selection } from '../rest/selection.ts';
import { expired, internalError, StatusError } from '../status.ts';
import { type Entry, RevisionCompacted, type StoreEvent } from '../store/store.ts';
import type { EventType, Framer, Maybe } from './frames.ts';
import type { SharedFrames } from './shared-frames.ts';

/** Unsent bytes at which a watch stops being fed and is left to read the history at its own pace. */
const MOST_QUEUED_BYTES = 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
/** A client that takes nothing for so long while so many changes wait is given up, never skipped (T11, P20). */
const PATIENCE_MS = 5000;
const MOST_MISSED_EVENTS = 1000;
// Frames that are asked for together, so that those which need a webhook do not wait for each other.
const AHEAD = 16;

export interface WatcherOptions {
  readonly sink: StreamSink;
  readonly framer: Framer;
  readonly frames: SharedFrames;
  readonly selection: Selection;
  readonly clock: Clock;
  /** Changes up to this revision are not the client's business. */
  readonly after: number;
  /** Committed changes after a revision; throws RevisionCompacted. */
  readonly history: (after: number) => Iterable<StoreEvent>;
  /** Called once, when the watcher gave up on a client. */
  readonly onTerminated: () => void;
  readonly onSent: (count: number) => void;
}

/**
 * Sends the changes of one watch in revision order, without gaps (T10). It is fed with every change as long as the
 * client keeps up. Otherwise, and at the start, it is behind: it reads the history as fast as the client takes it, so
 * that a slow client costs a bounded buffer and delays nobody.
 */
export class Watcher {
  readonly #options: WatcherOptions;
  /** Everything up to here was handed to the sink or lies in `#ready`. */
  #sent: number;
  #ready: Uint8Array[] = [];
  #isFlushing = false;
  #isBehind = false;
  #missed = 0;
  #isEnding = false;
  #isOver = false;

  constructor(options: WatcherOptions) {
    this.#options = options;
    this.#sent = options.after;
  }

  /** A committed change; called in revision order. */
  event(event: StoreEvent): void {
    if (this.#isOver || event.revision <= this.#sent) return;
    if (this.#isBehind) {
      this.#missed++;
      return;
    }
    const made = this.#frameOf(event);
    if (made instanceof Promise) {
      void this.#catchUp();
      return;
    }
    this.#sent = event.revision;
    if (made !== undefined) this.#push(made);
  }

  /** Begins with the state, if it is asked for, and what changed since; `end` is the line after the state. */
  start(state: readonly Entry[] = [], end?: () => Uint8Array): void {
    void this.#catchUp(state, end);
  }

  /**
   * Sends a bookmark, unless something that it would claim to be sent is still to come (T8, P19). One who waits for a
   * revision in the future hears nothing before it (T4).
   */
  bookmark(revision: number): void {
    if (this.#isOver || this.#isBehind || revision < this.#sent) return;
    this.#push(this.#options.framer.bookmark(revision, false));
  }

  /** Ends cleanly after everything that is due by now was sent. */
  end(): void {
    this.#isEnding = true;
    if (!this.#isBehind) this.#finish();
  }

  /** Stops without a word: the client is gone. */
  stop(): void {
    this.#isOver = true;
    this.#ready = [];
  }

  /** The line that tells of a change; undefined when it is not the client's business. */
  #frameOf(event: StoreEvent): Maybe<Uint8Array> | undefined {
    const type = this.#typeOf(event);
    if (type === undefined) return undefined;
    const { framer, frames } = this.#options;
    return framer.event(frames, type, event);
  }

  #typeOf({ previous, entry, isRemoval }: StoreEvent): EventType | undefined {
    const { selection } = this.#options;
    const wasIn = previous !== undefined && (selection.isAll || selection.matches(previous));
    const isIn = !isRemoval && (selection.isAll || selection.matches(entry));
    if (isIn) return wasIn ? 'MODIFIED' : 'ADDED';
    return wasIn ? 'DELETED' : undefined;
  }

  async #catchUp(state: readonly Entry[] = [], end?: () => Uint8Array): Promise<void> {
    this.#isBehind = true;
    try {
      if (this.#options.sink.queuedBytes > CHUNK_BYTES) await this.#drained();
      // Waiting for nothing unless it must: a watch that starts at the present is not behind for a single turn.
      if (state.length > 0) await this.#send(state, (entry) => this.#options.framer.entry('ADDED', entry));
      if (end !== undefined) this.#ready.push(end());
      await this.#sendHistory();
      if (this.#isEnding) this.#finish();
    } catch (error) {
      this.#fail(statusOf(error, this.#sent));
    }
  }

  /** Returns when nothing is left: from then on every change is fed to the watcher. */
  async #sendHistory(): Promise<void> {
    for (;;) {
      if (this.#isOver) return;
      const events = [...this.#options.history(this.#sent)];
      this.#missed = events.length;
      if (events.length === 0) break;
      await this.#send(events, (event) => this.#frameOf(event));
      this.#sent = events.at(-1)?.revision ?? this.#sent;
    }
    this.#isBehind = false;
    this.#flush();
  }

  async #send<T>(items: readonly T[], make: (item: T) => Maybe<Uint8Array> | undefined): Promise<void> {
    let bytes = 0;
    for (let at = 0; at < items.length; at += AHEAD) {
      const frames = items.slice(at, at + AHEAD).map(make);
      // Whoever waits for it hears of a failure; until then it is nobody's.
      for (const made of frames) if (made instanceof Promise) made.catch(() => undefined);
      for (const made of frames) {
        const frame = made instanceof Promise ? await made : made;
        if (this.#isOver) return;
        if (frame === undefined) continue;
        this.#ready.push(frame);
        bytes += frame.length;
        if (bytes < CHUNK_BYTES) continue;
        bytes = 0;
        await this.#flushAndWait();
      }
    }
  }

  async #flushAndWait(): Promise<void> {
    this.#flush();
    if (this.#options.sink.queuedBytes > CHUNK_BYTES) await this.#drained();
  }

  #push(frame: Uint8Array): void {
    this.#ready.push(frame);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    // All changes of one commit arrive in one turn: they leave as one write.
    queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushing = false;
    if (this.#isOver || this.#ready.length === 0) return;
    const { sink, frames, onSent } = this.#options;
    const ready = this.#ready;
    this.#ready = [];
    sink.write(frames.join(ready));
    onSent(ready.length);
    if (!this.#isBehind && sink.queuedBytes > MOST_QUEUED_BYTES) void this.#catchUp();
  }

  /** Waits for a client that has enough for now, but not for ever. */
  async #drained(): Promise<void> {
    const { sink, clock } = this.#options;
    const check = () => {
      if (this.#isEnding || this.#missed >= MOST_MISSED_EVENTS) this.#terminate();
      else watchdog = clock.timer(PATIENCE_MS, check);
    };
    let watchdog = clock.timer(PATIENCE_MS, check);
    try {
      await sink.drained();
    } finally {
      watchdog[Symbol.dispose]();
    }
  }

  #fail(error: StatusError): void {
    if (this.#isOver) return;
    this.#ready.push(this.#options.framer.error(error));
    this.#finish();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#flush();
    this.#isOver = true;
    this.#options.sink.end();
  }

  #terminate(): void {
    if (this.#isOver) return;
    this.stop();
    this.#options.sink.destroy();
    this.#options.onTerminated();
  }
}

function statusOf(error: unknown, after: number): StatusError {
  if (error instanceof RevisionCompacted) {
    return expired(`too old resource version: ${after} (${error.oldest})`);
  }
  return error instanceof StatusError ? error : internalError(messageOf(error));
}
