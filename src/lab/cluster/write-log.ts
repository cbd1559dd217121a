import type { ServedRequest } from '../../apiserver/routing/serve.ts';
import type { Clock } from '../../base/clock.ts';

/** One write to the API of a cluster that was carried out. */
export interface ApiWrite {
  readonly cluster: string;
  readonly user: string;
  readonly method: string;
  readonly path: string;
  /** The pod whose service account asked, as far as its token tells. */
  readonly pod?: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** Lab time. */
  readonly at: Date;
}

/** What the oldest writes are forgotten for. */
const MOST_WRITES = 100_000;

/** The writes to all API servers of a lab, the newest 100,000. */
export class WriteLog {
  #writes: ApiWrite[] = [];
  #forgotten = 0;
  #lastChangeMs = 0;
  readonly #listeners = new Set<(write: ApiWrite) => void>();
  readonly #clock: Pick<Clock, 'now' | 'monotonicMs'>;

  constructor(clock: Pick<Clock, 'now' | 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** When something was written last that is no heartbeat, by the clock's `monotonicMs`. */
  get lastChangeMs(): number {
    return this.#lastChangeMs;
  }

  /** A place in the log: `since` it is after everything so far. */
  get mark(): number {
    return this.#forgotten + this.#writes.length;
  }

  record(cluster: string, served: ServedRequest): void {
    const { user, method, path, isDryRun, code } = served;
    if (method === 'GET' || method === 'HEAD' || isDryRun || code >= 300 || QUESTION.test(path)) return;
    const pod = podOf(served);
    const write = { cluster, user, method, path, ...(pod !== undefined && { pod }), at: this.#clock.now() };
    this.#writes.push(write);
    if (!isBackground(write)) this.#lastChangeMs = this.#clock.monotonicMs();
    if (this.#writes.length > 2 * MOST_WRITES) {
      this.#forgotten += this.#writes.length - MOST_WRITES;
      this.#writes = this.#writes.slice(-MOST_WRITES);
    }
    for (const listener of this.#listeners) listener(write);
  }

  since(mark: number): readonly ApiWrite[] {
    return this.#writes.slice(Math.max(0, mark - this.#forgotten));
  }

  /** Called after each write, before its answer is sent. Must not throw. */
  subscribe(listener: (write: ApiWrite) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }
}

/** Reviews are posted, and change nothing. */
const QUESTION = /reviews$/;
/** What goes on for ever: Leases, the status of nodes, and tokens, which change nothing either. */
const BACKGROUND = /\/leases(\/|$)|\/nodes\/[^/]+\/status$|\/serviceaccounts\/[^/]+\/token$/;

/** Events go after an hour. */
const isExpiry = ({ user, method, path }: ApiWrite): boolean =>
  user === 'system:apiserver' && method === 'DELETE' && path.includes('/events/');

const isBackground = (write: ApiWrite): boolean => BACKGROUND.test(write.path) || isExpiry(write);

const ACCOUNT = /^system:serviceaccount:([^:]+):/;

function podOf({ user, extra = {} }: ServedRequest): ApiWrite['pod'] {
  const [namespace] = ACCOUNT.exec(user)?.slice(1) ?? [];
  const [name] = extra['authentication.kubernetes.io/pod-name'] ?? [];
  const [uid] = extra['authentication.kubernetes.io/pod-uid'] ?? [];
  if (namespace === undefined || name === undefined || uid === undefined) return undefined;
  return { namespace, name, uid };
}
