import type {
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from '../../../api/generated/core-v1-types.ts';
import type { CSINode, StorageClass } from '../../../api/generated/storage-v1-types.ts';
import { type KubeObject, keyOf, keyText } from '../../../api/object.ts';
import { hasEnded } from '../pods/pod-state.ts';
import type { ClusterView } from './cluster-view.ts';
import { type Cures, NAMESPACE_CHANGED, nodeCures, POD_WENT, podCures, STORAGE_CHANGED } from './cures.ts';
import type { FilterName } from './filter-names.ts';
import { type PodFacts, podFacts } from './pod-facts.ts';
import { type Change, SeenObjects } from './seen-objects.ts';

/** Everything that a scheduler looks at. */
export interface ClusterObjects {
  readonly pods: readonly Pod[];
  readonly nodes: readonly Node[];
  readonly namespaces: readonly Namespace[];
  readonly claims: readonly PersistentVolumeClaim[];
  readonly volumes: readonly PersistentVolume[];
  readonly classes: readonly StorageClass[];
  readonly csiNodes: readonly CSINode[];
}

/** What is new since the last look. */
export interface News {
  /** Pods that are new or changed; without facts when they are gone or have ended. */
  readonly pods: readonly { readonly uid: string; readonly facts: PodFacts | undefined }[];
  readonly cures: ReadonlySet<FilterName>;
  /** Somebody who waits for a volume, or on a node that may be gone, has to look again. */
  readonly concernsWaiting: boolean;
}

const nameOf = ({ metadata }: KubeObject): string => metadata.name;
const uidOf = ({ metadata }: KubeObject): string => metadata.uid ?? '';
const textOf = (object: KubeObject): string => keyText(keyOf(object));

/** Keeps a view of the cluster up to date, and says what the changes may be good for. */
export class ClusterFeed {
  readonly #view: ClusterView;
  readonly #pods = new SeenObjects<Pod>(uidOf);
  readonly #nodes = new SeenObjects<Node>(nameOf);
  readonly #namespaces = new SeenObjects<Namespace>(nameOf);
  readonly #claims = new SeenObjects<PersistentVolumeClaim>(textOf);
  readonly #volumes = new SeenObjects<PersistentVolume>(nameOf);
  readonly #classes = new SeenObjects<StorageClass>(nameOf);
  readonly #csiNodes = new SeenObjects<CSINode>(nameOf);

  constructor(view: ClusterView) {
    this.#view = view;
  }

  update(objects: ClusterObjects): News {
    const cures = new Set<FilterName>();
    const cure = (more: Cures) => {
      for (const name of more) cures.add(name);
    };
    if (this.#updateNamespaces(objects)) cure(NAMESPACE_CHANGED);
    const isStorageNews = this.#updateStorage(objects);
    if (isStorageNews) cure(STORAGE_CHANGED);
    const nodes = this.#nodes.look(objects.nodes);
    for (const change of nodes) cure(this.#updateNode(change));
    const pods = this.#pods.look(objects.pods).map((change) => this.#updatePod(change, cure));
    return { pods, cures, concernsWaiting: isStorageNews || nodes.length > 0 };
  }

  #updateNamespaces({ namespaces }: ClusterObjects): boolean {
    if (this.#namespaces.look(namespaces).length === 0) return false;
    const labels = namespaces.map((one) => [one.metadata.name, { ...one.metadata.labels }] as const);
    this.#view.knowNamespaces(new Map(labels));
    return true;
  }

  #updateStorage({ claims, volumes, classes, csiNodes }: ClusterObjects): boolean {
    const changes = [
      this.#claims.look(claims),
      this.#volumes.look(volumes),
      this.#classes.look(classes),
      this.#csiNodes.look(csiNodes),
    ];
    if (changes.every(({ length }) => length === 0)) return false;
    this.#view.storage.objects = {
      claims: this.#claims.objects,
      volumes: this.#volumes.objects,
      classes: this.#classes.objects,
      csiNodes: this.#csiNodes.objects,
    };
    return true;
  }

  #updateNode({ key, old, now }: Change<Node>): Cures {
    if (now === undefined) this.#view.removeNode(key);
    else this.#view.setNode(now);
    return nodeCures(old, now);
  }

  #updatePod({ key: uid, now }: Change<Pod>, cure: (cures: Cures) => void): News['pods'][number] {
    const old = this.#view.placed.get(uid);
    const facts = now === undefined || hasEnded(now) ? undefined : podFacts(now);
    if (facts === undefined) this.#view.removePod(uid);
    else this.#view.setPod(facts);
    const placed = this.#view.placed.get(uid);
    cure(podCures(old?.facts, placed?.facts));
    if (old !== undefined && old.node !== placed?.node) cure(POD_WENT);
    return { uid, facts };
  }
}
