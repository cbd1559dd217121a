import { parseDuration } from '../../base/duration.ts';
import { messageOf } from '../../base/errors.ts';
import { nearestWord } from '../../object/nearest-word.ts';

/** A `list` is separated by commas; of `items`, each use of the flag adds one as it stands. */
export type FlagType = 'text' | 'switch' | 'duration' | 'number' | 'list' | 'items' | 'choice';

/** One thing that a program can be told, by a flag or by the environment. */
export interface Flag {
  readonly name: string;
  readonly type: FlagType;
  /** As a user would write it; empty when there is none. */
  readonly default: string;
  readonly description: string;
  /** For `choice`. */
  readonly choices?: readonly string[];
  /** Other names of the same flag. */
  readonly aliases?: readonly string[];
  /** For `number`. */
  readonly range?: readonly [number, number];
  /** For `number`: digits after the point are allowed. */
  readonly isFraction?: boolean;
}

export type FlagValue = string | boolean | number | readonly string[];

export interface ParsedFlags {
  /** Every flag of the table by its name, defaults included. */
  readonly values: ReadonlyMap<string, FlagValue>;
  /** Flags that somebody has set. */
  readonly given: ReadonlySet<string>;
  readonly isHelp: boolean;
  /** Everything that is wrong, not only the first of it; that `--help` helps is for the caller to say, once. */
  readonly problems: readonly string[];
}

/** `--leader-elect` is `SLIPWAY_LEADER_ELECT`. */
export const environmentName = ({ name }: Pick<Flag, 'name'>): string =>
  `SLIPWAY_${name.toUpperCase().replaceAll('-', '_')}`;

const FLAG = /^--?(?<name>[^-=][^=]*)(?:=(?<value>.*))?$/s;
const HELP = new Set(['help', 'h']);
/** What Go's flag package reads as a truth value. */
const TRUTHS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [text, false] as const),
]);

interface Written {
  readonly flag: Flag;
  readonly text: string;
  /** How the user wrote it, for messages. */
  readonly shown: string;
}

/**
 * Reads flags as Go programs do: one or two dashes, `--name=value` or `--name value`, switches without a value. A flag
 * wins over the environment, the last of two over the first; a list takes all.
 */
export function parseFlags(
  flags: readonly Flag[],
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ParsedFlags {
  const problems: string[] = [];
  const { written, isHelp } = readArguments(flags, argv, problems);
  const said = new Set(written.map(({ flag }) => flag.name));
  for (const flag of flags) {
    const text = env[environmentName(flag)];
    if (text === undefined || said.has(flag.name)) continue;
    written.push({ flag, text, shown: environmentName(flag) });
  }
  const values = new Map<string, FlagValue>();
  for (const flag of flags) values.set(flag.name, valueOf(flag, flag.default));
  const lists = new Map<string, string[]>();
  for (const { flag, text, shown } of written) {
    try {
      const value = valueOf(flag, text);
      if (!Array.isArray(value)) values.set(flag.name, value);
      else lists.set(flag.name, [...(lists.get(flag.name) ?? []), ...value]);
    } catch (thrown) {
      problems.push(`${shown}: ${messageOf(thrown)}`);
    }
  }
  for (const [name, list] of lists) values.set(name, [...new Set(list)]);
  return { values, given: new Set(written.map(({ flag }) => flag.name)), isHelp, problems };
}

function readArguments(flags: readonly Flag[], argv: readonly string[], problems: string[]) {
  const byName = new Map(
    flags.flatMap((flag) => [flag.name, ...(flag.aliases ?? [])].map((name) => [name, flag])),
  );
  const written: Written[] = [];
  let isHelp = false;
  const rest = [...argv];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const { name = '', value } = FLAG.exec(word)?.groups ?? {};
    const flag = byName.get(name);
    if (flag !== undefined) {
      const text = value ?? (flag.type === 'switch' ? 'true' : rest.shift());
      if (text === undefined) problems.push(`--${name} needs a value`);
      else written.push({ flag, text, shown: `--${name}` });
    } else if (HELP.has(name)) isHelp = true;
    else {
      problems.push(unknownWord(word, name, [...byName.keys()]));
      if (isMeantAsValue(word, rest[0])) rest.shift();
    }
  }
  return { written, isHelp };
}

