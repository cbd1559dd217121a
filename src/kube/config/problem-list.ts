import { type SlipwayError, userError } from '../../base/errors.ts';

/** Everything that is wrong with one configuration, so that it is said at once and not one edit after the other (C8). */
export class ProblemList {
  readonly #problems: string[] = [];

  /** Says it once, however often it is found. */
  add(problem: string): void {
    if (!this.#problems.includes(problem)) this.#problems.push(problem);
  }

  get all(): readonly string[] {
    return this.#problems;
  }

  get isEmpty(): boolean {
    return this.#problems.length === 0;
  }

  /** `what` begins the sentence when there is more than one problem. */
  error(reason: string, what: string): SlipwayError {
    const [first = 'no problem is known', ...rest] = this.#problems;
    if (rest.length === 0) return userError(reason, first);
    const lines = this.#problems.map((problem) => `  - ${problem}`).join('\n');
    return userError(reason, `${what} has ${this.#problems.length} problems:\n${lines}`);
  }
}
