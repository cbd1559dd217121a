import { parseBoolean, parseCount } from '../../../apiserver/rest/options.ts';
import { badRequest } from '../../../apiserver/status.ts';

/** Which part of a log is wanted, and how it is shown (N40). */
export interface LogOptions {
  /** Goes on until the run has ended. */
  readonly follow?: boolean;
  /** The run before. */
  readonly previous?: boolean;
  /** Each line begins with its time. */
  readonly timestamps?: boolean;
  readonly since?: Date;
  /** Only so many lines of the end. */
  readonly tailLines?: number;
  readonly limitBytes?: number;
}

/** The options in a query, as the API server sends it. Throws a StatusError (400) that names what cannot be read. */
export function logOptions(query: URLSearchParams, now: Date): LogOptions {
  const flag = (name: string): boolean => query.has(name) && parseBoolean(query.get(name) ?? '');
  const [tailLines, limitBytes] = [parseCount(query, 'tailLines'), parseCount(query, 'limitBytes')];
  const since = sinceOf(query, now);
  return {
    follow: flag('follow'),
    previous: flag('previous'),
    timestamps: flag('timestamps'),
    ...(since !== undefined && { since }),
    ...(tailLines !== undefined && { tailLines: Math.max(0, tailLines) }),
    ...(limitBytes !== undefined && { limitBytes: Math.max(0, limitBytes) }),
  };
}

function sinceOf(query: URLSearchParams, now: Date): Date | undefined {
  const seconds = parseCount(query, 'sinceSeconds');
  if (seconds !== undefined) return new Date(now.getTime() - seconds * 1000);
  const text = query.get('sinceTime');
  if (text === null || text === '') return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) {
    throw badRequest(`sinceTime is "${text}"; write a time such as 2030-01-02T03:04:05Z`);
  }
  return time;
}
