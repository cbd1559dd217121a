import { readFileSync } from 'node:fs';
import { messageOf } from '../base/errors.ts';
import { isRecord } from '../object/record.ts';
import { parseYaml } from '../object/yaml.ts';
import { CommandError } from './failures.ts';
import { suggestion } from './nearest.ts';
import {
  COMMON_SETTINGS,
  parseSetting,
  type Setting,
  type SettingTable,
  type SettingValues,
  shown,
} from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where settings may come from, strongest first: flag, environment, file, default (style S27). */
export interface SettingSources {
  /** Text by flag name; a repeated list flag is joined with commas. */
  readonly flags: ReadonlyMap<string, string>;
  readonly env: Environment;
  /** Parsed config file, if one was named. */
  readonly file?: ConfigFile;
}

export interface ConfigFile {
  readonly path: string;
  readonly content: Readonly<Record<string, unknown>>;
}

/** The frozen values of `table`; throws a CommandError that names the place of the first bad value. */
export function resolveSettings<Table extends SettingTable>(
  table: Table,
  sources: SettingSources,
): SettingValues<Table> {
  const entries = Object.entries(table).map(([name, setting]) => [name, resolve(name, setting, sources)]);
  // The loop above produced exactly one value per row of the table, of the row's type.
  return Object.freeze(Object.fromEntries(entries)) as SettingValues<Table>;
}

function resolve(name: string, setting: Setting, { flags, env, file }: SettingSources): unknown {
  const flag = flags.get(name);
  // As in Go's programs: `--kubeconfig=` means none, not one without a name.
  if (flag === '' && setting.type === 'string') return setting.default;
  if (flag !== undefined) return parsed(setting, flag, `--${name}`);
  const variable = setting.env === undefined ? undefined : env[setting.env];
  if (variable !== undefined && variable !== '') return parsed(setting, variable, `the variable ${setting.env}`);
  const entry = file?.content[name];
  if (file !== undefined && entry !== undefined && entry !== null) {
    const origin = `${file.path}: ${name}`;
    return parsed(setting, fileText(setting, entry, origin), origin);
  }
  return setting.default;
}

function parsed(setting: Setting, text: string, origin: string): unknown {
  try {
    return parseSetting(setting, text, origin);
  } catch (error) {
    throw new CommandError('SW1002', 2, messageOf(error), error);
  }
}

/**
 * YAML has types of its own: an unquoted 4.20 is the number 4.2, so text must be text there. Everything else is read the
 * way a flag is.
 */
function fileText(setting: Setting, entry: unknown, origin: string): string {
  if (typeof entry === 'string') return entry;
  if (setting.type === 'list' && Array.isArray(entry) && entry.every((item) => typeof item === 'string')) {
    return entry.join(',');
  }
  const isPlain = typeof entry === 'number' || typeof entry === 'boolean';
  if (isPlain && (setting.type === 'integer' || setting.type === 'boolean')) return String(entry);
  const hint = isPlain
    ? `text; put it in quotes: "${entry}"`
    : `${setting.type === 'list' ? 'a list of texts' : 'one value'}`;
  throw new CommandError('SW1002', 2, `${origin} must be ${hint}`);
}

/**
 * Reads a config file: settings of all verbs at the top level, those of one verb in a section of its name. Returns what
 * holds for `verb`; unknown keys anywhere are errors, because a typo that is ignored looks like a setting that fails.
 */
export function readConfigFile(
  path: string,
  verb: string,
  tables: Readonly<Record<string, SettingTable>>,
): ConfigFile {
  const content = parseFile(path);
  for (const [key, value] of Object.entries(content)) checkKey(path, key, value, tables);
  const section = Object.hasOwn(content, verb) ? content[verb] : undefined;
  const shared = Object.fromEntries(Object.entries(content).filter(([key]) => IN_FILES.includes(key)));
  return { path, content: { ...shared, ...(isRecord(section) ? section : {}) } };
}

/** Settings of every verb that a file may hold; it cannot name another file. */
const IN_FILES = Object.keys(COMMON_SETTINGS).filter((name) => name !== 'config');

function checkKey(
  path: string,
  key: string,
  value: unknown,
  tables: Readonly<Record<string, SettingTable>>,
): void {
  const section = Object.hasOwn(tables, key) ? tables[key] : undefined;
  // A section with everything in it commented out is null.
  const isSection = isRecord(value) || value === null;
  if (section !== undefined && isSection) return checkSection(path, key, value ?? {}, section);
  if (section !== undefined)
    throw new CommandError('SW1003', 2, `${path}: ${key} must hold settings of that verb`);
  const owner = Object.keys(tables).find((verb) => Object.hasOwn(tables[verb] ?? {}, key));
  if (owner !== undefined) throw new CommandError('SW1003', 2, `${path}: ${key} belongs under "${owner}:"`);
  if (!IN_FILES.includes(key)) throw unknownKey(path, key, [...IN_FILES, ...Object.keys(tables)]);
}

function parseFile(path: string): Readonly<Record<string, unknown>> {
  try {
    const content = parseYaml(readFileSync(path, 'utf8')) ?? {};
    if (isRecord(content)) return content;
  } catch (error) {
    throw new CommandError('SW1003', 2, `${path}: ${messageOf(error)}`, error);
  }
  throw new CommandError('SW1003', 2, `${path}: must hold settings as "name: value" lines`);
}

function checkSection(path: string, verb: string, section: object, table: SettingTable): void {
  const known = [...Object.keys(table), ...IN_FILES];
  const unknown = Object.keys(section).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  throw unknownKey(
    path,
    `${verb}.${unknown}`,
    known.map((key) => `${verb}.${key}`),
  );
}

const unknownKey = (path: string, key: string, known: readonly string[]) =>
  new CommandError('SW1003', 2, `${path}: unknown key "${shown(key)}"${suggestion(key, known)}`);
