import { parse } from 'yaml';
import { isRecord } from '../src/object/record.ts';

/** A test whose name says which rule it proves: `oracles/F1: looks in …`. */
export interface RuleTest {
  readonly spec: string;
  readonly rule: string;
  /** The suite around it and the test itself, as a report shows them. */
  readonly sentence: string;
  readonly file: string;
}

// Any literal counts, not only the first argument of it(): rows of table tests carry their names as data.
const OPENING = /(['"`])([a-z][a-z-]*)\/([A-Z]+\d+(?:, (?:[a-z][a-z-]*\/)?[A-Z]+\d+)*): /g;
const OPENING_OF_TITLE = /^[a-z][a-z-]*\/[A-Z]+\d+(?:, (?:[a-z][a-z-]*\/)?[A-Z]+\d+)*: /;

/** The rules that the source of a test file names. Read as text, so that nothing has to run. */
export function ruleTestsIn(source: string, file: string): readonly RuleTest[] {
  return [...source.matchAll(OPENING)].flatMap((match) => {
    const [opening, quote = '', spec = '', rules = ''] = match;
    const literal = literalFrom(source, match.index + opening.length, quote);
    const suite = suiteAround(source, match.index);
    const sentence = suite === undefined ? literal : `${suite}: ${literal}`;
    return namedRules(spec, rules).map((named) => ({ ...named, sentence, file }));
  });
}

/** `I8, reliability/P22` after `runtime/`: a rule without a group of its own belongs to the one before. */
function namedRules(first: string, rules: string): readonly { readonly spec: string; readonly rule: string }[] {
  let spec = first;
  return rules.split(', ').map((text) => {
    const [rule = '', group = spec] = text.split('/').reverse();
    spec = group;
    return { spec, rule };
  });
}

const CASE_NAME = /^([a-z][a-z-]*)\/([A-Z]+\d+(?:, [A-Z]+\d+)*): (.+)$/s;

/** The rules named by a YAML file of cases (a list, or `cases:`), whose names become those of tests when they run. */
export function ruleTestsInCases(text: string, file: string): readonly RuleTest[] {
  if (text.search(OPENING) < 0) return [];
  const content: unknown = parse(text, { merge: true, maxAliasCount: 1000 });
  const cases: unknown = isRecord(content) ? content['cases'] : content;
  return (Array.isArray(cases) ? cases : []).flatMap((one: unknown) => {
    const name = isRecord(one) && typeof one['name'] === 'string' ? one['name'] : '';
    const [, spec = '', rules = '', sentence = ''] = CASE_NAME.exec(name) ?? [];
    return rules === '' ? [] : rules.split(', ').map((rule) => ({ spec, rule, sentence, file }));
  });
}

const SUITE = /^( *)describe\(\s*(['"`])/gm;

/** The title of the nearest `describe` above that is indented less; the formatter makes indentation reliable. */
function suiteAround(source: string, position: number): string | undefined {
  const lineStart = source.lastIndexOf('\n', position) + 1;
  const indent = source.slice(lineStart).search(/\S/);
  const around = [...source.slice(0, lineStart).matchAll(SUITE)].findLast(
    ([, spaces = '']) => spaces.length < indent,
  );
  if (around === undefined) return undefined;
  const title = literalFrom(source, around.index + around[0].length, around[2] ?? '');
  return title.replace(OPENING_OF_TITLE, '');
}

/** The rest of a string literal; what a template computes is shown as an ellipsis. */
function literalFrom(source: string, start: number, quote: string): string {
  let text = '';
  for (let at = start; at < source.length && source[at] !== quote; at++) {
    if (source[at] === '\\') text += source[++at] ?? '';
    else if (quote === '`' && source.startsWith('${', at)) {
      at = endOfSubstitution(source, at);
      text += '…';
    } else text += source[at];
  }
  return text;
}

/** Position of the brace that closes the `${` at `start`. Braces inside strings are rare and come in pairs. */
function endOfSubstitution(source: string, start: number): number {
  let depth = 0;
  for (let at = start + 1; at < source.length; at++) {
    if (source[at] === '{') depth++;
    if (source[at] === '}' && --depth === 0) return at;
  }
  return source.length;
}
