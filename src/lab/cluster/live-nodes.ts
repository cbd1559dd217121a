import type { RunningNode } from '../node/start-node.ts';

/** The nodes of a cluster that are on. */
export class LiveNodes {
  readonly #nodes = new Map<string, RunningNode>();
  readonly #listeners = new Set<() => void>();

  get byName(): ReadonlyMap<string, RunningNode> {
    return this.#nodes;
  }

  add(node: RunningNode): void {
    this.#nodes.set(node.name, node);
    this.#tell();
  }

  /** The node, if it was on. */
  remove(name: string): RunningNode | undefined {
    const node = this.#nodes.get(name);
    if (this.#nodes.delete(name)) this.#tell();
    return node;
  }

  /** Called after a node came or went. Must not throw. */
  subscribe(changed: () => void): Disposable {
    this.#listeners.add(changed);
    return { [Symbol.dispose]: () => void this.#listeners.delete(changed) };
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
