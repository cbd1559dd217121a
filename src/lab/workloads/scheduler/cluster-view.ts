import type { Node } from '../../../api/generated/core-v1-types.ts';
import type { JsonObject } from '../../../object/json.ts';
import { hasAffinity, type NamespaceLabels } from './affinity-terms.ts';
import { NodeView } from './node-view.ts';
import type { PodFacts } from './pod-facts.ts';
import { StorageView } from './storage-view.ts';

/** A pod and the node it counts on. */
export interface Placed {
  readonly facts: PodFacts;
  readonly node: NodeView;
}

/** Nodes, the pods that count on them, and what else decides where pods may go. Pure: whoever feeds it does the I/O. */
export class ClusterView {
  readonly storage = new StorageView();
  /** By name. A node without a Node stays as long as pods name it. */
  readonly #nodes = new Map<string, NodeView>();
  /** By uid; bounded by the pods of the cluster, as are the two after it. */
  readonly #placed = new Map<string, Placed>();
  readonly #affine = new Map<string, Placed>();
  readonly #antiAffine = new Map<string, Placed>();
  /** Nodes of pods that were placed here, and that the server does not show there yet. */
  readonly #assumed = new Map<string, string>();
  /** Kept until a Node comes, goes or changes. */
  #candidates: readonly NodeView[] | undefined;
  #labelsOf: NamespaceLabels = () => ({});

  /** The nodes that exist, in order of their names. */
  get candidates(): readonly NodeView[] {
    const existing = () => [...this.#nodes.values()].filter(({ node }) => node !== undefined);
    this.#candidates ??= existing().toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return this.#candidates;
  }

  get placed(): ReadonlyMap<string, Placed> {
    return this.#placed;
  }

  /** Pods with any (anti-)affinity to other pods. */
  get affine(): ReadonlyMap<string, Placed> {
    return this.#affine;
  }

  /** Pods with required anti-affinity. */
  get antiAffine(): ReadonlyMap<string, Placed> {
    return this.#antiAffine;
  }

  get labelsOfNamespace(): NamespaceLabels {
    return this.#labelsOf;
  }

  knowNamespaces(labels: ReadonlyMap<string, JsonObject>): void {
    this.#labelsOf = (name) => labels.get(name) ?? {};
  }

  /** The node of that name if there is one now. */
  node(name: string): NodeView | undefined {
    const found = this.#nodes.get(name);
    return found?.node === undefined ? undefined : found;
  }

  setNode(node: Node): void {
    this.#view(node.metadata.name).set(node);
    this.#candidates = undefined;
  }

  removeNode(name: string): void {
    this.#nodes.get(name)?.set(undefined);
    this.#candidates = undefined;
    this.#tidy(name);
  }

  /** Counts a pod on a node before the server says so (K5). */
  assume(facts: PodFacts, node: string): void {
    this.#assumed.set(facts.uid, node);
    this.#place(facts, node);
  }

  /** Where the pod was assumed to be. */
  assumedNode(uid: string): string | undefined {
    return this.#assumed.get(uid);
  }

  /** Takes an assumption back; what the server says stays. */
  forget(uid: string): void {
    if (this.#assumed.delete(uid)) this.#unplace(uid);
  }

  /** A new state of a pod that has not ended: it counts where it is, or where it is assumed to be. */
  setPod(facts: PodFacts): void {
    const bound = facts.pod.spec.nodeName ?? '';
    if (bound !== '') this.#assumed.delete(facts.uid);
    const node = bound === '' ? this.#assumed.get(facts.uid) : bound;
    if (node === undefined) this.#unplace(facts.uid);
    else this.#place(facts, node);
  }

  /** The pod is gone, or has ended: it counts no more. */
  removePod(uid: string): void {
    this.#assumed.delete(uid);
    this.#unplace(uid);
  }

  #place(facts: PodFacts, name: string): void {
    const { uid, affinities } = facts;
    this.#unplace(uid);
    const node = this.#view(name);
    node.add(facts);
    const placed = { facts, node };
    this.#placed.set(uid, placed);
    if (hasAffinity(affinities)) this.#affine.set(uid, placed);
    if (affinities.requiredAnti.length > 0) this.#antiAffine.set(uid, placed);
  }

  #unplace(uid: string): void {
    const placed = this.#placed.get(uid);
    if (placed === undefined) return;
    for (const index of [this.#placed, this.#affine, this.#antiAffine]) index.delete(uid);
    placed.node.remove(uid);
    this.#tidy(placed.node.name);
  }

  #view(name: string): NodeView {
    const found = this.#nodes.get(name);
    if (found !== undefined) return found;
    const fresh = new NodeView(name);
    this.#nodes.set(name, fresh);
    return fresh;
  }

  #tidy(name: string): void {
    const found = this.#nodes.get(name);
    if (found !== undefined && found.node === undefined && found.pods.size === 0) this.#nodes.delete(name);
  }
}
