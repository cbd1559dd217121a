import { cloneJson, isJsonObject, type JsonObject } from '../../object/json.ts';
import { stringifyJson } from '../../object/json-text.ts';
import type { Representation } from '../negotiation/accept.ts';
import { apiVersionOf } from '../registry/resource.ts';
import { setResourceVersion } from '../rest/codec.ts';
import { includeObjectOf, partialObject, tableOf, tableRows } from '../rest/present.ts';
import type { Scope } from '../rest/services.ts';
import type { StatusError } from '../status.ts';
import type { Entry, StoreEvent } from '../store/store.ts';
import type { SharedFrames } from './shared-frames.ts';

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';
export type Maybe<T> = T | Promise<T>;

const FRAME_END = Buffer.from('}\n');

const STARTS: Readonly<Record<EventType, Uint8Array>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};

/** Makes the lines of one watch: plain, Table or PartialObjectMetadata (T1, T14). */
export class Framer {
  readonly #scope: Scope;
  readonly #as: Representation;
  /** What two watches must have in common to share a line, by the type of the change. */
  readonly #forms: Readonly<Record<EventType, string>>;
  #isFirst = true;

  constructor(scope: Scope, as: Representation) {
    this.#scope = scope;
    this.#as = as;
    const { resource, request } = scope;
    const include = as.transform === 'Table' ? includeObjectOf(request.query) : '';
    const form = `${apiVersionOf(resource)} ${as.transform ?? ''} ${as.transformVersion} ${include}`;
    this.#forms = { ADDED: `ADDED ${form}`, MODIFIED: `MODIFIED ${form}`, DELETED: `DELETED ${form}` };
  }

  /** The line for an object in its present state. */
  entry(type: EventType, entry: Entry): Maybe<Uint8Array> {
    const { codec, resource } = this.#scope;
    if (this.#as.transform === undefined) {
      return whenKnown(codec.body(entry, resource), (pieces) => frame(type, pieces));
    }
    // Decided now: a conversion may let a later line be ready before this one.
    const isFirst = this.#takeFirst();
    return whenKnown(codec.read(entry, resource), (object) => line(type, this.#transformed(object, isFirst)));
  }

  /** The line for a change, shared with other watchers of it. */
  event(frames: SharedFrames, type: EventType, event: StoreEvent): Maybe<Uint8Array> {
    // The first line of a Table watch carries the columns, so it is nobody else's.
    if (this.#as.transform === 'Table' && this.#isFirst) return this.#make(type, event);
    const form = this.#forms[type];
    return frames.get(event, form) ?? frames.keep(event, form, this.#make(type, event));
  }

  bookmark(revision: number, isEndOfInitial: boolean): Uint8Array {
    const { resource } = this.#scope;
    const object = {
      kind: resource.kind,
      apiVersion: apiVersionOf(resource),
      metadata: {
        resourceVersion: String(revision),
        ...(isEndOfInitial && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
      },
    };
    if (this.#as.transform === undefined) return line('BOOKMARK', object);
    return line('BOOKMARK', this.#transformed(object, this.#takeFirst()));
  }

  error(error: StatusError): Uint8Array {
    return line('ERROR', error.body());
  }

  #make(type: EventType, event: StoreEvent): Maybe<Uint8Array> {
    const { previous, isRemoval, revision } = event;
    if (type !== 'DELETED' || isRemoval || previous === undefined) return this.entry(type, event.entry);
    // T6: the last state that matched, at the revision that made it leave.
    const { codec, resource } = this.#scope;
    const isFirst = this.#takeFirst();
    return whenKnown(codec.read(previous, resource), (object) => {
      const last = cloneJson(object);
      setResourceVersion(last, revision);
      return line(type, this.#as.transform === undefined ? last : this.#transformed(last, isFirst));
    });
  }

  #takeFirst(): boolean {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    return isFirst;
  }

  #transformed(object: JsonObject, isFirst: boolean): JsonObject {
    if (this.#as.transform !== 'Table') return partialObject(object, this.#as);
    const { resource, request } = this.#scope;
    const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
    const rows = tableRows([object], this.#scope, includeObjectOf(request.query), this.#as);
    const columns = isFirst ? resource.columns : undefined;
    return tableOf(rows, columns, { resourceVersion: metadata['resourceVersion'] ?? '' }, this.#as);
  }
}

/** At once if the value is there: a line that needs no webhook must not wait for a turn. */
function whenKnown<T>(value: Maybe<T>, use: (known: T) => Uint8Array): Maybe<Uint8Array> {
  return value instanceof Promise ? value.then(use) : use(value);
}

const frame = (type: EventType, pieces: readonly Uint8Array[]): Uint8Array =>
  Buffer.concat([STARTS[type], ...pieces, FRAME_END]);

const line = (type: string, object: JsonObject): Uint8Array =>
  Buffer.from(`{"type":"${type}","object":${stringifyJson(object)}}\n`);
