// How built-in kinds look as protobuf: the numbers and types of the .proto files, joined with what the Go structs say
// about the same fields (name in JSON, pointer, omitempty), because Kubernetes converts one into the other by them.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { shortName, tableOf } from '../src/apiserver/builtin-data/schema-name.ts';

/** Table name → message name → its fields, as src/apiserver/protobuf/message-table.ts reads them. */
export type MessageTables = ReadonlyMap<string, ReadonlyMap<string, string>>;

interface ProtoField {
  readonly label: string;
  readonly type: string;
  readonly name: string;
  readonly number: number;
}

interface GoField {
  readonly jsonName: string;
  /** Letters as in the table. */
  readonly flags: string;
}

interface GoPackage {
  /** Struct name → protobuf name of a field → the field, in the order of the source. */
  readonly structs: ReadonlyMap<string, ReadonlyMap<string, GoField>>;
  /** Named slices, which protobuf wraps in a message. */
  readonly slices: ReadonlySet<string>;
}

const SCALARS: Readonly<Record<string, string>> = {
  string: 's',
  bool: 'b',
  int32: 'i',
  int64: 'l',
  bytes: 'B',
  double: 'd',
};

/** The messages that `roots` need. */
export class MessageReader {
  readonly #moduleDirectory: (protoPackage: string) => string;
  readonly #packages = new Map<string, { messages: ReadonlyMap<string, readonly ProtoField[]>; go: GoPackage }>();

  /** @param moduleDirectory where the sources of a protobuf package are */
  constructor(moduleDirectory: (protoPackage: string) => string) {
    this.#moduleDirectory = moduleDirectory;
  }

  tables(roots: readonly string[]): MessageTables {
    const found = new Map<string, string>();
    const queue = [...roots];
    for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
      if (found.has(name)) continue;
      const { text, needs } = this.#message(name);
      found.set(name, text);
      queue.push(...needs);
    }
    const tables = new Map<string, Map<string, string>>();
    for (const [proto, text] of found) {
      const name = shortMessageName(proto);
      const table = tables.get(tableOf(name)) ?? new Map<string, string>();
      tables.set(tableOf(name), table.set(name, text));
    }
    return tables;
  }

  #message(proto: string): { readonly text: string; readonly needs: readonly string[] } {
    const at = proto.lastIndexOf('.');
    const [packageName, name] = [proto.slice(0, at), proto.slice(at + 1)];
    const { messages, go } = this.#package(packageName);
    const fields = messages.get(name);
    if (fields === undefined) throw new Error(`no message ${proto}`);
    const needs: string[] = [];
    const typeText = (type: string): string => {
      const scalar = SCALARS[type];
      if (scalar !== undefined) return scalar;
      const full = type.startsWith('.') ? type.slice(1) : `${packageName}.${type}`;
      needs.push(full);
      return shortMessageName(full);
    };
    const isSlice = go.slices.has(name);
    const struct = go.structs.get(name);
    const parts = ordered(fields, struct).map((field) => {
      const member = struct?.get(field.name);
      // Types with a conversion of their own (Time, Quantity) have fields that no JSON shows.
      const flags = `${labelFlag(field)}${member?.flags ?? ''}`;
      return `${field.number}${flags}:${member?.jsonName ?? field.name}:${typeText(valueType(field.type))}`;
    });
    return { text: `${isSlice ? '=' : ''}${parts.join(' ')}`, needs };
  }

  #package(name: string) {
    const known = this.#packages.get(name);
    if (known !== undefined) return known;
    const directory = this.#moduleDirectory(name);
    const messages = protoMessages(readFileSync(join(directory, 'generated.proto'), 'utf8'));
    const sources = globSync('*.go', { cwd: directory })
      .filter((file) => !/_test\.go$|^zz_generated|^generated\.|_swagger_/.test(file))
      .sort();
    const go = goPackage(sources.map((file) => readFileSync(join(directory, file), 'utf8')).join('\n'));
    const read = { messages, go };
    this.#packages.set(name, read);
    return read;
  }
}

/** `k8s.io.api.core.v1.Pod` → `core.v1.Pod`. */
const shortMessageName = (proto: string): string =>
  shortName(proto.replace(/^k8s\.io\./, 'io.k8s.').replace('_', '-'));

const ordered = (fields: readonly ProtoField[], struct: ReadonlyMap<string, GoField> | undefined) => {
  const order = [...(struct?.keys() ?? [])];
  return [...fields].sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name) || a.number - b.number);
};

const labelFlag = ({ label, type }: ProtoField): string =>
  type.startsWith('map<') ? 'm' : label === 'repeated' ? 'r' : '';

function valueType(type: string): string {
  const map = /^map<(\w+), ?([.\w]+)>$/.exec(type);
  if (map === null) return type;
  if (map[1] !== 'string') throw new Error(`a map with keys other than strings: ${type}`);
  return map[2] ?? '';
}

function protoMessages(text: string): ReadonlyMap<string, readonly ProtoField[]> {
  const messages = new Map<string, ProtoField[]>();
  let fields: ProtoField[] = [];
  for (const line of text.split('\n')) {
    const start = /^message (\w+) \{/.exec(line);
    if (start?.[1] !== undefined) {
      fields = [];
      messages.set(start[1], fields);
    }
    const field = /^ {2}(?:(optional|repeated) )?(map<[^>]+>|[.\w]+) (\w+) = (\d+);/.exec(line);
    if (field !== null) {
      const [, label = '', type = '', name = '', number] = field;
      fields.push({ label, type, name, number: Number(number) });
    }
  }
  return messages;
}

function goPackage(source: string): GoPackage {
  const structs = new Map<string, ReadonlyMap<string, GoField>>();
  for (const [, name = '', body = ''] of source.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) {
    const fields = body.split('\n').flatMap(goField);
    if (fields.length > 0) structs.set(name, new Map(fields));
  }
  const slices = [...source.matchAll(/^type (\w+) \[\]\w+$/gm)].map(([, name = '']) => name);
  return { structs, slices: new Set(slices) };
}

function goField(line: string): (readonly [string, GoField])[] {
  const [, type = '', tags = ''] = /^\s+(?:\w+\s+)?([^\s`]+)\s+`([^`]*)`/.exec(line) ?? [];
  const [, protoName = ''] = /protobuf:"[^"]*name=(\w+)/.exec(tags) ?? [];
  if (protoName === '') return [];
  const [, jsonTag = ''] = /json:"([^"]*)"/.exec(tags) ?? [];
  const [jsonName = '', ...options] = jsonTag.split(',');
  return [[protoName, { jsonName, flags: `${type.startsWith('*') ? 'p' : ''}${flagsOf(options)}` }]];
}

const flagsOf = (options: readonly string[]): string =>
  `${options.includes('omitempty') ? 'o' : ''}${options.includes('omitzero') ? 'z' : ''}${options.includes('inline') ? 'n' : ''}`;
