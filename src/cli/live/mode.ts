import type { Environment, SettingSources } from '../../app/config.ts';

/** How a journey is shown (experience X2). */
export type Mode = 'json' | 'accessible' | 'log' | 'live';

/** By width (experience X7): with bars, without bars, groups on a line, one thing per line. */
export type Layout = 'wide' | 'medium' | 'narrow' | 'list';

/** The settings of the command line that decide how things look. */
export interface LookSettings {
  readonly output: 'text' | 'json';
  readonly plain: boolean;
  readonly ascii: boolean;
  readonly color: boolean;
}

/** The first match wins. */
export function chooseMode({ output, plain }: LookSettings, env: Environment, isTTY: boolean): Mode {
  if (output === 'json') return 'json';
  if (isAccessible(plain, env)) return 'accessible';
  return !isTTY || isSet(env['CI']) || env['TERM'] === 'dumb' ? 'log' : 'live';
}

const isAccessible = (plain: boolean, env: Environment): boolean => plain || isOn(env['ACCESSIBLE']);

/** For verbs that word their result without symbols: they have the setting, and need not know the variable. */
export const accessibleSources = (
  sources: SettingSources,
  { plain }: LookSettings,
  env: Environment,
): SettingSources =>
  isAccessible(plain, env) ? { ...sources, flags: new Map([...sources.flags, ['plain', 'true']]) } : sources;

/** `NO_COLOR` and `--no-color` win over everything, JSON is never coloured. */
export function hasColour(mode: Mode, { color }: LookSettings, env: Environment): boolean {
  if (mode === 'json' || !color || isSet(env['NO_COLOR'])) return false;
  return mode === 'live' || isOn(env['FORCE_COLOR']);
}

/** A locale that is not set is the C locale, which is not UTF-8. */
export function isAscii({ ascii }: LookSettings, env: Environment): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find(isSet) ?? '';
  return ascii || !/utf-?8/i.test(locale);
}

export function layoutFor(columns: number): Layout {
  if (columns >= 100) return 'wide';
  if (columns >= 60) return 'medium';
  return columns >= 40 ? 'narrow' : 'list';
}

/**
 * Whether the terminal wraps old lines anew when it gets narrower, as nearly all do; the others cut them. Nobody can be
 * asked, so those that do not are known by what they set.
 */
export function doesReflow(env: Environment): boolean {
  const isScreen = (env['TERM'] ?? '').startsWith('screen') && !isSet(env['TMUX']);
  return !isSet(env['XTERM_VERSION']) && !isScreen && !/^(linux|putty|rxvt|st)(-|$)/.test(env['TERM'] ?? '');
}

const isSet = (value: string | undefined): value is string => value !== undefined && value !== '';

const isOn = (value: string | undefined): boolean => isSet(value) && value !== '0' && value !== 'false';
