import { types } from 'node:util';
import { isPlain } from './plain-copy.ts';
import type { ProviderIdFormat } from './provider-definition.ts';
import { found, matching, type Note, optional, record, regexp, required, type Shape, text } from './shape.ts';

const CODE = 'SW2115';
const SCHEME = /^[a-z][a-z0-9+.-]*$/;
const WHY_ANCHORED = 'a Node with the ID of another cloud would count as one of this cloud';

const fields = record<ProviderIdFormat>({
  scheme: required(
    matching(SCHEME, "lower-case letters, digits, '+', '.' and '-', beginning with a letter"),
    "write what comes before '://' in a provider ID",
  ),
  format: required(text, "write what comes after '://': format: '{zone}/{id}'"),
  pattern: required(
    regexp,
    'write what every provider ID matches, such as /^acme:\\/\\/[a-z0-9-]+\\/[0-9a-f-]{36}$/',
  ),
  example: optional(text),
});

/** How provider IDs look: they never change for a live cluster (ccm/I6), so a mistake here is for ever. */
export const providerIdFormat: Shape = (value, path, note) => {
  fields(value, path, note);
  if (!isPlain(value)) return;
  const { scheme, format, pattern, example } = value;
  if (typeof format === 'string' && format.trim() !== '') checkFormat(format, `${path}.format`, note);
  if (typeof scheme !== 'string' || !SCHEME.test(scheme) || !types.isRegExp(pattern)) return;
  checkPattern(pattern, scheme, `${path}.pattern`, note);
  // One mistake, one finding: an example proves nothing beside a pattern or format that is wrong itself.
  if (typeof example !== 'string' || typeof format !== 'string' || pattern.global || pattern.sticky) return;
  checkExample(example, { scheme, format, pattern }, `${path}.example`, note);
};

function checkFormat(format: string, path: string, note: Note): void {
  const names = [...format.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name);
  const wrong = (message: string, hint: string): void =>
    note({ path, code: CODE, message: `${path} ${message}`, hint });
  const other = names.find((name) => name !== 'id' && name !== 'zone');
  if (other !== undefined) wrong(`knows {id} and {zone}, not {${other}}`, "write '{id}' or '{zone}/{id}'");
  else if (names.filter((name) => name === 'id').length !== 1) {
    wrong(`must hold {id} once, not ${found(format)}`, "write '{id}' or '{zone}/{id}'");
  } else if (names.filter((name) => name === 'zone').length > 1) {
    wrong(`must hold {zone} at most once, not ${found(format)}`, 'leave the second one out');
  } else if (/\s|[{}]/.test(format.replace(/\{(id|zone)\}/g, '')) || format.includes('://')) {
    wrong(
      `must be what comes after '://', without spaces and other braces, not ${found(format)}`,
      "write '{zone}/{id}'",
    );
  }
}

function checkPattern(pattern: RegExp, scheme: string, path: string, note: Note): void {
  const { source, multiline } = pattern;
  const plain = source.replace(/\\([^\w])/g, '$1');
  const start = `^${scheme}://`;
  const isWhole = plain.startsWith(start) && endsAnchored(source) && !multiline && !hasChoiceAtTop(source);
  if (isWhole) return;
  note({
    path,
    code: CODE,
    message: `${path} must describe a provider ID from its first letter to its last: begin with '${start}', end with '$', and have neither the flag m nor a '|' outside of parentheses. It is ${found(pattern)}`,
    hint: `write /^${scheme.replace(/[.+]/g, '\\$&')}:\\/\\/…$/`,
    why: WHY_ANCHORED,
  });
}

/** Whether a final `$` is an anchor and no dollar sign. */
function endsAnchored(source: string): boolean {
  const [, slashes = ''] = /(\\*)\$$/.exec(source) ?? [];
  return source.endsWith('$') && slashes.length % 2 === 0;
}

/** `^a$|b` matches anything with a b in it. */
function hasChoiceAtTop(source: string): boolean {
  const bare = source.replace(/\\./g, '').replace(/\[[^\]]*\]/g, '');
  let depth = 0;
  for (const letter of bare) {
    if (letter === '(') depth++;
    else if (letter === ')') depth--;
    else if (letter === '|' && depth === 0) return true;
  }
  return false;
}

function checkExample(
  example: string,
  { scheme, format, pattern }: Pick<ProviderIdFormat, 'scheme' | 'format' | 'pattern'>,
  path: string,
  note: Note,
): void {
  const expected = `${scheme}://${format}`;
  const parts = expected.split(/\{(?:id|zone)\}/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const isOfFormat = new RegExp(`^${parts.join('.+')}$`).test(example);
  const other = isOfFormat ? `providerID.pattern, ${found(pattern)}` : `scheme and format, '${expected}'`;
  if (pattern.test(example) && isOfFormat) return;
  note({
    path,
    code: CODE,
    message: `${path} is ${found(example)}, which does not fit ${other}`,
    hint: 'compare both with the provider ID of a real machine, and correct the one that is wrong',
  });
}
