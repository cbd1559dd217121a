import { Composer, type Document, LineCounter, Parser, type YAMLError } from 'yaml';
import type { Json } from './json.ts';
import { MAX_DEPTH } from './json-scan.ts';
import { JsonProblem, type ParsedJson, tooDeep } from './json-text.ts';
import { parseJsonAsYaml } from './yaml-json.ts';
import { YamlReader } from './yaml-reader.ts';

/**
 * Reads the first document of a body as upstream does (C4): YAML 1.1 scalars, keys of any scalar type as text, the last
 * of equal keys counts. `duplicates` are lines of text such as `line 3: key "a" already set in map`.
 */
export function parseYamlBody(text: string): ParsedJson {
  return parseJsonAsYaml(text) ?? fromYaml(text);
}

function fromYaml(text: string): ParsedJson {
  const lines = new LineCounter();
  const document = firstDocument(text, lines);
  if (document === undefined) return { value: null, duplicates: [] };
  if (document.errors.length > 0) throw syntaxProblem(document.errors, text, lines);
  const reader = new YamlReader(text, lines);
  const value: Json = reader.value(document.contents, 0);
  return { value, duplicates: reader.duplicates };
}

/** Documents after the first are not even looked at, as upstream does. */
function firstDocument(text: string, lines: LineCounter): Document.Parsed | undefined {
  const composer = new Composer({ version: '1.1', schema: 'failsafe', uniqueKeys: false, logLevel: 'error' });
  try {
    for (const document of composer.compose(new Parser(lines.addNewLine).parse(text), true, text.length)) {
      return document as Document.Parsed;
    }
    return undefined;
  } catch (error) {
    // The composer recurses; what is far too deep for it is too deep for us.
    if (error instanceof RangeError) throw tooDeep(depthExceededAt(text));
    throw error;
  }
}

/** Where a text opens its 513th bracket; 1 when it is nested by indentation. */
function depthExceededAt(text: string): number {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] ?? '';
    if ('[{'.includes(char)) depth++;
    if (']}'.includes(char)) depth--;
    if (depth > MAX_DEPTH) return at + 1;
  }
  return 1;
}

/** Upstream's words for the mistakes people make; its parser and ours do not always stop at the same place. */
function syntaxProblem(errors: readonly YAMLError[], text: string, lines: LineCounter): JsonProblem {
  const reasons = errors.map(reasonOf);
  const [reason] = reasons;
  if (errors[0]?.message.includes('call stack') === true) return tooDeep(depthExceededAt(text));
  // Where the mistake was noticed, not where the text that it spoils begins.
  const places = errors.filter((_, index) => reasons[index] === reason).map(({ pos }) => pos[1]);
  const { line } = lines.linePos(Math.max(...places));
  return new JsonProblem('syntax', `yaml: ${line > 1 ? `line ${line}: ` : ''}${reason}`);
}

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/quote/, 'found unexpected end of stream'],
  [/flow map|Flow map/, "did not find expected ',' or '}'"],
  [/flow seq|Flow seq/, "did not find expected ',' or ']'"],
  [/[Tt]abs?\b/, 'found character that cannot start any token'],
  [/block sequence|Block sequence|sequence item/, "did not find expected '-' indicator"],
  [/Plain value cannot start with/, 'found character that cannot start any token'],
  [/alias|anchor/i, 'did not find expected alphabetic or numeric character'],
  [/implicit key|Implicit key|Nested mappings|compact map/, 'mapping values are not allowed in this context'],
  [/implicit map key|Implicit map key/, "could not find expected ':'"],
];

const reasonOf = ({ message }: YAMLError): string =>
  REASONS.find(([pattern]) => pattern.test(message))?.[1] ?? 'did not find expected key';
