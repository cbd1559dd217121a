import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { redactedText } from '../../base/redaction.ts';
import type { JourneyListener } from './event-stream.ts';
import { logLines } from './log-lines.ts';

/** Where the log of a data folder is. */
export const logFile = (data: string): string => join(data, 'journey.log');

/** The file `.slipway/journey.log`: the last journey, line by line, with the stack traces that are shown nowhere else. */
export class JourneyLog {
  readonly path: string;
  readonly #warn: (sentence: string) => void;
  #file: number | undefined;
  #isOpen = true;

  constructor(data: string, warn: (sentence: string) => void) {
    this.path = logFile(data);
    this.#warn = warn;
  }

  /** For `Journey.subscribe`. */
  readonly listener: JourneyListener = (event, after, before) => {
    for (const line of logLines(event, after, before)) this.#write(line);
  };

  /** The subject is what the error ended: a phase, or the whole journey. */
  recordError(subject: string, thrown: unknown): void {
    const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : messageOf(thrown);
    this.#write(`${subject}: ${redactedText(stack)}`);
  }

  [Symbol.dispose](): void {
    this.#isOpen = false;
    if (this.#file !== undefined) closeSync(this.#file);
  }

  /** A full disk costs the log, not the journey: one warning, then silence. */
  #write(line: string): void {
    if (!this.#isOpen) return;
    try {
      this.#file ??= openSync(this.path, 'w', 0o600);
      writeSync(this.#file, `${line}\n`);
    } catch (error) {
      this.#isOpen = false;
      this.#warn(`the log ${this.path} is not written any more: ${messageOf(error)}`);
    }
  }
}
