import type { GitConfigKey, GitConfigSection } from './git-config.ts';
import { cloudConfigProblem } from './problem.ts';

/** What a key may hold; of `texts`, each use of the key adds one. A `port` may be empty. */
export type FieldType = 'text' | 'texts' | 'switch' | 'int32' | 'uint' | 'port';

export type FieldValue = string | readonly string[] | boolean | number;

/** By the names of keys as they are written; they are found in any case. */
export type Fields = Readonly<Record<string, FieldType>>;

/** Values by the names of fields. */
export type FieldValues = Map<string, FieldValue>;

export const isNamed = (name: string, wanted: string): boolean => name.toLowerCase() === wanted.toLowerCase();

/** Adds what a section says; later keys win. Returns what it has besides, for a warning. */
export function readFields(section: GitConfigSection, fields: Fields, values: FieldValues): readonly string[] {
  const unknown: string[] = [];
  for (const key of section.keys) {
    const field = Object.entries(fields).find(([name]) => isNamed(key.name, name));
    if (field === undefined) unknown.push(`${shownKey(key)} in ${shownSection(section)} (line ${key.line})`);
    else setField(field, key, values);
  }
  return unknown;
}

/** A word that stands alone may be the rest of a value that went over the end of its line. */
const shownKey = ({ name, value }: GitConfigKey): string => (value === undefined ? 'a key without a value' : name);

export const shownSection = ({ name, subsection }: Pick<GitConfigSection, 'name' | 'subsection'>): string =>
  subsection === '' ? `[${name}]` : `[${name} "${subsection}"]`;

function setField([name, type]: readonly [string, FieldType], key: GitConfigKey, values: FieldValues): void {
  if (type !== 'texts') {
    values.set(name, READERS[type](key));
    return;
  }
  // A key that stands alone empties the list.
  const before = values.get(name);
  const list = Array.isArray(before) ? before : [];
  values.set(name, key.value === undefined ? [] : [...list, key.value]);
}

const TRUTHS: ReadonlyMap<string, boolean> = new Map([
  ...['true', 'yes', 'on', '1'].map((text) => [text, true] as const),
  ...['false', 'no', 'off', '0'].map((text) => [text, false] as const),
]);

const expected = ({ name, line }: GitConfigKey, what: string) =>
  cloudConfigProblem(`line ${line}: expected ${what} as the value of ${name}`);

const READERS: Readonly<Record<Exclude<FieldType, 'texts'>, (key: GitConfigKey) => FieldValue>> = {
  text: (key) => {
    if (key.value === undefined) throw expected(key, '"=" and a text');
    return key.value;
  },
  switch: (key) => {
    const truth = key.value === undefined ? true : TRUTHS.get(key.value.toLowerCase());
    if (truth === undefined) throw expected(key, 'true or false');
    return truth;
  },
  int32: (key) => wholeNumber(key, [-(2 ** 31), 2 ** 31 - 1]),
  port: (key) => {
    const value = /^[-+]?[0-9]*$/.test(key.value ?? '-') ? Number(key.value) : Number.NaN;
    if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) throw expected(key, 'a whole number from 0');
    return value;
  },
  uint: (key) => wholeNumber(key, [0, Number.MAX_SAFE_INTEGER]),
};

const WHOLE = /^(?:[-+]?[0-9]+|-?0x[0-9a-fA-F]+)$/;

function wholeNumber(key: GitConfigKey, [least, most]: readonly [number, number]): number {
  const text = key.value?.trim() ?? '';
  const size = WHOLE.test(text) ? Number(text.replace(/^[-+]/, '')) : Number.NaN;
  const value = text.startsWith('-') && size !== 0 ? -size : size;
  const isSigned = least < 0 || /^[0-9]/.test(text);
  if (!isSigned || !(value >= least && value <= most)) {
    throw expected(key, `a whole number from ${least} to ${most}`);
  }
  return value;
}
