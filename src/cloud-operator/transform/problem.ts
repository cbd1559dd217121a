import { messageOf, SlipwayError, terminalError } from '../../base/errors.ts';

/** Something that only an edit of the source, or of what it has to fit, can mend. */
export const cloudConfigProblem = (message: string, cause?: unknown): SlipwayError =>
  terminalError('InvalidCloudConfig', message, cause === undefined ? {} : { cause });

/** The cluster is on another platform than the transformer is for. */
export const wrongPlatform = (expected: string): SlipwayError =>
  terminalError('WrongPlatform', `invalid platform, expected ${expected}`);

/** Says in front of a problem what was being done. */
export function during<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (thrown) {
    if (!(thrown instanceof SlipwayError)) throw thrown;
    throw cloudConfigProblem(`${what}: ${messageOf(thrown)}`, thrown);
  }
}

/** What was found where something else was expected; short, and never a value, which may be a secret. */
export const shownChar = (char: string | undefined): string =>
  char === undefined || char === '' ? 'the end of the text' : char === '\n' ? 'the end of the line' : `"${char}"`;
