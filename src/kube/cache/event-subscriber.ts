import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { ObjectEvent, ObjectHandler } from './cache.ts';
import { Turns } from './event-loop.ts';

/**
 * Tells one handler, in order, and never a thousand events in one turn of the event loop. What waits is bounded by the
 * objects there are: a reflector reads on only when all handlers know what it read before (I10).
 */
export class EventSubscriber {
  readonly #handler: ObjectHandler;
  readonly #log: Log;
  readonly #turns: Turns;
  #waiting: ObjectEvent[] = [];
  #telling: Promise<void> | undefined;
  #isClosed = false;

  constructor(handler: ObjectHandler, clock: Clock, log: Log) {
    this.#handler = handler;
    this.#log = log;
    this.#turns = new Turns(clock);
  }

  /** At once when nothing waits. */
  tell(event: ObjectEvent): void {
    if (this.#telling !== undefined) this.#waiting.push(event);
    else this.#call(event);
  }

  /** Later, in turns: for a whole list. */
  tellAll(events: readonly ObjectEvent[]): void {
    if (events.length === 0) return;
    for (const event of events) this.#waiting.push(event);
    this.#telling ??= this.#tellWaiting();
  }

  /** Resolves when nothing waits any more; undefined when nothing does. */
  get told(): Promise<void> | undefined {
    return this.#telling;
  }

  /** Nothing is told after this. */
  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
  }

  async #tellWaiting(): Promise<void> {
    // Who subscribes has the subscription in hand before the first call.
    await Promise.resolve();
    for (let at = 0; at < this.#waiting.length; at++) {
      const event = this.#waiting[at];
      if (event !== undefined) this.#call(event);
      const turn = this.#turns.took();
      if (turn !== undefined) await turn;
    }
    this.#waiting = [];
    this.#telling = undefined;
  }

  #call(event: ObjectEvent): void {
    if (this.#isClosed) return;
    try {
      this.#handler(event);
    } catch (error) {
      const { namespace, name } = event.object.metadata;
      this.#log.error(
        { err: error, type: event.type, namespace, name },
        `event handler failed: ${messageOf(error)}`,
      );
    }
  }
}
