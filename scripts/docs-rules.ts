import { parseYaml } from '../src/object/yaml.ts';
import { codeSpan, table } from './docs-markdown.ts';
import type { RuleTest } from './docs-rule-tests.ts';

interface LeftOut {
  readonly spec: string;
  readonly rule: string;
  readonly reason: string;
}

/** docs/reference/rules-left-out.yaml: what must be proven, and what is not proven yet. */
export interface RulePlan {
  /** What each group of rules is about, by its name. */
  readonly specs: Readonly<Record<string, string>>;
  /** Spec → rule → what it is about. */
  readonly must: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly leftOut: readonly LeftOut[];
}

/** The plan in a YAML text; throws on anything of another shape, because a typo would hide a rule. */
export function parseRulePlan(text: string): RulePlan {
  const content = record(parseYaml(text), 'the file');
  const must = Object.entries(record(content['must'], 'must'));
  const leftOut = content['left-out'];
  if (!Array.isArray(leftOut)) throw new Error('left-out must be a list');
  const specs = texts(content['specs'], 'specs');
  const plan = {
    specs,
    must: Object.fromEntries(must.map(([spec, rules]) => [spec, texts(rules, `must.${spec}`)])),
    leftOut: leftOut.map((entry, at) => leftOutEntry(entry, `left-out[${at}]`)),
  };
  const unknown = [...Object.keys(plan.must), ...plan.leftOut.map(({ spec }) => spec)].find(
    (spec) => !Object.hasOwn(specs, spec),
  );
  if (unknown !== undefined) throw new Error(`${unknown} is not among the specs`);
  return plan;
}

function leftOutEntry(entry: unknown, place: string): LeftOut {
  const { spec, rule, reason } = texts(entry, place);
  if (spec === undefined || rule === undefined || reason === undefined)
    throw new Error(`${place} must have spec, rule and reason`);
  return { spec, rule, reason };
}

function texts(value: unknown, place: string): Readonly<Record<string, string>> {
  const entries = Object.entries(record(value, place));
  const wrong = entries.find(([, text]) => typeof text !== 'string' || text.trim() === '');
  if (wrong !== undefined) throw new Error(`${place}.${wrong[0]} must be text`);
  return Object.fromEntries(entries.map(([key, text]) => [key, String(text).trim()]));
}

function record(value: unknown, place: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${place} must be a map`);
  return { ...value };
}

/** Must rules that no test names and no reason excuses, as `spec/RULE`. */
export const unsettledRules = (plan: RulePlan, tests: readonly RuleTest[]): readonly string[] =>
  mustRules(plan)
    .filter(({ spec, rule }) => !names(tests, spec, rule) && !names(plan.leftOut, spec, rule))
    .map(({ spec, rule }) => `${spec}/${rule}`);

/** Names of specs in tests that nobody introduced: a misspelt one would count for nothing. */
export const unknownSpecs = (plan: RulePlan, tests: readonly RuleTest[]): readonly string[] =>
  tests.filter(({ spec }) => !Object.hasOwn(plan.specs, spec)).map(({ spec, file }) => `${file}: ${spec}`);

const mustRules = ({ must }: RulePlan) =>
  Object.entries(must).flatMap(([spec, rules]) =>
    Object.entries(rules).map(([rule, about]) => ({ spec, rule, about })),
  );

const names = (entries: readonly { spec: string; rule: string }[], spec: string, rule: string): boolean =>
  entries.some((entry) => entry.spec === spec && entry.rule === rule);

const INTRO = `Slipway is built from numbered rules. A test that proves one says so in its name: \`oracles/F1: …\`. This page lists
them by group, so that you can go from a rule to its proof. The list comes from the names in the test files; an
ellipsis stands for what a test with several cases fills in.`;

/** docs/reference/rules.md: rule → test, and what is left out with the reason. */
export function rulesPage(plan: RulePlan, tests: readonly RuleTest[]): string {
  const must = mustRules(plan);
  const tested = must.filter(({ spec, rule }) => names(tests, spec, rule));
  const partly = tested.filter(({ spec, rule }) => names(plan.leftOut, spec, rule));
  const { length: unsettled } = unsettledRules(plan, tests);
  const summary = [
    `Of the ${must.length} rules that this release must settle, ${tested.length - partly.length} are tested,`,
    `${partly.length} are tested in part and ${must.length - tested.length - unsettled} are left out with a reason`,
    unsettled === 0 ? '(last section).' : `(last section). ${unsettled} are open.`,
  ];
  return [
    '# Rules and their tests',
    INTRO,
    summary.join('\n'),
    ...Object.entries(plan.specs).flatMap(([spec, about]) => specSection(spec, about, { plan, tests })),
    '## Left out, with a reason',
    table(
      ['rule', 'about', 'state', 'reason'],
      plan.leftOut.map(({ spec, rule, reason }) => [
        `${spec}/${rule}`,
        plan.must[spec]?.[rule] ?? '',
        names(tests, spec, rule) ? 'tested in part' : 'not tested',
        reason,
      ]),
    ),
  ].join('\n\n');
}

function specSection(
  spec: string,
  about: string,
  { plan, tests }: { readonly plan: RulePlan; readonly tests: readonly RuleTest[] },
): readonly string[] {
  const own = tests
    .filter((test) => test.spec === spec)
    .toSorted((a, b) => byRule(a.rule, b.rule) || compare(a.file, b.file) || compare(a.sentence, b.sentence));
  if (own.length === 0) return [];
  const rows = own.map(({ rule, sentence, file }, at) => [
    codeSpan(rule),
    own[at - 1]?.rule === rule ? '' : (plan.must[spec]?.[rule] ?? ''),
    codeSpan(sentence),
    `[${file.split('/').at(-1)}](../../${file})`,
  ]);
  return [`## ${spec}: ${about}`, table(['rule', 'about', 'test', 'file'], rows)];
}

const byRule = (a: string, b: string): number =>
  compare(a.replace(/\d+/, ''), b.replace(/\d+/, '')) ||
  Number(a.replace(/\D/g, '')) - Number(b.replace(/\D/g, ''));

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
