import { SelectorProblem } from './label-requirement.ts';

/** One condition on one field; `==` is read as `=`. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

const OPERATORS = ['!=', '==', '='];

/** The conditions that a query parameter spells (L7), in upstream's order. Which fields exist is for the kind to say. */
export function parseFieldSelector(text: string): FieldRequirement[] {
  return splitTerms(text)
    .filter((term) => term !== '')
    .toSorted()
    .map((term) => requirementOf(term, text))
    .filter(({ field, value }) => field !== '' || value !== '');
}

/** The terms between commas; a backslash makes a comma part of its term. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') {
      at++;
    } else if (text[at] === ',') {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...terms, text.slice(start)];
}

function requirementOf(term: string, selector: string): FieldRequirement {
  for (let at = 0; at < term.length; at++) {
    const operator = OPERATORS.find((candidate) => term.startsWith(candidate, at));
    if (operator === undefined) continue;
    const value = unescaped(term.slice(at + operator.length));
    return { field: term.slice(0, at), operator: operator === '!=' ? '!=' : '=', value };
  }
  throw new SelectorProblem(`invalid selector: '${selector}'; can't understand '${term}'`);
}

function unescaped(text: string): string {
  let value = '';
  const chars = Array.from(text);
  for (let index = 0; index < chars.length; index++) {
    const char = chars[index] ?? '';
    if (char === ',' || char === '=') {
      // Upstream prints the number of the character.
      const code = char.charCodeAt(0);
      throw new SelectorProblem(`invalid field selector: unescaped character in value: ${code}`);
    }
    if (char !== '\\') {
      value += char;
      continue;
    }
    const next = chars[++index] ?? '';
    if (next === '' || !'\\,='.includes(next)) {
      throw new SelectorProblem(`invalid field selector: invalid escape sequence: \\${next}`);
    }
    value += next;
  }
  return value;
}

/** The value every match has for a field, if the selector asks for exactly one. */
export const requiredField = (requirements: readonly FieldRequirement[], field: string): string | undefined =>
  requirements.find((requirement) => requirement.field === field && requirement.operator === '=')?.value;
