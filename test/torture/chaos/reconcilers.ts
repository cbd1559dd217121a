import { ConfigMap } from '../../../src/api/generated/core-v1.ts';
import { type KubeObject, keyOf, keyText } from '../../../src/api/object.ts';
import type { KubeClient } from '../../../src/kube/client/kube-client.ts';
import { type Controller, controllerFor } from '../../../src/kube/controller/controller.ts';
import type { Predicate } from '../../../src/kube/controller/predicates.ts';
import {
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../../src/kube/controller/reconcile.ts';
import { needs } from '../../../src/kube/rbac/need.ts';
import { BOX_LABEL, Box, Disk, mapsOf, NAMESPACE, TALLY_LABEL, Tally, talliedOf } from './kinds.ts';
import type { Mutant } from './mutants.ts';
import type { Provider } from './provider.ts';

const FINALIZER = 'chaos.slipway.example/thing';

/** Sees every reconcile begin and end. */
export class Overseer {
  readonly #active = new Set<string>();
  readonly overlaps: string[] = [];
  reconciles = 0;

  async during<T>(key: string, work: () => Promise<T>): Promise<T> {
    this.reconciles++;
    if (this.#active.has(key)) this.overlaps.push(key);
    this.#active.add(key);
    try {
      return await work();
    } finally {
      this.#active.delete(key);
    }
  }
}

export interface Parts {
  readonly provider: Provider;
  readonly overseer: Overseer;
  readonly mutant?: Mutant | undefined;
  readonly uuid: () => string;
}

const labelOf = ({ metadata: { labels = {} } }: KubeObject, label: string): string => labels[label] ?? '';

class BoxReconciler implements Reconciler<Box> {
  async reconcile(box: Box, { client }: ReconcileContext): Promise<Result> {
    if (box.metadata.deletionTimestamp !== undefined) return DONE;
    await this.#makeMaps(box, client);
    const { copies, text } = box.spec;
    const { generation = 0 } = box.metadata;
    const { status = {} } = box;
    if (status.generation === generation && status.copies === copies && status.text === text) return DONE;
    await client.applyStatus(
      Box,
      { metadata: uidOnly(box), status: { generation, copies, text } },
      { force: true },
    );
    return DONE;
  }

  async #makeMaps(box: Box, client: KubeClient): Promise<void> {
    const labels = { [BOX_LABEL]: box.metadata.name };
    const { items } = await client.list(ConfigMap, { namespace: NAMESPACE, labels });
    const found = new Map(items.map((item) => [item.metadata.name, item]));
    for (const map of mapsOf(box)) {
      const { name } = map.metadata;
      const current = found.get(name);
      found.delete(name);
      if (current === undefined || !isSame(current, map)) await client.apply(ConfigMap, map, { force: true });
    }
    for (const { metadata } of found.values()) await client.delete(ConfigMap, metadata, uidOf(metadata.uid));
  }
}

const uidOf = (uid: string | undefined) => (uid === undefined ? {} : { preconditions: { uid } });

/** The very object, and not one that was made since under the same name. */
const uidOnly = ({ metadata: { name, namespace = NAMESPACE, uid = '' } }: KubeObject) => ({
  name,
  namespace,
  uid,
});

type Maplike = Pick<ConfigMap, 'data'> & { readonly metadata: Pick<ConfigMap['metadata'], 'labels'> };

const comparable = (map: object): string => {
  const { data = {}, metadata } = map as Maplike & { metadata: { ownerReferences?: readonly { uid?: string }[] } };
  const { labels = {}, ownerReferences = [] } = metadata;
  const sorted = (record: Readonly<Record<string, string>>) =>
    Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([sorted(data), sorted(labels), ownerReferences.map(({ uid }) => uid)]);
};

/** Whether a map is what a box wants; an owner that is gone still counts as a difference. */
export const isSame = (current: object, wanted: object): boolean => comparable(current) === comparable(wanted);

class DiskReconciler implements Reconciler<Disk> {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async reconcile(disk: Disk, { client }: ReconcileContext): Promise<Result> {
    const { generation = 0, deletionTimestamp } = disk.metadata;
    const { size } = disk.spec;
    const token = this.#tokenOf(disk);
    if (deletionTimestamp !== undefined) return await this.#end(disk, token, client);
    if (!(await this.#begin(disk, token, client))) return DONE;
    if (disk.status?.generation === generation && disk.status.size === size) return DONE;
    await client.applyStatus(Disk, { metadata: uidOnly(disk), status: { generation, size } }, { force: true });
    return DONE;
  }

  #tokenOf({ metadata: { uid = '' } }: Disk): string {
    return this.#parts.mutant === 'random-token' ? this.#parts.uuid() : uid;
  }

  /** False when the disk is being deleted. */
  async #begin(disk: Disk, token: string, client: KubeClient): Promise<boolean> {
    const make = () => this.#parts.provider.ensure(token, { owner: disk.metadata.name, size: disk.spec.size });
    const isDisordered = this.#parts.mutant === 'finalizer-order';
    if (isDisordered) await make();
    const { metadata } = await client.addFinalizer(Disk, disk, FINALIZER);
    if (metadata.deletionTimestamp !== undefined) return false;
    if (!isDisordered) await make();
    return true;
  }

  async #end(disk: Disk, token: string, client: KubeClient): Promise<Result> {
    const isDisordered = this.#parts.mutant === 'finalizer-order';
    if (isDisordered) await client.removeFinalizer(Disk, disk, FINALIZER);
    await this.#parts.provider.remove(token);
    if (!isDisordered) await client.removeFinalizer(Disk, disk, FINALIZER);
    return DONE;
  }
}

