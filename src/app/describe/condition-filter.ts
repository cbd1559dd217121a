import { usageError } from '../failures.ts';
import { shown } from '../settings.ts';
import type { Row } from './row.ts';
import { isGood, type ToldCondition } from './told-condition.ts';

/** Which conditions `--show-conditions` asks for. */
export interface ConditionFilter {
  /** Those of a row; undefined when it was not asked for, or only for bad ones and it has none. */
  readonly of: (row: Row) => readonly ToldCondition[] | undefined;
}

interface Term {
  /** Lower case; `all` for every row. */
  readonly kind: string;
  /** Undefined: every one of the kind. */
  readonly name: string | undefined;
  readonly isOnlyBad: boolean;
}

const TERM = /^([A-Za-z][A-Za-z0-9]*)(?:\/([^/+]+))?(\+)?$/;

/** `Machine`, `Machine/w-2`, `Machine+`, `all`, as clusterctl has it. Throws a usage error for anything else. */
export function conditionFilter(words: readonly string[]): ConditionFilter {
  const terms = words.map(term);
  return {
    of: (row) => {
      const matching = terms.filter((one) => matches(one, row));
      if (matching.length === 0) return undefined;
      const isOnlyBad = matching.every((one) => one.isOnlyBad);
      if (!isOnlyBad) return row.conditions;
      const bad = row.conditions.filter((condition) => !isGood(condition));
      return bad.length === 0 ? undefined : bad;
    },
  };
}

function term(word: string): Term {
  const [, kind, name, plus] = TERM.exec(word.trim()) ?? [];
  if (kind === undefined)
    throw usageError(
      `--show-conditions must be KIND, KIND/NAME, either with a + behind it, or all, not "${shown(word)}"`,
    );
  return { kind: kind.toLowerCase(), name, isOnlyBad: plus === '+' };
}

const matches = ({ kind, name }: Term, row: Row): boolean =>
  (kind === 'all' || kind === row.kind.toLowerCase()) && (name === undefined || name === row.name);
