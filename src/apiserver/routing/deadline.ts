import type { Clock } from '../../base/clock.ts';
import { StatusError } from '../status.ts';
import type { RequestInfo } from './request-info.ts';

// Upstream's own: a write gives up earlier, so that its client learns of it before the connection is cut (H8).
const READ_SECONDS = 60;
const WRITE_SECONDS = 34;
const READS = new Set(['get', 'list', 'head']);

/** The answer, or 504 when it takes too long. Watches may take as long as they like; what is late still happens. */
export function inTime<Answer>(clock: Clock, { verb }: RequestInfo, answer: Promise<Answer>): Promise<Answer> {
  if (verb === 'watch') return answer;
  const isRead = READS.has(verb);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const timer = clock.timer((isRead ? READ_SECONDS : WRITE_SECONDS) * 1000, () =>
    reject(isRead ? lateRead() : lateWrite()),
  );
  answer.then(resolve, reject).finally(() => timer[Symbol.dispose]());
  return promise;
}

const timeout = (message: string): StatusError =>
  new StatusError({ code: 504, reason: 'Timeout', message, details: {} });

const lateRead = (): StatusError =>
  timeout(
    'the server was unable to return a response in the time allotted, but may still be processing the request',
  );

const lateWrite = (): StatusError =>
  timeout('Timeout: request did not complete within requested timeout - context deadline exceeded');
