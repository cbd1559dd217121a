import { Document, Pair, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { isJsonObject, type Json } from './json.ts';
import { isAmbiguous } from './yaml-scalar.ts';

/** A value as upstream answers `application/yaml`: keys sorted as people count, no anchors, no folded lines. */
export function printYamlBody(value: Json): string {
  const document = new Document(undefined, { version: '1.1', aliasDuplicateObjects: false });
  document.contents = nodeOf(value) as typeof document.contents;
  return document.toString({ lineWidth: 0, indentSeq: false, singleQuote: true, flowCollectionPadding: false });
}

function nodeOf(value: Json): Scalar | YAMLMap | YAMLSeq {
  if (Array.isArray(value)) {
    const list = new YAMLSeq();
    list.items = value.map(nodeOf);
    list.flow = value.length === 0;
    return list;
  }
  if (!isJsonObject(value)) return scalarOf(value);
  const map = new YAMLMap();
  const keys = Object.keys(value).toSorted(compareKeys);
  map.items = keys.map((key) => new Pair(scalarOf(key), nodeOf(value[key] ?? null)));
  map.flow = keys.length === 0;
  return map;
}

function scalarOf(value: null | boolean | number | bigint | string): Scalar {
  const scalar = new Scalar<typeof value>(value);
  if (typeof value !== 'string') return scalar;
  scalar.type = styleOf(value);
  return scalar;
}

function styleOf(text: string): Scalar.Type {
  if (text.includes('\n')) return 'BLOCK_LITERAL';
  if (isAmbiguous(text) || text.includes('\t')) return 'QUOTE_DOUBLE';
  // What the printer would take for an end of a document, or lose.
  return /^\s|\s$|^\.\.\.|^---/.test(text) ? 'QUOTE_SINGLE' : 'PLAIN';
}

const LETTER = /^\p{L}$/u;
const DIGITS = /^[0-9]+/;

/** `a2` before `a10`, letters after everything else. */
function compareKeys(a: string, b: string): number {
  const left = Array.from(a);
  const right = Array.from(b);
  const shared = Math.min(left.length, right.length);
  let at = 0;
  while (at < shared && left[at] === right[at]) at++;
  if (at === shared) return left.length - right.length;
  const [first = '', second = ''] = [left[at], right[at]];
  const areLetters = [LETTER.test(first), LETTER.test(second)];
  if (areLetters[0] !== areLetters[1]) return areLetters[1] ? -1 : 1;
  const order = areLetters[0] ? 0 : compareNumbers(left.slice(at).join(''), right.slice(at).join(''));
  return order !== 0 ? order : (first.codePointAt(0) ?? 0) - (second.codePointAt(0) ?? 0);
}

function compareNumbers(a: string, b: string): number {
  const left = DIGITS.exec(a)?.[0] ?? '';
  const right = DIGITS.exec(b)?.[0] ?? '';
  const difference = Number(left || 0) - Number(right || 0);
  return difference !== 0 ? difference : left.length - right.length;
}
