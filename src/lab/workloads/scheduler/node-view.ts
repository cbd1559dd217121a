import type { Node } from '../../../api/generated/core-v1-types.ts';
import { PortUse } from './host-ports.ts';
import type { PodFacts } from './pod-facts.ts';
import { allocatableOf, type Resources } from './requests.ts';

const NO_LABELS: Readonly<Record<string, string>> = {};

/** A node and what its pods take of it, kept up to date pod by pod. */
export class NodeView {
  readonly name: string;
  /** Undefined for a name that pods have and no Node: such pods count as soon as the node is there. */
  node: Node | undefined;
  allocatable: Resources = new Map();
  readonly ports = new PortUse();
  /** By uid; bounded by the pods of the cluster. */
  readonly #pods = new Map<string, PodFacts>();
  /** Entries of zero do not stay. */
  readonly #requested = new Map<string, number>();
  readonly #scored = new Map<string, number>();

  constructor(name: string) {
    this.name = name;
  }

  get pods(): ReadonlyMap<string, PodFacts> {
    return this.#pods;
  }

  get requested(): Resources {
    return this.#requested;
  }

  /** What is requested when nodes are compared (K6). */
  get scored(): Resources {
    return this.#scored;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.node?.metadata.labels ?? NO_LABELS;
  }

  /** The value of a label that topologies are made of; undefined when the node does not have it. */
  label(key: string): string | undefined {
    const { labels } = this;
    return Object.hasOwn(labels, key) ? labels[key] : undefined;
  }

  set(node: Node | undefined): void {
    this.node = node;
    this.allocatable = node === undefined ? new Map() : allocatableOf(node);
  }

  add(pod: PodFacts): void {
    this.remove(pod.uid);
    this.#pods.set(pod.uid, pod);
    this.ports.take(pod.hostPorts);
    addAll(this.#requested, pod.requests, 1);
    addAll(this.#scored, pod.scored, 1);
  }

  remove(uid: string): void {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return;
    this.#pods.delete(uid);
    this.ports.giveBack(pod.hostPorts);
    addAll(this.#requested, pod.requests, -1);
    addAll(this.#scored, pod.scored, -1);
  }
}

function addAll(total: Map<string, number>, amounts: Resources, sign: 1 | -1): void {
  for (const [name, amount] of amounts) {
    const sum = (total.get(name) ?? 0) + sign * amount;
    if (sum === 0) total.delete(name);
    else total.set(name, sum);
  }
}
