import { createHash } from 'node:crypto';
import { isJsonObject, type Json } from '../../../object/json.ts';
import { CloudError } from '../cloud-error.ts';
import type { Transaction } from '../resources/resource-kind.ts';
import type { ShelfName } from '../resources/resource-record.ts';
import type { CloudAnswer } from './cloud-answer.ts';

/** An answer that is given again. */
interface KeptAnswer {
  readonly hash: string;
  /** Lab time. */
  readonly at: string;
  readonly answer: CloudAnswer;
}

export interface IdempotentRequest {
  readonly clientId: string;
  readonly key: string;
  readonly path: string;
  readonly body: Json | undefined;
}

const ANSWERS: ShelfName<KeptAnswer> = { shelf: 'answers' };
const LIFE_MS = 86_400_000;
/** The limit of a day full of writes would be larger; a scenario that needs more is not one. */
const MOST_ANSWERS = 100_000;
export const LONGEST_KEY = 128;

/**
 * Requests that may come twice (C4). The answer is kept in the same transaction as what it tells, so that there is never
 * one without the other. Refusals are not kept: nothing has happened then, and the next try may work.
 */
export class Idempotency {
  /** Requests being served; each goes when it is answered. */
  readonly #running = new Set<string>();

  /** From now on repeats are told that the first is still running. */
  begin(request: IdempotentRequest): Disposable {
    const key = keyOf(request);
    if (this.#running.has(key))
      throw new CloudError('IncorrectState', 'the first request with this Idempotency-Key is still running', {
        isRetryable: true,
      });
    this.#running.add(key);
    return { [Symbol.dispose]: () => this.#running.delete(key) };
  }

  /** What the first request was answered; undefined when this is the first. */
  known(request: IdempotentRequest, transaction: Transaction): CloudAnswer | undefined {
    const kept = transaction.peek(ANSWERS, keyOf(request));
    if (kept === undefined || isOver(kept, transaction.now)) return undefined;
    if (kept.hash === hashOf(request)) return kept.answer;
    throw new CloudError('IdempotencyMismatch', 'this Idempotency-Key was used for another request before');
  }

  keep(request: IdempotentRequest, answer: CloudAnswer, transaction: Transaction): void {
    const entries = transaction.entries(ANSWERS);
    const surplus = entries.length - MOST_ANSWERS + 1;
    for (const [at, [key, kept]] of entries.entries()) {
      if (at >= surplus && !isOver(kept, transaction.now)) break;
      transaction.take(ANSWERS, key);
    }
    const at = transaction.now.toISOString();
    transaction.place(ANSWERS, keyOf(request), { hash: hashOf(request), at, answer });
  }
}

const keyOf = ({ clientId, key }: IdempotentRequest): string => `${clientId} ${key}`;

const isOver = ({ at }: KeptAnswer, now: Date): boolean => Date.parse(at) + LIFE_MS <= now.getTime();

const hashOf = ({ path, body }: IdempotentRequest): string =>
  createHash('sha256')
    .update(`${path}\n${JSON.stringify(sorted(body ?? null))}`)
    .digest('base64url');

/** A form that is the same for equal bodies: an object becomes a list of pairs in order, with a mark before them. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  // Whole numbers that no double holds are read exactly; JSON cannot write them.
  if (typeof value === 'bigint') return [[], String(value)];
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [{}, ...entries.map(([key, item]) => [key, sorted(item)])];
}
