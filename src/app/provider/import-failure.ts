import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../base/errors.ts';
import { shownPath } from '../journey/plain-text.ts';
import { placeOf } from './source-position.ts';
import { tokensOf } from './source-tokens.ts';
import { authorPlace } from './stack-place.ts';

/** Why a file could not be imported, for people. */
export interface ImportFailure {
  /** Absolute; another one than was asked for when that imports it. */
  readonly file: string;
  /** From 1, as the column; absent when nobody says where. */
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
  readonly hint: string;
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');

/** Looks into files where Node does not say more, and asks `node --check` for the place of a mistake in JavaScript. */
export async function importFailure(folder: string, file: string, thrown: unknown): Promise<ImportFailure> {
  if (codeOf(thrown) === 'ERR_MODULE_NOT_FOUND') return notFound(folder, file, messageOf(thrown));
  if (thrown instanceof SyntaxError) {
    const stack = thrown.stack ?? '';
    const text = headOf(stack) === null ? await checkedSyntax(file) : stack;
    return syntaxFailure(file, text, messageOf(thrown));
  }
  return {
    file,
    ...authorPlace(thrown, file),
    message: `it threw while it was loaded: ${messageOf(thrown)}`,
    hint: 'a definition must load without a cloud: open connections in connect, and run the file with node to see more',
  };
}

async function notFound(folder: string, file: string, message: string): Promise<ImportFailure> {
  const [, name = '', from = file] =
    /^Cannot find (?:package|module) '([^']*)' imported from (.*)$/.exec(message) ?? [];
  const isFile = name.startsWith('/') || name.startsWith('file:');
  return {
    file: pathOf(from),
    ...(await placeOfImport(pathOf(from), isFile ? pathOf(name) : name)),
    message: `it imports ${isFile ? shownPath(folder, pathOf(name)) : `'${name}'`}, which is not there`,
    hint: isFile
      ? 'correct the path of the import; it must end in .ts or .js'
      : 'run npm install in the folder of its package.json',
  };
}

/** Where a file names what it imports. */
async function placeOfImport(file: string, name: string): Promise<Pick<ImportFailure, 'line' | 'column'>> {
  const source = await readFile(file, 'utf8').catch(() => '');
  const isMeant = (text: string) =>
    text === name ||
    text.startsWith(`${name}/`) ||
    (text.startsWith('.') && resolve(dirname(file), text) === name);
  const token = tokensOf(source).find(({ kind, text }) => kind === 'text' && isMeant(text));
  if (token === undefined) return {};
  const { line, column } = placeOf(source, token);
  return { line, column };
}

const pathOf = (path: string): string => (path.startsWith('file:') ? fileURLToPath(path) : path);

/** Node keeps the name of such a file to itself. */
const CHECK = 'run node --check on each .js and .mjs file that it imports, to see which one and where';

/** The lines that Node puts before the message: where it was, and the text with `^` under the mistake. */
const headOf = (stack: string): RegExpExecArray | null => /^(\S[^\n]*):(\d+)\n/.exec(stack);

function syntaxFailure(file: string, stack: string, message: string): ImportFailure {
  const [, path, line] = headOf(stack) ?? [];
  if (path === undefined) {
    return { file, message: `a file that it imports has a syntax error: ${message}`, hint: CHECK };
  }
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
