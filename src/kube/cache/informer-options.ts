import type { Kind } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { LiveReader } from '../client/kube-client.ts';
import type { IndexFunction, KindCacheOptions } from './cache.ts';

/** When the cache compares itself with the server (P21). */
export interface Verification {
  /** Five minutes unless told otherwise; 0 = never. */
  readonly everyMs?: number;
  /** Also after every list: for tests, where a difference is a bug of the cache. */
  readonly isAfterLists?: boolean;
}

/** What an informer is made of. */
export interface InformerOptions {
  readonly kind: Kind;
  readonly settings: KindCacheOptions;
  readonly indexes: ReadonlyMap<string, IndexFunction>;
  readonly live: LiveReader;
  readonly clock: Clock;
  readonly log: Log;
  readonly verification: Verification;
  readonly withoutWatchList: Set<string>;
  readonly refreshCredentials: () => void;
}
