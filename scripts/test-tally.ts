/** The part of a node:test event that we count. */
interface TestEvent {
  readonly name: string;
  readonly skip?: string | boolean;
  readonly nesting: number;
  readonly details: { readonly type?: string; readonly error?: object };
}

/** Counts leaves: a `describe` is a heading, unless it was skipped as a whole. */
export class Tally {
  passes = 0;
  failures = 0;
  skips = 0;
  /** Outermost `describe`s of the suites that need an oracle. */
  readonly oracleSuites = { run: 0, skipped: 0 };
  readonly #reasons = new Map<string, number>();

  passed(event: TestEvent): void {
    if (event.skip !== undefined && event.skip !== false) this.#skipped(event.skip);
    else if (event.details.type !== 'suite') this.passes++;
  }

  /** A heading whose tests failed is counted by its tests; one that failed itself (a hook, its own body) is not. */
  failed({ details }: TestEvent): void {
    const { error } = details;
    const isAboutTests = error !== undefined && 'failureType' in error && error.failureType === 'subtestsFailed';
    if (details.type !== 'suite' || !isAboutTests) this.failures++;
  }

  /** An outermost `describe` of a file that needs oracles ended. */
  oracleSuite({ nesting, skip, details }: TestEvent): void {
    if (nesting !== 0 || details.type !== 'suite') return;
    if (skip === undefined || skip === false) this.oracleSuites.run++;
    else this.oracleSuites.skipped++;
  }

  #skipped(reason: string | true): void {
    this.skips++;
    const text = reason === true || reason === '' ? 'no reason given' : reason;
    this.#reasons.set(text, (this.#reasons.get(text) ?? 0) + 1);
  }

  /** One line per reason, so that a suite cannot go quietly empty. */
  skipReasons(): readonly string[] {
    return [...this.#reasons].map(([reason, count]) => `${count} × ${reason}`);
  }
}

/** The last line of every run: `12 passed, 0 failed`, and what was skipped. */
export const closingLine = ({ passes, failures, skips }: Tally): string =>
  `${passes} passed, ${failures} failed${skips > 0 ? `, ${skips} skipped` : ''}`;
