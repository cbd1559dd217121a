import type { Expression } from './expression.ts';
import type { Issue } from './source.ts';
import { type Clause, formatClauses, STRING_CLAUSE } from './string-format.ts';
import { type CelType, typeValueName } from './type.ts';
import { CelError } from './value.ts';

/** Which types a clause takes, and what is said to others. */
const CLAUSES: Readonly<Record<string, { readonly kinds: readonly CelType['kind'][]; readonly text: string }>> = {
  d: { kinds: ['int', 'uint'], text: 'decimal clause can only be used on integers' },
  f: { kinds: ['double', 'string'], text: 'fixed-point clause can only be used on doubles' },
  e: { kinds: ['double', 'string'], text: 'scientific clause can only be used on doubles' },
  b: { kinds: ['int', 'uint', 'bool'], text: 'only integers and bools can be formatted as binary' },
  x: {
    kinds: ['int', 'uint', 'string', 'bytes'],
    text: 'only integers, byte buffers, and strings can be formatted as hex',
  },
  o: { kinds: ['int', 'uint'], text: 'octal clause can only be used on integers' },
};
const PLAIN: readonly CelType['kind'][] = [
  'list',
  'map',
  'int',
  'uint',
  'double',
  'bool',
  'string',
  'timestamp',
  'bytes',
  'duration',
  'type',
  'null',
];

/** What is wrong with a constant pattern over a literal list: upstream looks before anything runs. */
export function formatIssues(
  pattern: string,
  args: readonly Expression[],
  at: number,
  typeOf: (expression: Expression) => CelType,
): readonly Issue[] {
  let clauses: readonly Clause[];
  try {
    clauses = formatClauses(pattern, args.length);
  } catch (error) {
    if (error instanceof CelError) return [{ at, message: error.message }];
    throw error;
  }
  for (const [index, clause] of clauses.entries()) {
    const arg = args[index];
    const issue = arg && argumentIssue(clause, arg, typeOf);
    if (issue !== undefined) return [issue];
  }
  if (args.length <= clauses.length) return [];
  const counts = `expected ${clauses.length}, got ${args.length}`;
  return [{ at, message: `too many arguments supplied to string.format (${counts})` }];
}

function argumentIssue(
  { verb }: Clause,
  arg: Expression,
  typeOf: (expression: Expression) => CelType,
): Issue | undefined {
  if (verb === 's') return plainIssue(arg, typeOf);
  const clause = CLAUSES[verb.toLowerCase()];
  const type = typeOf(arg);
  if (clause === undefined || isDynamic(type) || clause.kinds.includes(type.kind)) return undefined;
  return refused(arg, clause.text, type);
}

const isDynamic = ({ kind }: CelType): boolean => kind === 'dyn' || kind === 'param' || kind === 'error';

/** Literal lists are looked into. */
function plainIssue(arg: Expression, typeOf: (expression: Expression) => CelType): Issue | undefined {
  if (arg.kind === 'list') {
    return arg.items.map(({ value }) => plainIssue(value, typeOf)).find((issue) => issue !== undefined);
  }
  const type = typeOf(arg);
  return isDynamic(type) || PLAIN.includes(type.kind) ? undefined : refused(arg, STRING_CLAUSE, type);
}

const refused = ({ at }: Expression, text: string, type: CelType): Issue => ({
  at,
  message: `error during formatting: ${text}, was given ${typeValueName(type)}`,
});
