import { messageOf } from '../base/errors.ts';
import { CommandError } from './failures.ts';
import { parseSetting, type Setting, type SettingTable, type SettingValues } from './settings.ts';

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
  // An empty variable is one that is not set, except for a path: there it is a variable of a script that was not set.
  if (variable !== undefined && (variable !== '' || setting.type === 'path'))
    return parsed(setting, variable, `the variable ${setting.env}`);
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
