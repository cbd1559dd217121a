import {
  ClusterOperator,
  type ClusterOperatorCondition,
  type RelatedObject,
} from '../../api/openshift/config-v1.ts';
import { time } from '../../api/time.ts';
import type { Clock } from '../../base/clock.ts';
import { isAlreadyExists } from '../../kube/client/api-error.ts';
import type { CallOptions, KubeClient } from '../../kube/client/kube-client.ts';
import { type Need, needs } from '../../kube/rbac/need.ts';
import { ownedStatus } from './owned-status.ts';

/** A condition before anybody knows since when it holds. */
export type OperatorCondition = Required<Omit<ClusterOperatorCondition, 'lastTransitionTime'>>;

export type OperandVersion = NonNullable<NonNullable<ClusterOperator['status']>['versions']>[number];

/** What a controller has to say. What is not named stays as it is. */
export interface StatusUpdate {
  readonly conditions: readonly OperatorCondition[];
  readonly versions?: readonly OperandVersion[];
  readonly relatedObjects?: readonly RelatedObject[];
  /** Of the types that it said before and does not say now, only these stay; all of them unless told otherwise. */
  readonly keeps?: readonly string[];
}

export interface OperatorStatusOptions {
  readonly client: KubeClient;
  /** Of the ClusterOperator. */
  readonly name: string;
  /** One per controller: two that share it would take each other's conditions away (R56). */
  readonly fieldManager: string;
  readonly clock: Clock;
}

/**
 * The part of a ClusterOperator that one controller writes, by server-side apply: conditions of others are neither sent
 * nor lost, so nobody meets a conflict (R56). Nothing is written that is there already.
 */
export class OperatorStatus {
  readonly #options: OperatorStatusOptions;
  #sent: StatusUpdate | undefined;
  /** Types of ours, where they are known: caches do not tell whose a condition is. */
  #own: readonly string[] | undefined;

  constructor(options: OperatorStatusOptions) {
    this.#options = options;
  }

  /** What one of them asks of the API server. */
  static needs(name: string): readonly Need[] {
    return [
      needs(ClusterOperator, ['get', 'create'], { names: [name] }),
      needs(ClusterOperator, ['patch'], { names: [name], subresource: 'status' }),
    ];
  }

  /** What was sent last, maybe without an answer; undefined before the first write. */
  get sent(): StatusUpdate | undefined {
    return this.#sent;
  }

  /** Undefined when there is none. */
  read(options: CallOptions = {}): Promise<ClusterOperator | undefined> {
    const { client, name } = this.#options;
    return client.find(ClusterOperator, { name }, options);
  }

