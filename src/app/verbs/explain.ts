import { FAILURES, type FailureCode, type FailureEntry, isFailureCode, usageError } from '../failures.ts';
import { shown } from '../settings.ts';
import { defineVerb } from '../verb.ts';

/** Prints what a code in a message of ours means and what to do. */
export const explainVerb = defineVerb({
  name: 'explain',
  group: 'when something is wrong',
  summary: 'say what an error code means, how it is detected and how to fix it',
  examples: ['slipway explain SW1101', 'slipway explain SW1001 --output json'],
  positionals: [
    { name: 'CODE', description: 'a code such as SW1101; without it, all codes are listed', isRequired: false },
  ],
  settings: {},
  load: async () => async (context, _settings, positionals) => {
    const code = positionals[0]?.toUpperCase();
    if (code === undefined) {
      const codes = CODES.map((known) => ({ code: known, title: FAILURES[known].title }));
      context.output.result(codes.map((known) => `${known.code}  ${known.title}`).join('\n'), { codes });
      return 0;
    }
    if (!isFailureCode(code)) {
      throw usageError(`unknown code "${shown(code)}"${nearestCodes(code)}. All codes: npx slipway explain`);
    }
    const entry: FailureEntry = FAILURES[code];
    context.output.result(explanation(code, entry), { code, ...entry });
    return 0;
  },
});

const CODES: readonly FailureCode[] = Object.keys(FAILURES).filter(isFailureCode);
const OFFERED = 3;

/** The next ones by number: related codes stand side by side. A number that was cut off counts as the first of its kind. */
function nearestCodes(text: string): string {
  const [digits] = /\d{1,4}/.exec(text) ?? [];
  if (digits === undefined) return '';
  const distance = (code: string) => Math.abs(Number(code.slice(2)) - Number(digits.padEnd(4, '0')));
  const related = CODES.filter((code) => code.charAt(2) === digits.charAt(0));
  const nearest = related.toSorted((a, b) => distance(a) - distance(b)).slice(0, OFFERED);
  return nearest.length === 0
    ? ''
    : `. Nearest: ${nearest.map((code) => `${code} (${FAILURES[code].title})`).join(', ')}`;
}

const explanation = (code: string, { title, cause, detect, fix, example }: FailureEntry): string =>
  [
    `${code}  ${title}`,
    '',
    `cause    ${cause}`,
    `detected ${detect}`,
    `fix      ${fix}`,
    `example  ${example}`,
  ].join('\n');
