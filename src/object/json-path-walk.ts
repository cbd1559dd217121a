import { isJsonObject, type Json } from './json.ts';
import { JsonPathProblem, type Slice, type Step } from './json-path-syntax.ts';
import { isGoInteger } from './validation/go-text.ts';

/** What the steps lead to from the given values, in order. */
export function walkSteps(from: readonly Json[], steps: readonly Step[]): Json[] {
  let here = [...from];
  for (const step of steps) here = walkStep(here, step);
  return here;
}

function walkStep(from: readonly Json[], step: Step): Json[] {
  switch (step.kind) {
    case 'member':
      return from.flatMap((value) => memberOf(value, step.name));
    case 'all':
      return from.flatMap(childrenOf);
    case 'descend':
      return from.flatMap(withDescendants);
    case 'constant':
    case 'number':
      // A text stands for itself however many values there are; other constants stand once for each.
      return typeof step.value === 'string' ? [step.value] : from.map(() => step.value);
    case 'word':
      throw new JsonPathProblem(`unrecognized identifier ${step.word}`);
    case 'slice':
      return slicesOf(from, step);
    case 'union':
      return step.paths.flatMap((path) => walkSteps(from, path));
    case 'filter':
      return from.flatMap((value) => filtered(value, step));
  }
}

function memberOf(value: Json, name: string): Json[] {
  const member = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return member === undefined ? [] : [member];
}

function childrenOf(value: Json): Json[] {
  if (Array.isArray(value)) return value;
  // Go takes a text apart into bytes.
  if (typeof value === 'string') return [...new TextEncoder().encode(value)];
  return isJsonObject(value) ? Object.values(value) : [];
}

function withDescendants(value: Json): Json[] {
  const children = childrenOf(value);
  return children.length === 0 ? [] : [value, ...children.flatMap(withDescendants)];
}

function slicesOf(from: readonly Json[], slice: Slice): Json[] {
  const found: Json[] = [];
  for (const value of from) {
    if (value === null) continue;
    const items = sliceOf(value, slice);
    // Where nothing is asked of one list, such as all of an empty one, upstream does not look at those behind it.
    if (items === undefined) break;
    for (const item of items) found.push(item);
  }
  return found;
}

function sliceOf(value: Json, slice: Slice): Json[] | undefined {
  if (!Array.isArray(value)) throw new JsonPathProblem('value is not array or slice');
  const { length } = value;
  const first = fromEnd(slice.from ?? 0, length);
  const last = lastOf(slice, length);
  if (first === last) return undefined;
  checkBounds(first, last, length);
  const step = slice.step ?? 1;
  if (step <= 0) throw new JsonPathProblem('step must be > 0');
  return value.slice(first, last).filter((_, index) => index % step === 0);
}

const fromEnd = (position: number, length: number): number => (position < 0 ? position + length : position);

function lastOf({ from, to, isIndex }: Slice, length: number): number {
  if (!isIndex) return fromEnd(to ?? length, length);
  const next = (from ?? 0) + 1;
  // The last item, `[-1]`, has no position behind it.
  return next <= 0 ? next + length : next;
}

function checkBounds(first: number, last: number, length: number): void {
  const outside = first >= length || first < 0 ? first : last > length || last < 0 ? last - 1 : undefined;
  if (outside !== undefined) {
    throw new JsonPathProblem(`array index out of bounds: index ${outside}, length ${length}`);
  }
  if (first > last) throw new JsonPathProblem(`starting index ${first} is greater than ending index ${last}`);
}

function filtered(value: Json, { left, operator, right }: Extract<Step, { kind: 'filter' }>): Json[] {
  if (!Array.isArray(value)) throw new JsonPathProblem('value is not array or slice and cannot be filtered');
  return value.filter((item) => {
    if (operator === 'exists') return existsIn(item, left);
    const lefts = oneOf(walkSteps([item], left));
    const rights = lefts.length === 0 ? [] : oneOf(walkSteps([item], right));
    const [a] = lefts;
    const [b] = rights;
    if (a === undefined || b === undefined) return false;
    if (kindOf(a, left) !== kindOf(b, right)) throw new JsonPathProblem('incompatible types for comparison');
    return compares(a, operator, b);
  });
}

function existsIn(item: Json, steps: readonly Step[]): boolean {
  try {
    return walkSteps([item], steps).length > 0;
  } catch (error) {
    // Where the path does not fit, upstream looks at what it had before the step that failed: something.
    if (error instanceof JsonPathProblem) return true;
    throw error;
  }
}

function oneOf(values: Json[]): Json[] {
  if (values.length > 1) throw new JsonPathProblem('can only compare one element at a time');
  return values;
}

/** Whole numbers and fractions are different types in Go, and only values of one type compare. */
function kindOf(value: Json, steps: readonly Step[]): string {
  const source = steps.at(-1);
  if (source?.kind === 'number') return source.isInteger ? 'int' : 'float';
  if (typeof value === 'number' || typeof value === 'bigint') return isGoInteger(value) ? 'int' : 'float';
  if (typeof value === 'object') throw new JsonPathProblem('invalid type for comparison');
  return typeof value;
}

function compares(a: Json, operator: string, b: Json): boolean {
  if (!['==', '!=', '<', '<=', '>', '>='].includes(operator)) {
    throw new JsonPathProblem(`unrecognized filter operator ${operator}`);
  }
  if (operator === '==') return a === b;
  if (operator === '!=') return a !== b;
  if (typeof a === 'boolean') throw new JsonPathProblem('invalid type for comparison');
  return isOrdered(a as string | number | bigint, operator, b as string | number | bigint);
}

function isOrdered(a: string | number | bigint, operator: string, b: string | number | bigint): boolean {
  if (operator === '<') return a < b;
  if (operator === '<=') return a <= b;
  return operator === '>' ? a > b : a >= b;
}
