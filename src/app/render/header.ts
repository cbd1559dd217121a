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

/** The text of a file with the line on top, as a comment; it ends with a digest of this very file in this very place. */
export function withHeader(path: string, header: string, text: string): string {
  const digest = createHash('sha256').update(`${path}\n${text}`).digest('hex');
  const line = `${header}, file sha256:${digest}`;
  return extname(path) === '.md' ? `<!-- ${line} -->\n\n${text}` : `# ${line}\n${text}`;
}

/** Whether a file was written by `render what`, or by any `render`, whatever the version and the input. */
export const isWritten = (text: string, what = '[a-z-]+'): boolean => {
  const [first = ''] = text.split('\n', 1);
  return new RegExp(`^(?:#|<!--) ${MARK} \\S+: render ${what} for `).test(first);
};

const OWN_LINE = new RegExp(
  `^(?:#|<!--) (?<header>${MARK} \\S+: render (?<what>\\S+) for (?<provider>\\S+), .*), file sha256:.*\\n+`,
);

/** Whether a file is as a `render` for this provider left it, in the same place: neither edited nor a copy. */
export function isUntouched(
  path: string,
  content: string,
  { what, provider }: Pick<HeaderFacts, 'what' | 'provider'>,
): boolean {
  const found = OWN_LINE.exec(content);
  const { header = '', ...origin } = found?.groups ?? {};
  if (found === null || origin['what'] !== what || origin['provider'] !== provider) return false;
  return withHeader(path, header, content.slice(found[0].length)) === content;
}
