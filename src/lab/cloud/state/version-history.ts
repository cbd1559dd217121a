import type { ResourceRecord } from '../resources/resource-record.ts';

interface Version {
  /** Since when, in lab milliseconds; the first one of an object has been there since ever. */
  readonly sinceMs: number;
  /** Undefined: there was no such object. */
  readonly record: ResourceRecord | undefined;
}

/**
 * What objects were a moment ago, so that reads can be stale (C7). It holds what changed within `horizonMs` and one version
 * before that; changes of one moment count as one. After a restart it is empty: reads may be stale, they need not.
 */
export class VersionHistory {
  readonly #horizonMs: number;
  /** Bounded by what changes within the horizon: older versions are dropped with every change. */
  readonly #versions = new Map<string, Version[]>();

  constructor(horizonMs: number) {
    this.#horizonMs = horizonMs;
  }

  note(before: ResourceRecord | undefined, now: ResourceRecord | undefined, atMs: number): void {
    const known = before ?? now;
    if (known === undefined) return;
    const key = keyOf(known);
    const versions = this.#versions.get(key) ?? [{ sinceMs: Number.NEGATIVE_INFINITY, record: before }];
    if (versions.at(-1)?.sinceMs === atMs) versions.pop();
    versions.push({ sinceMs: atMs, record: now });
    // The order of the map is that of the last change: what has to be dropped comes first.
    this.#versions.delete(key);
    this.#versions.set(key, versions);
    this.#drop(atMs - this.#horizonMs);
  }

  /** What the object was then; `current` is what it is now. */
  get(key: RecordKey, current: ResourceRecord | undefined, thenMs: number): ResourceRecord | undefined {
    const versions = this.#versions.get(keyOf(key));
    return versions === undefined ? current : versionAt(versions, thenMs);
  }

  /** The objects of a kind as they were then; `current` are those that are there now. */
  list(kind: string, current: readonly ResourceRecord[], thenMs: number): readonly ResourceRecord[] {
    const unchanged = current.filter((record) => !this.#versions.has(keyOf(record)));
    const before = [...this.#versions]
      .filter(([key]) => key.startsWith(`${kind}/`))
      .map(([, versions]) => versionAt(versions, thenMs))
      .filter((record) => record !== undefined);
    return [...unchanged, ...before].toSorted((a, b) => a.serial - b.serial);
  }

  #drop(beforeMs: number): void {
    for (const [key, versions] of this.#versions) {
      const newest = versions.at(-1);
      if (newest !== undefined && newest.sinceMs > beforeMs) break;
      this.#versions.delete(key);
    }
    for (const versions of this.#versions.values()) {
      while ((versions[1]?.sinceMs ?? Number.POSITIVE_INFINITY) <= beforeMs) versions.shift();
    }
  }
}

type RecordKey = Pick<ResourceRecord, 'kind' | 'id'>;

const keyOf = ({ kind, id }: RecordKey): string => `${kind}/${id}`;

const versionAt = (versions: readonly Version[], thenMs: number): ResourceRecord | undefined =>
  versions.findLast(({ sinceMs }) => sinceMs <= thenMs)?.record;
