/** What may be written at a place of a scenario, in the form of JSON schema that everybody has. */
export interface Field {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Field;
  readonly anyOf?: readonly Field[];
  readonly properties?: Readonly<Record<string, Field>>;
  readonly propertyNames?: Field;
  readonly additionalProperties?: Field | boolean;
}

/** Pure: what may be written, in words. */
export function valueText(field: Field): string {
  const { type = '', items, anyOf = [] } = field;
  const words = field.enum ?? (field.const === undefined ? [] : [field.const]);
  if (words.length > 0) return words.map((one) => `\`${one}\``).join(', ');
  if (anyOf.length > 0) return anyOf.map(valueText).join(' or ');
  if (type === 'integer') return rangeText(field);
  return type === 'array' ? `list of ${nounOf(items?.type)}` : nounOf(type).replace(/s$/, '');
}

/** Pure: the same within a sentence, behind "must be". */
export function allowedText(field: Field): string {
  const { anyOf = [], type = '' } = field;
  if (anyOf.length > 0) return anyOf.map(allowedText).join(' or ');
  const isChoice = (field.enum ?? []).length > 1;
  const text = valueText(field).replaceAll('`', '');
  if (isChoice) return `one of ${text}`;
  return field.const === undefined && type !== 'boolean' ? `a ${text}` : text;
}

const nounOf = (type = ''): string => NOUNS[type] ?? 'values';

const NOUNS: Readonly<Record<string, string>> = {
  string: 'texts',
  number: 'numbers',
  object: 'maps',
  boolean: '`true` or `false`',
};

/** Where the library itself ends is no limit of ours. */
const rangeText = ({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Field): string =>
  maximum === Number.MAX_SAFE_INTEGER
    ? `whole number from ${minimum}`
    : `whole number from ${minimum} to ${maximum}`;

/** Pure: the words that a map may hold; none when it may hold any. */
export const wordsOf = ({ properties, propertyNames, anyOf = [] }: Field): readonly string[] => [
  ...Object.keys(properties ?? {}),
  ...(propertyNames?.enum ?? []),
  ...anyOf.flatMap(wordsOf),
];

/** Pure: what may be written at a path, if anything is known of it. */
export const fieldAt = (field: Field, path: readonly PropertyKey[]): Field | undefined =>
  path.reduce<Field | undefined>((at, key) => (at === undefined ? undefined : fieldBelow(at, key)), field);

function fieldBelow(
  { items, properties, additionalProperties, anyOf = [] }: Field,
  key: PropertyKey,
): Field | undefined {
  if (typeof key === 'number') return items;
  const name = String(key);
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name];
  if (typeof additionalProperties === 'object') return additionalProperties;
  return anyOf.map((one) => fieldBelow(one, key)).find((found) => found !== undefined);
}
