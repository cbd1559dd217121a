import { readFileSync } from 'node:fs';
import { messageOf } from '../base/errors.ts';
import { parseYaml } from '../object/yaml.ts';
import { CommandError } from './failures.ts';
import { suggestion } from './nearest.ts';
import { COMMON_SETTINGS, parseSetting, type Setting, type SettingTable, type SettingValues } from './settings.ts';

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
  if (flag !== undefined) return parsed(setting, flag, `--${name}`);
  const variable = setting.env === undefined ? undefined : env[setting.env];
  if (variable !== undefined && variable !== '') return parsed(setting, variable, `the variable ${setting.env}`);
  const entry = file?.content[name];
  if (entry !== undefined) return parsed(setting, fileText(entry), `${file?.path}: ${name}`);
  return setting.default;
}

function parsed(setting: Setting, text: string, origin: string): unknown {
  try {
    return parseSetting(setting, text, origin);
  } catch (error) {
    throw new CommandError('SW1002', 2, messageOf(error), error);
  }
}

const fileText = (entry: unknown): string => (Array.isArray(entry) ? entry.join(',') : String(entry));

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
  const common = new Set(Object.keys(COMMON_SETTINGS));
  for (const [key, value] of Object.entries(content)) {
    const section = tables[key];
    if (section !== undefined && isRecord(value)) checkKeys(path, `${key}.`, value, section);
    else if (!common.has(key)) throw unknownKey(path, key, [...common, ...Object.keys(tables)]);
  }
  const section = content[verb];
  const shared = Object.fromEntries(Object.entries(content).filter(([key]) => common.has(key)));
  return { path, content: { ...shared, ...(isRecord(section) ? section : {}) } };
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

function checkKeys(
  path: string,
  prefix: string,
  section: Readonly<Record<string, unknown>>,
  table: SettingTable,
): void {
  const known = [...Object.keys(table), ...Object.keys(COMMON_SETTINGS)];
  const unknown = Object.keys(section).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw unknownKey(
      path,
      `${prefix}${unknown}`,
      known.map((key) => `${prefix}${key}`),
    );
}

const unknownKey = (path: string, key: string, known: readonly string[]) =>
  new CommandError('SW1003', 2, `${path}: unknown key "${key}"${suggestion(key, known)}`);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
