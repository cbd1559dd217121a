import type { DescMessage, Message } from '@bufbuild/protobuf';
import { terminalError, userError } from '../base/errors.ts';
import { descriptorOf } from './descriptor.ts';
import { protobuf } from './libraries.ts';
import type { EnumType, Field, FieldShape, MessageType, Received, Sent } from './message.ts';

/** Plain values of a message to and from the bytes of the wire. */
export interface Codec<M extends MessageType> {
  /** Throws a user error for a value that does not fit its field. */
  encode(value: Sent<M>): Uint8Array;
  /** Throws a terminal error for bytes that are no such message. Fields that nobody described are left out. */
  decode(bytes: Uint8Array): Received<M>;
}

type Plain = Readonly<Record<string, unknown>>;

/** Descriptions are constants: as many as there are messages. */
const codecs = new WeakMap<MessageType, Codec<MessageType>>();

/** The codec of a message, made once. */
export function codecOf<M extends MessageType>(type: M): Codec<M> {
  const known = codecs.get(type) ?? newCodec(type);
  codecs.set(type, known);
  // The description is the only witness of the types; what is made from it follows them.
  return known as unknown as Codec<M>;
}

function newCodec(type: MessageType): Codec<MessageType> {
  let descriptor: DescMessage | undefined;
  const known = () => (descriptor ??= descriptorOf(type));
  return {
    encode: (value) => {
      try {
        const { create, toBinary } = protobuf();
        return toBinary(known(), create(known(), initOf(type, value)));
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause);
        throw userError('InvalidMessage', `${type.name} cannot be written: ${why}`, { cause });
      }
    },
    decode: (bytes) => {
      try {
        return plainOf(type, protobuf().fromBinary(known(), bytes));
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause);
        throw terminalError('InvalidMessage', `${bytes.length} bytes are no ${type.name}: ${why}`, { cause });
      }
    },
  };
}

/** `volume_id` is `volumeId` in programs, as the protobuf library has it too. */
const localName = (name: string): string =>
  name.replaceAll(/_([a-z0-9])/gi, (_, next: string) => next.toUpperCase());

/** What the protobuf library makes a message from. */
function initOf({ name: typeName, fields }: MessageType, value: Plain): Record<string, unknown> {
  const init: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const local = localName(name);
    const given = value[local];
    if (given === undefined) continue;
    const converted =
      field.isList === true ? listOf(given).map((one) => valueIn(field.shape, one)) : valueIn(field.shape, given);
    if (field.oneof === undefined) {
      init[local] = converted;
      continue;
    }
    const choice = localName(field.oneof);
    if (init[choice] !== undefined) {
      throw new Error(
        `only one of the fields of "${field.oneof}" of ${typeName} can be set; "${local}" is one more`,
      );
    }
    init[choice] = { case: local, value: converted };
  }
  return init;
}

/** Callers are typed; what comes from elsewhere is refused by the library. */
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
const recordOf = (value: unknown): Plain => (typeof value === 'object' && value !== null ? { ...value } : {});

function valueIn(shape: FieldShape, value: unknown): unknown {
  if (shape.kind === 'enum') return numberOf(shape.type, value);
  return shape.kind === 'message' ? initOf(shape.type, recordOf(value)) : value;
}

function numberOf({ name, values }: EnumType, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const number = Object.hasOwn(values, value) ? values[value] : undefined;
  if (number !== undefined) return number;
  throw new Error(`"${value}" is not one of ${name}: ${Object.keys(values).join(', ')}`);
}

function plainOf({ fields }: MessageType, message: Message): Received<MessageType> {
  const found = recordOf(message);
  const plain: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = valueOf(name, field, found);
    if (value !== undefined) plain[localName(name)] = value;
  }
  return plain;
}

function valueOf(name: string, field: Field, found: Plain): unknown {
  const local = localName(name);
  const { shape, isList, oneof } = field;
  if (isList === true) return listOf(found[local]).map((one) => valueOut(shape, one));
  if (oneof === undefined) return valueOut(shape, found[local]);
  const chosen = recordOf(found[localName(oneof)]);
  return chosen['case'] === local ? valueOut(shape, chosen['value']) : undefined;
}

function valueOut(shape: FieldShape, value: unknown): unknown {
  if (value === undefined) return undefined;
  switch (shape.kind) {
    case 'enum':
      return Object.entries<number>(shape.type.values).find(([, number]) => number === value)?.[0] ?? value;
    case 'message':
      return plainOf(shape.type, value as Message);
    case 'map':
      return recordOf(value);
    case 'scalar':
    case 'wrapper':
      return value;
  }
}
