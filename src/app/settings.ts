import { parseDuration } from '../base/duration.ts';
import { userError } from '../base/errors.ts';

interface SettingBase<Type extends string, Value> {
  readonly type: Type;
  readonly default: Value;
  readonly description: string;
  /** Name of the environment variable, where there is one. */
  readonly env?: string;
}

export type StringSetting = SettingBase<'string', string | undefined> & { readonly allowed?: readonly string[] };
/** Where something is; never empty, because nothing is nowhere. */
export type PathSetting = SettingBase<'path', string | undefined> & { readonly of: 'file' | 'folder' };
export type BooleanSetting = SettingBase<'boolean', boolean>;
export type IntegerSetting = SettingBase<'integer', number | undefined> & {
  readonly min: number;
  readonly max: number;
};
export type DurationSetting = SettingBase<'duration', number>;
export type ListSetting = SettingBase<'list', readonly string[]>;

/** One row of the table from which flags, environment, config file, help and reference are derived (style S26). */
export type Setting =
  | StringSetting
  | PathSetting
  | BooleanSetting
  | IntegerSetting
  | DurationSetting
  | ListSetting;

/** Settings by flag name in kebab-case. */
export type SettingTable = Readonly<Record<string, Setting>>;

/** The parsed value of a setting; an `allowed` list narrows a string to its members. */
type ValueOf<S extends Setting> = S extends { readonly allowed: readonly (infer Member)[] }
  ? Member | Extract<S['default'], undefined>
  : S['default'] extends infer Default
    ? Widened<Default> | (S extends { readonly type: 'integer' } ? number : never) | StringOf<S>
    : never;
type Widened<Value> = Value extends boolean ? boolean : Value extends number ? number : Value;
type StringOf<S extends Setting> = S extends { readonly type: 'string' | 'path' } ? string : never;

export type SettingValues<Table extends SettingTable> = { readonly [Name in keyof Table]: ValueOf<Table[Name]> };

/** Settings every verb has. */
export const COMMON_SETTINGS = {
  output: {
    type: 'string',
    allowed: ['text', 'json'],
    default: 'text',
    env: 'SLIPWAY_OUTPUT',
    description: 'text for people, json for programs (only JSON on standard output)',
  },
  plain: {
    type: 'boolean',
    default: false,
    description: 'no symbols, no redrawing: for screen readers; the variable ACCESSIBLE does the same',
  },
  ascii: {
    type: 'boolean',
    default: false,
    description: 'ASCII symbols only; chosen by itself when the locale is not UTF-8',
  },
  color: {
    type: 'boolean',
    default: true,
    description: 'colour on a terminal; --no-color or the variable NO_COLOR turns it off, FORCE_COLOR forces it',
  },
  config: {
    type: 'path',
    of: 'file',
    default: undefined,
    env: 'SLIPWAY_CONFIG',
    description: 'YAML file with settings, below flags and environment',
  },
  debug: { type: 'boolean', default: false, env: 'SLIPWAY_DEBUG', description: 'stack traces in error output' },
} as const satisfies SettingTable;

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...['true', 't', '1', 'yes', 'on'].map((word) => [word, true] as const),
  ...['false', 'f', '0', 'no', 'off'].map((word) => [word, false] as const),
]);

/** The value of one setting from text, wherever it came from; `origin` names that place in the message. */
export function parseSetting(setting: Setting, text: string, origin: string): unknown {
  switch (setting.type) {
    case 'boolean':
      return BOOLEANS.get(text.toLowerCase()) ?? refuse(origin, text, 'true or false');
    case 'integer':
      return parseInteger(setting, text, origin);
    case 'duration':
      return parseDurationSetting(text, origin);
    case 'list':
      return text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '');
    case 'path':
      return text.trim() === ''
        ? refuse(origin, text, `the path of a ${setting.of}`)
        : withoutControl(text, origin);
    case 'string':
      withoutControl(text, origin);
      if (setting.allowed === undefined || setting.allowed.includes(text)) return text;
      return refuse(origin, text, `one of ${setting.allowed.join(', ')}`);
  }
}

const withoutControl = (text: string, origin: string): string =>
  /\p{Cc}/u.test(text) ? refuse(origin, text, 'text without control characters') : text;

function parseInteger({ min, max }: IntegerSetting, text: string, origin: string): number {
  const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : refuse(origin, text, `a whole number from ${min} to ${max}`);
}

function parseDurationSetting(text: string, origin: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    return refuse(origin, text, 'a duration such as 300ms, 15s or 1h30m', error);
  }
}

// The type `never` lets callers use it as the last branch of an expression.
function refuse(origin: string, found: string, wanted: string, cause?: unknown): never {
  throw userError('InvalidSetting', `${origin} must be ${wanted}, not "${shown(found)}"`, { cause });
}

/** At most 64 characters, control characters made visible (reliability D0). */
export const shown = (text: string): string =>
  text.slice(0, 64).replace(/\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
