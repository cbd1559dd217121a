import type { Json, JsonObject } from '../../api/json.ts';
import { type Condition, type Kind, type KubeObject, keyOf, keyText, type Mutable } from '../../api/object.ts';
import { retryError, SlipwayError, terminalError } from '../../base/errors.ts';
import { mergeConditions } from '../../object/condition-merge.ts';
import { conditionsOf } from '../../object/conditions.ts';
import { isJsonObject, jsonEqual } from '../../object/json.ts';
import { diffMergePatch } from '../../object/merge-patch-diff.ts';
import { mutable } from '../../object/mutable.ts';
import { isConflict, isInvalid, isNotFound } from '../client/api-error.ts';
import type { KubeClient } from '../client/kube-client.ts';

const MOST_ATTEMPTS = 5;
const REPLACED = 'ObjectReplaced';

export interface PatchOptions {
  /** Condition types that this controller alone sets: its own win over what the server has. */
  readonly ownedConditions?: readonly string[];
  /** Sets `status.observedGeneration` to the generation that was worked on; only for kinds that have the field. */
  readonly observedGeneration?: boolean;
  /** `orderV1beta2` for kinds of cluster-api. */
  readonly orderConditions?: (conditions: readonly Condition[]) => readonly Condition[];
}

export interface Patcher<T extends KubeObject> {
  /** Ours to change. */
  readonly draft: Mutable<T>;
  /** Sends what changed, and nothing when nothing did; resolves to the newest state. Once per patcher. */
  patch(options?: PatchOptions): Promise<T>;
}

/**
 * Works on a copy of an object and sends the difference (H4): one merge patch for the status, one for the rest, each
 * only where something changed. Conditions that others set meanwhile are kept (§10.1). Lists of metadata, which a patch
 * replaces whole, are sent only when nobody else changed them: else the reason is ObjectChanged, and the next reconcile
 * starts from what is there.
 */
export function patcher<T extends KubeObject, I>(client: KubeClient, kind: Kind<T, I>, object: T): Patcher<T> {
  const draft = mutable(object);
  let isUsed = false;
  return {
    draft,
    patch: async (options = {}) => {
      if (isUsed)
        throw terminalError('PatcherUsed', 'a patcher sends its changes once; make another one of the result');
      isUsed = true;
      return new Patching(client, kind, object, draft as unknown as T).run(options);
    },
  };
}

class Patching<T extends KubeObject, I> {
  readonly #client: KubeClient;
  readonly #kind: Kind<T, I>;
  readonly #before: T;
  readonly #after: T;

  constructor(client: KubeClient, kind: Kind<T, I>, before: T, after: T) {
    this.#client = client;
    this.#kind = kind;
    this.#before = before;
    this.#after = after;
  }

