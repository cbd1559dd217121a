/** The machine lacks something and only its owner can help: the message says what is missing and what to do. */
export class EnvironmentProblem extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'EnvironmentProblem';
  }
}
