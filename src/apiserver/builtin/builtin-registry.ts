import type { Clock } from '../../base/clock.ts';
import { isJsonObject, type JsonObject } from '../../object/json.ts';
import { parseJsonBytes } from '../../object/json-text.ts';
import { builtinResources, completeResource } from '../builtin-data/builtin-resources.ts';
import { crdStrategy } from '../crd/crd-strategy.ts';
import { columnsOf } from '../printing/columns.ts';
import type { Resource, Strategy } from '../registry/resource.ts';
import type { Store } from '../store/store.ts';
import { ClusterIpAllocator, NodePortAllocator } from './allocators.ts';
import { objectAt, textAt } from './fields.ts';
import type { Priority } from './pod-admission.ts';
import { type StrategyDeps, strategyOf } from './strategies.ts';

export interface BuiltinOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Where cluster IPs come from. */
  readonly serviceRange: string;
}

export interface Builtins {
  readonly resources: readonly Resource[];
  /** The address of the service `default/kubernetes`. */
  readonly kubernetesAddress: string;
}

/** The kinds of Kubernetes itself, with what is already allocated in the store taken. */
export function createBuiltins({ store, clock, serviceRange }: BuiltinOptions): Builtins {
  const picker = { pick: (count: number) => Math.floor(clock.random() * count) };
  const clusterIps = new ClusterIpAllocator(serviceRange, picker);
  const nodePorts = new NodePortAllocator(undefined, undefined, picker);
  const deps: StrategyDeps = { clusterIps, nodePorts, findPriority: (name) => priorityOf(store, name) };
  takeAllocated(store, deps);
  return {
    resources: builtinResources().map((builtin) =>
      completeResource(builtin, strategy(builtin, deps), columnsOf(builtin.group, builtin.kind)),
    ),
    kubernetesAddress: clusterIps.kubernetesAddress,
  };
}

function strategy(
  { group, kind, version }: Pick<Resource, 'group' | 'kind' | 'version'>,
  deps: StrategyDeps,
): Strategy {
  return group === 'apiextensions.k8s.io' ? crdStrategy : strategyOf(group, kind, deps, version);
}

/** A PriorityClass by name; with an empty name, the default one. */
export function priorityOf(store: Store, name: string): Priority | undefined {
  const classes = store.list('/registry/scheduling.k8s.io/priorityclasses/');
  for (const { bytes } of classes) {
    const found = objectOf(bytes);
    const isMeant =
      name === '' ? found['globalDefault'] === true : textAt(objectAt(found, 'metadata'), 'name') === name;
    if (!isMeant) continue;
    const preemptionPolicy = textAt(found, 'preemptionPolicy') || 'PreemptLowerPriority';
    return {
      name: textAt(objectAt(found, 'metadata'), 'name'),
      value: Number(found['value'] ?? 0),
      preemptionPolicy,
    };
  }
  return undefined;
}

/** After a restart, what stored Services have is taken. */
function takeAllocated(store: Store, { clusterIps, nodePorts }: StrategyDeps): void {
  for (const { bytes } of store.list('/registry/core/services/')) {
    const { spec } = objectOf(bytes);
    if (!isJsonObject(spec)) continue;
    const addresses = Array.isArray(spec['clusterIPs']) ? spec['clusterIPs'] : [];
    for (const address of addresses) {
      if (typeof address === 'string') take(() => clusterIps.allocate(address));
    }
    const ports = Array.isArray(spec['ports']) ? spec['ports'] : [];
    for (const port of [
      ...ports.filter(isJsonObject).map((item) => item['nodePort']),
      spec['healthCheckNodePort'],
    ]) {
      if (typeof port === 'number' && port > 0) take(() => nodePorts.allocate(port));
    }
  }
}

/** Headless services have `None`, two services may share a port by protocol: what cannot be taken is no loss. */
function take(allocate: () => unknown): void {
  try {
    allocate();
  } catch {
    // Taken already, or not of our range.
  }
}

function objectOf(bytes: Uint8Array): JsonObject {
  const { value } = parseJsonBytes(bytes);
  return isJsonObject(value) ? value : {};
}
