import { tableOf } from '../builtin-data/schema-name.ts';
import { readTable } from '../builtin-data/table.ts';

/** A field of a message. Text of the table: number, flags, `:`, name in JSON, `:`, type. */
export interface Field {
  readonly number: number;
  /** Empty for parts of types with a JSON form of their own. */
  readonly name: string;
  /** `s` string, `b` bool, `i` int32, `l` int64, `B` bytes, `J` bytes that are JSON, `d` double, else the name of a message. */
  readonly type: string;
  readonly isRepeated: boolean;
  readonly isMap: boolean;
  readonly isPointer: boolean;
  readonly isOmittedEmpty: boolean;
  readonly isOmittedZero: boolean;
  /** Its fields appear as fields of the message around it. */
  readonly isInline: boolean;
}

export interface Message {
  readonly name: string;
  /** A named list in Go, wrapped in a message because protobuf has no lists of lists. */
  readonly isList: boolean;
  /** In the order of the Go struct, which is that of JSON. */
  readonly fields: readonly Field[];
  /** Field number → position in `fields`. */
  readonly positions: ReadonlyMap<number, number>;
}

/** Their only field holds JSON. */
const JSON_TYPES = ['runtime.RawExtension', 'meta.v1.FieldsV1', 'apiextensions.v1.JSON'];

const messages = new Map<string, Message>();

/** The message of a type such as `core.v1.Pod`, or undefined when there is none. */
export function findMessage(name: string): Message | undefined {
  const known = messages.get(name);
  if (known !== undefined) return known;
  const { entries } = readTable<string>(`protobuf/${tableOf(name)}`);
  const text = Object.hasOwn(entries, name) ? entries[name] : undefined;
  if (text === undefined) return undefined;
  const message = parseMessage(name, text);
  messages.set(name, message);
  return message;
}

export function messageOf(name: string): Message {
  const message = findMessage(name);
  if (message === undefined) throw new Error(`no message is generated for ${name}`);
  return message;
}

function parseMessage(name: string, text: string): Message {
  const isList = text.startsWith('=');
  const isJson = JSON_TYPES.includes(name);
  const words = (isJson ? text.replace(':B', ':J') : text.slice(isList ? 1 : 0)).split(' ');
  const fields = words.filter((word) => word !== '').map(parseField);
  return { name, isList, fields, positions: new Map(fields.map(({ number }, at) => [number, at])) };
}

function parseField(word: string): Field {
  const [head = '', name = '', type = ''] = word.split(':');
  const number = Number.parseInt(head, 10);
  const flags = head.slice(String(number).length);
  return {
    number,
    name,
    type,
    isRepeated: flags.includes('r'),
    isMap: flags.includes('m'),
    isPointer: flags.includes('p'),
    isOmittedEmpty: flags.includes('o'),
    isOmittedZero: flags.includes('z'),
    isInline: flags.includes('n'),
  };
}
