import { createHash } from 'node:crypto';
import { TokenReview, type UserInfo } from '../../api/generated/authentication-v1.ts';
import { SubjectAccessReview } from '../../api/generated/authorization-v1.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { ApiError, isTooManyRequests } from '../client/api-error.ts';
import type { Writer } from '../client/kube-client.ts';
import { ExpiringMap } from './expiring-map.ts';

/** Whether somebody may read the metrics: 200, or the status to refuse with. */
export type ScrapeGate = (request: ScrapeRequest) => Promise<200 | 401 | 403 | 500>;

export interface ScrapeRequest {
  readonly authorization: string | undefined;
  readonly path: string;
  readonly method: string;
  /** Known by something else than a token. */
  readonly user?: UserInfo;
}

export interface ScrapeGateOptions {
  /** Not behind the fence of a leader: every replica is scraped. */
  readonly client: Pick<Writer, 'create'>;
  /** Asked what somebody may do, instead of `client`. */
  readonly authorizer?: Pick<Writer, 'create'>;
  /** Who is in one of these may do everything: nobody is asked. */
  readonly trustedGroups?: readonly string[];
  /** For how long each answer is remembered; a minute and more unless told otherwise. */
  readonly keepMs?: number;
  readonly clock: Clock;
  readonly log: Log;
}

const TOKEN_MS = 60_000;
const ALLOW_MS = 5 * 60_000;
const DENY_MS = 30_000;
const RETRY = { steps: 5, firstMs: 500, factor: 1.5 };
/** Scrapers are few; strangers may be many, and must not fill our memory. */
const CACHE_SIZE = 1000;

/**
 * Asks the API server who shows a token and whether he may read the path (M7). Answers are remembered for a while; when
 * the server cannot be asked, nobody gets in.
 */
export function reviewGate(options: ScrapeGateOptions): ScrapeGate {
  const { client, authorizer = client, trustedGroups = [], keepMs, clock, log } = options;
  const users = new ExpiringMap<UserInfo | undefined>(clock, CACHE_SIZE);
  const verdicts = new ExpiringMap<boolean>(clock, CACHE_SIZE);

  async function userOf(token: string): Promise<UserInfo | undefined> {
    const review = await withRetries(clock, () => client.create(TokenReview, { spec: { token } }));
    return review.status?.authenticated === true ? (review.status.user ?? {}) : undefined;
  }
  async function isAllowed(user: UserInfo, { path, method }: ScrapeRequest): Promise<boolean> {
    const { username = '', ...rest } = user;
    const spec = { user: username, ...rest, nonResourceAttributes: { path, verb: method.toLowerCase() } };
    const review = await withRetries(clock, () => authorizer.create(SubjectAccessReview, { spec }));
    return review.status?.allowed === true;
  }

  async function whoAsks({ authorization, user }: ScrapeRequest): Promise<UserInfo | undefined> {
    const token = /^Bearer +(?<token>[^\s]+) *$/i.exec(authorization ?? '')?.groups?.['token'];
    if (user !== undefined || token === undefined) return user;
    // Never the token itself: a heap dump must not give it away.
    const digest = createHash('sha256').update(token).digest('base64');
    return users.getOrMake(digest, async () => [await userOf(token), keepMs ?? TOKEN_MS]);
  }

  return async (request) => {
    try {
      const user = await whoAsks(request);
      if (user === undefined) return 401;
      if (user.groups?.some((group) => trustedGroups.includes(group)) === true) return 200;
      const question = JSON.stringify([user, request.path, request.method]);
      const allowed = await verdicts.getOrMake(question, async () => {
        const verdict = await isAllowed(user, request);
        return [verdict, keepMs ?? (verdict ? ALLOW_MS : DENY_MS)];
      });
      return allowed ? 200 : 403;
    } catch (err) {
      log.warn({ err, path: request.path }, 'Cannot ask who may read the metrics');
      return 500;
    }
  };
}

/** Not tied to the request that asked first: others may wait for the same answer. */
async function withRetries<T>(clock: Clock, send: () => Promise<T>): Promise<T> {
  let waitMs = RETRY.firstMs;
  for (let step = 1; ; step++) {
    try {
      return await send();
    } catch (thrown) {
      const isFinal = thrown instanceof ApiError && thrown.code < 500 && !isTooManyRequests(thrown);
      if (isFinal || step >= RETRY.steps) throw thrown;
    }
    await clock.sleep(waitMs);
    waitMs *= RETRY.factor;
  }
}
