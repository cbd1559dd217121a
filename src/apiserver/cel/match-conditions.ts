import {
  duplicate,
  type FieldError,
  type FieldErrorReason,
  invalid,
  required,
  tooMany,
} from '../../object/field-error.ts';
import type { Json } from '../../object/json.ts';
import { qualifiedNameProblems } from '../../object/names.ts';
import { celEnvironment, type Program } from './environment.ts';
import { dynamicValue } from './schema-value.ts';
import { BOOL, type CelType, DYN, formatType, listOf, mapOf, objectType, STRING } from './type.ts';
import { CelError, CostError, type Value } from './value.ts';

/** One of a webhook's matchConditions (V2). */
export interface MatchCondition {
  readonly name: string;
  readonly expression: string;
}

/** What the conditions look at; the object is null when deleted, the old one when created. */
export interface MatchVariables {
  readonly object: Json;
  readonly oldObject: Json;
  /** An AdmissionRequest. */
  readonly request: Json;
}

/** An error counts only when no condition is false; the failure policy then decides. */
export type MatchOutcome = 'match' | 'no match' | { readonly error: string };

export interface MatchProblem {
  /** `[0].expression`; empty for the whole list. */
  readonly path: string;
  readonly reason: FieldErrorReason;
  readonly message: string;
}

export interface MatchConditions {
  readonly problems: readonly MatchProblem[];
  evaluate(variables: MatchVariables): MatchOutcome;
}

const MOST_CONDITIONS = 64;
// Upstream's limits in units of cost: of one expression, of all conditions of a webhook.
const EXPRESSION_LIMIT = 1_000_000;
const TOTAL_LIMIT = 2_500_000;

const record = (name: string, fields: Readonly<Record<string, CelType>>): CelType =>
  objectType(name, (field) => (Object.hasOwn(fields, field) ? fields[field] : undefined));

const KIND = record('kubernetes.GroupVersionKind', { group: STRING, version: STRING, kind: STRING });
const RESOURCE = record('kubernetes.GroupVersionResource', { group: STRING, version: STRING, resource: STRING });
const USER = record('kubernetes.UserInfo', {
  username: STRING,
  uid: STRING,
  groups: listOf(STRING),
  extra: mapOf(STRING, listOf(STRING)),
});
const REQUEST = record('kubernetes.AdmissionRequest', {
  kind: KIND,
  resource: RESOURCE,
  subResource: STRING,
  requestKind: KIND,
  requestResource: RESOURCE,
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: USER,
  dryRun: BOOL,
  options: DYN,
});

const environment = celEnvironment(
  new Map([
    ['object', DYN],
    ['oldObject', DYN],
    ['request', REQUEST],
  ]),
);

interface Compiled {
  readonly condition: MatchCondition;
  readonly program: Program | string;
}

/** The conditions of a webhook, compiled once. */
export function compileMatchConditions(conditions: readonly MatchCondition[]): MatchConditions {
  const compiled = conditions.map((condition) => ({ condition, program: compileCondition(condition.expression) }));
  return {
    problems: problemsOf(compiled),
    evaluate: (variables) => evaluateAll(compiled, variables),
  };
}

function compileCondition(expression: string): Program | string {
  const program = environment.compile(expression.trim());
  if ('stage' in program) {
    return `${program.stage === 'compilation' ? 'compilation' : 'program instantiation'} failed: ${program.text}`;
  }
  if (program.type.kind === 'bool') return program;
  return `must evaluate to bool but got ${formatType(program.type)}`;
}

function problemsOf(compiled: readonly Compiled[]): readonly MatchProblem[] {
  const names = new Set<string>();
  const problems = compiled.flatMap(({ condition, program }, index) => {
    const found = [...expressionErrors(condition.expression, program), ...nameErrors(condition.name, names)];
    names.add(condition.name);
    return found.map(({ field, reason, message }) => ({ path: `[${index}].${field}`, reason, message }));
  });
  if (compiled.length <= MOST_CONDITIONS) return problems;
  const { reason, message } = tooMany('', compiled.length, MOST_CONDITIONS);
  return [{ path: '', reason, message }, ...problems];
}

function expressionErrors(expression: string, program: Program | string): readonly FieldError[] {
  if (expression.trim() === '') return [required('expression')];
  return typeof program === 'string' ? [invalid('expression', expression.trim(), program)] : [];
}

function nameErrors(name: string, known: ReadonlySet<string>): readonly FieldError[] {
  if (name === '') return [required('name')];
  const problems = qualifiedNameProblems(name).map((problem) => invalid('name', name, problem));
  return known.has(name) ? [...problems, duplicate('name', name)] : problems;
}

function evaluateAll(compiled: readonly Compiled[], variables: MatchVariables): MatchOutcome {
  const values = [
    dynamicValue(variables.object),
    dynamicValue(variables.oldObject),
    dynamicValue(variables.request),
  ];
  const errors: string[] = [];
  let left = TOTAL_LIMIT;
  for (const { condition, program } of compiled) {
    const outcome = typeof program === 'string' ? program : evaluateOne(program, values, left);
    if (typeof outcome === 'string') {
      errors.push(`expression '${condition.expression.trim()}' resulted in error: ${outcome}`);
      continue;
    }
    if (!outcome.isMatch) return 'no match';
    left -= outcome.cost;
  }
  if (errors.length === 0) return 'match';
  const unique = [...new Set(errors)];
  return { error: unique.length === 1 ? (unique[0] ?? '') : `[${unique.join(', ')}]` };
}

function evaluateOne(
  program: Program,
  values: readonly Value[],
  left: number,
): string | { readonly isMatch: boolean; readonly cost: number } {
  try {
    const { value, cost } = program.evaluate(values, Math.min(EXPRESSION_LIMIT, left));
    return { isMatch: value === true, cost };
  } catch (error) {
    if (error instanceof CelError || error instanceof CostError || error instanceof RangeError)
      return error.message;
    throw error;
  }
}
