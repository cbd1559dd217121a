import { type Checked, checkExpression, type Declarations } from './check.ts';
import { Compiler } from './compile.ts';
import type { Call, Expression } from './expression.ts';
import { Frame } from './frame.ts';
import { functionTable } from './function.ts';
import { parseGoDuration } from './go-text.ts';
import { conversions } from './library-conversions.ts';
import { formats } from './library-formats.ts';
import { CIDR, IP, networks } from './library-ip.ts';
import { lists } from './library-lists.ts';
import { operators } from './library-operators.ts';
import { optionals } from './library-optional.ts';
import { quantities } from './library-quantity.ts';
import { patternProblem, regexes } from './library-regex.ts';
import { semvers } from './library-semver.ts';
import { strings } from './library-strings.ts';
import { times } from './library-time.ts';
import { urls } from './library-url.ts';
import { parseExpression } from './parse.ts';
import { type Issue, formatIssues as printIssues } from './source.ts';
import { formatIssues } from './string-format-check.ts';
import { parseTimestamp } from './time-text.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  TIMESTAMP,
  typeOfType,
  typeValueName,
  UINT,
} from './type.ts';
import { CelError, codePointLength, type Value } from './value.ts';

/** A compiled expression. */
export interface Program {
  readonly type: CelType;
  /** Which of the declared variables it mentions. */
  readonly used: ReadonlySet<string>;
  /** Throws CelError when the expression fails and CostError when it costs more than `limit`. */
  evaluate(variables: readonly (Value | undefined)[], limit: number): Evaluation;
}

export interface Evaluation {
  readonly value: Value;
  readonly cost: number;
}

/** What compiles expressions over a fixed set of variables. All that the rest of the server knows of CEL. */
export interface CelEnv {
  compile(source: string): Program | Problem;
}

/** Why an expression cannot be used: it does not compile, or its constants fail. */
export interface Problem {
  readonly stage: 'compilation' | 'instantiation';
  readonly text: string;
}

const functions = functionTable(
  operators,
  conversions,
  times,
  strings,
  regexes,
  lists,
  optionals,
  quantities,
  networks,
  urls,
  formats,
  semvers,
);

const NAMED: readonly CelType[] = [BOOL, INT, UINT, DOUBLE, STRING, BYTES, NULL, TIMESTAMP, DURATION, IP, CIDR];
const types: ReadonlyMap<string, CelType> = new Map([
  ...NAMED.map((type) => [typeValueName(type), typeOfType(type)] as const),
  ['list', typeOfType(listOf(DYN))],
  ['map', typeOfType(mapOf(DYN, DYN))],
  ['type', typeOfType(typeOfType(DYN))],
  ['optional_type', typeOfType(optionalOf(DYN))],
]);

/** An environment with all libraries of Kubernetes 1.36 and these variables. */
export function celEnvironment(variables: ReadonlyMap<string, CelType>): CelEnv {
  const declarations: Declarations = { functions, variables, types };
  const names = [...variables.keys()];
  return { compile: (source) => compileWithinLimits(source, declarations, names) };
}

const LONGEST_SOURCE = 100_000;

function compileWithinLimits(
  source: string,
  declarations: Declarations,
  names: readonly string[],
): Program | Problem {
  const size = codePointLength(source);
  if (size > LONGEST_SOURCE) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${LONGEST_SOURCE}`;
    return { stage: 'compilation', text: `ERROR: <input>:-1:0: ${message}` };
  }
  try {
    return compileSource(source, declarations, names);
  } catch (error) {
    // The stack is the limit of how deep an expression may be; long sums are deep too.
    if (!(error instanceof RangeError)) throw error;
    return { stage: 'compilation', text: 'ERROR: <input>:-1:0: expression recursion limit exceeded' };
  }
}

function compileSource(source: string, declarations: Declarations, names: readonly string[]): Program | Problem {
  const parsed = parseExpression(source);
  if (!('kind' in parsed)) return uncompiled(source, [parsed]);
  const checked = checkExpression(parsed, declarations);
  const issues = checked.issues.length > 0 ? checked.issues : literalIssues(checked);
  if (issues.length > 0) return uncompiled(source, issues);
  const wrongPattern = constantPatternProblem(checked);
  if (wrongPattern !== undefined) return { stage: 'instantiation', text: wrongPattern };
  try {
    return instantiate(parsed, checked, names);
  } catch (error) {
    if (error instanceof CelError) return { stage: 'instantiation', text: error.message };
    throw error;
  }
}

const uncompiled = (source: string, issues: readonly Issue[]): Problem => ({
  stage: 'compilation',
  text: printIssues(source, issues),
});

function instantiate(expression: Expression, checked: Checked, names: readonly string[]): Program {
  const step = new Compiler(checked, names).compile(expression);
  return {
    type: checked.type,
    used: checked.used,
    evaluate: (variables, limit) => {
      const frame = new Frame([...variables] as Value[], limit);
      const value = withoutTraces(() => step(frame));
      return { value, cost: frame.cost };
    },
  };
}

/**
 * A loop may pass over an error for every element, and the stack is the slow part of an error: without it a rule that
 * fails all the time stays within the time that its budget stands for.
 */
function withoutTraces(run: () => Value): Value {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return run();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const LITERAL_CHECKS: Readonly<Record<string, (text: string) => boolean>> = {
  duration: (text) => parseGoDuration(text) !== undefined,
  timestamp: (text) => parseTimestamp(text) !== undefined,
  matches: (text) => patternProblem(text) === undefined,
};

/** Constant patterns, durations, timestamps and formats must make sense. */
function literalIssues({ overloads, typeOf }: Checked): readonly Issue[] {
  return [...overloads.keys()].flatMap((call) => {
    const literal = lastLiteral(call);
    const check = Object.hasOwn(LITERAL_CHECKS, call.name) ? LITERAL_CHECKS[call.name] : undefined;
    if (check !== undefined && literal !== undefined && !check(literal.value)) {
      return [{ at: literal.at, message: `invalid ${call.name} argument` }];
    }
    return call.name === 'format' ? formatCallIssues(call, typeOf) : [];
  });
}

function formatCallIssues({ at, target, args }: Call, typeOf: Checked['typeOf']): readonly Issue[] {
  const [list] = args;
  if (target?.kind !== 'literal' || typeof target.value !== 'string' || list?.kind !== 'list') return [];
  const items = list.items.map(({ value }) => value);
  return formatIssues(target.value, items, at, typeOf);
}

function lastLiteral({ args }: Call): { readonly at: number; readonly value: string } | undefined {
  const last = args[args.length > 1 && typeof literalOf(args[1]) === 'string' ? 1 : 0];
  const value = literalOf(last);
  return last === undefined || typeof value !== 'string' ? undefined : { at: last.at, value };
}

const literalOf = (expression: Expression | undefined): Value | undefined =>
  expression?.kind === 'literal' ? expression.value : undefined;

/** `find` and `findAll` compile a constant pattern when the program is made. */
function constantPatternProblem({ overloads }: Checked): string | undefined {
  for (const call of overloads.keys()) {
    const literal = call.name === 'find' || call.name === 'findAll' ? literalOf(call.args[0]) : undefined;
    const problem = typeof literal === 'string' ? patternProblem(literal) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}
