import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Writer } from '../../kube/client/kube-client.ts';
import type { HealthCheck } from '../../kube/manager/health-checks.ts';
import type { Permission } from '../../kube/manager/own-rules.ts';
import { missingPermissions, permissionsOf, permissionText } from '../../kube/manager/self-check.ts';
import type { Need } from '../../kube/rbac/need.ts';

/** Somebody whose permissions are looked at: the program, or the account of a controller. */
export interface PermissionSubject {
  readonly who: string;
  /** Acts as that one. */
  readonly client: Pick<Writer, 'create'>;
  readonly needs: readonly Need[];
}

export interface PermissionWatchOptions {
  readonly clock: Clock;
  readonly log: Log;
}

const AGAIN_MS = 10_000;
const READING: ReadonlySet<string> = new Set(['list', 'watch']);

/**
 * Asks at the start for every permission, again and again until all are granted (B10): what is missing is in the log and
 * in the answer of the readiness probe, instead of being found when it is used.
 */
export class PermissionWatch {
  readonly #options: PermissionWatchOptions;
  /** By who; undefined while nobody has answered yet. */
  readonly #missing = new Map<string, readonly Permission[] | undefined>();
  readonly #readable = Promise.withResolvers<void>();

  constructor(options: PermissionWatchOptions) {
    this.#options = options;
  }

  /** Resolves when everything is granted, or the signal aborts. */
  async follow({ who, client, needs }: PermissionSubject, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const permissions = permissionsOf(needs, []);
    this.#missing.set(who, undefined);
    let told = '';
    while (!signal.aborted) {
      try {
        const missing = await missingPermissions(client, permissions, signal);
        this.#missing.set(who, missing);
        if (!missing.some(({ verb }) => READING.has(verb))) this.#readable.resolve();
        if (missing.length === 0) return told === '' ? undefined : log.info({ who }, 'Got all permissions');
        const text = permissionText(missing);
        if (text !== told) log.warn({ who, missing: text }, 'Permissions are missing');
        told = text;
      } catch (thrown) {
        const problem = messageOf(thrown);
        if (!signal.aborted && problem !== told)
          log.warn({ who, problem }, 'Cannot ask which permissions there are');
        told = problem;
      }
      await clock.sleep(AGAIN_MS, signal).catch(() => undefined);
    }
  }

  /** Resolves when somebody may read all that he watches; without that, nothing could start. */
  async untilReadable(signal: AbortSignal): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>();
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      await Promise.race([this.#readable.promise, promise]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** One check per missing permission, so that the answer names it although reasons are withheld. */
  checks(): ReadonlyMap<string, HealthCheck> {
    return new Map([...this.#missing].flatMap(([who, missing]) => checksOf(who, missing)));
  }
}

function checksOf(who: string, missing: readonly Permission[] | undefined): readonly [string, HealthCheck][] {
  if (missing === undefined) return [[`permissions of ${who}`, failing('not answered yet')]];
  return missing.map((one) => [
    `permission of ${who} to ${permissionText([one])}`,
    failing(`grant it by a Role or ClusterRole`),
  ]);
}

const failing =
  (why: string): HealthCheck =>
  () => {
    throw new Error(why);
  };
