import { requestAttributes } from '../../src/kube/rbac/request-attributes.ts';
import { isWrite, type Transport } from '../../src/kube/transport/transport.ts';

/** What a program has asked of the API server. */
export interface RequestCounts {
  /** Neither watches nor comparisons, which time brings and not work. */
  readonly requests: number;
  /** Those of the requests that may change something. */
  readonly writes: number;
  readonly watches: number;
  /** Lists of metadata by which caches find out whether they have missed anything (reliability P21). */
  readonly comparisons: number;
  /** The requests by verb and resource: `patch machines/status`. */
  readonly byRequest: Readonly<Record<string, number>>;
}

const NONE: RequestCounts = { requests: 0, writes: 0, watches: 0, comparisons: 0, byRequest: {} };

/** Counts what goes over the transports that it was put around. */
export class CountedRequests {
  #counts = NONE;

  get counts(): RequestCounts {
    return this.#counts;
  }

  clear(): void {
    this.#counts = NONE;
  }

  readonly around =
    (transport: Transport): Transport =>
    (request) => {
      const { method, target } = request;
      const { verb, resource } = requestAttributes(method, target);
      const { requests, writes, watches, comparisons, byRequest } = this.#counts;
      const isWatch = verb === 'watch';
      const isComparison = verb === 'list' && target.includes('resourceVersionMatch=Exact');
      const name = `${verb} ${resource}`;
      const isCounted = !isWatch && !isComparison;
      // A question about rights is sent as a write and is none.
      const isChange = isWrite(request) && !resource.endsWith('reviews');
      this.#counts = {
        requests: requests + Number(isCounted),
        writes: writes + Number(isChange),
        watches: watches + Number(isWatch),
        comparisons: comparisons + Number(isComparison),
        byRequest: isCounted ? { ...byRequest, [name]: (byRequest[name] ?? 0) + 1 } : byRequest,
      };
      return transport(request);
    };
}
