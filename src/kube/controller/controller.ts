import type { Kind, KubeObject } from '../../api/object.ts';
import { userError } from '../../base/errors.ts';
import type { Cache } from '../cache/cache.ts';
import { type Need, needs } from '../rbac/need.ts';
import { WATCHING } from '../rbac/rules.ts';
import type { ChannelSource } from './channel.ts';
import {
  type BoundController,
  type ControllerEnvironment,
  ControllerRun,
  type RunSettings,
} from './controller-run.ts';
import { type MapFunction, mappedKeys, type OwnerOptions, ownerKeys, selfKeys } from './event-keys.ts';
import type { Predicate } from './predicates.ts';
import type { ReconcileKey, Reconciler } from './reconcile.ts';
import type { Work } from './reconcile-loop.ts';
import { channelSource, objectSource, type Source } from './sources.ts';

/** What a controller is: who it is for, what makes it work, and what rights that takes. It does nothing by itself. */
export interface Controller {
  /** Unique in a process; in metrics, logs and the field manager (R1). */
  readonly name: string;
  /** Absent for controllers of keys that are no objects. */
  readonly kind?: Kind<KubeObject, unknown>;
  /** Names of what it watches. */
  readonly sources: readonly string[];
  /** What it reads and what the loop writes for it, and what it said it needs besides (B1). */
  readonly needs: readonly Need[];
  /** For one run. Throws nothing; what is wrong shows when its runnables run. */
  bind(environment: ControllerEnvironment): BoundController;
}

export interface ControllerOptions extends RunSettings {
  /** The kind in lower case unless told otherwise. */
  readonly name?: string;
}

export interface ControllerForOptions<T extends KubeObject> extends ControllerOptions {
  /** Which events of the objects themselves matter; all unless told otherwise. */
  readonly predicates?: readonly Predicate<T>[];
}

export interface OwnsOptions<T extends KubeObject> extends OwnerOptions {
  readonly predicates?: readonly Predicate<T>[];
  /** Why all objects of the kind are read: needed for Secrets, and shown in the manifest (B4). */
  readonly reason?: string;
}

export interface WatchesOptions {
  /** Of another cluster (M9). */
  readonly cache?: Cache;
  /** Why all objects of the kind are read: needed for Secrets, and shown in the manifest (B4). */
  readonly reason?: string;
}

/** What both builders have. They change themselves and are used up by the last call. */
class ControllerBuilder {
  readonly #name: string;
  readonly #settings: RunSettings;
  readonly #sources: Source[] = [];
  readonly #needs: Need[] = [];

  constructor(name: string, settings: RunSettings) {
    this.#name = name;
    this.#settings = settings;
  }

  /** Objects, of other kinds than its own where it has one, that concern the keys which `map` names. */
  watches<O extends KubeObject, I>(
    kind: Kind<O, I>,
    map: MapFunction<O>,
    predicates: readonly Predicate<O>[] = [],
    { cache, reason }: WatchesOptions = {},
  ): this {
    return this.from(objectSource({ kind, keys: mappedKeys(map), predicates, cache, reason }));
  }

  watchesChannel(channel: ChannelSource): this {
    return this.from(channelSource(channel));
  }

  /** What the reconciler itself reads and writes besides its sources. */
  needs(...more: readonly Need[]): this {
    this.#needs.push(...more);
    return this;
  }

  protected from(source: Source): this {
    this.#sources.push(source);
    return this;
  }

  protected build<T extends KubeObject>(work: Work<T>): Controller {
    const [name, settings, sources] = [this.#name, this.#settings, this.#sources];
    if (!/^[a-z0-9]([-a-z0-9_.]*[a-z0-9])?$/.test(name))
      throw userError(
        'InvalidController',
        `"${name}" is no name for a controller; write one such as widget-backup`,
      );
    if (sources.length === 0)
      throw userError(
        'InvalidController',
        `controller ${name} has no sources; call watches() or watchesChannel()`,
      );
    return {
      name,
      ...(work.kind !== undefined && { kind: work.kind }),
      sources: sources.map((source) => source.name),
      needs: [...sources.flatMap(readingNeeds), ...outcomeNeeds(work.kind), ...this.#needs],
      bind: (environment) => new ControllerRun({ name, work, sources, settings }, environment),
    };
  }
}

/** Rights in another cluster are nothing that the roles of this one can give. */
const readingNeeds = ({ kind, isForeign, reason }: Source): readonly Need[] =>
  kind === undefined || isForeign ? [] : [needs(kind, WATCHING, reason === undefined ? {} : { reason })];

const outcomeNeeds = (kind: Kind<KubeObject, unknown> | undefined): readonly Need[] =>
  kind?.hasConditions === true ? [needs(kind, ['patch'], { subresource: 'status' })] : [];

/** See `controllerFor`. */
export class ObjectControllerBuilder<T extends KubeObject> extends ControllerBuilder {
  readonly #kind: Kind<T, unknown>;

  constructor(kind: Kind<T, unknown>, { predicates = [], name, ...settings }: ControllerForOptions<T>) {
    super(name ?? kind.kind.toLowerCase(), settings);
    this.#kind = kind;
    this.from(objectSource({ kind, keys: selfKeys, predicates, isSelf: true }));
  }

  /** Objects that the controller makes: an event of one is work for its owner. */
  owns<O extends KubeObject, I>(
    kind: Kind<O, I>,
    { predicates = [], reason, ...owners }: OwnsOptions<O> = {},
  ): this {
    // Who makes an owner wait for its objects must be allowed to hold it back: OpenShift asks for it at each creation.
    return this.from(objectSource({ kind, keys: ownerKeys(this.#kind, owners), predicates, reason })).needs(
      needs(this.#kind, ['update'], { subresource: 'finalizers' }),
    );
  }

  reconcile(reconciler: Reconciler<T>): Controller {
    return this.build({ kind: this.#kind, reconciler });
  }
}

/** See `controllerOf`. */
export class KeyControllerBuilder extends ControllerBuilder {
  reconcileKeys(reconcileKey: ReconcileKey): Controller {
    return this.build({ reconcileKey });
  }
}

/**
 * A controller for the objects of a kind:
 * `controllerFor(Widget).owns(ConfigMap).needs(needs(ConfigMap, ['patch'])).reconcile(new WidgetReconciler())`.
 */
export const controllerFor = <T extends KubeObject, I>(
  kind: Kind<T, I>,
  options: ControllerForOptions<T> = {},
): ObjectControllerBuilder<T> => new ObjectControllerBuilder(kind, options);

/** A controller for keys that are no objects of one kind: `controllerOf('routes').watches(Node, …).reconcileKeys(…)`. */
export const controllerOf = (name: string, settings: RunSettings = {}): KeyControllerBuilder =>
  new KeyControllerBuilder(name, settings);
