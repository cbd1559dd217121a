import { type Json, type JsonObject, setKey } from '../../object/json.ts';
import { type Field, type Message, messageOf } from './message-table.ts';
import { type Slots, SPECIAL_TYPES } from './special-types.ts';
import { FIXED64, LENGTH, ProtobufProblem, VARINT, WireReader } from './wire.ts';

/** Messages in messages. Each is at most two levels of JSON, and recursion over JSON may go 512 deep. */
const MAX_DEPTH = 120;
/** An empty message takes two bytes but becomes an object: bounds what a body of 3 MiB can become. */
const MAX_MESSAGES = 200_000;

type MutableSlots = (Json | undefined)[];

const WIRE_TYPES: Readonly<Record<string, number>> = { b: VARINT, i: VARINT, l: VARINT, d: FIXED64 };

/**
 * Turns protobuf into the JSON that Go would write for the same object: absent pointers, empty lists and zero scalars are left
 * out or written as null and zero, depending on the struct tags (C5).
 */
export class MessageDecoder {
  readonly #reader: WireReader;
  #messages = 0;

  constructor(bytes: Uint8Array) {
    this.#reader = new WireReader(bytes);
  }

  /** The object in all of the bytes. */
  decode(message: Message, target: JsonObject): void {
    this.#emit(message, this.#slots(message, this.#reader.bytes.length, 0), target);
  }

  #slots(message: Message, end: number, depth: number): MutableSlots {
    if (depth > MAX_DEPTH) throw new ProtobufProblem('messages are nested too deeply');
    const slots: MutableSlots = [];
    const reader = this.#reader;
    const place: Place = { wireType: 0, end, depth };
    while (reader.position < end) {
      const tag = reader.unsigned(end);
      const number = Math.floor(tag / 8);
      if (number === 0) throw new ProtobufProblem(`proto: ${message.name}: illegal tag 0`);
      const at = message.positions.get(number);
      const field = at === undefined ? undefined : message.fields[at];
      place.wireType = tag & 7;
      if (at === undefined || field === undefined) reader.skip(place.wireType, end);
      else slots[at] = this.#fieldValue(field, slots[at], place);
    }
    return slots;
  }

  #fieldValue(field: Field, previous: Json | undefined, place: Place): Json {
    if (field.isMap) return this.#mapEntry(field, previous, place);
    if (!field.isRepeated) return this.#single(field, place);
    const list = Array.isArray(previous) ? previous : [];
    if (place.wireType === LENGTH && WIRE_TYPES[field.type] !== undefined) this.#packed(field, list, place.end);
    else list.push(this.#single(field, place));
    return list;
  }

  #packed(field: Field, list: Json[], end: number): void {
    const stop = this.#reader.lengthEnd(end);
    while (this.#reader.position < stop) list.push(this.#scalar(field.type, stop));
  }

  #single(field: Field, { wireType, end, depth }: Place): Json {
    if (wireType !== (WIRE_TYPES[field.type] ?? LENGTH)) {
      throw new ProtobufProblem(`proto: wrong wireType = ${wireType} for field ${field.name || field.number}`);
    }
    if (field.type.length === 1) return this.#scalar(field.type, end);
    return this.#messageValue(field, end, depth);
  }

  #messageValue({ type, isInline }: Field, end: number, depth: number): Json {
    const reader = this.#reader;
    const message = messageOf(type);
    const stop = reader.lengthEnd(end);
    const slots = this.#slots(message, stop, depth + 1);
    // An inline message is emitted by the one around it, so its slots are kept as they are.
    return isInline ? (slots as Json[]) : this.#value(message, slots);
  }

  #scalar(type: string, end: number): Json {
    const reader = this.#reader;
    switch (type) {
      case 's':
      case 'J':
        return reader.string(end);
      case 'b':
        return reader.int64(end) !== 0;
      case 'i':
        return reader.int32(end);
      case 'l':
        return reader.int64(end);
      case 'd':
        return reader.double(end);
      default:
        return reader.base64(end);
    }
  }

  /** A map is a list of messages with key 1 and value 2; the last of equal keys wins. */
  #mapEntry(field: Field, previous: Json | undefined, { wireType, end, depth }: Place): Json {
    if (wireType !== LENGTH)
      throw new ProtobufProblem(`proto: wrong wireType = ${wireType} for field ${field.name}`);
    const map = (previous ?? {}) as JsonObject;
    const reader = this.#reader;
    const stop = reader.lengthEnd(end);
    let key = '';
    let value: Json | undefined;
    while (reader.position < stop) {
      const tag = reader.unsigned(stop);
      const inner = { wireType: tag & 7, end: stop, depth };
      if (tag === 8 + LENGTH) key = reader.string(stop);
      else if (Math.floor(tag / 8) === 2) value = this.#single(field, inner);
      else reader.skip(tag & 7, stop);
    }
    setKey(map, key, value ?? this.#zero(field.type));
    return map;
  }

  #value(message: Message, slots: Slots): Json {
    if (++this.#messages > MAX_MESSAGES) throw new ProtobufProblem('too many messages');
    const special = SPECIAL_TYPES.get(message.name);
    if (special !== undefined) return special(slots);
    if (message.isList) return slots[0] ?? null;
    const target: JsonObject = {};
    this.#emit(message, slots, target);
    return target;
  }

  #emit(message: Message, slots: Slots, target: JsonObject): void {
    let at = 0;
    for (const field of message.fields) {
      const value = slots[at++];
      if (field.isInline) {
        this.#emit(messageOf(field.type), Array.isArray(value) ? value : [], target);
        continue;
      }
      const json = value ?? (isNullable(field) ? null : this.#zero(field.type));
      if (!isOmitted(field, json)) setKey(target, field.name, json);
    }
  }

  #zero(type: string): Json {
    switch (type) {
      case 's':
      case 'B':
        return '';
      case 'b':
        return false;
      case 'i':
      case 'l':
      case 'd':
        return 0;
      default:
        return this.#value(messageOf(type), []);
    }
  }
}

/** Where in the bytes a value is; one for all fields of a message. */
interface Place {
  wireType: number;
  readonly end: number;
  readonly depth: number;
}

/** Nil in Go when it is not on the wire. */
const isNullable = ({ isPointer, isRepeated, isMap, type }: Field): boolean =>
  isPointer || isRepeated || isMap || type === 'B';

/** `omitempty` leaves out nil and zero scalars but not structs; `omitzero` also the zero time. */
function isOmitted(field: Field, json: Json): boolean {
  if (json === null) return field.isOmittedZero || (field.isOmittedEmpty && isNullable(field));
  if (!field.isOmittedEmpty || field.isPointer || field.type.length > 1) return false;
  return json === '' || json === 0 || json === false;
}