class TallyReconciler implements Reconciler<Tally> {
  async reconcile(tally: Tally, { client }: ReconcileContext): Promise<Result> {
    if (tally.metadata.deletionTimestamp !== undefined) return DONE;
    const labels = { [TALLY_LABEL]: tally.metadata.name };
    const { items } = await client.list(ConfigMap, { namespace: NAMESPACE, labels });
    const { count, letters } = talliedOf(items);
    const { generation = 0 } = tally.metadata;
    const { status = {} } = tally;
    if (status.generation === generation && status.count === count && status.letters === letters) return DONE;
    const said = { generation, count, letters };
    await client.applyStatus(Tally, { metadata: uidOnly(tally), status: said }, { force: true });
    return DONE;
  }
}

/** Keeps what a mistake would keep. */
const kept: unknown[] = [];

function overseen<T extends KubeObject>(kind: string, inner: Reconciler<T>, parts: Parts): Reconciler<T> {
  const { overseer, mutant } = parts;
  return {
    reconcile: async (object, context) => {
      const work = () =>
        overseer.during(`${kind} ${keyText(keyOf(object))}`, () => inner.reconcile(object, context));
      if (mutant === 'leak') kept.push(Array.from({ length: 2000 }, (_, index) => ({ index })));
      if (mutant !== 'floating-work') return await work();
      work().catch(() => {});
      return DONE;
    },
  };
}

/** The three controllers of a run. */
export function controllersOf(parts: Parts): readonly Controller[] {
  const settings = { maxConcurrent: 8 };
  const predicates = predicatesOf(parts.mutant);
  const status = (kind: typeof Box | typeof Disk | typeof Tally) =>
    needs(kind, ['patch'], { subresource: 'status' });
  return [
    controllerFor(Box, { ...settings, predicates })
      .owns(ConfigMap)
      .needs(needs(ConfigMap, ['patch', 'create', 'delete']), status(Box))
      .reconcile(overseen('box', new BoxReconciler(), parts)),
    controllerFor(Disk, { ...settings, predicates })
      .needs(needs(Disk, ['patch']), status(Disk))
      .reconcile(overseen('disk', new DiskReconciler(parts), parts)),
    controllerFor(Tally, settings)
      .watches(ConfigMap, (map) => [{ namespace: NAMESPACE, name: labelOf(map, TALLY_LABEL) }])
      .needs(status(Tally))
      .reconcile(overseen('tally', new TallyReconciler(), parts)),
  ];
}

function predicatesOf(mutant: Mutant | undefined): readonly Predicate[] {
  if (mutant !== 'lost-keys') return [];
  return [({ object }) => checksumOf(object.metadata.name) % 8 !== 0];
}

const checksumOf = (name: string): number =>
  Buffer.from(name).reduce((sum, letter) => (sum * 31 + letter) % 65_521, 0);
