import { ConfigMap, Secret } from '../../../api/generated/core-v1.ts';
import { type Kind, type KubeObject, keyOf, keyText } from '../../../api/object.ts';
import type { Clock } from '../../../base/clock.ts';
import { messageOf, retryError } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { Reflector, type ReflectorTarget } from '../../../kube/cache/reflector.ts';
import { ApiError, isForbidden, isNetwork, isUnauthorized } from '../../../kube/client/api-error.ts';
import type { LiveReader } from '../../../kube/client/kube-client.ts';
import { withDeadline } from '../../../kube/deadline.ts';
import type { VolumeReference } from './volume-files.ts';

/** How long a volume waits for the first word about an object; real time, since lab time may stand still meanwhile. */
const FIRST_ANSWER_MS = 10_000;

const KINDS: Readonly<Record<VolumeReference['kind'], Kind<KubeObject, unknown>>> = { ConfigMap, Secret };

export interface ReferencedObjectsOptions {
  readonly live: LiveReader;
  readonly clock: Clock;
  /** Real time (T6). */
  readonly real: Clock;
  readonly log: Log;
}

/** Somebody's interest in one object. Disposing it ends the watch with the last one who is interested. */
export interface FollowedObject extends Disposable {
  /** The newest state, undefined when there is none. Rejects while nothing is known, as soon as it is known why. */
  found(): Promise<KubeObject | undefined>;
}

/**
 * The ConfigMaps and Secrets that pods of a node refer to, each watched once and by its name alone, for as long as a pod
 * uses it (N28). An immutable one is read and then left alone.
 */
export class ReferencedObjects implements AsyncDisposable {
  readonly #options: ReferencedObjectsOptions;
  /** Bounded by what the pods of the node refer to: the last user takes the entry away. */
  readonly #watched = new Map<string, WatchedObject>();
  readonly #withoutWatchList = new Set<string>();
  readonly #ending = new Set<Promise<void>>();

  constructor(options: ReferencedObjectsOptions) {
    this.#options = options;
  }

  /** `changed` is called when another state is known than before. */
  follow(namespace: string, { kind, name }: VolumeReference, changed: () => void): FollowedObject {
    const id = `${kind} ${namespace}/${name}`;
    const watched = this.#watched.get(id) ?? this.#watch(id, { kind: KINDS[kind], namespace, name });
    watched.users.add(changed);
    return {
      found: () => watched.found(),
      [Symbol.dispose]: () => {
        if (!watched.users.delete(changed) || watched.users.size > 0) return;
        this.#watched.delete(id);
        watched.end();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const watched of this.#watched.values()) watched.end();
    this.#watched.clear();
    await Promise.all(this.#ending);
  }

  #watch(id: string, object: ObjectName): WatchedObject {
    const watched = new WatchedObject(object, this.#options);
    this.#watched.set(id, watched);
    const ended = watched.run(this.#withoutWatchList).finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
    return watched;
  }
}

interface ObjectName {
  readonly kind: Kind<KubeObject, unknown>;
  readonly namespace: string;
  readonly name: string;
}

class WatchedObject implements ReflectorTarget {
  readonly users = new Set<() => void>();
  readonly #name: ObjectName;
  readonly #options: ReferencedObjectsOptions;
  readonly #stop = new AbortController();
  /** Settled when there is a first word, or when an attempt to get one has failed: then there is another one. */
  #attempt = Promise.withResolvers<void>();
  #object: KubeObject | undefined;
  #isKnown = false;

  constructor(name: ObjectName, options: ReferencedObjectsOptions) {
    this.#name = name;
    this.#options = options;
  }

  async run(withoutWatchList: Set<string>): Promise<void> {
    const { kind, namespace, name } = this.#name;
    const reflector = new Reflector({
      scope: { kind, namespace, fields: `metadata.name=${name}` },
      live: failureTelling(this.#options.live, (error) => this.#fail(error)),
      target: this,
      clock: this.#options.clock,
      log: this.#options.log.child({ [kind.kind]: { namespace, name } }),
      withoutWatchList,
      refreshCredentials: () => {},
      atLeast: '',
      onReplaced: () => {},
    });
    await reflector.run(this.#stop.signal);
  }

  /** Whoever still waits for the first word waits no longer. */
  end(): void {
    const reason = new Error('no pod uses it any more');
    this.#stop.abort(reason);
    this.#fail(reason);
  }

  async found(): Promise<KubeObject | undefined> {
    if (this.#isKnown) return this.#object;
    const { real } = this.#options;
    const onTimeout = () => this.#unreadable('no answer from the server yet');
    await withDeadline({ clock: real, timeoutMs: FIRST_ANSWER_MS, onTimeout }, () => this.#attempt.promise);
    return this.#object;
  }

  form(object: KubeObject): KubeObject {
    return object;
  }

  delivered(key: string): KubeObject | undefined {
    return this.#object !== undefined && keyText(keyOf(this.#object)) === key ? this.#object : undefined;
  }

  replace({ items }: { readonly items: ReadonlyMap<string, KubeObject> }): void {
    const { namespace, name } = this.#name;
    this.#set(items.get(keyText({ namespace, name })));
  }

  put(_key: string, object: KubeObject): void {
    this.#set(object);
  }

  remove(): void {
    this.#set(undefined);
  }

  told(): undefined {
    return undefined;
  }

  #set(object: KubeObject | undefined): void {
    // The first word is what those who follow wait for already.
    const isNews = this.#isKnown && object?.metadata.resourceVersion !== this.#object?.metadata.resourceVersion;
    this.#object = object;
    this.#isKnown = true;
    this.#attempt.resolve();
    if (isNews) for (const changed of this.users) changed();
    // Whoever replaces it has to make new pods, as upstream: they see the new one.
    if (object !== undefined && 'immutable' in object && object.immutable === true) this.end();
  }

  #fail(error: unknown): void {
    this.#attempt.promise.catch(() => {});
    this.#attempt.reject(this.#unreadable(messageOf(error)));
    if (!this.#stop.signal.aborted && !this.#isKnown) this.#attempt = Promise.withResolvers<void>();
  }

  #unreadable(why: string): Error {
    const { kind, namespace, name } = this.#name;
    return retryError(
      'ReferenceUnreadable',
      `${kind.kind.toLowerCase()} "${namespace}/${name}" cannot be read: ${why}`,
    );
  }
}

/** Told of what only time or somebody else can mend; what a reflector mends by another way of asking is not told. */
function failureTelling(live: LiveReader, failed: (error: unknown) => void): LiveReader {
  const tell = (error: unknown): never => {
    const isLasting = isNetwork(error) || isForbidden(error) || isUnauthorized(error) || isServerFailure(error);
    if (isLasting) failed(error);
    throw error;
  };
  return {
    ...live,
    list: (kind, options) => live.list(kind, options).catch(tell),
    watchBatches: async function* (kind, options) {
      try {
        yield* live.watchBatches(kind, options);
      } catch (error) {
        tell(error);
      }
    },
  };
}

const isServerFailure = (error: unknown): boolean => error instanceof ApiError && error.code >= 500;
