import { Composer, type CST, type Document, Lexer, LineCounter, Parser, type YAMLError } from 'yaml';
import type { Json } from './json.ts';
import { MAX_DEPTH } from './json-scan.ts';
import { JsonProblem, type ParsedJson, tooDeep } from './json-text.ts';
import { YamlReader } from './yaml-reader.ts';

// Lexemes between two pauses: a few milliseconds of work.
const LEXEMES_AT_ONCE = 2000;
// More open collections than any text has that we take; what is less deep may still be broken in another way.
const FAR_TOO_DEEP = 2 * MAX_DEPTH;

/**
 * Reads the first document of a body as upstream does (C4): YAML 1.1 scalars, keys of any scalar type as text, the last
 * of equal keys counts. `duplicates` are lines of text such as `line 3: key "a" already set in map`. With pauses, for the
 * library takes a microsecond per character (reliability P9); what may be JSON is tried as such before, see yaml-json.ts.
 */
export function* yamlBodySteps(text: string): Generator<void, ParsedJson> {
  const lines = new LineCounter();
  const document = yield* firstDocument(text, lines);
  if (document === undefined) return { value: null, duplicates: [] };
  if (document.errors.length > 0) throw syntaxProblem(document.errors, text, lines);
  yield;
  const reader = new YamlReader(text, lines);
  return { value: valueOf(document, reader), duplicates: reader.duplicates };
}

function valueOf({ contents }: Document.Parsed, reader: YamlReader): Json {
  try {
    return reader.value(contents, 0);
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    throw new JsonProblem(error.kind, error.message, reader.line);
  }
}

/** Documents after the first are not even looked at, as upstream does. */
function* firstDocument(text: string, lines: LineCounter): Generator<void, Document.Parsed | undefined> {
  const composer = new Composer({ version: '1.1', schema: 'failsafe', uniqueKeys: false, logLevel: 'error' });
  try {
    for (const token of tokensOf(text, lines)) {
      const document = token === undefined ? undefined : composed(composer, token);
      if (document !== undefined) return document;
      if (token === undefined) yield;
    }
    const [document] = composer.end(true, text.length);
    return document as Document.Parsed | undefined;
  } catch (error) {
    // The composer recurses; what is far too deep for it is too deep for us.
    if (error instanceof RangeError) throw tooDeep(depthExceededAt(text));
    throw error;
  }
}

/** The library makes an Error of everything it dislikes, and there may be very many: without stacks, nobody reads them. */
function composed(composer: Composer, token: CST.Token): Document.Parsed | undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    const [document] = composer.next(token);
    return document as Document.Parsed | undefined;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The parts of a text as the library's parser sees them; undefined where there may be a pause. */
function* tokensOf(text: string, lines: LineCounter): Generator<CST.Token | undefined> {
  const parser = new Parser(lines.addNewLine);
  let lexemes = 0;
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > FAR_TOO_DEEP) throw tooDeep(depthExceededAt(text));
    if (++lexemes % LEXEMES_AT_ONCE === 0) yield undefined;
  }
  yield* parser.end();
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
  // There may be very many, all alike.
  const known = new Map<string, string>();
  const reasons = errors.map(({ message }) => {
    const reason = known.get(message) ?? reasonOf(message);
    known.set(message, reason);
    return reason;
  });
  const [reason] = reasons;
  if (errors[0]?.message.includes('call stack') === true) return tooDeep(depthExceededAt(text));
  // Where the mistake was noticed, not where the text that it spoils begins.
  const places = errors.filter((_, index) => reasons[index] === reason).map(({ pos }) => pos[1]);
  const { line } = lines.linePos(places.reduce((last, place) => Math.max(last, place), 0));
  return new JsonProblem('syntax', `yaml: ${line > 1 ? `line ${line}: ` : ''}${reason}`, line);
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

const reasonOf = (message: string): string =>
  REASONS.find(([pattern]) => pattern.test(message))?.[1] ?? 'did not find expected key';
