import { type Kind, type KubeObject, keyText, resourceOf } from '../../api/object.ts';
import { SlipwayError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Cache, ObjectEvent } from '../cache/cache.ts';
import { NOT_SERVED } from '../cache/reflector-failure.ts';
import type { ChannelSource } from './channel.ts';
import { type EventKeys, priorityOf } from './event-keys.ts';
import type { Predicate } from './predicates.ts';

/** Where the events of a source go. */
export interface SourceSink {
  readonly cache: Cache;
  readonly log: Log;
  enqueue(key: string, options: { readonly priority?: number; readonly afterMs?: number }): void;
  /** A handler threw: the event is lost and counted. */
  handlerFailed(): void;
  /** Whether the event only tells what the loop wrote itself. */
  isEcho(event: ObjectEvent): boolean;
}

/** Why a source is not synced. */
export interface SourceProblem {
  readonly source: string;
  readonly text: string;
  /** The server does not know the kind, which may be defined any moment. */
  readonly isNotServed: boolean;
}

export interface StartedSource extends Disposable {
  readonly synced: Promise<void>;
  /**
   * All sources of the controller are synced: events that could not be mapped before, since what they are looked up in had
   * not been read, are told now. Again, it does nothing.
   */
  tellEarly(): void;
  /** Undefined when it is synced. */
  problem(): SourceProblem | undefined;
}

/** What makes keys of a controller ready. */
export interface Source {
  /** `configmaps`, `widgets.example.com`, `channel`. */
  readonly name: string;
  /** What is watched, for the rights that takes; absent for channels. */
  readonly kind?: Kind<KubeObject, unknown>;
  /** The cluster of the controller, or another one. */
  readonly isForeign: boolean;
  /** Why all objects of the kind are read (B4). */
  readonly reason?: string;
  start(sink: SourceSink): StartedSource;
}

export interface ObjectSourceOptions<T extends KubeObject> {
  readonly kind: Kind<T, unknown>;
  readonly keys: EventKeys<T>;
  readonly predicates?: readonly Predicate<T>[];
  /** Of another cluster (M9). */
  readonly cache?: Cache | undefined;
  /** The objects that the controller is for. */
  readonly isSelf?: boolean;
  readonly reason?: string | undefined;
}

/** The objects of a kind. Repeated events make one key ready once; what a handler throws is logged and counted (R3). */
export function objectSource<T extends KubeObject>(options: ObjectSourceOptions<T>): Source {
  const { kind, keys, predicates = [], isSelf = false } = options;
  const name = resourceOf(kind);
  const start = (sink: SourceSink): StartedSource => {
    const cache = options.cache ?? sink.cache;
    const informer = cache.informer(kind);
    // Bounded by the objects of the kind: it holds what came before the first lists were complete.
    let early: ObjectEvent<T>[] | undefined = [];
    const tell = (event: ObjectEvent<T>): void => {
      try {
        if (isSelf && sink.isEcho(event)) return;
        if (!predicates.every((predicate) => predicate(event))) return;
        const priority = priorityOf(event);
        for (const key of keys(event, { cache })) sink.enqueue(keyText(key), { priority });
      } catch (error) {
        if (early !== undefined && isNotRead(error)) {
          early.push(event);
          return;
        }
        sink.handlerFailed();
        const { namespace, name: object } = event.object.metadata;
        sink.log.error({ err: error, source: name, object: { namespace, name: object } }, 'Dropped an event');
      }
    };
    const subscription = informer.subscribe(tell);
    return {
      synced: subscription.synced,
      tellEarly: () => {
        const events = early ?? [];
        early = undefined;
        for (const event of events) tell(event);
      },
      problem: () => {
        if (informer.isSynced) return undefined;
        const { problem = 'no answer from the server yet', problemReason } = informer.health;
        return { source: name, text: problem, isNotServed: problemReason === NOT_SERVED };
      },
      [Symbol.dispose]: () => subscription[Symbol.dispose](),
    };
  };
  const { reason } = options;
  return { name, kind, isForeign: options.cache !== undefined, start, ...(reason !== undefined && { reason }) };
}

const isNotRead = (error: unknown): boolean => error instanceof SlipwayError && error.reason === 'CacheNotSynced';

/** Keys from outside the cluster. */
export const channelSource = (channel: ChannelSource): Source => ({
  name: 'channel',
  isForeign: false,
  start: (sink) => {
    const subscription = channel.subscribe((key, options = {}) => sink.enqueue(keyText(key), options));
    return {
      synced: Promise.resolve(),
      tellEarly: () => {},
      problem: () => undefined,
      [Symbol.dispose]: () => subscription[Symbol.dispose](),
    };
  },
});
