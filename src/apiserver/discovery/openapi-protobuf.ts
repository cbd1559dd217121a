import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { MessageWriter } from '../protobuf/message-writer.ts';
import { nodeYaml } from './node-yaml.ts';
import { choiceOf, type FieldType, type Part, shapeOf } from './openapi-messages.ts';

/** A Swagger 2.0 document as the message `openapi.v2.Document`, byte for byte what upstream makes of the same JSON. */
export function swaggerProtobuf(document: JsonObject): Buffer {
  const writer = new MessageWriter();
  writeBody(writer, 'Document', document);
  return writer.finish();
}

function writeBody(writer: MessageWriter, type: FieldType, value: Json): void {
  const choice = choiceOf(type);
  if (choice !== undefined) {
    const [number, chosen] = choice(value);
    writeItem(writer, number, chosen, value);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const part of shapeOf(type)) {
    if (part.kind === 'member') writeMember(writer, part, value[part.name]);
    else if (part.kind === 'list') writeList(writer, part, value[part.name]);
    else writeNames(writer, part, Object.entries(value));
  }
}

/** Protobuf 3 does not write a scalar that is zero. */
function writeMember(writer: MessageWriter, { number, type }: Part, value: Json | undefined): void {
  const isZero = value === '' || value === false || value === 0;
  if (value === undefined || (isZero && SCALARS.includes(type))) return;
  writeItem(writer, number, type, value);
}

const SCALARS = ['s', 'b', 'i', 'd'];

function writeList(writer: MessageWriter, { number, type }: Part, value: Json | undefined): void {
  if (!Array.isArray(value)) return;
  for (let at = value.length - 1; at >= 0; at--) writeItem(writer, number, type, value[at] ?? null);
}

function writeNames(writer: MessageWriter, { number, type, kind }: Part, entries: [string, Json][]): void {
  for (const [name, value] of entries.reverse()) {
    if (kind === 'extensions' && !name.startsWith('x-')) continue;
    const before = writer.size;
    writeItem(writer, 2, type, value);
    if (name !== '') writer.string(1, name);
    writer.nest(number, before);
  }
}

function writeItem(writer: MessageWriter, number: number, type: FieldType, value: Json): void {
  switch (type) {
    case 's':
      if (typeof value === 'string') writer.string(number, value);
      return;
    case 'b':
      if (typeof value === 'boolean') writer.boolean(number, value);
      return;
    case 'i':
      if (typeof value === 'bigint' || Number.isInteger(value)) writer.int64(number, value as number | bigint);
      return;
    case 'd':
      if (typeof value === 'bigint' || typeof value === 'number') writer.double(number, Number(value));
      return;
    default:
      writeMessage(writer, number, type, value);
  }
}

function writeMessage(writer: MessageWriter, number: number, type: FieldType, value: Json): void {
  const before = writer.size;
  if (type === 'Any') writer.string(2, nodeYaml(value));
  else if (type === 'StringArray') writeList(writer, STRINGS, value);
  else writeBody(writer, type, value);
  writer.nest(number, before);
}

const STRINGS: Part = { number: 1, kind: 'list', name: '', type: 's' };
