import type { ManifestRule } from '../../cloud-operator/index.ts';
import { FAILURES, type FailureCode, type FailureEntry, isFailureCode, usageError } from '../failures.ts';
import { shown } from '../settings.ts';
import { defineVerb } from '../verb.ts';

/** Prints what a code in a message of ours means and what to do. */
export const explainVerb = defineVerb({
  name: 'explain',
  group: 'when something is wrong',
  summary: 'say what an error code or a rule for manifests means, how it is detected and how to fix it',
  examples: ['slipway explain SW1101', 'slipway explain CCM-W07 --output json'],
  positionals: [
    {
      name: 'CODE',
      description: 'a code such as SW1101 or CCM-W07; without it, all codes are listed',
      isRequired: false,
    },
  ],
  settings: {},
  load: async () => async (context, _settings, positionals) => {
    const code = positionals[0]?.toUpperCase();
    if (code !== undefined && isFailureCode(code)) {
      const entry: FailureEntry = FAILURES[code];
      context.output.result(explanation(code, entry), { code, ...entry });
      return 0;
    }
    // Only now: with them comes all of the cloud operator.
    const { MANIFEST_RULES } = await import('../../cloud-operator/index.ts');
    if (code === undefined) {
      const codes = [
        ...CODES.map((known) => ({ code: known, title: FAILURES[known].title })),
        ...MANIFEST_RULES.map(({ id, title }) => ({ code: id, title })),
      ];
      context.output.result(codes.map((known) => `${known.code}  ${known.title}`).join('\n'), { codes });
      return 0;
    }
    const rule = MANIFEST_RULES.find(({ id }) => id === code);
    if (rule === undefined) {
      const nearest = RULE_LIKE.test(code) ? nearestRules(code, MANIFEST_RULES) : nearestCodes(code);
      throw usageError(`unknown code "${shown(code)}"${offered(nearest)}. All codes: npx slipway explain`);
    }
    const { id, ...text } = rule;
    context.output.result(ruleExplanation(rule), { code: id, ...text });
    return 0;
  },
});

const CODES: readonly FailureCode[] = Object.keys(FAILURES).filter(isFailureCode);
/** As a whole or only a part of it: `CCM`, `CCM-W` and `W07`, too. */
const RULE_LIKE = /^(?:CCM(?:-|$)|(?=[A-Z]\d{1,2}$))(?<letter>[A-Z]?)(?<digits>\d*)/;
const OFFERED = 3;

interface Offer {
  readonly code: string;
  readonly title: string;
}

/** The next ones by number: related codes stand side by side. A number that was cut off counts as the first of its kind. */
function nearestCodes(text: string): readonly Offer[] {
  const [digits] = /\d{1,4}/.exec(text) ?? [];
  if (digits === undefined) return [];
  const related = CODES.filter((code) => code.charAt(2) === digits.charAt(0));
  return nearestBy(related, (code) => Number(code.slice(2)), Number(digits.padEnd(4, '0'))).map((code) => ({
    code,
    title: FAILURES[code].title,
  }));
}

/** Those of the same letter, the next ones by number first; without a letter the first of several. */
function nearestRules(text: string, rules: readonly ManifestRule[]): readonly Offer[] {
  const { letter = '', digits = '' } = RULE_LIKE.exec(text)?.groups ?? {};
  const related = rules.filter(({ id }) => id.startsWith(`CCM-${letter}`));
  return nearestBy(related, ({ id }) => Number(id.slice(-2)), Number(digits)).map(({ id, title }) => ({
    code: id,
    title,
  }));
}

const nearestBy = <T>(items: readonly T[], numberOf: (item: T) => number, wanted: number): readonly T[] =>
  items.toSorted((a, b) => Math.abs(numberOf(a) - wanted) - Math.abs(numberOf(b) - wanted)).slice(0, OFFERED);

const offered = (offers: readonly Offer[]): string =>
  offers.length === 0 ? '' : `. Nearest: ${offers.map(({ code, title }) => `${code} (${title})`).join(', ')}`;

const ruleExplanation = ({ id, severity, severityNote, title, appliesTo, why, fix }: ManifestRule): string =>
  [
    `${id}  ${title}`,
    '',
    `severity ${severity}${severityNote === undefined ? '' : ` (${severityNote})`}`,
    `of       ${appliesTo}`,
    `why      ${why}`,
    `fix      ${fix}`,
  ].join('\n');

const explanation = (code: string, { title, cause, detect, fix, example }: FailureEntry): string =>
  [
    `${code}  ${title}`,
    '',
    `cause    ${cause}`,
    `detected ${detect}`,
    `fix      ${fix}`,
    `example  ${example}`,
  ].join('\n');
