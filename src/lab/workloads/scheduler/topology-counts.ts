import type { NodeView } from './node-view.ts';

/** How often something is found in each part of a topology: by label of the nodes, and by its value. */
export class TopologyCounts {
  /** Bounded by the labels of nodes that terms of pods name. */
  readonly #counts = new Map<string, Map<string, number>>();

  get isEmpty(): boolean {
    return this.#counts.size === 0;
  }

  /** Nodes without the label are in no part of it. */
  add(node: NodeView, key: string, more: number): void {
    const value = node.label(key);
    if (value === undefined) return;
    const byValue = this.#counts.get(key) ?? new Map<string, number>();
    this.#counts.set(key, byValue.set(value, (byValue.get(value) ?? 0) + more));
  }

  /** In the part that the node is in. */
  at(node: NodeView, key: string): number {
    const byValue = this.#counts.get(key);
    const value = byValue === undefined ? undefined : node.label(key);
    return value === undefined ? 0 : (byValue?.get(value) ?? 0);
  }

  /** In all parts that the node is in. */
  sumAt(node: NodeView): number {
    let sum = 0;
    for (const key of this.#counts.keys()) sum += this.at(node, key);
    return sum;
  }
}
