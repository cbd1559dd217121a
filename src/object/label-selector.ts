import { fieldErrorText, invalid } from './field-error.ts';
import { getKey, isJsonObject, type Json, type JsonObject } from './json.ts';
import {
  checkedRequirement,
  type LabelOperator,
  type LabelRequirement,
  meets,
  printRequirement,
  SelectorProblem,
} from './label-requirement.ts';
import { qualifiedNameProblems } from './names.ts';
import { selectorTokens, type Token, type TokenKind } from './selector-tokens.ts';

export { SelectorProblem } from './label-requirement.ts';

/** Conditions on labels, all of which must hold. */
export interface LabelSelector {
  /** Sorted by key, as upstream prints them. */
  readonly requirements: readonly LabelRequirement[];
  /** Selects nothing: what a missing selector object means. */
  readonly isNothing: boolean;
}

export const NOTHING: LabelSelector = { requirements: [], isNothing: true };
export const EVERYTHING: LabelSelector = { requirements: [], isNothing: false };

const NO_LABELS: JsonObject = {};

export function matchesLabels(
  { requirements, isNothing }: LabelSelector,
  labels: JsonObject | undefined,
): boolean {
  return !isNothing && requirements.every((requirement) => meets(requirement, labels ?? NO_LABELS));
}

export const printLabelSelector = ({ requirements }: LabelSelector): string =>
  requirements.map(printRequirement).join(',');

/** The selector that a query parameter spells (L6). */
export function parseLabelSelector(text: string): LabelSelector {
  // Go's lexer takes a zero byte for the end of the text.
  const [meant = ''] = text.split('\0', 1);
  if (meant === '') return EVERYTHING;
  return selectorOf(new SelectorParser(meant).requirements());
}

const selectorOf = (requirements: LabelRequirement[]): LabelSelector => ({
  requirements: requirements.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))),
  isNothing: false,
});

const OPERATORS: Partial<Record<TokenKind, LabelOperator>> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
};

class SelectorParser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = selectorTokens(text);
  }

  requirements(): LabelRequirement[] {
    const result: LabelRequirement[] = [];
    for (;;) {
      const { kind, text } = this.#valueToken();
      if (kind === 'end') return result;
      if (kind !== 'word' && kind !== '!') {
        throw new SelectorProblem(`found '${text}', expected: !, identifier, or 'end of string'`);
      }
      result.push(this.#checked());
      const next = this.#take();
      if (next.kind === 'end') return result;
      if (next.kind !== ',') throw new SelectorProblem(`found '${next.text}', expected: ',' or 'end of string'`);
      const after = this.#valueToken();
      if (after.kind !== 'word' && after.kind !== '!') {
        throw new SelectorProblem(`found '${after.text}', expected: identifier after ','`);
      }
    }
  }

  #checked(): LabelRequirement {
    try {
      return checkedRequirement(this.#requirement());
    } catch (error) {
      throw error instanceof SelectorProblem
        ? new SelectorProblem(`unable to parse requirement: ${error.message}`)
        : error;
    }
  }

  #requirement(): LabelRequirement {
    const isNegated = this.#peek().kind === '!';
    if (isNegated) this.#take();
    const key = this.#key();
    const { kind } = this.#peek();
    if (kind === 'end' || kind === ',') return { key, operator: isNegated ? '!' : 'exists', values: [] };
    if (isNegated) return { key, operator: '!', values: [] };
    const operator = this.#operator();
    return { key, operator, values: operator === 'in' || operator === 'notin' ? this.#values() : this.#value() };
  }

  #key(): string {
    const { kind, text } = this.#valueToken();
    this.#at++;
    if (kind !== 'word') throw new SelectorProblem(`found '${text}', expected: identifier`);
    const problems = qualifiedNameProblems(text);
    if (problems.length === 0) return text;
    throw new SelectorProblem(fieldErrorText(invalid('<nil>', text, problems.join('; '))));
  }

  #operator(): LabelOperator {
    const { kind, text } = this.#take();
    const operator = OPERATORS[kind];
    if (operator !== undefined) return operator;
    throw new SelectorProblem(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`);
  }

  #value(): string[] {
    const { kind, text } = this.#valueToken();
    if (kind === 'end' || kind === ',') return [''];
    this.#at++;
    if (kind === 'word') return [text];
    throw new SelectorProblem(`found '${text}', expected: identifier`);
  }

  /** `(a,b)`; an empty place between commas is the empty value. */
  #values(): string[] {
    const open = this.#take();
    if (open.kind !== '(') throw new SelectorProblem(`found '${open.text}' expected: '('`);
    const first = this.#valueToken();
    if (first.kind === ')') {
      this.#at++;
      return [''];
    }
    if (first.kind !== 'word' && first.kind !== ',') {
      throw new SelectorProblem(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values = new Set<string>();
    while (this.#valueToken().kind !== ')') this.#oneValue(values);
    this.#at++;
    return [...values].toSorted();
  }

  #oneValue(values: Set<string>): void {
    const { kind, text } = this.#valueToken();
    this.#at++;
    const next = this.#valueToken();
    if (kind === 'word') {
      values.add(text);
      if (next.kind === ',' || next.kind === ')') return;
      throw new SelectorProblem(`found '${next.text}', expected: ',' or ')'`);
    }
    if (kind !== ',') throw new SelectorProblem(`found '${text}', expected: ',', or identifier`);
    if (values.size === 0 || next.kind === ')' || next.kind === ',') values.add('');
  }

  #peek(): Token {
    return this.#tokens[Math.min(this.#at, this.#tokens.length - 1)] ?? { kind: 'end', text: '' };
  }

  /** The next token where `in` and `notin` are words like any other. */
  #valueToken(): Token {
    const token = this.#peek();
    return token.kind === 'in' || token.kind === 'notin' ? { kind: 'word', text: token.text } : token;
  }

  #take(): Token {
    const token = this.#peek();
    this.#at++;
    return token;
  }
}

const EXPRESSION_OPERATORS: ReadonlyMap<Json, LabelOperator> = new Map<Json, LabelOperator>([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

/** The selector of an object with matchLabels and matchExpressions: absent selects nothing, empty everything. */
export function labelSelectorOf(selector: Json | undefined): LabelSelector {
  if (!isJsonObject(selector)) return NOTHING;
  const labels = getKey(selector, 'matchLabels');
  const expressions = getKey(selector, 'matchExpressions');
  const fromLabels = isJsonObject(labels)
    ? Object.entries(labels).map(([key, value]) =>
        checkedRequirement({ key, operator: '=', values: [textOf(value)] }),
      )
    : [];
  const fromExpressions = Array.isArray(expressions) ? expressions.filter(isJsonObject).map(expressionOf) : [];
  return selectorOf([...fromLabels, ...fromExpressions]);
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

function expressionOf(expression: JsonObject): LabelRequirement {
  const name = getKey(expression, 'operator') ?? '';
  const operator = EXPRESSION_OPERATORS.get(name);
  if (operator === undefined) {
    throw new SelectorProblem(`${JSON.stringify(name)} is not a valid label selector operator`);
  }
  const values = getKey(expression, 'values');
  return checkedRequirement({
    key: textOf(getKey(expression, 'key')),
    operator,
    values: Array.isArray(values) ? values.map(textOf) : [],
  });
}
