import { isJsonObject, type Json } from './json.ts';
import { JsonPathProblem, parseJsonPath, type Step } from './json-path-syntax.ts';
import { walkSteps } from './json-path-walk.ts';

/** A path that is compiled once and evaluated for every object. */
export interface JsonPath {
  /** What the path leads to, none where something on the way is missing. Throws `JsonPathProblem` where types do not fit. */
  readonly values: (root: Json) => Json[];
  /** The first value; undefined when there is none or the path does not fit the object. */
  readonly first: (root: Json) => Json | undefined;
}

/**
 * Compiles a path such as `.spec.a`, `.status.conditions[?(@.type=="Ready")].status` or `.items[*]`: the language of
 * kubectl, printer columns and selectable fields. Undefined when it cannot be read.
 */
export function compileJsonPath(path: string): JsonPath | undefined {
  const steps = orNothing(() => parseJsonPath(path));
  if (steps === undefined) return undefined;
  const names = plainNames(steps);
  const values = (root: Json) => walkSteps([root], steps);
  return {
    values,
    first: names === undefined ? (root) => orNothing(() => values(root))?.[0] : (root) => memberAt(root, names),
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

function orNothing<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof JsonPathProblem) return undefined;
    throw error;
  }
}
