import type { Hold } from '../../kube/quiet/activity.ts';
import type { SettleWatch } from '../../kube/quiet/virtual-time.ts';

const STALL_MS = 30_000;
const MOST_FIRINGS = 10_000;

export interface StallSources {
  readonly holds: () => readonly Hold[];
  readonly inFlight: () => number;
  /** One line per part of the lab that has something to say: queue lengths, live children. */
  readonly describe: () => readonly string[];
  /** Real milliseconds. */
  readonly hostMs: () => number;
}

/** Gives up on a settling that lasts too long, and says who keeps it (T9). */
export function stallWatch({ holds, inFlight, describe, hostMs }: StallSources, stallMs = STALL_MS): SettleWatch {
  const startMs = hostMs();
  const summary = () => {
    const held = holds().map(({ reason, sinceMs }) => `${reason} (for ${seconds(hostMs() - sinceMs)})`);
    return [`${inFlight()} in flight`, ...held.map((text) => `held by ${text}`), ...describe()].join('; ');
  };
  return {
    check: () => {
      if (hostMs() - startMs > stallMs)
        throw new Error(`the lab is not quiet after ${seconds(stallMs)} of real time: ${summary()}`);
    },
    get summary() {
      return summary();
    },
  };
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Timers that fire without time getting on: somebody waits for nothing, over and over (T9). */
export class LivelockWatch {
  #second = -1;
  #firings = 0;
  #error: Error | undefined;
  #isOver = false;

  /** The same function, counted. Whoever makes a timer is remembered only when there are suspiciously many. */
  watched(fire: () => void, nowMs: () => number): () => void {
    const owner = this.#firings > MOST_FIRINGS / 2 ? callerOf(new Error('owner')) : '';
    return () => {
      this.#count(nowMs(), owner);
      if (this.#error === undefined || this.#isOver) fire();
    };
  }

  /** Throws once too many timers have fired within one second; from then on none fires any more. */
  throwIfAny(): void {
    if (this.#error !== undefined) throw this.#error;
  }

  /** The lab ends: what still waits may fire. */
  end(): void {
    this.#isOver = true;
  }

  #count(atMs: number, owner: string): void {
    const second = Math.floor(atMs / 1000);
    this.#firings = second === this.#second ? this.#firings + 1 : 1;
    this.#second = second;
    if (this.#firings <= MOST_FIRINGS) return;
    const who = owner === '' ? '' : `, one of them set ${owner}`;
    this.#error ??= new Error(`more than ${MOST_FIRINGS} timers fired within one second of lab time${who}`);
  }
}

/** `at file:line` of whoever asked the clock. */
const callerOf = ({ stack = '' }: Error): string =>
  stack
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .find((line) => !/clock|every\.ts|stall\.ts/.test(line)) ?? '';
