/** One request, as it was asked and answered. Never a body, a token or a signature. */
export interface JournalEntry {
  readonly requestId: string;
  /** Lab time. */
  readonly at: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly kind?: string;
  /** Client identifier; absent when nobody was known. */
  readonly credential?: string;
  readonly idempotencyKey?: string;
  /** Absent while there is none, and when the connection was cut. */
  readonly status?: number;
  readonly code?: string;
  /** Of a list, without what is signed. */
  readonly query?: string;
  /** Names of the faults that fired. */
  readonly faults?: readonly string[];
  /** The connection was cut instead of, or within, an answer. */
  readonly isCut?: boolean;
}

/** Which entries are meant; all of these have to fit. */
export interface JournalFilter {
  readonly method?: string;
  readonly path?: string;
  readonly kind?: string;
  readonly credential?: string;
  readonly status?: number;
  /** Only those that came after the one with this request identifier. */
  readonly after?: string;
}

const MOST_ENTRIES = 10_000;

/** What was really asked: the last ten thousand requests, in the order in which they came (C11). */
export class Journal {
  readonly #entries: JournalEntry[] = [];

  /** The entry is there at once; `note` adds what becomes known. */
  begin(entry: JournalEntry): (more: Partial<JournalEntry>) => void {
    const kept = { ...entry };
    this.#entries.push(kept);
    if (this.#entries.length > MOST_ENTRIES) this.#entries.shift();
    return (more) => void Object.assign(kept, more);
  }

  list({ after, ...filter }: JournalFilter = {}): readonly JournalEntry[] {
    const from = after === undefined ? 0 : this.#entries.findIndex(({ requestId }) => requestId === after) + 1;
    return this.#entries
      .slice(from)
      .filter((entry) => isMeant(entry, filter))
      .map((entry) => ({ ...entry }));
  }
}

const isMeant = (entry: JournalEntry, { method, path, kind, credential, status }: JournalFilter): boolean =>
  (method === undefined || entry.method === method) &&
  (path === undefined || entry.path === path) &&
  (kind === undefined || entry.kind === kind) &&
  (credential === undefined || entry.credential === credential) &&
  (status === undefined || entry.status === status);
