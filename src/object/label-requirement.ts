import { type FieldError, fieldErrorText, invalid } from './field-error.ts';
import { getKey, type Json, type JsonObject } from './json.ts';
import { labelValueProblems, qualifiedNameProblems } from './names.ts';

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

/** One condition on one label. Several values only with `in` and `notin`. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

/** A selector that cannot be understood; the message is the one upstream answers 400 with. */
export class SelectorProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SelectorProblem';
  }
}

/** Refuses keys, values and numbers that no label can match. */
export function checkedRequirement(requirement: LabelRequirement): LabelRequirement {
  const errors = requirementErrors(requirement);
  if (errors.length === 0) return requirement;
  const texts = [...new Set(errors.map(fieldErrorText))];
  throw new SelectorProblem(texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`);
}

function requirementErrors({ key, operator, values }: LabelRequirement): FieldError[] {
  const keyProblems = qualifiedNameProblems(key);
  return [
    ...(keyProblems.length === 0 ? [] : [invalid('key', key, keyProblems.join('; '))]),
    ...countErrors(operator, values),
    ...(operator === 'gt' || operator === 'lt' ? numberErrors(values) : []),
    ...values.flatMap((value, index) => {
      const problems = labelValueProblems(value);
      return problems.length === 0 ? [] : [invalid(`values[${index}][${key}]`, value, problems.join('; '))];
    }),
  ];
}

function countErrors(operator: LabelOperator, values: readonly string[]): FieldError[] {
  // A list that is absent in Go prints as null.
  const shown: Json = values.length === 0 ? null : [...values];
  if (values.length === 0 && (operator === 'in' || operator === 'notin')) {
    return [invalid('values', shown, "for 'in', 'notin' operators, values set can't be empty")];
  }
  if (values.length > 0 && (operator === 'exists' || operator === '!')) {
    return [invalid('values', shown, 'values set must be empty for exists and does not exist')];
  }
  return [];
}

const numberErrors = (values: readonly string[]): FieldError[] =>
  values.flatMap((value, index) =>
    int64Of(value) === undefined
      ? [invalid(`values[${index}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer")]
      : [],
  );

const MOST = 2n ** 63n - 1n;
const INTEGER = /^[+-]?[0-9]+$/;

function int64Of(text: string): bigint | undefined {
  if (!INTEGER.test(text) || text.length > 40) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value > MOST || value < -MOST - 1n ? undefined : value;
}

/** Whether labels meet a requirement. A label that is missing meets `!=` and `notin`. */
export function meets({ key, operator, values }: LabelRequirement, labels: JsonObject): boolean {
  const value = textOf(getKey(labels, key));
  const isNegative = operator === '!=' || operator === 'notin';
  if (value === undefined) return isNegative || operator === '!';
  if (operator === 'exists' || operator === '!') return operator === 'exists';
  if (operator === 'gt' || operator === 'lt') return comparesTo(value, operator, values[0] ?? '');
  return values.includes(value) !== isNegative;
}

/** Labels are text; anything else was refused when the object was decoded. */
const textOf = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

function comparesTo(text: string, operator: 'gt' | 'lt', limitText: string): boolean {
  const value = int64Of(text);
  const limit = int64Of(limitText);
  if (value === undefined || limit === undefined) return false;
  return operator === 'gt' ? value > limit : value < limit;
}

/** The requirement as upstream writes it, values sorted. */
export function printRequirement({ key, operator, values }: LabelRequirement): string {
  const list = values.toSorted().join(',');
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${list})`;
    case 'gt':
      return `${key}>${list}`;
    case 'lt':
      return `${key}<${list}`;
    case '=':
    case '==':
    case '!=':
      return `${key}${operator}${list}`;
  }
}
