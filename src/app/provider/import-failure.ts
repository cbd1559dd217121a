import { execFile } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../base/errors.ts';
import { shownPath } from '../journey/plain-text.ts';

/** Why a file could not be imported, for people. */
export interface ImportFailure {
  /** Absolute; another one than was asked for when that imports it. */
  readonly file: string;
  /** From 1; absent when nobody says where. */
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
  readonly hint: string;
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');

/** Pure but for one case: Node tells the place of a mistake in JavaScript only to whoever asks `node --check`. */
export async function importFailure(folder: string, file: string, thrown: unknown): Promise<ImportFailure> {
  if (codeOf(thrown) === 'ERR_MODULE_NOT_FOUND') return notFound(folder, file, messageOf(thrown));
  const stack = thrown instanceof Error ? (thrown.stack ?? '') : '';
  if (thrown instanceof SyntaxError) {
    const text = headOf(stack) === null ? await checkedSyntax(file) : stack;
    return syntaxFailure(file, text, messageOf(thrown));
  }
  const [, url, line, column] = /\(?(file:\/\/\S+?):(\d+):(\d+)\)?$/m.exec(stack) ?? [];
  return {
    file: url === undefined ? file : pathOf(url),
    ...(url !== undefined && { line: Number(line), column: Number(column) }),
    message: `it threw while it was loaded: ${messageOf(thrown)}`,
    hint: 'a definition must load without a cloud: open connections in connect, and run the file with node to see more',
  };
}

function notFound(folder: string, file: string, message: string): ImportFailure {
  const [, name = '', from = file] =
    /^Cannot find (?:package|module) '([^']*)' imported from (.*)$/.exec(message) ?? [];
  const isFile = name.startsWith('/') || name.startsWith('file:');
  return {
    file: pathOf(from),
    message: `it imports ${isFile ? shownPath(folder, pathOf(name)) : `'${name}'`}, which is not there`,
    hint: isFile
      ? 'correct the path of the import; it must end in .ts or .js'
      : 'run npm install in the folder of its package.json',
  };
}

const pathOf = (path: string): string => (path.startsWith('file:') ? fileURLToPath(path) : path);

/** The lines that Node puts before the message: where it was, and the text with `^` under the mistake. */
const headOf = (stack: string): RegExpExecArray | null => /^(\S[^\n]*):(\d+)\n/.exec(stack);

function syntaxFailure(file: string, stack: string, message: string): ImportFailure {
  const [, path = file, line = '1'] = headOf(stack) ?? [];
  const isUnsupported = message.includes('strip-only mode');
  return {
    file: pathOf(path),
    line: Number(line),
    column: (/^( *)\^+\s*$/m.exec(stack)?.[1]?.length ?? 0) + 1,
    message,
    hint: isUnsupported
      ? 'Node runs TypeScript by leaving out the types: no enum, no namespace, no parameter properties'
      : 'correct the line',
  };
}

const checkedSyntax = (file: string): Promise<string> =>
  new Promise((resolve) => {
    execFile(process.execPath, ['--check', file], { timeout: 10_000 }, (_error, _stdout, stderr) =>
      resolve(stderr),
    );
  });
