import { userError } from '../../base/errors.ts';

/** A piece of a value: text that stays as it is, or a variable of `/etc/metadata_env`. */
type Part = { readonly literal: string } | { readonly variable: string };

/** A label value or provider ID of which parts are known only on the machine. */
export interface MetadataValue {
  readonly text: string;
  readonly parts: readonly Part[];
  /** The whole value is one variable. */
  readonly isReference: boolean;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const LEADING_BRACES = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}/;
const REFERENCES = /\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})/g;
const SPECIAL_IN_DOUBLE_QUOTES = /[\\"$`]/g;

/** Whether parts of a text are known only on the machine. */
export const hasVariables = (text: string): boolean => text.search(REFERENCES) >= 0;

export const isVariableName = (name: string): boolean => NAME.test(name);

/** `$NAME`, `${NAME}` and `NAME` mean the same where nothing but a variable makes sense. */
export const strippedName = (text: string): string =>
  text.replace(/^\$/, '').replace(/^\{/, '').replace(/\}$/, '');

/**
 * Reads a value: `$NAME` and `${NAME}` are variables wherever they stand, all else is text. A value that begins with `$`
 * is one variable, or begins with one in braces. Throws a user error about `field` when it does not.
 */
export function metadataValue(text: string, field: string, reason: string): MetadataValue {
  if (!text.startsWith('$')) return { text, parts: partsOf(text), isReference: false };
  const name = strippedName(text);
  if (isVariableName(name)) return { text, parts: [{ variable: name }], isReference: true };
  if (LEADING_BRACES.test(text)) return { text, parts: partsOf(text), isReference: false };
  throw userError(
    reason,
    `${field} has an invalid variable name, ${JSON.stringify(name)}: a value that begins with $ must be one variable ` +
      'of letters, digits and underscores, such as $METADATA_UUID; with braces, as in $' +
      '{METADATA_UUID}-a, text may follow it',
  );
}

function partsOf(text: string): readonly Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of text.matchAll(REFERENCES)) {
    const [all, bare, braced] = match;
    if (match.index > end) parts.push({ literal: text.slice(end, match.index) });
    parts.push({ variable: bare ?? braced ?? '' });
    end = match.index + all.length;
  }
  if (end < text.length) parts.push({ literal: text.slice(end) });
  return parts;
}

export const variablesOf = ({ parts }: MetadataValue): readonly string[] =>
  parts.flatMap((part) => ('variable' in part ? [part.variable] : []));

/** The value for the inside of a double-quoted word of bash: only its variables are expanded there. */
export const inDoubleQuotes = ({ parts }: MetadataValue): string =>
  parts.map((part) => ('variable' in part ? `\${${part.variable}}` : doubleQuoted(part.literal))).join('');

export const doubleQuoted = (literal: string): string => literal.replaceAll(SPECIAL_IN_DOUBLE_QUOTES, '\\$&');

/** The text as one word of bash in which nothing is expanded. */
export const singleQuoted = (text: string): string => `'${text.replaceAll("'", `'"'"'`)}'`;
