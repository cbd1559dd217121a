import { readFileSync } from 'node:fs';
import { messageOf } from '../base/errors.ts';
import { isRecord } from '../object/record.ts';
import { parseYaml } from '../object/yaml.ts';
import type { ConfigFile } from './config.ts';
import { CommandError } from './failures.ts';
import { suggestion } from './nearest.ts';
import { COMMON_SETTINGS, type SettingTable, shown } from './settings.ts';

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
  for (const [key, value] of Object.entries(content)) checkKey({ path, verb, tables }, key, value);
  const section = Object.hasOwn(content, verb) ? content[verb] : undefined;
  const shared = Object.fromEntries(Object.entries(content).filter(([key]) => IN_FILES.includes(key)));
  return { path, content: { ...shared, ...(isRecord(section) ? section : {}) } };
}

/** Settings of every verb that a file may hold; it cannot name another file. */
const IN_FILES = Object.keys(COMMON_SETTINGS).filter((name) => name !== 'config');

interface Source {
  readonly path: string;
  readonly verb: string;
  readonly tables: Readonly<Record<string, SettingTable>>;
}

function checkKey({ path, verb, tables }: Source, key: string, value: unknown): void {
  const section = Object.hasOwn(tables, key) ? tables[key] : undefined;
  // A section with everything in it commented out is null.
  const isSection = isRecord(value) || value === null;
  if (section !== undefined && isSection) return checkSection(path, key, value ?? {}, section);
  if (section !== undefined)
    throw new CommandError('SW1003', 2, `${path}: ${key} must hold settings of that verb`);
  if (IN_FILES.includes(key)) return;
  const owners = Object.keys(tables).filter((name) => Object.hasOwn(tables[name] ?? {}, key));
  if (owners.length > 0) {
    const places = owners.includes(verb) ? [verb] : owners;
    const where = places.map((name) => `"${name}:"`).join(' or ');
    throw new CommandError('SW1003', 2, `${path}: ${key} belongs under ${where}`);
  }
  throw unknownKey(path, key, [...IN_FILES, ...Object.keys(tables)]);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const why = Object.hasOwn(UNREADABLE, code) ? UNREADABLE[code] : messageOf(error);
    const way = 'Name a YAML file with settings by --config or SLIPWAY_CONFIG, or leave both out';
    throw new CommandError('SW1003', 2, `the config file ${path} cannot be read: ${why}. ${way}`, error);
  }
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'no permission to read it',
};

function parseFile(path: string): Readonly<Record<string, unknown>> {
  const text = textOf(path);
  try {
    const content = parseYaml(text) ?? {};
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
