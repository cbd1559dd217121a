import { COMMON_SETTINGS, type Setting, type SettingTable } from '../app/settings.ts';
import type { Verb } from '../app/verb.ts';
import { goDuration } from '../base/duration.ts';

/** What `slipway` alone prints: at most 25 lines (experience X12). */
export function overviewText(version: string, verbs: readonly Verb[]): string {
  const groups = [...new Set(verbs.map(({ group }) => group))];
  const width = Math.max(...verbs.map(({ name }) => name.length)) + 2;
  const listed = groups.flatMap((group) => [
    '',
    `${group}:`,
    ...verbs
      .filter((verb) => verb.group === group)
      .map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`),
  ]);
  return [
    `slipway ${version} · brings new infrastructure and new hardware to OpenShift`,
    '',
    'try:',
    '  slipway up --once        the journey of a new provider, on this machine',
    '  slipway doctor           is this machine ready?',
    '  slipway VERB --help      examples and options of one verb',
    ...listed,
    '',
    'docs: README.md, docs/ · exit codes: 0 ok, 1 found problems, 2 wrong usage, 3 environment',
  ].join('\n');
}

/** What `slipway VERB --help` prints: examples first. */
export function verbText(verb: Verb): string {
  const positionals = verb.positionals ?? [];
  const words = positionals.map(({ name, isRequired }) => (isRequired ? name : `[${name}]`));
  return [
    'examples:',
    ...verb.examples.map((example) => `  ${example}`),
    '',
    `usage: ${['slipway', verb.name, ...words, verb.passesOn === true ? '[flags of it]' : '[options]'].join(' ')}`,
    `  ${verb.summary}`,
    ...positionals.map(({ name, description }) => `  ${name}: ${description}`),
    ...optionsText('options', verb.settings),
    ...optionsText('options of every verb', withoutThose(verb.settings)),
  ].join('\n');
}

/** What every verb has, without what this one has in a form of its own. */
const withoutThose = (own: SettingTable): SettingTable =>
  Object.fromEntries(Object.entries(COMMON_SETTINGS).filter(([name]) => !Object.hasOwn(own, name)));

function optionsText(title: string, table: SettingTable): readonly string[] {
  const rows = Object.entries(table).map(
    ([name, setting]) => [flagText(name, setting), describe(setting)] as const,
  );
  const width = Math.max(0, ...rows.map(([flag]) => flag.length)) + 2;
  return rows.length === 0
    ? []
    : ['', `${title}:`, ...rows.map(([flag, text]) => `  ${flag.padEnd(width)}${text}`)];
}

function flagText(name: string, setting: Setting): string {
  if (setting.type === 'boolean') return setting.default ? `--[no-]${name}` : `--${name}`;
  const isChoice = setting.type === 'string' && setting.allowed !== undefined;
  return `--${name} ${isChoice ? (setting.allowed ?? []).join('|') : setting.type.toUpperCase()}`;
}

function describe(setting: Setting): string {
  const facts = [defaultText(setting), setting.env === undefined ? '' : `env ${setting.env}`].filter(
    (fact) => fact !== '',
  );
  return facts.length === 0 ? setting.description : `${setting.description} (${facts.join('; ')})`;
}

/** The default as people would type it; empty when it says nothing. */
function defaultText(setting: Setting): string {
  if (setting.type === 'boolean' || setting.default === undefined) return '';
  if (setting.type === 'list') return setting.default.length === 0 ? '' : `default ${setting.default.join(',')}`;
  return `default ${setting.type === 'duration' ? goDuration(setting.default) : setting.default}`;
}
