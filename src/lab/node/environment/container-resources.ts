import type { Container, Pod, ResourceFieldSelector } from '../../../api/generated/core-v1-types.ts';
import { parseQuantity, quantityInteger, quantitySign } from '../../../object/quantity.ts';

type Resources = Readonly<Record<string, string>>;

/** Only these fall back to what the node has: huge pages are never promised twice, so they always have a limit. */
const NODE_RESOURCES: readonly string[] = ['cpu', 'memory', 'ephemeral-storage'];
const THOUSANDTHS = -3;
const SELECTOR = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/;

/** What is wrong with a selector, as a sentence. */
export class ResourceProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ResourceProblem';
  }
}

export interface ResourceOwner {
  readonly pod: Pod;
  /** Whose variable it is. */
  readonly container: Container;
  /** Of the node. */
  readonly allocatable: Resources;
}

/**
 * Pure: the number that a `resourceFieldRef` stands for (N25), in units of its divisor, rounded up. A limit that nobody
 * set is that of the pod, and else what the node can give. Throws a ResourceProblem.
 */
export function resourceField(
  { resource: path, containerName, divisor }: ResourceFieldSelector,
  owner: ResourceOwner,
): string {
  const [, list, resource] = SELECTOR.exec(path) ?? [];
  if (resource === undefined) throw new ResourceProblem(`unsupported container resource : ${path}`);
  const isOwn = containerName === undefined || containerName === '';
  const named = isOwn ? owner.container : containerNamed(owner.pod, containerName);
  const { limits, requests } = named.resources ?? {};
  if (list === 'requests') return divided(resource, requests?.[resource], divisor);
  // Upstream gives the defaults to the container itself and to regular ones that it names, not to init containers.
  const isDefaulted = isOwn || owner.pod.spec.containers.includes(named);
  const limit = limits?.[resource];
  return divided(resource, isDefaulted && isUnset(limit) ? nodeLimit(resource, owner) : limit, divisor);
}

function containerNamed({ spec }: Pod, name: string): Container {
  const all = [...spec.containers, ...(spec.initContainers ?? [])];
  const found = all.find((container) => container.name === name);
  if (found === undefined) throw new ResourceProblem(`container ${name} not found`);
  return found;
}

function nodeLimit(resource: string, { pod, allocatable }: ResourceOwner): string | undefined {
  if (!NODE_RESOURCES.includes(resource)) return undefined;
  const ofPod = pod.spec.resources?.limits?.[resource];
  return isUnset(ofPod) ? allocatable[resource] : ofPod;
}

const isUnset = (quantity: string | undefined): boolean =>
  quantity === undefined || quantitySign(parseQuantity(quantity)) === 0;

function divided(resource: string, value = '0', divisor = '0'): string {
  const scale = resource === 'cpu' ? THOUSANDTHS : 0;
  const amount = quantityInteger(parseQuantity(value), scale);
  const unit = quantityInteger(parseQuantity(isUnset(divisor) ? '1' : divisor), scale);
  return String((amount + unit - 1n) / unit);
}
