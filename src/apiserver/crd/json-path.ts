import { getKey, isJsonObject, type Json } from '../../object/json.ts';

/** Goes from one set of values to the next. */
type Step = (values: readonly Json[]) => readonly Json[];

/** A compiled JSONPath as kubectl and printer columns use it, without the braces. */
export interface JsonPath {
  /** All values found; throws RangeError for a list position that does not exist. */
  find(root: Json): readonly Json[];
}

/** Compiles `.spec.ports[0].name`, `.status.conditions[?(@.type=="Ready")].status` …; undefined when it cannot be read. */
export function parseJsonPath(text: string): JsonPath | undefined {
  const steps = new PathParser(text).parse();
  if (steps === undefined) return undefined;
  return { find: (root) => steps.reduce<readonly Json[]>((values, step) => step(values), [root]) };
}

const each =
  (next: (value: Json) => readonly Json[]): Step =>
  (values) =>
    values.flatMap((value) => [...next(value)]);

const field = (name: string): Step =>
  each((value) => {
    const found = isJsonObject(value) ? getKey(value, name) : undefined;
    return found === undefined ? [] : [found];
  });

const children = (value: Json): readonly Json[] => {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
};

const descend = (value: Json): readonly Json[] => [
  value,
  ...children(value).flatMap((child) => [...descend(child)]),
];

function slice(text: string): Step | undefined {
  const match = /^(-?\d+)?(?::(-?\d+)?(?::(\d+))?)?$/.exec(text);
  if (match === null) return undefined;
  const [, start, end, step] = match;
  if (!text.includes(':')) return index(Number(start));
  return each((value) =>
    Array.isArray(value)
      ? value
          .slice(start === undefined ? 0 : Number(start), end === undefined ? undefined : Number(end))
          .filter((_, position) => position % Number(step ?? 1) === 0)
      : [],
  );
}

const index = (position: number): Step =>
  each((value) => {
    if (!Array.isArray(value)) return [];
    const item = value.at(position);
    if (item === undefined)
      throw new RangeError(`array index out of bounds: index ${position}, length ${value.length}`);
    return [item];
  });

const COMPARISONS: Readonly<Record<string, (a: Json, b: Json) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => orderOf(a, b) < 0,
  '>': (a, b) => orderOf(a, b) > 0,
  '<=': (a, b) => orderOf(a, b) <= 0,
  '>=': (a, b) => orderOf(a, b) >= 0,
};

/** NaN for what has no order. */
function orderOf(a: Json, b: Json): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a !== 'string' || typeof b !== 'string') return Number.NaN;
  return a < b ? -1 : Number(a > b);
}

function filter(text: string): Step | undefined {
  const { 0: operator, index: at = text.length } = /==|!=|<=|>=|<|>/.exec(text) ?? {};
  const left = text.slice(0, at);
  const right = text.slice(at + (operator?.length ?? 0));
  const operand = operandOf(left);
  if (operand === undefined) return undefined;
  const compare = operator === undefined ? undefined : COMPARISONS[operator];
  const other = operator === undefined ? undefined : operandOf(right);
  if (operator !== undefined && other === undefined) return undefined;
  const keeps = (item: Json): boolean => {
    const values = operand(item);
    if (compare === undefined || other === undefined) return values.length > 0;
    const [a] = values;
    const [b] = other(item);
    return a !== undefined && b !== undefined && compare(a, b);
  };
  return each((value) => (Array.isArray(value) ? value.filter(keeps) : []));
}

function operandOf(raw: string): ((item: Json) => readonly Json[]) | undefined {
  const text = raw.trim();
  const quoted = /^(["'])(.*)\1$/s.exec(text)?.[2];
  if (quoted !== undefined) return () => [quoted.replace(/\\(.)/g, '$1')];
  if (/^-?\d+(\.\d+)?$/.test(text)) return () => [Number(text)];
  if (text === 'true' || text === 'false') return () => [text === 'true'];
  if (!text.startsWith('@')) return undefined;
  const path = parseJsonPath(text.slice(1));
  return path === undefined ? undefined : (item) => path.find(item);
}

class PathParser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text.startsWith('$') ? text.slice(1) : text;
  }

  parse(): readonly Step[] | undefined {
    const steps: Step[] = [];
    while (this.#at < this.#text.length) {
      const step = this.#text[this.#at] === '[' ? this.#bracket() : this.#name();
      if (step === undefined) return undefined;
      steps.push(step);
    }
    return steps;
  }

  #name(): Step | undefined {
    if (this.#text.startsWith('..', this.#at)) {
      this.#at += 1;
      return each(descend);
    }
    if (this.#text[this.#at] === '.') this.#at += 1;
    let name = '';
    for (
      let char = this.#text[this.#at];
      char !== undefined && char !== '.' && char !== '[';
      char = this.#text[this.#at]
    ) {
      if (char === '\\') this.#at += 1;
      name += this.#text[this.#at] ?? '';
      this.#at += 1;
    }
    if (name === '*') return each(children);
    // `.` alone is the object itself; a dot before a bracket changes nothing.
    return name === '' ? (values) => values : field(name);
  }

  #bracket(): Step | undefined {
    const end = this.#endOfBracket();
    if (end === undefined) return undefined;
    const inner = this.#text.slice(this.#at + 1, end).trim();
    this.#at = end + 1;
    if (inner === '*') return each(children);
    if (inner.startsWith('?(') && inner.endsWith(')')) return filter(inner.slice(2, -1));
    // Keys in double quotes are an error to kubectl's JSONPath.
    const quoted = /^'([^']*)'$/.exec(inner)?.[1];
    return quoted === undefined ? slice(inner) : field(quoted);
  }

  /** The bracket that closes this one, outside of quotes. */
  #endOfBracket(): number | undefined {
    let depth = 0;
    let quote = '';
    for (let at = this.#at; at < this.#text.length; at += 1) {
      const char = this.#text.charAt(at);
      if (quote !== '') {
        if (char === '\\') at += 1;
        else if (char === quote) quote = '';
      } else if (char === '"' || char === "'") quote = char;
      else if (char === '[') depth += 1;
      else if (char === ']') {
        depth -= 1;
        if (depth === 0) return at;
      }
    }
    return undefined;
  }
}
