import type { PersistentVolume, PersistentVolumeClaim } from '../../../api/generated/core-v1-types.ts';
import type { CSINode, StorageClass } from '../../../api/generated/storage-v1-types.ts';

/** Claims by `namespace/name`, the rest by name. */
export interface StorageObjects {
  readonly claims: ReadonlyMap<string, PersistentVolumeClaim>;
  readonly volumes: ReadonlyMap<string, PersistentVolume>;
  readonly classes: ReadonlyMap<string, StorageClass>;
  readonly csiNodes: ReadonlyMap<string, CSINode>;
}

export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
const BETA_CLASS = 'volume.beta.kubernetes.io/storage-class';

interface Selection {
  readonly node: string;
  /** The pod that it is for. */
  readonly uid: string;
}

const NOTHING: StorageObjects = {
  claims: new Map(),
  volumes: new Map(),
  classes: new Map(),
  csiNodes: new Map(),
};

/** What pods store their data in, and where claims are going to be. */
export class StorageView {
  objects = NOTHING;
  /** By key of the claim; bounded by the claims of pods that are on their way to a node. */
  readonly #selected = new Map<string, Selection>();

  /** Where the volume of a claim has to be made: as the claim says, or as a pod before this one has decided. */
  selectedNode(key: string, { metadata }: PersistentVolumeClaim): string | undefined {
    return metadata.annotations?.[SELECTED_NODE] ?? this.#selected.get(key)?.node;
  }

  select(key: string, selection: Selection): void {
    this.#selected.set(key, selection);
  }

  /** The claims say it themselves now, or the pod has to go elsewhere. */
  release(uid: string): void {
    for (const [key, selection] of this.#selected) if (selection.uid === uid) this.#selected.delete(key);
  }
}

/** Whether both sides know of each other. */
export const isFullyBound = ({ metadata, spec }: PersistentVolumeClaim): boolean =>
  (spec.volumeName ?? '') !== '' && metadata.annotations?.[BIND_COMPLETED] !== undefined;

/** The annotation is older than the field, and wins. */
export const classOf = ({ metadata, spec }: PersistentVolumeClaim): string =>
  metadata.annotations?.[BETA_CLASS] ?? spec.storageClassName ?? '';
