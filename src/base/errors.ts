/**
 * What a failure means for whoever has to act on it: `user` = only an edit helps, `terminal` = will not work here,
 * `retry` = may work later. Anything else that is thrown is a bug of ours.
 */
export type Disposition = 'user' | 'terminal' | 'retry';

export interface SlipwayErrorOptions {
  readonly cause?: unknown;
  /** Only for `retry`: the other side said when to come back. */
  readonly retryAfterMs?: number;
}

/** A failure we foresaw. `reason` is CamelCase, stable and documented; `message` is for people (style S31). */
export class SlipwayError extends Error {
  readonly disposition: Disposition;
  readonly reason: string;
  readonly retryAfterMs: number | undefined;

  constructor(disposition: Disposition, reason: string, message: string, options: SlipwayErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'SlipwayError';
    this.disposition = disposition;
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
  }
}

export const userError = (reason: string, message: string, options?: SlipwayErrorOptions): SlipwayError =>
  new SlipwayError('user', reason, message, options);

export const terminalError = (reason: string, message: string, options?: SlipwayErrorOptions): SlipwayError =>
  new SlipwayError('terminal', reason, message, options);

export const retryError = (reason: string, message: string, options?: SlipwayErrorOptions): SlipwayError =>
  new SlipwayError('retry', reason, message, options);

/** The disposition of anything that was thrown. */
export const dispositionOf = (thrown: unknown): Disposition | 'bug' =>
  thrown instanceof SlipwayError ? thrown.disposition : 'bug';

/** The text of anything that was thrown; never throws itself. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return typeof thrown === 'string' ? thrown : `non-error thrown: ${typeof thrown}`;
}

/** The error and its causes, outermost first; ends at a cycle. */
export function causeChain(thrown: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  for (let next = thrown; next !== undefined && !chain.includes(next); next = causeOf(next)) chain.push(next);
  return chain;
}

const causeOf = (thrown: unknown): unknown => (thrown instanceof Error ? thrown.cause : undefined);
