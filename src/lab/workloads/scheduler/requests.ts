import type { Container, Node, Pod, PodSpec } from '../../../api/generated/core-v1-types.ts';
import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  type Quantity,
  QuantityProblem,
  quantityInteger,
} from '../../../object/quantity.ts';

/** Whole amounts by the name of the resource: thousandths of processors, bytes, pieces. */
export type Resources = ReadonlyMap<string, number>;

type Amounts = Map<string, Quantity>;
type Written = Readonly<Record<string, string>>;

/** What a container that asks for nothing counts as when nodes are compared (K6); not when they are filled. */
const UNSAID: Written = { cpu: '100m', memory: '200Mi' };

/** What a pod takes from its node (K5). Amounts of zero are left out: they never lack. */
export const podRequests = (pod: Pick<Pod, 'spec'>): Resources => wholeAmounts(effective(pod.spec, requestsOf));

/** The same for comparing nodes: containers that do not say what they need are not free (K6). */
export const scoredRequests = (pod: Pick<Pod, 'spec'>): Resources =>
  wholeAmounts(effective(pod.spec, (container) => ({ ...UNSAID, ...requestsOf(container) })));

/** What a node has for pods; `pods` is how many. */
export const allocatableOf = ({ status }: Pick<Node, 'status'>): Resources =>
  wholeAmounts(amountsOf(status?.allocatable ?? {}));

const requestsOf = ({ resources }: Container): Written => resources?.requests ?? {};

/**
 * All containers that run together, or the one that runs before them if that is more, next to the sidecars that were
 * started before it; instead of both what the pod itself says; and what the pod costs beside its containers.
 */
function effective(spec: PodSpec, of: (container: Container) => Written): Amounts {
  const total = runningAmounts(spec, of);
  for (const [name, amount] of amountsOf(spec.resources?.requests ?? {}))
    if (isForWholePods(name)) total.set(name, amount);
  add(total, amountsOf(spec.overhead ?? {}));
  return total;
}

function runningAmounts({ containers, initContainers = [] }: PodSpec, of: (one: Container) => Written): Amounts {
  const running: Amounts = new Map();
  for (const container of containers) add(running, amountsOf(of(container)));
  const sidecars: Amounts = new Map();
  const highest: Amounts = new Map();
  for (const container of initContainers) {
    const own = amountsOf(of(container));
    if (container.restartPolicy === 'Always') {
      add(running, own);
      add(sidecars, own);
      raise(highest, sidecars);
    } else {
      add(own, sidecars);
      raise(highest, own);
    }
  }
  raise(running, highest);
  return running;
}

function add(total: Amounts, more: Amounts): void {
  for (const [name, amount] of more) {
    const known = total.get(name);
    total.set(name, known === undefined ? amount : addQuantities(known, amount));
  }
}

function raise(highest: Amounts, other: Amounts): void {
  for (const [name, amount] of other) {
    const known = highest.get(name);
    if (known === undefined || compareQuantities(amount, known) > 0) highest.set(name, amount);
  }
}

/** An amount that no server would have let through counts as none. */
function amountsOf(written: Written): Amounts {
  const amounts: Amounts = new Map();
  for (const [name, text] of Object.entries(written)) {
    try {
      amounts.set(name, parseQuantity(text));
    } catch (error) {
      if (!(error instanceof QuantityProblem)) throw error;
    }
  }
  return amounts;
}

function wholeAmounts(amounts: Amounts): Resources {
  const whole = new Map<string, number>();
  for (const [name, amount] of amounts) {
    const value = Number(quantityInteger(amount, name === 'cpu' ? -3 : 0));
    if (value !== 0 && isCounted(name)) whole.set(name, value);
  }
  return whole;
}

/** Extended resources have a slash in their names. */
const isCounted = (name: string): boolean =>
  ['cpu', 'memory', 'ephemeral-storage', 'pods'].includes(name) ||
  /^(hugepages|attachable-volumes)-/.test(name) ||
  name.includes('/');

const isForWholePods = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || name.startsWith('hugepages-');
