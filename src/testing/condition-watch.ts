import type { Store, StoreEvent } from '../apiserver/store/store.ts';
import { conditionsOf } from '../object/conditions.ts';

/** Notices conditions whose time moves though their status does not (reliability T1.6): clients wait by that time. */
export class ConditionWatch implements Disposable {
  readonly #problems = new Set<string>();
  readonly #watching: Disposable;

  constructor(store: Store) {
    this.#watching = store.subscribe('/registry/', (event) => this.#look(event));
  }

  get problems(): readonly string[] {
    return [...this.#problems];
  }

  [Symbol.dispose](): void {
    this.#watching[Symbol.dispose]();
  }

  #look({ key, entry, previous }: StoreEvent): void {
    if (previous === undefined) return;
    const before = new Map(conditionsIn(previous.bytes).map((condition) => [condition.type, condition]));
    for (const { type, status, lastTransitionTime } of conditionsIn(entry.bytes)) {
      const old = before.get(type);
      if (old?.status === status && old.lastTransitionTime !== lastTransitionTime)
        this.#problems.add(`condition ${type} of ${key} has another lastTransitionTime and the same status`);
    }
  }
}

const conditionsIn = (bytes: Uint8Array) => conditionsOf(JSON.parse(Buffer.from(bytes).toString('utf8')));

/** What the runtime says when a controller has no right, or a bug. */
const FAILURES: ReadonlySet<string> = new Set(['Forbidden', 'InternalError']);

/** Objects made after `since` whose Ready condition says that their controller failed, one line each. */
export function failedObjects(store: Store, since: number): readonly string[] {
  return [...store.list('/registry/')]
    .filter(({ createRevision }) => createRevision > since)
    .flatMap(({ key, bytes }) =>
      conditionsIn(bytes)
        .filter(({ type, status, reason }) => type === 'Ready' && status === 'False' && FAILURES.has(reason))
        .map(({ reason, message }) => `${key} ends with Ready=False, ${reason}: ${message}`),
    );
}
