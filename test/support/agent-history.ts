import type { JsonObject } from '../../src/api/json.ts';
import type { Condition, Kind, KubeObject } from '../../src/api/object.ts';
import type { Store, StoreEvent } from '../../src/apiserver/store/store.ts';
import { conditionsOf } from '../../src/object/conditions.ts';

/** One write that an object of the hub went through. */
export interface Happening {
  readonly plural: string;
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
  /** The object is gone. */
  readonly isRemoval: boolean;
}

/** Everything that happened to the objects of a server, in order: no watch could miss a state in between. */
export class AgentHistory implements Disposable {
  // Not bounded: a test wants all of it.
  readonly #happenings: Happening[] = [];
  readonly #watching: Disposable;

  constructor(store: Store) {
    this.#watching = store.subscribe('/registry/', (event) => this.#happenings.push(happening(event)));
  }

  [Symbol.dispose](): void {
    this.#watching[Symbol.dispose]();
  }

  get all(): readonly Happening[] {
    return this.#happenings;
  }

  of({ plural }: Kind, name?: string): readonly Happening[] {
    return this.#happenings.filter(
      (each) => each.plural === plural && (name === undefined || each.object.metadata.name === name),
    );
  }

  /** `status/reason` of a condition in the order in which it had them. */
  conditions(kind: Kind, name: string, type: string): readonly string[] {
    const said = this.of(kind, name).flatMap(({ object }) =>
      conditionsOf(object)
        .filter((condition) => condition.type === type)
        .map(({ status, reason }) => `${status}/${reason}`),
    );
    return said.filter((text, at) => text !== said[at - 1]);
  }

  /** The values of a field in the order in which it had them. */
  values<T extends KubeObject>(kind: Kind<T>, name: string, value: (object: T) => string | undefined) {
    // Of this kind, since its plural is.
    const all = this.of(kind, name).map(({ object }) => value(object as T) ?? '');
    return all.filter((text, at) => text !== all[at - 1]);
  }

  /** `plural/name` in the order in which they were gone. */
  get removals(): readonly string[] {
    return this.#happenings
      .filter(({ isRemoval }) => isRemoval)
      .map(({ plural, object }) => `${plural}/${object.metadata.name}`);
  }

  /** Every text that people are shown: messages of conditions, and notes of events. */
  get told(): readonly string[] {
    return [...new Set(this.#happenings.flatMap(({ plural, object }) => toldBy(plural, object)))];
  }
}

const parsed = (bytes: Uint8Array): KubeObject => JSON.parse(Buffer.from(bytes).toString('utf8'));

function happening({ key, entry, previous, isRemoval }: StoreEvent): Happening {
  const [, , , plural = ''] = key.split('/');
  return {
    plural,
    object: parsed(entry.bytes),
    previous: previous === undefined ? undefined : parsed(previous.bytes),
    isRemoval,
  };
}

function toldBy(plural: string, object: KubeObject): readonly string[] {
  const { status = {} } = object as unknown as { readonly status?: JsonObject };
  if (plural === 'events') return [JSON.stringify(object)];
  const lists = ['conditions', 'v1beta1Conditions'].map((name) => status[name]);
  // A list of conditions, whatever its dialect.
  const conditions = lists.flatMap((list) => (Array.isArray(list) ? (list as unknown as Condition[]) : []));
  return conditions.map((condition) => JSON.stringify(condition));
}
