import type { AllocatedContainer } from '../../../rpc/kubelet/device-plugin.ts';

/** What one container has of one resource. */
export interface Allocation {
  readonly uid: string;
  readonly container: string;
  readonly resource: string;
  readonly devices: readonly string[];
  /** NUMA nodes of the devices when they were given away. */
  readonly numaNodes: ReadonlyMap<string, readonly bigint[]>;
  /** What the plugin said the container needs with them. */
  readonly response: AllocatedContainer;
}

/** Which container has which devices. Bounded by the containers of the node's pods. */
export class Allocations {
  readonly #byKey = new Map<string, Allocation>();

  constructor(allocations: readonly Allocation[] = []) {
    for (const allocation of allocations) this.add(allocation);
  }

  get all(): readonly Allocation[] {
    return [...this.#byKey.values()];
  }

  add(allocation: Allocation): void {
    const { uid, container, resource } = allocation;
    this.#byKey.set(keyOf(uid, container, resource), allocation);
  }

  find(uid: string, container: string, resource: string): Allocation | undefined {
    return this.#byKey.get(keyOf(uid, container, resource));
  }

  /** In the order in which they were made: of two that say different things the first one counts (D15). */
  of(uid: string, container?: string): readonly Allocation[] {
    return this.all.filter((one) => one.uid === uid && (container === undefined || one.container === container));
  }

  inUse(resource: string): ReadonlySet<string> {
    return new Set(this.all.filter((one) => one.resource === resource).flatMap(({ devices }) => devices));
  }

  resources(): ReadonlySet<string> {
    return new Set(this.all.map(({ resource }) => resource));
  }

  /** Gives everything back that these pods have; whether there was anything. */
  release(isGone: (uid: string) => boolean): boolean {
    const gone = [...this.#byKey].filter(([, { uid }]) => isGone(uid));
    for (const [key] of gone) this.#byKey.delete(key);
    return gone.length > 0;
  }
}

/** None of the parts has a line break. */
const keyOf = (...parts: readonly string[]): string => parts.join('\n');
