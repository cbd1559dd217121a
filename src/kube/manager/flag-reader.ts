import type { ParsedFlags } from './flag-parser.ts';

/** The values of the flags, by their names. */
export class FlagReader {
  readonly #parsed: Pick<ParsedFlags, 'values' | 'given'>;

  constructor(parsed: Pick<ParsedFlags, 'values' | 'given'>) {
    this.#parsed = parsed;
  }

  /** Empty for a flag that the program does not have. */
  text(name: string): string {
    return String(this.#parsed.values.get(name) ?? '');
  }

  is(name: string): boolean {
    return this.#parsed.values.get(name) === true;
  }

  /** Durations in milliseconds. */
  number(name: string): number {
    return Number(this.#parsed.values.get(name) ?? 0);
  }

  list(name: string): readonly string[] {
    const value = this.#parsed.values.get(name);
    return Array.isArray(value) ? value : [];
  }

  /** Whether somebody has said it. */
  isGiven(name: string): boolean {
    return this.#parsed.given.has(name);
  }
}
