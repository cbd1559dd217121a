import type { ApiRequest, UserInfo } from '../request.ts';
import type { RequestInfo } from '../routing/request-info.ts';
import type { Guard } from '../routing/serve.ts';
import { tooManyRequests } from '../status.ts';
import { MASTERS } from './rbac-authorizer.ts';

export interface GuardLimits {
  readonly reading: number;
  readonly mutating: number;
}

/** kube-apiserver's own defaults (O1). */
export const DEFAULT_LIMITS: GuardLimits = { reading: 400, mutating: 200 };

const READING = new Set(['get', 'list', 'head']);
const NOTHING: Disposable = { [Symbol.dispose]: () => {} };
const RETRY_AFTER_SECONDS = 1;

/** Refuses requests beyond a number at a time, so that those being served are served well. */
export class InFlightGuard implements Guard {
  readonly #limits: GuardLimits;
  #reading = 0;
  #mutating = 0;

  constructor(limits: GuardLimits = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  get inFlight(): GuardLimits {
    return { reading: this.#reading, mutating: this.#mutating };
  }

  enter(info: RequestInfo, user: UserInfo, request: ApiRequest): Disposable {
    if (info.verb === 'watch' || isExempt(info, user, request)) return NOTHING;
    return READING.has(info.verb) ? this.#read() : this.#mutate();
  }

  #read(): Disposable {
    if (this.#reading >= this.#limits.reading) throw overloaded();
    this.#reading++;
    return { [Symbol.dispose]: () => void this.#reading-- };
  }

  #mutate(): Disposable {
    if (this.#mutating >= this.#limits.mutating) throw overloaded();
    this.#mutating++;
    return { [Symbol.dispose]: () => void this.#mutating-- };
  }
}

const overloaded = () => tooManyRequests('too many requests, please try again later', RETRY_AFTER_SECONDS);

/** Health, leases of the system's own users and administrators must get through; calls in this process are ours. */
function isExempt(info: RequestInfo, user: UserInfo, request: ApiRequest): boolean {
  if (request.isInProcess || user.groups.includes(MASTERS)) return true;
  if (!info.isResourceRequest) return /^\/(healthz|livez|readyz)/.test(info.path);
  return info.resource === 'leases' && user.name.startsWith('system:');
}
