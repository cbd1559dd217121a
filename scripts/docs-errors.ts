import type { FailureEntry } from '../src/app/failures.ts';
import { codeSpan } from './docs-markdown.ts';

/** docs/reference/errors.md: what `slipway explain` says about every code, on one page. */
export function errorsPage(failures: Readonly<Record<string, FailureEntry>>): string {
  return [
    '# Error codes',
    'A message of Slipway that ends a command with exit code 1 or 3 carries a code. `slipway explain CODE` prints the same text as this page. ' +
      'Codes are never reused for something else.',
    ...Object.entries(failures).flatMap(([code, { title, cause, detect, fix, example }]) => [
      `## ${code}: ${title}`,
      [`- **Cause:** ${cause}`, `- **Detected:** ${detect}`, `- **Fix:** ${withCode(fix)}`].join('\n'),
      `Example: ${codeSpan(example)}`,
    ]),
  ].join('\n\n');
}

/** A variable that a fix names bare, as code. */
const withCode = (text: string): string => text.replace(/(?<!`)\bKUBECONFIG\b(?!`)/g, '`$&`');
