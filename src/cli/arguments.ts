import { usageError } from '../app/failures.ts';
import { suggestion } from '../app/nearest.ts';
import { COMMON_SETTINGS, type Setting, type SettingTable, shown } from '../app/settings.ts';
import type { Verb } from '../app/verb.ts';

export type Invocation =
  | { readonly kind: 'overview'; readonly flags: ReadonlyMap<string, string> }
  | { readonly kind: 'help'; readonly verb: Verb }
  | {
      readonly kind: 'run';
      readonly verb: Verb;
      readonly flags: ReadonlyMap<string, string>;
      readonly positionals: readonly string[];
    };

interface Flag {
  readonly name: string;
  /** With its dashes, as the user wrote it. */
  readonly typed: string;
  /** Text after `=`, if there was one. */
  readonly value: string | undefined;
}

/**
 * Reads a command line in the syntax of Go's programs, because users bring the flags of the daemons we replace:
 * `--leader-elect=false`, `-v=2`, `-kubeconfig f`, `--leader_elect`. Throws a usage error with the nearest match.
 */
export function parseArguments(argv: readonly string[], verbs: readonly Verb[]): Invocation {
  const words = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length);
  const at = verbPosition(argv);
  const name = argv[at];
  const wantsHelp = words.some((word) => HELP.includes(word));
  if (name === undefined && words.includes('--version')) return parseArguments(asVersionVerb(argv), verbs);
  const topic = name === 'help' ? argv.slice(at + 1).find((word) => !HELP.includes(word)) : undefined;
  if (name === undefined || (name === 'help' && topic === undefined)) return overview(argv);
  if (topic !== undefined) return { kind: 'help', verb: verbNamed(topic, verbs) };
  const verb = verbNamed(name, verbs);
  if (verb.passesOn === true) return passedOn(argv, at, verb, verbs);
  if (wantsHelp) return { kind: 'help', verb };
  const rest = [...argv.slice(0, at), ...argv.slice(at + 1)];
  return { kind: 'run', verb, ...flagsAndPositionals(rest, verb, verbs) };
}

/** Reads up to the first word after the verb; the rest is read by whom that word names. */
function passedOn(argv: readonly string[], at: number, verb: Verb, verbs: readonly Verb[]): Invocation {
  const after = argv.slice(at + 1);
  const end = verbPosition(after) + 1;
  const own = [...argv.slice(0, at), ...after.slice(0, end)];
  if (own.some((word) => HELP.includes(word))) return { kind: 'help', verb };
  const { flags, positionals } = flagsAndPositionals(own, verb, verbs);
  return { kind: 'run', verb, flags, positionals: [...positionals, ...after.slice(end)] };
}

const HELP: readonly string[] = ['--help', '-h', '-help'];

/** `slipway --version` is what every program understands; other flags beside it stay. */
const asVersionVerb = (argv: readonly string[]): readonly string[] => [
  'version',
  ...argv.filter((word) => word !== '--version'),
];

/** Without a verb only help can be meant; anything unknown beside it is still an error. */
function overview(argv: readonly string[]): Invocation {
  const words = argv.filter((word) => !HELP.includes(word) && word !== 'help');
  return {
    kind: 'overview',
    flags: readFlags(words, COMMON_SETTINGS, (_, match) => match || '. See: slipway --help').flags,
  };
}

/** The first word that is neither a flag nor the value of one. */
function verbPosition(argv: readonly string[]): number {
  for (let at = 0; at < argv.length; at++) {
    const flag = asFlag(argv[at] ?? '');
    if (flag === undefined) return at;
    if (flag.value === undefined && takesValue(find(flag.name, COMMON_SETTINGS))) at++;
  }
  return argv.length;
}

function verbNamed(name: string, verbs: readonly Verb[]): Verb {
  const verb = verbs.find((candidate) => candidate.name === name);
  if (verb !== undefined) return verb;
  const match = suggestion(name, [...verbs.map((candidate) => candidate.name), 'help']);
  throw usageError(`unknown verb "${shown(name)}"${match || '. See: slipway --help'}`);
}