  /** Whether anything had to be written. Makes the ClusterOperator when there is none. */
  async write(update: StatusUpdate, options: CallOptions = {}): Promise<boolean> {
    const seen = await this.read(options);
    if (seen !== undefined && isSaid(seen, update) && isTidy(this.#own, update)) return false;
    const live = seen === undefined ? await this.#created(options) : await this.#existing(options);
    const { client, name, fieldManager, clock } = this.#options;
    this.#own = ownedStatus(live, fieldManager).conditions.map(({ type }) => type);
    if (isSaid(live, update) && isTidy(this.#own, update)) return false;
    this.#sent = update;
    const status = appliedStatus(live, update, { fieldManager, now: clock.now() });
    // Not known again before the server has answered.
    this.#own = undefined;
    await client.applyStatus(
      ClusterOperator,
      { metadata: { name }, status },
      { fieldManager, force: true, ...options },
    );
    this.#own = status.conditions?.map(({ type }) => type);
    return true;
  }

  /** Takes a condition away that somebody else has left. Nothing happens when there is none. */
  async remove(type: string, options: CallOptions = {}): Promise<void> {
    const { client, name } = this.#options;
    const isThere = (object: ClusterOperator | undefined) =>
      object?.status?.conditions?.findIndex((condition) => condition.type === type) ?? -1;
    if (isThere(await this.read(options)) < 0) return;
    const at = isThere(await client.live.find(ClusterOperator, { name }, options));
    if (at < 0) return;
    const path = `/status/conditions/${at}`;
    const body = [
      // Somebody may have moved it since.
      { op: 'test', path: `${path}/type`, value: type },
      { op: 'remove', path },
    ];
    await client.patch(ClusterOperator, { name }, { type: 'json', body }, { subresource: 'status', ...options });
  }

  /** From the server: only there it is said who owns what. */
  async #existing(options: CallOptions): Promise<ClusterOperator> {
    const { client, name } = this.#options;
    return (await client.live.find(ClusterOperator, { name }, options)) ?? (await this.#created(options));
  }

  async #created(options: CallOptions): Promise<ClusterOperator> {
    const { client, name, fieldManager } = this.#options;
    try {
      return await client.create(ClusterOperator, empty(name), { fieldManager, ...options });
    } catch (thrown) {
      if (!isAlreadyExists(thrown)) throw thrown;
      return await client.live.get(ClusterOperator, { name }, options);
    }
  }
}

const empty = (name: string): ClusterOperator => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'ClusterOperator',
  metadata: { name },
  spec: {},
});

const findType = (object: ClusterOperator, type: string): ClusterOperatorCondition | undefined =>
  object.status?.conditions?.find((condition) => condition.type === type);

/** Whether the object says all of this already. Pure. */
export function isSaid(object: ClusterOperator, { conditions, versions, relatedObjects }: StatusUpdate): boolean {
  const { status = {} } = object;
  return (
    conditions.every((wanted) => isSame(findType(object, wanted.type), wanted)) &&
    (versions === undefined || isSameList(status.versions, versions, versionText)) &&
    (relatedObjects === undefined || isSameList(status.relatedObjects, relatedObjects, relatedText))
  );
}

/** Whether nothing of ours is left that must go. */
const isTidy = (own: readonly string[] | undefined, { conditions, keeps }: StatusUpdate): boolean =>
  keeps === undefined ||
  (own?.every((type) => keeps.includes(type) || conditions.some((one) => one.type === type)) ?? false);

const isSame = (found: ClusterOperatorCondition | undefined, wanted: OperatorCondition): boolean =>
  found !== undefined &&
  found.status === wanted.status &&
  (found.reason ?? '') === wanted.reason &&
  (found.message ?? '') === wanted.message;

const versionText = ({ name, version }: OperandVersion): string => JSON.stringify([name, version]);
const relatedText = ({ group, resource, namespace = '', name }: RelatedObject): string =>
  JSON.stringify([group, resource, namespace, name]);

const isSameList = <T>(found: readonly T[] = [], wanted: readonly T[], text: (item: T) => string): boolean =>
  found.length === wanted.length && wanted.every((item, at) => text(item) === text(found[at] ?? item));

/** Everything that is ours and stays, said again: what an apply leaves out it takes away. */
function appliedStatus(
  live: ClusterOperator,
  { conditions, versions, relatedObjects, keeps }: StatusUpdate,
  { fieldManager, now }: { readonly fieldManager: string; readonly now: Date },
): NonNullable<ClusterOperator['status']> {
  const own = ownedStatus(live, fieldManager);
  const named = new Set(conditions.map(({ type }) => type));
  const kept = own.conditions.filter(({ type }) => !named.has(type) && (keeps?.includes(type) ?? true));
  const stamped = conditions.map((wanted) => stampedOn(findType(live, wanted.type), wanted, now));
  return {
    conditions: [...kept, ...stamped],
    ...copied('versions', versions ?? own.versions),
    ...copied('relatedObjects', relatedObjects ?? own.relatedObjects),
  };
}

const copied = <Key extends string, T>(key: Key, value: T | undefined) =>
  value === undefined ? {} : ({ [key]: value } as Record<Key, T>);

/** Since when a status holds changes with it, and with nothing else. */
const stampedOn = (
  found: ClusterOperatorCondition | undefined,
  wanted: OperatorCondition,
  now: Date,
): ClusterOperatorCondition => ({
  ...wanted,
  lastTransitionTime: found?.status === wanted.status ? found.lastTransitionTime : time(now),
});
