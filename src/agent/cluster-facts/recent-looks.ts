import { createHash } from 'node:crypto';
import type { Json } from '../../api/json.ts';
import type { Clock } from '../../base/clock.ts';

export interface RecentLooksOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** For how long nobody looks again. */
  readonly lifeMs: number;
  /** The oldest is forgotten when there are more, which costs one look. */
  readonly mostEntries?: number;
}

interface Look {
  readonly digest: string;
  readonly untilMs: number;
}

/** Far more than a hub has Machines. */
const MOST_ENTRIES = 10_000;

/**
 * What this process found in order a short while ago. For Secrets: reading all of them for a watch would be a right that
 * nobody should have, and reading one at every event is most of what a server is asked. A new process knows nothing and
 * looks.
 */
export class RecentLooks {
  readonly #options: RecentLooksOptions;
  /** By uid. Facts may hold secrets and be long: only their digest is kept. */
  readonly #looks = new Map<string, Look>();

  constructor(options: RecentLooksOptions) {
    this.#options = options;
  }

  /** `facts` is everything that makes another look necessary when it changes. */
  remember(uid: string, facts: Json): void {
    const { clock, lifeMs, mostEntries = MOST_ENTRIES } = this.#options;
    this.#looks.delete(uid);
    const [oldest] = this.#looks.size >= mostEntries ? this.#looks.keys() : [];
    if (oldest !== undefined) this.#looks.delete(oldest);
    this.#looks.set(uid, { digest: digestOf(facts), untilMs: clock.monotonicMs() + lifeMs });
  }

  /** For how long what was found is still believed; 0: it is time to look. */
  remainingMs(uid: string, facts: Json): number {
    const look = this.#looks.get(uid);
    if (look === undefined || look.digest !== digestOf(facts)) return 0;
    return Math.max(0, look.untilMs - this.#options.clock.monotonicMs());
  }
}

const digestOf = (facts: Json): string => createHash('sha256').update(JSON.stringify(facts)).digest('base64');
