import { isJsonObject, type Json } from './json.ts';
import { JsonPathProblem, parseJsonPath, type Step } from './json-path-syntax.ts';
import { walkSteps } from './json-path-walk.ts';
import { stringifyJson } from './json-text.ts';

/** A path that is compiled once and evaluated for every object. */
export interface JsonPath {
  /** What the path leads to, none where something on the way is missing. Throws `JsonPathProblem` where types do not fit. */
  readonly values: (root: Json) => Json[];
  /** The first value; undefined when there is none or the path does not fit the object. */
  readonly first: (root: Json) => Json | undefined;
}

/** Compiles a path such as `.spec.a`, `.status.conditions[?(@.type=="Ready")].status` or `.items[*]`. */
export function compileJsonPath(path: string): JsonPath {
  const steps = parseJsonPath(path);
  const names = plainNames(steps);
  const values = (root: Json) => walkSteps([root], steps);
  return {
    values,
    first: names === undefined ? (root) => firstOf(values, root) : (root) => memberAt(root, names),
  };
}

/** The names of a path of nothing but members, which most paths are. */
function plainNames(steps: readonly Step[]): string[] | undefined {
  const names = steps.map((step) => (step.kind === 'member' ? step.name : undefined));
  return names.every((name) => name !== undefined) ? names : undefined;
}

function memberAt(root: Json, names: readonly string[]): Json | undefined {
  let here: Json | undefined = root;
  for (const name of names) {
    here = isJsonObject(here) && Object.hasOwn(here, name) ? here[name] : undefined;
    if (here === undefined) return undefined;
  }
  return here;
}

function firstOf(values: (root: Json) => Json[], root: Json): Json | undefined {
  try {
    return values(root)[0];
  } catch (error) {
    if (error instanceof JsonPathProblem) return undefined;
    throw error;
  }
}

/** A value as upstream prints it in a column of text: scalars bare, objects and lists as JSON. */
export const printJsonPathValue = (value: Json): string =>
  value === null ? '<no value>' : typeof value === 'object' ? sorted(value) : String(value);

const sorted = (value: Json): string => stringifyJson(sortedKeys(value));

function sortedKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, sortedKeys(value[key] ?? null)]),
  );
}

/** What upstream refuses in the paths of columns and of the scale subresource when a definition is created. */
export function simplePathProblem(path: string): string | undefined {
  if (path === '') return 'must not be empty';
  return path.startsWith('.') ? undefined : 'must be a simple json path starting with .';
}