  /** Status first: what takes the last finalizer takes the object. */
  async run(options: PatchOptions): Promise<T> {
    const live = await this.#patchStatus(options);
    if (live === undefined) return this.#after;
    const body = diffMergePatch(withoutStatus(this.#before), withoutStatus(this.#after));
    if (isEmpty(body)) return live;
    return this.#write(this.#locked(body, live));
  }

  #locked(body: JsonObject, live: T): JsonObject {
    const metadata = isJsonObject(body['metadata']) ? body['metadata'] : {};
    const lists = (['finalizers', 'ownerReferences'] as const).filter((name) => Object.hasOwn(metadata, name));
    if (lists.length === 0) return body;
    const changed = lists.find((name) => !jsonEqual(metaOf(live)[name] ?? [], metaOf(this.#before)[name] ?? []));
    if (changed !== undefined) {
      const what = `metadata.${changed} of ${this.#kind.kind} ${keyText(keyOf(live))}`;
      throw retryError('ObjectChanged', `${what} was changed by somebody else meanwhile`);
    }
    return { ...body, metadata: { ...metadata, resourceVersion: metaOf(live)['resourceVersion'] ?? null } };
  }

  /** The newest state; undefined when the object, which was being deleted, is gone. */
  async #patchStatus(options: PatchOptions): Promise<T | undefined> {
    const [before, after] = [this.#statusOf(this.#before), this.#wantedStatus(options)];
    const body = diffMergePatch(omit(before, 'conditions'), omit(after, 'conditions'));
    const isAboutConditions = !jsonEqual(before['conditions'] ?? [], after['conditions'] ?? []);
    if (isEmpty(body) && !isAboutConditions) return this.#before;
    try {
      return isAboutConditions ? await this.#patchConditions(body, options) : await this.#send({ status: body });
    } catch (error) {
      const isGone = isNotFound(error) || reasonOf(error) === REPLACED;
      if (isGone && this.#before.metadata.deletionTimestamp !== undefined) return undefined;
      throw error;
    }
  }

  /** A list is replaced whole: only in the version it was merged for. */
  async #patchConditions(rest: JsonObject, options: PatchOptions): Promise<T> {
    let live = this.#before;
    for (let attempt = 1; ; attempt++) {
      const conditions = this.#merged(live, options);
      try {
        return await this.#send({
          ...(live.metadata.resourceVersion !== undefined && {
            metadata: { resourceVersion: live.metadata.resourceVersion },
          }),
          status: { ...rest, conditions: conditions as unknown as Json[] },
        });
      } catch (error) {
        if (!isConflict(error) || attempt === MOST_ATTEMPTS) throw error;
      }
      live = await this.#client.live.get(this.#kind, keyOf(this.#before));
      if (live.metadata.uid !== this.#before.metadata.uid) throw this.#replaced();
    }
  }

  #merged(live: T, { ownedConditions, orderConditions = (list) => list }: PatchOptions): readonly Condition[] {
    const merged = mergeConditions({
      before: conditionsOf(this.#before),
      after: conditionsOf(this.#after),
      live: conditionsOf(live),
      ...(ownedConditions !== undefined && { owned: ownedConditions }),
    });
    return orderConditions(merged);
  }

  #send(body: JsonObject): Promise<T> {
    return this.#write(body, { subresource: 'status' });
  }

  /** With its uid: what is said about one object is not true of another one of the same name. */
  async #write(given: JsonObject, options: { readonly subresource?: string } = {}): Promise<T> {
    const { uid } = this.#before.metadata;
    const metadata = isJsonObject(given['metadata']) ? given['metadata'] : {};
    const body = uid === undefined ? given : { ...given, metadata: { ...metadata, uid } };
    try {
      return await this.#client.patch(this.#kind, keyOf(this.#before), { type: 'merge', body }, options);
    } catch (error) {
      throw isAboutUid(error) ? this.#replaced() : error;
    }
  }

  #replaced(): Error {
    const what = `${this.#kind.kind} ${keyText(keyOf(this.#before))}`;
    return retryError(REPLACED, `${what} was replaced by another object of the same name`);
  }

  #statusOf(object: T): JsonObject {
    const { status } = object as unknown as JsonObject;
    return isJsonObject(status) ? status : {};
  }

  #wantedStatus({ observedGeneration = false }: PatchOptions): JsonObject {
    const status = this.#statusOf(this.#after);
    const { generation } = this.#before.metadata;
    return observedGeneration && generation !== undefined ? { ...status, observedGeneration: generation } : status;
  }
}

/** The server takes another uid for an attempt to change it. */
const isAboutUid = (error: unknown): boolean =>
  isInvalid(error) && (error.details.causes ?? []).some(({ field }) => field === 'metadata.uid');
const reasonOf = (error: unknown): string => (error instanceof SlipwayError ? error.reason : '');

const isEmpty = (body: JsonObject): boolean => Object.keys(body).length === 0;
const metaOf = (object: KubeObject): JsonObject => object.metadata as unknown as JsonObject;
const withoutStatus = (object: KubeObject): JsonObject => omit(object as unknown as JsonObject, 'status');

function omit(object: JsonObject, member: string): JsonObject {
  const { [member]: _left, ...rest } = object;
  return rest;
}
