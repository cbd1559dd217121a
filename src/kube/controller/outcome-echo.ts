import type { KubeObject } from '../../api/object.ts';
import type { ObjectEvent } from '../cache/cache.ts';
import { compareVersions } from '../cache/resource-version.ts';
import { differsOnlyInOutcome } from './outcome-conditions.ts';

interface Expected {
  /** Of the states that our writes made and no event told yet. */
  readonly versions: Set<string>;
  /** The answer to a write is outstanding. */
  isWriting: boolean;
  /** Of an event that came before that answer and may be its echo. */
  heldVersion: string | undefined;
}

/** Watches lag by a few writes at most; a write that changed nothing has no event at all. */
const MOST_VERSIONS = 8;

/**
 * Knows the events that only tell the loop what it wrote itself. Without this, showing a failure would make the object
 * ready at once again: the backoff would be void, and a message that changes every time would spin.
 */
export class OutcomeEchoes {
  // Bounded by the objects whose outcome was written: later events and deletions remove what is there.
  readonly #expected = new Map<string, Expected>();
  readonly #enqueue: (key: string) => void;

  /** `enqueue` takes an event back that turned out not to be an echo. */
  constructor(enqueue: (key: string) => void) {
    this.#enqueue = enqueue;
  }

  /** Around the write: resolves to what the server returned. One at a time per key. */
  async during<T extends KubeObject>(key: string, write: () => Promise<T>): Promise<T> {
    const expected = this.#expected.get(key) ?? { versions: new Set(), isWriting: true, heldVersion: undefined };
    expected.isWriting = true;
    this.#expected.set(key, expected);
    let version: string | undefined;
    try {
      const object = await write();
      version = object.metadata.resourceVersion;
      return object;
    } finally {
      this.#answered(key, expected, version);
    }
  }

  /** Whether the event is an echo and may be dropped. */
  hears(key: string, event: ObjectEvent): boolean {
    const expected = this.#expected.get(key);
    if (expected === undefined) return false;
    const isEcho = isCandidate(event) && this.#isOurs(expected, event.object.metadata.resourceVersion ?? '');
    if (event.type === 'delete') expected.versions.clear();
    else this.#seen(expected, event.object.metadata.resourceVersion ?? '');
    this.#tidy(key, expected);
    return isEcho;
  }

  #isOurs(expected: Expected, version: string): boolean {
    if (expected.versions.has(version)) return true;
    // One at most: of two events, one is somebody else's.
    if (!expected.isWriting || expected.heldVersion !== undefined) return false;
    expected.heldVersion = version;
    return true;
  }

  /** What is older than an event has no event any more. */
  #seen({ versions }: Expected, version: string): void {
    for (const each of versions) if (compareVersions(each, version) <= 0) versions.delete(each);
  }

  #answered(key: string, expected: Expected, version: string | undefined): void {
    const { heldVersion } = expected;
    expected.isWriting = false;
    expected.heldVersion = undefined;
    if (version !== undefined && version !== heldVersion && expected.versions.size < MOST_VERSIONS)
      expected.versions.add(version);
    if (heldVersion !== undefined && heldVersion !== version) this.#enqueue(key);
    this.#tidy(key, expected);
  }

  #tidy(key: string, { isWriting, versions }: Expected): void {
    if (!isWriting && versions.size === 0) this.#expected.delete(key);
  }
}

const isCandidate = ({ type, old, object }: ObjectEvent): boolean =>
  type === 'update' && old !== undefined && differsOnlyInOutcome(old, object);
