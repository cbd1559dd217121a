import type { Call, Expression, LoopMacro } from './expression.ts';
import { SyntaxProblem } from './source.ts';

/** The loop macros by name and number of arguments, the receiver not counted. */
const LOOPS: ReadonlyMap<string, { macro: LoopMacro; variables: 1 | 2; hasFilter: boolean }> = new Map([
  ['all/2', { macro: 'all', variables: 1, hasFilter: false }],
  ['exists/2', { macro: 'exists', variables: 1, hasFilter: false }],
  ['exists_one/2', { macro: 'existsOne', variables: 1, hasFilter: false }],
  ['existsOne/2', { macro: 'existsOne', variables: 1, hasFilter: false }],
  ['map/2', { macro: 'map', variables: 1, hasFilter: false }],
  ['map/3', { macro: 'map', variables: 1, hasFilter: true }],
  ['filter/2', { macro: 'filter', variables: 1, hasFilter: false }],
  ['sortBy/2', { macro: 'sortBy', variables: 1, hasFilter: false }],
  ['all/3', { macro: 'all', variables: 2, hasFilter: false }],
  ['exists/3', { macro: 'exists', variables: 2, hasFilter: false }],
  ['exists_one/3', { macro: 'existsOne', variables: 2, hasFilter: false }],
  ['existsOne/3', { macro: 'existsOne', variables: 2, hasFilter: false }],
  ['transformList/3', { macro: 'map', variables: 2, hasFilter: false }],
  ['transformList/4', { macro: 'map', variables: 2, hasFilter: true }],
  ['transformMap/3', { macro: 'transformMap', variables: 2, hasFilter: false }],
  ['transformMap/4', { macro: 'transformMap', variables: 2, hasFilter: true }],
  ['transformMapEntry/3', { macro: 'transformMapEntry', variables: 2, hasFilter: false }],
  ['transformMapEntry/4', { macro: 'transformMapEntry', variables: 2, hasFilter: true }],
]);

/** What a call stands for when it is a macro; `undefined` when it is just a call. */
export function expandMacro(call: Call): Expression | undefined {
  const { name, target, args } = call;
  if (target === undefined) return name === 'has' && args.length === 1 ? presence(call) : undefined;
  if ((name === 'optMap' || name === 'optFlatMap') && args.length === 2) return optionalMap(call, target);
  return loop(call, target);
}

function loop({ at, name, args }: Call, range: Expression): Expression | undefined {
  const form = LOOPS.get(`${name}/${args.length}`);
  const body = args.at(-1);
  if (form === undefined || body === undefined) return undefined;
  const variables = args.slice(0, form.variables).map(simpleName);
  const [first, second] = variables;
  if (first === second) throw new SyntaxProblem(args[1]?.at ?? at, `duplicate variable name: ${first}`);
  const filter = form.hasFilter ? args.at(-2) : undefined;
  return { kind: 'loop', at, macro: form.macro, range, variables, filter, body };
}

function presence({ at, args }: Call): Expression {
  const [arg] = args;
  if (arg?.kind !== 'select' || arg.mode !== 'value') {
    throw new SyntaxProblem(arg?.at ?? at, 'invalid argument to has() macro');
  }
  return { ...arg, at, mode: 'presence' };
}

function optionalMap({ at, name, args }: Call, target: Expression): Expression | undefined {
  const [variable, body] = args;
  if (variable === undefined || body === undefined) return undefined;
  if (variable.kind !== 'ident') {
    throw new SyntaxProblem(variable.at, `${name}() variable name must be a simple identifier`);
  }
  return { kind: 'optionalMap', at, target, variable: variable.name, body, isFlat: name === 'optFlatMap' };
}

function simpleName(expression: Expression): string {
  if (expression.kind === 'ident') return expression.name;
  throw new SyntaxProblem(expression.at, 'argument must be a simple name');
}
