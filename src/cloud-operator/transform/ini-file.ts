/** A file whose comments and order are kept. Names of sections and keys are what they are, in their case. */
export interface IniFile {
  /** The first is what stands before all others, and is always there. */
  readonly sections: IniSection[];
}

export interface IniSection {
  readonly name: string;
  comments: readonly string[];
  readonly keys: Map<string, IniKey>;
}

export interface IniKey {
  value: string;
  comments: readonly string[];
  /** Written as `-`: it has no name but a number. */
  isCounted: boolean;
}

/** What stands before all sections has this name. */
export const UNNAMED = 'DEFAULT';

export const findSection = ({ sections }: IniFile, name: string): IniSection | undefined =>
  sections.find((section) => section.name === name);

/** The section of that name, a new one at the end where there is none. */
export function ensureSection(file: IniFile, name: string): IniSection {
  const known = findSection(file, name);
  if (known !== undefined) return known;
  const section: IniSection = { name, comments: [], keys: new Map() };
  file.sections.push(section);
  return section;
}

/** In its place if it is there, at the end otherwise. */
export function setIniKey({ keys }: IniSection, name: string, value: string): IniKey {
  const known = keys.get(name);
  if (known !== undefined) {
    known.value = value;
    return known;
  }
  const key: IniKey = { value, comments: [], isCounted: false };
  keys.set(name, key);
  return key;
}

const SPACES = '[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+';
const LEADING = new RegExp(`^${SPACES}`);
const AROUND = new RegExp(`^${SPACES}|${SPACES}$`, 'g');

/** Without what Go takes for space, which is not quite what JavaScript does. */
export const goTrim = (text: string): string => text.replaceAll(AROUND, '');

export const goTrimStart = (text: string): string => text.replace(LEADING, '');
