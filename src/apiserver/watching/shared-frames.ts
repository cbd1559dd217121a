import type { StoreEvent } from '../store/store.ts';
import type { Maybe } from './frames.ts';

// Enough for the events of one commit; older ones are only asked for by watches that start in the past.
const SHARED_EVENTS = 256;
const SHARED_BYTES = 16 * 1024 * 1024;

interface Shared {
  readonly event: StoreEvent;
  readonly byForm: Map<string, Maybe<Uint8Array>>;
  bytes: number;
}

/** Frames that several watchers of one event share: one serialisation per event and form (I5). */
export class SharedFrames {
  readonly #byEvent = new Map<StoreEvent, Shared>();
  #last: Shared | undefined;
  #bytes = 0;
  #encoded = 0;
  #parts: readonly Uint8Array[] = [];
  #joined: Uint8Array = Buffer.alloc(0);

  /** How often a frame was made, for the test that they are shared. */
  get encoded(): number {
    return this.#encoded;
  }

  get(event: StoreEvent, form: string): Maybe<Uint8Array> | undefined {
    // One event goes to all watchers before the next one does.
    if (this.#last?.event !== event) this.#last = this.#byEvent.get(event);
    return this.#last?.byForm.get(form);
  }

  keep(event: StoreEvent, form: string, frame: Maybe<Uint8Array>): Maybe<Uint8Array> {
    this.#encoded++;
    const shared = this.#byEvent.get(event) ?? { event, byForm: new Map(), bytes: 0 };
    shared.byForm.set(form, frame);
    const bytes = frame instanceof Promise ? event.entry.bytes.length : frame.length;
    shared.bytes += bytes;
    this.#bytes += bytes;
    this.#byEvent.set(event, shared);
    this.#last = shared;
    this.#dropOldest(event);
    return frame;
  }

  /** Frames one after the other; watchers that got the same ones share the copy. */
  join(parts: readonly Uint8Array[]): Uint8Array {
    const [first] = parts;
    if (first !== undefined && parts.length === 1) return first;
    if (!isSame(parts, this.#parts)) {
      this.#parts = parts;
      this.#joined = Buffer.concat(parts);
    }
    return this.#joined;
  }

  #dropOldest(newest: StoreEvent): void {
    while (this.#byEvent.size > SHARED_EVENTS || this.#bytes > SHARED_BYTES) {
      const [oldest] = this.#byEvent.values();
      if (oldest === undefined || oldest.event === newest) return;
      this.#byEvent.delete(oldest.event);
      this.#bytes -= oldest.bytes;
    }
  }
}

const isSame = (parts: readonly Uint8Array[], others: readonly Uint8Array[]): boolean =>
  parts.length === others.length && parts.every((part, index) => part === others[index]);
