import type { Checker } from './check.ts';
import type { Loop, OptionalMap } from './expression.ts';
import {
  BOOL,
  type CelType,
  DYN,
  ERROR,
  formatType,
  INT,
  isDynOrError,
  isOptional,
  listOf,
  mapOf,
  optionalOf,
} from './type.ts';

/** The type of a macro that runs over a list or map. */
export function checkLoop(checker: Checker, loop: Loop): CelType {
  const range = checker.resolved(checker.check(loop.range));
  const variables = loopVariables(checker, loop, range);
  return checker.within(variables, () => {
    const filter = loop.filter && checker.check(loop.filter);
    const body = checker.check(loop.body);
    const result = loopResult(checker, loop, { range, body, variables });
    return filter === undefined ? result : conditional(checker, loop.at, filter, result);
  });
}

type Variables = readonly (readonly [string, CelType])[];

function loopVariables(checker: Checker, { range: node, variables, macro }: Loop, range: CelType): Variables {
  const [first = '', second] = variables;
  const [key, item] = rangeTypes(checker, range, second !== undefined);
  if (key === undefined || (macro === 'sortBy' && range.kind === 'map')) {
    const shown = formatType(range);
    checker.issue(
      node.at,
      `expression of type '${shown}' cannot be range of a comprehension (must be list, map, or dynamic)`,
    );
    return variables.map((name) => [name, ERROR] as const);
  }
  return second === undefined
    ? [[first, key]]
    : [
        [first, key],
        [second, item ?? DYN],
      ];
}

/** The types of the one variable, or of both. */
function rangeTypes(checker: Checker, range: CelType, isPair: boolean): readonly (CelType | undefined)[] {
  const [first = DYN, second = DYN] = range.params;
  if (range.kind === 'list') return isPair ? [INT, first] : [first];
  if (range.kind === 'map') return [first, second];
  if (range.kind === 'param') checker.isAssignable(DYN, range);
  else if (!isDynOrError(range)) return [];
  return [DYN, DYN];
}

interface LoopTypes {
  readonly range: CelType;
  readonly body: CelType;
  readonly variables: Variables;
}

function loopResult(
  checker: Checker,
  { macro, at, body: node }: Loop,
  { range, body, variables }: LoopTypes,
): CelType {
  const key = variables[0]?.[1] ?? DYN;
  switch (macro) {
    case 'all':
    case 'exists':
      if (!checker.isAssignable(body, BOOL)) checker.mismatch(node.at, BOOL, checker.resolved(body));
      return BOOL;
    case 'existsOne':
      conditional(checker, at, body, INT);
      return BOOL;
    case 'filter':
      return conditional(checker, at, body, listOf(key));
    case 'map':
      return listOf(checker.resolved(body));
    case 'transformMap':
      return mapOf(key, checker.resolved(body));
    case 'transformMapEntry':
      return entryMap(checker, at, checker.resolved(body));
    case 'sortBy':
      return sorted(checker, at, range, checker.resolved(body));
  }
}

const COMPARABLE = new Set([
  'int',
  'uint',
  'double',
  'bool',
  'duration',
  'timestamp',
  'string',
  'bytes',
  'dyn',
  'error',
  'param',
]);

function sorted(checker: Checker, at: number, range: CelType, key: CelType): CelType {
  if (COMPARABLE.has(key.kind)) return range;
  return checker.noOverload(at, '@sortByAssociatedKeys', [range, listOf(key)], true);
}

function entryMap(checker: Checker, at: number, body: CelType): CelType {
  if (body.kind === 'map' || isDynOrError(body)) return body;
  return checker.noOverload(at, 'cel.@mapInsert', [mapOf(DYN, DYN), body], false);
}

/** What macros with a condition stand for: `condition ? result : result`. */
function conditional(checker: Checker, at: number, condition: CelType, result: CelType): CelType {
  if (checker.isAssignable(condition, BOOL)) return result;
  return checker.noOverload(at, '_?_:_', [condition, result, result], false);
}

export function checkOptionalMap(checker: Checker, { at, target, variable, body, isFlat }: OptionalMap): CelType {
  const type = checker.resolved(checker.check(target));
  if (!isOptional(type) && !isDynOrError(type)) {
    checker.noOverload(at, 'hasValue', [type], true);
    return checker.noOverload(at, 'value', [type], true);
  }
  const inner = checker.within([[variable, type.params[0] ?? DYN]], () => checker.check(body));
  const result = checker.resolved(inner);
  if (!isFlat) return optionalOf(result);
  if (isOptional(result) || isDynOrError(result)) return result;
  return checker.noOverload(at, '_?_:_', [BOOL, result, optionalOf(DYN)], false);
}
