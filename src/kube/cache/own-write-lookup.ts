import { type Kind, type KubeObject, keyFromText } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { LiveReader } from '../client/kube-client.ts';
import type { ObjectEvent } from './cache.ts';
import type { ObjectStore } from './object-store.ts';
import type { OwnWrite } from './own-write.ts';

const CONFIRM_MS = 60_000;
/** Between two lookups: a watch that is down for a minute must not end in a flood of requests. */
const SPACING_MS = 100;

export interface LookupOptions {
  readonly kind: Kind;
  readonly store: ObjectStore;
  readonly live: LiveReader;
  readonly clock: Clock;
  readonly log: Log;
  /** The form in which it would come from the watch; undefined when the watch would not show it. */
  readonly form: (object: KubeObject) => KubeObject | undefined;
  /** The watch is past the write: its event will not come any more. */
  readonly isPast: (key: string, write: OwnWrite) => boolean;
  readonly tell: (events: readonly ObjectEvent[]) => void;
}

/** Asks the server about own writes that the watch has not shown within a minute (I21), one after the other. */
export class OwnWriteLookup {
  readonly #options: LookupOptions;
  #timer: Disposable | undefined;

  constructor(options: LookupOptions) {
    this.#options = options;
  }

  /** There is a write to look after. Nothing happens after the signal has aborted. */
  arm(signal: AbortSignal, afterMs = CONFIRM_MS): void {
    if (this.#timer !== undefined || signal.aborted) return;
    const stop = () => this.#timer?.[Symbol.dispose]();
    signal.addEventListener('abort', stop, { once: true });
    this.#timer = this.#options.clock.timer(afterMs, () => {
      signal.removeEventListener('abort', stop);
      // Rejects only when the signal aborts.
      this.#lookUpDue(signal).catch(() => {});
    });
  }

  async #lookUpDue(signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#options;
    const writes = new Map(store.ownWrites);
    for (const [key, write] of writes) {
      if (clock.monotonicMs() - write.sinceMs < CONFIRM_MS || this.#isOver(key, write)) continue;
      await this.#lookUp(key, write, signal);
      await clock.sleep(SPACING_MS, signal);
    }
    this.#timer = undefined;
    if (store.ownWrites.size === 0) return;
    let oldestMs = clock.monotonicMs();
    for (const { sinceMs } of store.ownWrites.values()) oldestMs = Math.min(oldestMs, sinceMs);
    this.arm(signal, Math.max(1_000, oldestMs + CONFIRM_MS - clock.monotonicMs()));
  }

  /** Left out by the selectors, and never shown: a watch that is past it has nothing to say, nor has the server. */
  #isOver(key: string, write: OwnWrite): boolean {
    const { store, clock, isPast, tell } = this.#options;
    const isHidden = write.object === undefined && write.delivered === undefined && write.gone.length === 0;
    if (!isHidden || !isPast(key, write)) return false;
    tell(store.looked(key, write, undefined, { isPast: true, nowMs: clock.monotonicMs() }));
    return true;
  }

  async #lookUp(key: string, write: OwnWrite, signal: AbortSignal): Promise<void> {
    const { kind, store, live, clock, log, form, isPast, tell } = this.#options;
    try {
      const found = await live.find(kind, keyFromText(key), { signal });
      signal.throwIfAborted();
      const formed = found === undefined ? undefined : form(found);
      const isLost = isPast(key, write);
      tell(store.looked(key, write, formed, { isPast: isLost, nowMs: clock.monotonicMs() }));
      log.debug({ key, isLost }, 'the watch did not show an own write within a minute');
    } catch (error) {
      // Nothing is known: the write stays, and is looked up again.
      log.debug({ err: error, key }, 'own write could not be looked up');
    }
  }
}
