import type { Address, JourneyEvent } from '../../api/journey.ts';
import type { Clock } from '../../base/clock.ts';
import { redactedText } from '../../base/redaction.ts';
import type { PhaseAddress } from './phase.ts';
import { EMPTY_JOURNEY, type JourneyState, reduce } from './state.ts';

/** Told of every event, with the state before and after it. */
export type JourneyListener = (event: JourneyEvent, after: JourneyState, before: JourneyState) => void;

/** An event as it is before it is given its time; its addresses may hold what is shown on a live terminal only. */
export interface Untimed extends Omit<JourneyEvent, 'ts' | 'atMs' | 'addresses'> {
  readonly addresses?: readonly PhaseAddress[];
}

/** Gives events their time, takes the secrets out, and tells everybody in the same order. */
export class EventStream {
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #listeners = new Set<JourneyListener>();
  readonly #unheard: JourneyEvent[] = [];
  readonly #liveValues = new Map<string, string>();
  #state = EMPTY_JOURNEY;
  #isTelling = false;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMs = clock.monotonicMs();
  }

  get state(): JourneyState {
    return this.#state;
  }

  get elapsedMs(): number {
    return this.#clock.monotonicMs() - this.#startMs;
  }

  subscribe(listener: JourneyListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** The address as a live terminal may show it; it may hold a secret, which is why no event has it (experience X13). */
  liveAddress(address: Address): Address {
    return { ...address, value: this.#liveValues.get(address.value) ?? address.value };
  }

  /** A listener may publish too (the log, when the disk is full); its event waits until all have heard the one before. */
  publish({ addresses, ...untimed }: Untimed): void {
    const shown = addresses?.map((address) => this.#withoutLiveValue(address));
    const time = { ts: this.#clock.now().toISOString(), atMs: Math.round(this.elapsedMs) };
    this.#unheard.push(redactedEvent({ ...time, ...untimed, ...(shown !== undefined && { addresses: shown }) }));
    if (this.#isTelling) return;
    this.#isTelling = true;
    try {
      for (let event = this.#unheard.shift(); event !== undefined; event = this.#unheard.shift()) {
        this.#deliver(event);
      }
    } finally {
      this.#isTelling = false;
    }
  }

  #withoutLiveValue({ liveValue, ...address }: PhaseAddress): Address {
    if (liveValue !== undefined) this.#liveValues.set(address.value, liveValue);
    return address;
  }

  #deliver(event: JourneyEvent): void {
    const before = this.#state;
    this.#state = reduce(before, event);
    for (const listener of this.#listeners) listener(event, this.#state, before);
  }
}

/** The event without anything that looks like a secret: every view, file and page is made of what this returns. */
function redactedEvent(event: JourneyEvent): JourneyEvent {
  // JSON round trips lose nothing here: events are plain data. The reviver sees every string, however deep.
  return JSON.parse(JSON.stringify(event), (_key, value: unknown) =>
    typeof value === 'string' ? redactedText(value) : value,
  ) as JourneyEvent;
}
