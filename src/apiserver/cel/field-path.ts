import type { Schema } from '../../api/schema/structural.ts';

/** Where a path leads in a schema. */
interface FoundField {
  readonly parts: readonly string[];
  /** As error messages print it: `a.b`, or `a[key]` below a map. */
  readonly text: string;
  /** Undefined where anything may be. */
  readonly schema: Schema | undefined;
}

interface NoField {
  readonly problem: string;
}

class PathProblem extends Error {}

/** Delimiters stand alone; quoted parts may contain them. */
const TOKEN = /'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/gs;
const END = 'unexpected end of JSON path';

/** Follows a path such as `.spec.replicas` or `.spec['a.b']` through a schema. Simple ones have no brackets. */
export function followPath(path: string, schema: Schema, form: 'any' | 'simple' = 'any'): FoundField | NoField {
  const parts: string[] = [];
  let text = '';
  let at: Schema | undefined = schema;
  try {
    for (const name of namesOf(path, form)) {
      const child = childOf(at, name);
      parts.push(name);
      text = child.isKey ? `${text}[${name}]` : `${text}${text === '' ? '' : '.'}${name}`;
      at = child.schema;
    }
  } catch (error) {
    if (error instanceof PathProblem) return { problem: error.message };
    throw error;
  }
  return { parts, text, schema: at };
}

function* namesOf(path: string, form: 'any' | 'simple'): Generator<string, void> {
  const tokens = (path.match(TOKEN) ?? []).values();
  for (const delimiter of tokens) {
    if (delimiter === '.') yield following(tokens);
    else if (delimiter !== '[') throw new PathProblem(`expected [ or . but got: ${delimiter}`);
    else if (form === 'simple') throw new PathProblem('array notation is not allowed');
    else yield quotedName(tokens);
  }
}

function following(tokens: Iterator<string, undefined>): string {
  const { value } = tokens.next();
  if (value === undefined) throw new PathProblem(END);
  return value;
}

/** What stands in brackets; the opening one has been read. */
function quotedName(tokens: Iterator<string, undefined>): string {
  const literal = following(tokens);
  if (!/^'.*'$/s.test(literal)) throw new PathProblem(`expected single quoted string but got ${literal}`);
  const name = unescaped(literal.slice(1, -1));
  const end = following(tokens);
  if (end !== ']') throw new PathProblem(`expected ] but got ${end}`);
  return name;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['a', '\u0007'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ["'", "'"],
  ['\\', '\\'],
]);

const unescaped = (text: string): string =>
  text.replace(/\\(.)/gs, (escape, letter: string) => {
    const char = ESCAPES.get(letter);
    if (char === undefined) throw new PathProblem(`invalid string literal: invalid escape char ${escape}`);
    return char;
  });

interface Child {
  readonly schema: Schema | undefined;
  readonly isKey: boolean;
}

function childOf(schema: Schema | undefined, name: string): Child {
  const { properties = {}, additionalProperties } = schema ?? {};
  if (Object.hasOwn(properties, name)) return { schema: properties[name], isKey: false };
  if (Object.keys(properties).length > 0 || additionalProperties === undefined) {
    throw new PathProblem('does not refer to a valid field');
  }
  return { schema: typeof additionalProperties === 'object' ? additionalProperties : undefined, isKey: true };
}
