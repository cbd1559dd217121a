import { COMMON_SETTINGS, type Setting, type SettingTable } from '../src/app/settings.ts';
import type { ExitCode, Verb } from '../src/app/verb.ts';
import { goDuration } from '../src/base/duration.ts';
import { table } from './docs-markdown.ts';

/** The type makes a new exit code without a sentence here fail the build. */
const EXIT_CODES: Readonly<Record<ExitCode, string>> = {
  0: 'all went well',
  1: 'the command ran and found problems; they are printed',
  2: 'wrong usage: a verb, flag, value or config file that does not fit; nothing was done',
  3: 'the environment is wrong: Node too old, no permission, port in use, already running',
  130: 'interrupted (Ctrl-C or a signal) before the job was done',
};

const INTRO = `Every setting can be given in four places. The first one that is present wins:

1. a flag on the command line,
2. an environment variable, where the table names one,
3. the config file named by \`--config\` or \`SLIPWAY_CONFIG\`,
4. the default.

An unknown flag or config key is an error with exit code 2 that names the nearest known word. A value of the wrong kind is
one too; the message says where the value came from. A path must not be empty, wherever it comes from; any other
environment variable that is empty counts as not set.

## How flags are written

Slipway reads flags in the syntax of Go programs, because its daemons will take the flags of the programs they replace.

| form | meaning |
|---|---|
| \`--port 7440\`, \`--port=7440\`, \`-port=7440\` | the same setting, with a value |
| \`--once\`, \`--once=true\` | a boolean that is on |
| \`--once=false\`, \`--no-once\` | a boolean that is off; \`--once false\` is refused |
| \`--some_flag\` | the same as \`--some-flag\` |
| \`--\` | everything after it is an argument, not a flag |

A duration is written as Go writes it: \`300ms\`, \`15s\`, \`1h30m\`. A list is separated by commas or given by repeating
the flag.

## The config file

The file is YAML. Settings of every verb stand at the top level, those of one verb in a section of its name. Keys are
flag names without dashes in front.

\`\`\`yaml
output: json
up:
  once: true
\`\`\``;

/** docs/reference/flags.md: everything the command line takes, from the tables it is parsed with. */
export function flagsPage(verbs: readonly Verb[]): string {
  return [
    '# Flags, settings and exit codes',
    INTRO,
    '## Exit codes',
    table(
      ['code', 'meaning'],
      Object.entries(EXIT_CODES).map(([code, meaning]) => [`\`${code}\``, meaning]),
    ),
    '## Settings of every verb',
    settingsTable(COMMON_SETTINGS),
    ...verbs.flatMap(verbSection),
  ].join('\n\n');
}

function verbSection(verb: Verb): readonly string[] {
  const positionals = verb.positionals ?? [];
  const words = positionals.map(({ name, isRequired }) => (isRequired ? name : `[${name}]`));
  const usage = ['slipway', verb.name, ...words, '[options]'].join(' ');
  return [
    `## \`slipway ${verb.name}\``,
    sentence(verb.summary),
    ['```text', usage, '', ...verb.examples, '```'].join('\n'),
    ...positionals.map(({ name, description }) => `\`${name}\`: ${description}.`),
    Object.keys(verb.settings).length === 0
      ? 'It has no settings beyond those of every verb.'
      : settingsTable(verb.settings),
  ];
}

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

const settingsTable = (settings: SettingTable): string =>
  table(
    ['flag', 'type', 'default', 'environment', 'allowed', 'description'],
    Object.entries(settings).map(([name, setting]) => [
      `\`--${name}\``,
      setting.type,
      defaultOf(setting),
      setting.env === undefined ? '–' : `\`${setting.env}\``,
      allowedOf(setting),
      withCode(setting.description),
    ]),
  );

/** Flags and variables in a description as code, as everywhere else in the docs. */
const withCode = (text: string): string =>
  text
    .replace(/--[a-z][a-z-]*/g, '`$&`')
    .replace(/\bvariable ([A-Z_]+)/g, 'variable `$1`')
    .replace(/\bKIND(?:\/NAME)?\b/g, '`$&`');

function defaultOf(setting: Setting): string {
  if (setting.default === undefined) return '–';
  if (setting.type === 'list') return setting.default.length === 0 ? '–' : `\`${setting.default.join(',')}\``;
  return `\`${setting.type === 'duration' ? goDuration(setting.default) : setting.default}\``;
}

function allowedOf(setting: Setting): string {
  if (setting.type === 'integer') return `${setting.min} to ${setting.max}`;
  if (setting.type === 'string' && setting.allowed !== undefined)
    return setting.allowed.map((value) => `\`${value}\``).join(', ');
  return '–';
}
