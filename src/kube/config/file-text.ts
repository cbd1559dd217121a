import { readFile } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { messageOf, retryError } from '../../base/errors.ts';
import { SharedRun } from './shared-run.ts';

/** Reads a whole text file; rejects as `node:fs/promises` does. */
export type ReadFile = (path: string) => Promise<string>;

export const readTextFile: ReadFile = (path) => readFile(path, 'utf8');

const UNREADABLE: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file'],
  ['ENOTDIR', 'there is no such file'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'no permission to read it'],
]);

const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';

/** Why a file cannot be read, for people. */
export const unreadableText = (thrown: unknown): string => UNREADABLE.get(codeOf(thrown)) ?? messageOf(thrown);

export const isMissingFile = (thrown: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(thrown));

/** C3: tokens in files are replaced every hour or so, long before they end. */
const MAX_AGE_MS = 60_000;
/** After a look that failed. */
const RETRY_MS = 5000;

export interface FileTextOptions {
  readonly path: string;
  readonly readFile: ReadFile;
  readonly clock: Clock;
  /** For messages: `token file`. */
  readonly what: string;
  /** The useful part of the text; throws when there is none. */
  readonly useful: (text: string) => string;
}

/**
 * The text of a file that others replace: read again when the last look is older than 60 s. While a new look fails, the
 * last text that was good is kept, unless it was forgotten because the server refused it.
 */
export class FileText {
  readonly #options: FileTextOptions;
  readonly #look = new SharedRun(() => this.#read());
  #text: string | undefined;
  #lookAgainMs = 0;

  constructor(options: FileTextOptions) {
    this.#options = options;
  }

  /** What is known without a look; for comparing. */
  get current(): string | undefined {
    return this.#text;
  }

  /** Rejects with a `retry` error that names the file when there is no good text. */
  async get(signal?: AbortSignal): Promise<string> {
    if (this.#text !== undefined && this.#options.clock.monotonicMs() < this.#lookAgainMs) return this.#text;
    return this.#look.run(signal);
  }

  forget(): void {
    this.#text = undefined;
  }

  async #read(): Promise<string> {
    const { path, readFile: read, clock, what, useful } = this.#options;
    const before = this.#text;
    try {
      const text = useful(await read(path));
      this.#text = text;
      this.#lookAgainMs = clock.monotonicMs() + MAX_AGE_MS;
      return text;
    } catch (error) {
      this.#lookAgainMs = clock.monotonicMs() + RETRY_MS;
      if (before !== undefined) return before;
      throw retryError('CredentialUnreadable', `the ${what} ${path} cannot be used: ${unreadableText(error)}`, {
        cause: error,
      });
    }
  }
}
