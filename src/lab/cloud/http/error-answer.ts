import { CloudError } from '../cloud-error.ts';
import type { CloudAnswer } from './cloud-answer.ts';

/** How a refusal is told (C3). */
export function errorAnswer(error: CloudError, requestId: string, status = error.status): CloudAnswer {
  const { code, message, isRetryable, options } = error;
  const { target, details, retryAfterSeconds } = options;
  return {
    status,
    ...(retryAfterSeconds !== undefined && { headers: { 'retry-after': String(retryAfterSeconds) } }),
    body: {
      error: {
        code,
        message,
        retryable: isRetryable,
        requestId,
        ...(target !== undefined && { target }),
        ...(details !== undefined && { details: { ...details } }),
      },
    },
  };
}

/** What nobody foresaw: the client learns that it was not its fault, the log learns the rest. */
export const internalError = (cause: unknown): CloudError =>
  new CloudError('Internal', 'the cloud has made a mistake; its log tells more', { cause });
