import { createHash } from 'node:crypto';
import { type Kind, type KubeObject, keyText, type ObjectKey, resourceOf } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import type { JsonObject } from '../../object/json.ts';
import { stringifyJson } from '../../object/json-text.ts';
import type { Cache } from '../cache/cache.ts';
import { compareVersions } from '../cache/resource-version.ts';

/** So many objects with their managers; the longest unused is forgotten, which costs one write that changes nothing. */
const MOST_APPLIED = 20_000;
/** Definitions, webhooks and servers change, and with them what the same application leads to: it is said again. */
const LASTS_MS = 3_600_000;

/** One application: who says what about which object. */
export interface Application {
  readonly key: ObjectKey;
  readonly subresource: string;
  readonly fieldManager: string;
  readonly isForced: boolean;
  readonly fieldValidation?: string | undefined;
  readonly body: JsonObject;
}

/** What was said about an object in one version. */
interface Applied {
  readonly resourceVersion: string;
  readonly history: number;
  /** By manager and subresource, as many as this program has. */
  readonly said: Map<string, { readonly digest: string; readonly sinceMs: number }>;
}

/**
 * Knows what was applied last, so that a reconcile without news writes nothing (reliability P33). The same said again by
 * the same manager about an object that is still at the version which the first time led to cannot change anything:
 * fields and their owners are as they were then. Where the cache is behind what others wrote, the event that it lacks
 * brings the reconcile that applies again; what this client itself wrote since is told to `wrote`.
 */
export class ApplyMemory {
  readonly #cache: Cache;
  readonly #clock: Clock;
  readonly #applied = new Map<string, Applied>();

  constructor(cache: Cache, clock: Clock) {
    this.#cache = cache;
    this.#clock = clock;
  }

  /** The object as it is, when applying again would leave it so; else undefined. */
  unchanged<T extends KubeObject, I>(kind: Kind<T, I>, application: Application): T | undefined {
    const applied = this.#applied.get(placeOf(kind, application.key));
    const said = applied?.said.get(voiceOf(application));
    if (applied === undefined || said === undefined || !this.#cache.covers(kind)) return undefined;
    if (this.#clock.monotonicMs() - said.sinceMs >= LASTS_MS || applied.history !== this.#history(kind)) {
      return undefined;
    }
    const object = this.#cached(kind, application.key);
    if (object?.metadata.resourceVersion !== applied.resourceVersion) return undefined;
    return said.digest === digestOf(application) ? object : undefined;
  }

  remember(kind: Kind, application: Application, { metadata }: KubeObject): void {
    const { resourceVersion = '' } = metadata;
    if (resourceVersion === '' || !this.#cache.covers(kind)) return;
    const place = placeOf(kind, application.key);
    const history = this.#history(kind);
    const before = this.#applied.get(place);
    const order = before?.history === history ? compareVersions(resourceVersion, before.resourceVersion) : 1;
    // An answer that was overtaken: the object has gone on since.
    if (order < 0) return;
    const said = (order === 0 ? before?.said : undefined) ?? new Map();
    said.set(voiceOf(application), { digest: digestOf(application), sinceMs: this.#clock.monotonicMs() });
    this.#applied.delete(place);
    this.#applied.set(place, { resourceVersion, history, said });
    const [oldest] = this.#applied.size > MOST_APPLIED ? this.#applied.keys() : [];
    if (oldest !== undefined) this.#applied.delete(oldest);
  }

  /** This client wrote to an object, which is at this version now; without one, nobody knows what became of it. */
  wrote(kind: Pick<Kind, 'group' | 'plural'>, key: ObjectKey, resourceVersion = ''): void {
    const place = placeOf(kind, key);
    if (this.#applied.get(place)?.resourceVersion !== resourceVersion) this.#applied.delete(place);
  }

  /** This client wrote to nobody knows which objects. */
  clear(): void {
    this.#applied.clear();
  }

  #history(kind: Kind): number {
    return this.#cache.informer(kind).history ?? 0;
  }

  /** Undefined also for what the cache leaves out, such as other namespaces. */
  #cached<T extends KubeObject, I>(kind: Kind<T, I>, key: ObjectKey): T | undefined {
    const informer = this.#cache.informer(kind);
    try {
      return informer.isSynced ? informer.get(key) : undefined;
    } catch {
      return undefined;
    }
  }
}

const placeOf = (kind: Pick<Kind, 'group' | 'plural'>, key: ObjectKey): string =>
  `${resourceOf(kind)} ${keyText(key)}`;

const voiceOf = ({ subresource, fieldManager }: Application): string => `${subresource} ${fieldManager}`;

const digestOf = ({ body, isForced, fieldValidation = '' }: Application): string =>
  createHash('sha1')
    .update(`${isForced} ${fieldValidation} ${stringifyJson(body)}`)
    .digest('base64');