function flagsAndPositionals(words: readonly string[], verb: Verb, verbs: readonly Verb[]) {
  const table = { ...COMMON_SETTINGS, ...verb.settings };
  const { flags, rest } = readFlags(words, table, (name, match) => wayOn(name, match, verb, verbs));
  const wanted = verb.positionals ?? [];
  const missing = wanted.slice(rest.length).find(({ isRequired }) => isRequired);
  if (missing !== undefined) {
    throw usageError(
      `slipway ${verb.name} needs ${missing.name}: ${missing.description}. Example: ${verb.examples[0]}`,
    );
  }
  const extra = rest[wanted.length];
  if (extra === undefined) return { flags, positionals: rest };
  const isBoolean = extra === 'true' || extra === 'false';
  const hint = isBoolean
    ? '. Write a boolean with an equals sign: --name=false'
    : `. See: slipway ${verb.name} --help`;
  throw usageError(`unexpected argument "${shown(extra)}"${hint}`);
}

/** A flag that other verbs have was not mistyped: whoever wrote it must know that it is theirs. */
function wayOn(name: string, match: string, verb: Verb, verbs: readonly Verb[]): string {
  const others = verbs.filter((other) => other !== verb && Object.hasOwn(other.settings, name));
  const owners = others.map((other) => other.name);
  const help = `. See: slipway ${verb.name} --help`;
  if (owners.length === 0) return match || help;
  return `: it belongs to slipway ${owners.join(' and slipway ')}${help}`;
}

/** Ends the sentence about an unknown flag; `match` is the suggestion of a similar one, or empty. */
type WayOn = (name: string, match: string) => string;

function readFlags(words: readonly string[], table: SettingTable, end: WayOn) {
  const flags = new Map<string, string>();
  const rest: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') return { flags, rest: [...rest, ...words.slice(at + 1)] };
    const flag = asFlag(word);
    if (flag === undefined) {
      rest.push(word);
      continue;
    }
    const known = knownFlag(flag, table, end);
    const value = known.value ?? words[++at];
    if (value === undefined) throw usageError(`--${known.name} needs a value: ${known.setting.description}`);
    const before = known.setting.type === 'list' ? flags.get(known.name) : undefined;
    flags.set(known.name, before === undefined ? value : `${before},${value}`);
  }
  return { flags, rest };
}

/** A lone dash and negative numbers are values, not flags. */
function asFlag(word: string): Flag | undefined {
  const [, typed = '', name = '', value] =
    /^((?:--?(?=[A-Za-z])|--(?=.))([^=]*))(?:=([\s\S]*))?$/.exec(word) ?? [];
  return name === '' ? undefined : { name: name.replaceAll('_', '-'), typed, value };
}

const find = (name: string, table: SettingTable): Setting | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

const takesValue = (setting: Setting | undefined): boolean => setting !== undefined && setting.type !== 'boolean';

/** Names that many programs have for what has another name here. */
const WORDS_ELSEWHERE: Readonly<Record<string, string>> = { format: 'output', verbose: 'debug' };

function ownWord(name: string, table: SettingTable): string {
  const [, own = ''] = Object.entries(WORDS_ELSEWHERE).find(([word]) => suggestion(name, [word]) !== '') ?? [];
  return find(own, table) === undefined ? '' : `. Did you mean --${own}?`;
}

/** The setting a flag means; a boolean without a value is `true`, its `--no-` form `false`. */
function knownFlag({ name, typed, value }: Flag, table: SettingTable, end: WayOn) {
  const setting = find(name, table);
  if (setting !== undefined)
    return { name, setting, value: value ?? (setting.type === 'boolean' ? 'true' : undefined) };
  const positive = name.replace(/^no-/, '');
  const negated = name.startsWith('no-') ? find(positive, table) : undefined;
  if (negated?.type === 'boolean' && value === undefined)
    return { name: positive, setting: negated, value: 'false' };
  const match = suggestion(name, Object.keys(table), '--') || ownWord(name, table);
  throw usageError(`unknown option ${shown(typed)}${end(positive, match)}`);
}
