import { isJsonObject, type Json } from '../../object/json.ts';
import { stringifyJson } from '../../object/json-text.ts';

type Scalar = null | boolean | number | bigint | string;

/** Where a value stands: alone, after `- ` or after `key:`. */
type Place = 'root' | 'item' | 'member';

const INDENT = 4;
/** Longer keys have another form, which is not worth its code. */
const LONGEST_KEY = 128;

/**
 * A value of an OpenAPI document as YAML, in the words of upstream (`go.yaml.in/yaml/v3` printing nodes): keys in their
 * order, indented by four, after a dash by two. What it prints in a form that readers stumble over is quoted instead.
 */
export function nodeYaml(value: Json): string {
  return hasOddKey(value) ? `${stringifyJson(value)}\n` : `${valueText(value, -1, 'root')}\n`;
}

const hasOddKey = (value: Json): boolean =>
  Array.isArray(value)
    ? value.some(hasOddKey)
    : isJsonObject(value) &&
      Object.entries(value).some(
        ([key, member]) => key.includes('\n') || Buffer.byteLength(key) > LONGEST_KEY || hasOddKey(member),
      );

function valueText(value: Json, indent: number, place: Place): string {
  const own = indented(indent, place);
  if (Array.isArray(value)) {
    const items = value.map((item) => `- ${valueText(item, own, 'item')}`);
    return items.length === 0 ? inline('[]', place) : block(items, own, place);
  }
  if (isJsonObject(value)) {
    const members = Object.entries(value).map(
      ([key, member]) => `${scalarText(key, own)}:${valueText(member, own, 'member')}`,
    );
    return members.length === 0 ? inline('{}', place) : block(members, own, place);
  }
  return inline(scalarText(value, place === 'root' ? INDENT : own), place);
}

function indented(indent: number, place: Place): number {
  if (place === 'root') return 0;
  return place === 'item' ? indent + 2 : INDENT * Math.floor((indent + INDENT) / INDENT);
}

const inline = (text: string, place: Place): string => (place === 'member' ? ` ${text}` : text);

function block(parts: readonly string[], indent: number, place: Place): string {
  const separator = `\n${' '.repeat(indent)}`;
  return `${place === 'member' ? separator : ''}${parts.join(separator)}`;
}

function scalarText(value: Scalar, indent: number): string {
  if (typeof value !== 'string') return stringifyJson(value);
  if (value.includes('\n')) return isLiteral(value) ? literal(value, indent) : doubleQuoted(value);
  if (resolvesToOther(value) || UNPRINTED.test(value)) return doubleQuoted(value);
  return MISREAD.test(value) ? `'${value.replaceAll("'", "''")}'` : value;
}

const WORD =
  /^(?:|~|null|Null|NULL|true|True|TRUE|false|False|FALSE|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)|<<)$/;
const NUMBER =
  /^[-+]?(?:(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+)$/;
const DATE = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}/;
const TIME = /^(?:|[Tt][0-9:]+(?:\.[0-9]+)?(?:Z|[-+][0-9:]{5})| [0-9:]+(?:\.[0-9]+)?)$/;

/** Whether the text would be read as something else than text if it were not quoted. */
function resolvesToOther(text: string): boolean {
  if (WORD.test(text)) return true;
  const first = text.charCodeAt(0);
  const isDigit = first >= 0x30 && first <= 0x39;
  if (!isDigit && !'+-.'.includes(text.charAt(0))) return false;
  return NUMBER.test(text.replaceAll('_', '')) || (DATE.test(text) && TIME.test(text.replace(DATE, '')));
}

/** Line breaks of other alphabets are printable and still quoted, so that they stay what they are. */
const UNPRINTED = /[^\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;
const UNPRINTED_IN_LITERAL = /[^\t\n\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/;
const MISREAD = /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[?:-](?: |$))|:(?: |$)| #|^ | $/;

/** A literal that starts with white space needs a hint about its depth, which upstream gets wrong. */
const isLiteral = (text: string): boolean =>
  !/^[ \n]| \n| $|^\t/.test(text) && !UNPRINTED_IN_LITERAL.test(text) && !text.endsWith('\n\n');

function literal(text: string, indent: number): string {
  const hasEnd = text.endsWith('\n');
  const lines = (hasEnd ? text.slice(0, -1) : text).split('\n');
  const pad = ' '.repeat(indent);
  return [hasEnd ? '|' : '|-', ...lines.map((line) => (line === '' ? '' : `${pad}${line}`))].join('\n');
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\0', '0'],
  ['\x07', 'a'],
  ['\b', 'b'],
  ['\t', 't'],
  ['\n', 'n'],
  ['\v', 'v'],
  ['\f', 'f'],
  ['\r', 'r'],
  ['\x1b', 'e'],
  ['"', '"'],
  ['\\', '\\'],
  ['\u0085', 'N'],
  ['\u2028', 'L'],
  ['\u2029', 'P'],
]);
const ESCAPED = /["\\]|[^\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/gu;

const doubleQuoted = (text: string): string => `"${text.replace(ESCAPED, escaped)}"`;

function escaped(character: string): string {
  const short = ESCAPES.get(character);
  if (short !== undefined) return `\\${short}`;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
