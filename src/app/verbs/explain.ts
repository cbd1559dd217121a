import { FAILURES, type FailureEntry, isFailureCode, usageError } from '../failures.ts';
import { suggestion } from '../nearest.ts';
import { shown } from '../settings.ts';
import { defineVerb } from '../verb.ts';

/** Prints what a code in a message of ours means and what to do. */
export const explainVerb = defineVerb({
  name: 'explain',
  group: 'when something is wrong',
  summary: 'say what an error code means, how it is detected and how to fix it',
  examples: ['slipway explain SW1101', 'slipway explain SW1001 --output json'],
  positionals: [{ name: 'CODE', description: 'a code such as SW1101', isRequired: true }],
  settings: {},
  load: async () => async (context, _settings, positionals) => {
    const code = (positionals[0] ?? '').toUpperCase();
    const known = Object.keys(FAILURES);
    if (!isFailureCode(code)) {
      throw usageError(
        `unknown code "${shown(code)}"${suggestion(code, known) || '.'} Known: ${known.join(', ')}`,
      );
    }
    const entry: FailureEntry = FAILURES[code];
    context.output.result(explanation(code, entry), { code, ...entry });
    return 0;
  },
});

const explanation = (code: string, { title, cause, detect, fix, example }: FailureEntry): string =>
  [
    `${code}  ${title}`,
    '',
    `cause    ${cause}`,
    `detected ${detect}`,
    `fix      ${fix}`,
    `example  ${example}`,
  ].join('\n');
