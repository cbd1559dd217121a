import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, stringify } from 'yaml';
import { messageOf, userError } from '../base/errors.ts';

// Our own recursive functions assume no more (reliability P9); the parser itself would end in a stack overflow.
const MAX_DEPTH = 512;

/** The value of one YAML 1.2 document. Duplicate keys, alias bombs and nesting beyond 512 levels are refused. */
export function parseYaml(text: string): unknown {
  return checkedValue(parseDocument(text));
}

/** A value and where its parts are in the text. */
export interface LocatedYaml {
  readonly value: unknown;
  /** The line, from 1, of the last part of the path that is there. */
  lineOf(path: readonly PropertyKey[]): number;
}

/** The same as {@link parseYaml}, for messages about what is wrong with the value. */
export function parseLocatedYaml(text: string): LocatedYaml {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter });
  const value = checkedValue(document);
  return { value, lineOf: (path) => lineCounter.linePos(offsetOf(document, path)).line };
}

function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range[0] ?? 0;
  for (const part of path) {
    const inner = isAlias(node) ? node.resolve(document) : node;
    const pair = isMap(inner) ? inner.items.find(({ key }) => isScalar(key) && key.value === part) : undefined;
    const item = isSeq(inner) ? inner.items[Number(part)] : undefined;
    const place = pair === undefined ? item : pair.key;
    if (place === undefined) return offset;
    offset = rangeStart(place) ?? offset;
    node = pair === undefined ? item : pair.value;
  }
  return offset;
}

const rangeStart = (node: unknown): number | undefined =>
  typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
    ? Number(node.range[0])
    : undefined;

function checkedValue(document: Document.Parsed): unknown {
  const [problem] = document.errors;
  // The parser recurses: what is far too deep ends as a stack overflow that it reports like any syntax error.
  if (problem?.message.includes('call stack') === true) throw tooDeep();
  if (problem?.code === 'MULTIPLE_DOCS') throw userError('InvalidYaml', 'holds more than one YAML document');
  if (problem !== undefined) throw notYaml(problem);
  const value = valueOf(document);
  if (isDeeperThan(value, MAX_DEPTH)) throw tooDeep();
  return value;
}

function valueOf(document: Document.Parsed): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw notYaml(error);
  }
}

const notYaml = (cause: unknown) =>
  userError('InvalidYaml', `not valid YAML: ${messageOf(cause).split('\n')[0]?.replace(/:$/, '')}`, { cause });

const tooDeep = () => userError('InvalidYaml', `nested deeper than ${MAX_DEPTH} levels`);

/**
 * Level by level instead of recursively: the answer must not depend on the stack. An anchor that holds itself is deeper
 * than anything, and a value that is referred to twice is looked at once per level.
 */
function isDeeperThan(value: unknown, limit: number): boolean {
  let level = new Set([value]);
  for (let depth = 0; level.size > 0; depth++) {
    if (depth > limit) return true;
    const next = [...level].flatMap((item) =>
      typeof item === 'object' && item !== null ? Object.values(item) : [],
    );
    level = new Set(next);
  }
  return false;
}

/**
 * YAML that Go tools read back unchanged: they follow YAML 1.1, where an unquoted `yes`, `on` or `012` is not a string
 * (style S49). Never emits anchors, so that what is written can be edited line by line.
 */
export function printYaml(value: unknown): string {
  return stringify(value, { compat: 'yaml-1.1', aliasDuplicateObjects: false, lineWidth: 0, indentSeq: false });
}
