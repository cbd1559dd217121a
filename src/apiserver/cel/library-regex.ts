import { RE2JS } from 're2js';
import { messageOf } from '../../base/errors.ts';
import { type Cost, global, member, type Overload } from './function.ts';
import { BOOL, INT, listOf, STRING } from './type.ts';
import { CelError, CelList, sizeOf } from './value.ts';

const CACHED = 1000;
const compiled = new Map<string, RE2JS>();

/** Patterns are mostly constants of rules: each is compiled once. */
function pattern(text: string, problem = ''): RE2JS {
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const fresh = compilePattern(text, problem);
  if (compiled.size >= CACHED) compiled.clear();
  compiled.set(text, fresh);
  return fresh;
}

function compilePattern(text: string, problem: string): RE2JS {
  try {
    return RE2JS.compile(text);
  } catch (error) {
    throw new CelError(`${problem}${messageOf(error)}`);
  }
}

/** Why RE2 does not take a pattern; constant patterns are looked at when the rule is compiled. */
export function patternProblem(text: string): string | undefined {
  try {
    pattern(text);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

const ILLEGAL = 'Illegal regex: ';

function find(text: string, expression: string): string {
  const matcher = pattern(expression, ILLEGAL).matcher(text);
  return matcher.find() ? (matcher.group() ?? '') : '';
}

/** A negative limit means all. */
function findAll(text: string, expression: string, limit = -1n): CelList {
  const matcher = pattern(expression, ILLEGAL).matcher(text);
  const found: string[] = [];
  while ((limit < 0n || found.length < limit) && matcher.find()) found.push(matcher.group() ?? '');
  return new CelList(found);
}

const matchCost: Cost = ([text = null, expression = null]) =>
  Math.ceil((1 + sizeOf(text)) * 0.1) * Math.ceil(sizeOf(expression) * 0.25);

const matches = { call: (text: string, expression: string) => pattern(expression).test(text), cost: matchCost };

export const regexes: readonly Overload[] = [
  member('matches', [STRING, STRING], BOOL, matches),
  global('matches', [STRING, STRING], BOOL, matches),
  member('find', [STRING, STRING], STRING, { call: find, cost: matchCost }),
  member('findAll', [STRING, STRING], listOf(STRING), {
    call: (text, expression) => findAll(text, expression),
    cost: matchCost,
  }),
  member('findAll', [STRING, STRING, INT], listOf(STRING), { call: findAll, cost: matchCost }),
];
