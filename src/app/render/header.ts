import { createHash } from 'node:crypto';
import { extname } from 'node:path';

/** By which files that were written by this program are known. */
const MARK = 'Written by slipway';

export interface HeaderFacts {
  readonly version: string;
  readonly what: string;
  readonly provider: string;
  /** Everything that the files are made from. */
  readonly input: unknown;
}

/** One line: who wrote this, from what. The same input with the same version gives the same line. */
export const headerText = ({ version, what, provider, input }: HeaderFacts): string => {
  const digest = createHash('sha256').update(JSON.stringify(input)).digest('hex');
  return `${MARK} ${version}: render ${what} for ${provider}, input sha256:${digest}`;
};

/** The text of a file with the line on top, as a comment. */
export const withHeader = (path: string, header: string, text: string): string =>
  extname(path) === '.md' ? `<!-- ${header} -->\n\n${text}` : `# ${header}\n${text}`;

/** Whether a file was written by `render what`, or by any `render`, whatever the version and the input. */
export const isWritten = (text: string, what = '[a-z]+'): boolean => {
  const [first = ''] = text.split('\n', 1);
  return new RegExp(`^(?:#|<!--) ${MARK} \\S+: render ${what} for `).test(first);
};
