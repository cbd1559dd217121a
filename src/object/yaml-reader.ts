import { isAlias, isMap, isScalar, isSeq, type LineCounter, type Node, type Scalar, type YAMLMap } from 'yaml';
import { isJsonObject, type Json, type JsonObject, setKey } from './json.ts';
import { MAX_DEPTH } from './json-scan.ts';
import { JsonProblem, tooDeep } from './json-text.ts';
import { resolvePlain } from './yaml-scalar.ts';

const encoder = new TextEncoder();
const CORE = 'tag:yaml.org,2002:';

const problem = (message: string): JsonProblem => new JsonProblem('syntax', message);

/** Turns the nodes of one document into JSON. */
export class YamlReader {
  readonly duplicates: string[] = [];
  readonly #text: string;
  readonly #lines: LineCounter;
  readonly #anchors = new Map<string, Node>();
  /** The anchors whose values are being read: one that holds itself has no value. */
  readonly #open = new Set<string>();
  #nodes = 0;
  #aliased = 0;
  /** Where the node is that was read last. */
  #place = 0;

  constructor(text: string, lines: LineCounter) {
    this.#text = text;
    this.#lines = lines;
  }

  /** How far it has come. */
  get line(): number {
    return this.#lines.linePos(this.#place).line;
  }

  value(node: unknown, depth: number): Json {
    this.#count();
    this.#place = (node as Partial<Node> | null)?.range?.[0] ?? this.#place;
    if (isAlias(node)) return this.#alias(node.source, depth);
    if (isScalar(node)) return this.#scalar(node);
    if (!isMap(node) && !isSeq(node)) return null;
    if (depth === MAX_DEPTH) throw tooDeep(this.#byteOf(node));
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    return isMap(node) ? this.#map(node, depth + 1) : node.items.map((item) => this.value(item, depth + 1));
  }

  #byteOf(node: Node): number {
    return encoder.encode(this.#text.slice(0, node.range?.[0] ?? 0)).length + 1;
  }

  /** Aliases may not make up more of a document than upstream allows: a small text must stay small. */
  #count(): void {
    this.#nodes++;
    if (this.#open.size === 0) return;
    this.#aliased++;
    const isMuch = this.#aliased > 100 && this.#nodes > 1000;
    if (isMuch && this.#aliased / this.#nodes > allowedAliases(this.#nodes)) {
      throw problem('yaml: document contains excessive aliasing');
    }
  }

  #alias(name: string, depth: number): Json {
    const node = this.#anchors.get(name);
    if (node === undefined) throw problem(`yaml: unknown anchor '${name}' referenced`);
    if (this.#open.has(name)) throw problem(`yaml: anchor '${name}' value contains itself`);
    this.#open.add(name);
    const value = this.value(node, depth);
    this.#open.delete(name);
    return value;
  }

  #scalar(node: Scalar): Json {
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    const value = scalarValue(node);
    if (typeof value !== 'number' || Number.isFinite(value)) return value;
    throw problem(`json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`);
  }

  #map(node: YAMLMap, depth: number): JsonObject {
    const result: JsonObject = {};
    for (const { key, value } of node.items) {
      if (isScalar(key) && key.value === '<<' && key.type === 'PLAIN') {
        this.#merge(result, value, depth);
        continue;
      }
      const name = this.#key(key, depth);
      if (Object.hasOwn(result, name.text)) this.#duplicate(name.shown, value ?? key);
      setKey(result, name.text, this.value(value, depth));
    }
    return result;
  }

  #duplicate(shown: string, node: unknown): void {
    const start = (node as Partial<Node>).range?.[0] ?? 0;
    this.duplicates.push(`line ${this.#lines.linePos(start).line}: key ${shown} already set in map`);
  }

  #key(node: unknown, depth: number): { text: string; shown: string } {
    const value = isScalar(node) ? scalarValue(node) : this.value(node, depth);
    if (typeof value === 'string') return { text: value, shown: JSON.stringify(value) };
    if (typeof value === 'number' && !Number.isInteger(value))
      return { text: floatKey(value), shown: String(value) };
    if (value === null) throw problem('unsupported map key of type: %!s(<nil>), key: <nil>');
    if (typeof value === 'object') throw problem(`yaml: invalid map key: ${goSyntax(value)}`);
    return { text: String(value), shown: String(value) };
  }

  /** `<<: *other`: the members of other maps, at the place where the merge stands. */
  #merge(result: JsonObject, node: unknown, depth: number): void {
    const value = this.value(node, depth);
    const sources = Array.isArray(value) ? value.toReversed() : [value];
    for (const source of sources) {
      if (!isJsonObject(source)) throw problem('yaml: map merge requires map or sequence of maps as the value');
      for (const key of Object.keys(source)) setKey(result, key, source[key] ?? null);
    }
  }
}

function allowedAliases(nodes: number): number {
  const few = 400_000;
  const many = 4_000_000;
  if (nodes <= few) return 0.99;
  return nodes >= many ? 0.1 : 0.99 - 0.89 * ((nodes - few) / (many - few));
}

/** Upstream prints fractions with the digits that 32 bits hold. */
function floatKey(value: number): string {
  if (Number.isNaN(value)) return '.nan';
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf';
  return String(Number(Math.fround(value).toPrecision(8)));
}

function scalarValue(node: Scalar): Json {
  // With the schema that knows nothing every scalar is text.
  const text = typeof node.value === 'string' ? node.value : '';
  const { tag } = node;
  if (tag === undefined) return node.type === 'PLAIN' ? resolvePlain(text) : text;
  if (!tag.startsWith(CORE)) return text;
  switch (tag.slice(CORE.length)) {
    case 'int':
    case 'float':
    case 'bool':
    case 'null':
      return taggedValue(text, tag.slice(CORE.length));
    case 'binary':
      return binaryText(text);
    default:
      return text;
  }
}

function taggedValue(text: string, type: string): Json {
  const value = resolvePlain(text);
  const found = typeName(value);
  if (found === type || (type === 'float' && found === 'int')) return value;
  throw problem(`yaml: cannot decode !!${found} \`${text}\` as a !!${type}`);
}

function typeName(value: Json): string {
  if (value === null) return 'null';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return typeof value === 'boolean' ? 'bool' : 'str';
}

function binaryText(text: string): string {
  try {
    return new TextDecoder().decode(Uint8Array.from(atob(text.trim()), (char) => char.charCodeAt(0)));
  } catch {
    throw problem('yaml: !!binary value contains invalid base64 data');
  }
}

/** A list or map as Go source, which is how upstream shows a key that cannot be one. */
function goSyntax(value: Json): string {
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (!isJsonObject(value)) return value === null ? 'interface {}(nil)' : JSON.stringify(value);
  const members = Object.keys(value).map((key) => `${JSON.stringify(key)}:${goSyntax(value[key] ?? null)}`);
  return `map[interface {}]interface {}{${members.join(', ')}}`;
}
