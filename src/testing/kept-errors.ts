import { messageOf } from '../base/errors.ts';
import type { Log, LogFields } from '../base/log.ts';

/** More of them say nothing new. */
const MOST = 5;

/** A log that prints nothing and keeps the first different errors, for whoever must say why something failed. */
export class KeptErrors {
  readonly #lines = new Set<string>();
  readonly log: Log = {
    error: (fields, message) => this.#keep(fields, message),
    warn: () => {},
    info: () => {},
    debug: () => {},
    child: () => this.log,
  };

  get lines(): readonly string[] {
    return [...this.#lines];
  }

  #keep({ err }: LogFields, message: string): void {
    if (this.#lines.size < MOST) this.#lines.add(err === undefined ? message : `${message}: ${messageOf(err)}`);
  }
}
