import { type Kind, type KubeObject, keyText, type ObjectKey } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { retryError } from '../../base/errors.ts';
import type { Informer } from '../cache/cache.ts';
import { ApiError, isExpired, isNetwork, isTooManyRequests } from '../client/api-error.ts';
import type { KubeClient } from '../client/kube-client.ts';
import { withDeadline } from '../deadline.ts';

const DEFAULT_TIMEOUT_MS = 60_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
const SILENCE_MS = 90_000;
const WATCH_SECONDS = 300;

export interface UntilOptions {
  readonly clock: Clock;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** For the message when the time is over: `to be established`. */
  readonly what?: string;
}

/** Whether the wait is over. Gets undefined while, or when, there is no object. */
export type Holds<T> = (object: T | undefined) => boolean;

interface Target<T extends KubeObject, I> {
  readonly client: Pick<KubeClient, 'live'>;
  readonly kind: Kind<T, I>;
  readonly key: ObjectKey;
}

/**
 * Resolves to the state of an object for which `holds` is true, as soon as the server has it: one list, then a watch,
 * no polling (H7). A watch that ends or fails is started again; what only an edit helps against (403, an unknown kind)
 * is thrown. Rejects with the reason WaitTimeout when the time is over.
 */
export function until<T extends KubeObject, I>(
  target: Target<T, I>,
  holds: Holds<T>,
  options: UntilOptions,
): Promise<T | undefined> {
  const { clock } = options;
  return withDeadline(deadlineOf(target.kind, target.key, options), async (signal) => {
    for (let failures = 0; ; ) {
      try {
        const found = await watchUntil(target, holds, signal);
        if (found !== undefined) return found.object;
        failures = 0;
      } catch (error) {
        signal.throwIfAborted();
        if (!mayPass(error)) throw error;
        failures++;
      }
      await clock.sleep(Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS), signal);
    }
  });
}

/** Undefined when the watch ended before. */
async function watchUntil<T extends KubeObject, I>(
  { client, kind, key: { namespace, name } }: Target<T, I>,
  holds: Holds<T>,
  signal: AbortSignal,
): Promise<{ readonly object: T | undefined } | undefined> {
  const one = { ...(namespace !== undefined && { namespace }), fields: `metadata.name=${name}`, signal };
  // A list and not a get: its version is where to watch from, also when there is no object.
  const { items, metadata } = await client.live.list(kind, one);
  if (holds(items[0])) return { object: items[0] };
  const { resourceVersion = '' } = metadata;
  const watch = {
    ...one,
    resourceVersion,
    allowBookmarks: true,
    timeoutSeconds: WATCH_SECONDS,
    silenceMs: SILENCE_MS,
  };
  for await (const event of client.live.watch(kind, watch)) {
    if (event.type === 'BOOKMARK') continue;
    const object = event.type === 'DELETED' ? undefined : event.object;
    if (holds(object)) return { object };
  }
  return undefined;
}

const mayPass = (error: unknown): boolean =>
  isNetwork(error) ||
  isExpired(error) ||
  isTooManyRequests(error) ||
  (error instanceof ApiError && error.code >= 500) ||
  (error instanceof Error && 'reason' in error && error.reason === 'BadWatchEvent');

/** The same with what a cache knows; costs no request. */
export function untilCached<T extends KubeObject>(
  informer: Informer<T>,
  key: ObjectKey,
  holds: Holds<T>,
  options: UntilOptions,
): Promise<T | undefined> {
  return withDeadline(deadlineOf(informer.kind, key, options), async (signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
    const wanted = keyText(key);
    const check = (): void => {
      try {
        const object = informer.get(key);
        if (holds(object)) resolve(object);
      } catch (error) {
        reject(error);
      }
    };
    // Who does not wait any more must not stay subscribed.
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    using subscription = informer.subscribe(({ object }) => {
      if (keyText(object.metadata) === wanted) check();
    });
    // Before that, an object that is missing may only be unread.
    await Promise.race([subscription.synced, promise]);
    check();
    return await promise;
  });
}

const deadlineOf = (kind: Kind, key: ObjectKey, options: UntilOptions) => ({
  timeoutMs: DEFAULT_TIMEOUT_MS,
  ...options,
  onTimeout: () => {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, what = 'to reach the expected state' } = options;
    return retryError('WaitTimeout', `waited ${timeoutMs} ms for ${kind.kind} ${keyText(key)} ${what}`);
  },
});