/** Of a flag that is not known, most likely: a problem with the value would hide the one with the flag. */
const isMeantAsValue = (word: string, next = '-'): boolean =>
  word.startsWith('-') && !word.includes('=') && !next.startsWith('-');

function unknownWord(word: string, name: string, known: readonly string[]): string {
  if (name === '') return `"${word}" is no flag`;
  const near = nearestWord(name, known);
  return near === undefined ? `--${name} is not known` : `--${name} is not known; did you mean --${near}?`;
}

/** What a text means for a flag; throws when it means nothing. */
const valueOf = (flag: Flag, text: string): FlagValue => READERS[flag.type](text, flag);

const READERS: Readonly<Record<FlagType, (text: string, flag: Flag) => FlagValue>> = {
  text: (text) => text,
  list: (text) => text.split(',').flatMap((item) => item.trim() || []),
  items: (text) => (text === '' ? [] : [text]),
  duration: (text) => (text === '' ? 0 : parseDuration(text)),
  switch: (text) => {
    const truth = TRUTHS.get(text);
    if (truth === undefined) throw new Error(`"${text}" is not true or false`);
    return truth;
  },
  choice: (text, { choices = [] }) => {
    if (!choices.includes(text)) throw new Error(`"${text}" is none of ${shownChoices(choices)}`);
    return text;
  },
  number: (text, { range: [least, most] = [0, Number.MAX_SAFE_INTEGER], isFraction = false }) => {
    const form = isFraction ? /^-?\d+(?:\.\d+)?$/ : /^-?\d+$/;
    const value = form.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least && value <= most)) {
      throw new Error(`"${text}" is not a ${isFraction ? '' : 'whole '}number from ${least} to ${most}`);
    }
    return value;
  },
};

/** Nobody writes the empty one, which stands for "not said". */
const shownChoices = (choices: readonly string[]): string => choices.filter((choice) => choice !== '').join(', ');

export interface HelpOptions {
  /** Other ways to call the program. */
  readonly ways?: readonly string[];
  /** Whether flags can be set by variables: true unless said otherwise. */
  readonly asksEnvironment?: boolean;
}

/** One line per way to call the program, and per flag with its default; last how variables are named. */
export function flagHelp(
  program: string,
  flags: readonly Flag[],
  { ways = [], asksEnvironment = true }: HelpOptions = {},
): string {
  const left = flags.map(({ name, type }) => `  --${name}${type === 'switch' ? '' : ` <${type}>`}`);
  const width = Math.max(...left.map((text) => text.length));
  const lines = flags.map((flag, index) => {
    const hint = flag.choices === undefined ? '' : ` One of ${shownChoices(flag.choices)}.`;
    const standard = flag.default === '' ? '' : ` Default ${flag.default}.`;
    return `${(left[index] ?? '').padEnd(width)}  ${flag.description}${hint}${standard}`;
  });
  const usage = [`Usage: ${program} [flags]`, ...ways.map((way) => `       ${program} ${way}`)];
  const hint = asksEnvironment ? ['', ...environmentHint(flags)] : [];
  return [...usage, '', ...lines, ...hint, ''].join('\n');
}

/** One of the flags as an example, with a dash in its name where there is such. */
function environmentHint(flags: readonly Flag[]): readonly string[] {
  const flag = flags.find(({ name }) => name.includes('-')) ?? flags[0];
  if (flag === undefined) return [];
  return [`Each flag can be set in the environment too: --${flag.name} is ${environmentName(flag)}.`];
}
