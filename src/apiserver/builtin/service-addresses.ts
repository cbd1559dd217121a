import { type FieldError, invalid } from '../../object/field-error.ts';
import type { Json, JsonObject } from '../../object/json.ts';
import { invalidObject } from '../status.ts';
import { AllocationError, type Allocator } from './allocators.ts';
import { copyKey, has, nameOf, numberAt, objectsAt, specOf, textAt, textsAt } from './fields.ts';

export interface ServicePools {
  readonly clusterIps: Allocator<string>;
  readonly nodePorts: Allocator<number>;
}

export const needsClusterIp = (spec: JsonObject): boolean => textAt(spec, 'type') !== 'ExternalName';
const isHeadless = (spec: JsonObject): boolean => textAt(spec, 'clusterIP') === 'None';

const needsNodePorts = (spec: JsonObject): boolean =>
  textAt(spec, 'type') === 'NodePort' ||
  (textAt(spec, 'type') === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] !== false);

const isBalancer = (spec: JsonObject): boolean => textAt(spec, 'type') === 'LoadBalancer';

const needsHealthPort = (spec: JsonObject): boolean =>
  isBalancer(spec) && textAt(spec, 'externalTrafficPolicy') === 'Local';

/** One address in the old field, all in the new one; a client may know only one of them. */
export function alignAddresses(spec: JsonObject, old: JsonObject | undefined): void {
  const single = textAt(spec, 'clusterIP');
  const list = textsAt(spec, 'clusterIPs');
  if (single !== '' && list.length === 0) spec['clusterIPs'] = [single];
  if (old === undefined) return;
  const before = textAt(old, 'clusterIP');
  if (single === before || list[0] !== before) return;
  if (single === '') delete spec['clusterIPs'];
  else spec['clusterIPs'] = [single];
}

/** What one address family offers; ours is IPv4, as on most clusters. */
export function setFamilies(spec: JsonObject): void {
  if (!needsClusterIp(spec)) return;
  const isForeign = isHeadless(spec) && !has(spec, 'selector');
  const policy = textAt(spec, 'ipFamilyPolicy') || (isForeign ? 'RequireDualStack' : 'SingleStack');
  spec['ipFamilyPolicy'] = policy;
  if (textsAt(spec, 'ipFamilies').length > 0) return;
  spec['ipFamilies'] = isForeign && policy !== 'SingleStack' ? ['IPv4', 'IPv6'] : ['IPv4'];
}

/** Values an update left out stay as they were allocated. */
export function keepAllocated(spec: JsonObject, old: JsonObject): void {
  if (needsClusterIp(spec) && needsClusterIp(old) && textAt(spec, 'clusterIP') === '') {
    copyKey(spec, old, 'clusterIP');
    copyKey(spec, old, 'clusterIPs');
  }
  if (needsNodePorts(spec) && needsNodePorts(old)) keepNodePorts(spec, old);
  if (needsHealthPort(spec) && needsHealthPort(old) && !numberAt(spec, 'healthCheckNodePort')) {
    copyKey(spec, old, 'healthCheckNodePort');
  }
}

const portKey = (port: JsonObject): string => `${textAt(port, 'protocol')}/${numberAt(port, 'port')}`;

function keepNodePorts(spec: JsonObject, old: JsonObject): void {
  const known = new Map(objectsAt(old, 'ports').map((port) => [portKey(port), port['nodePort']]));
  const used = new Set(objectsAt(spec, 'ports').map((port) => port['nodePort']));
  for (const port of objectsAt(spec, 'ports')) {
    const before = known.get(portKey(port));
    if (!numberAt(port, 'nodePort') && before !== undefined && !used.has(before)) port['nodePort'] = before;
  }
}

const ALLOCATED = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'internalTrafficPolicy'];

interface Dropped {
  readonly keys: readonly string[];
  readonly isNeeded: (spec: JsonObject) => boolean;
}

/** Fields that make sense for some types only. */
const TYPED: readonly Dropped[] = [
  { keys: ALLOCATED, isNeeded: needsClusterIp },
  { keys: ['healthCheckNodePort'], isNeeded: needsHealthPort },
  { keys: ['allocateLoadBalancerNodePorts', 'loadBalancerClass'], isNeeded: isBalancer },
  { keys: ['externalTrafficPolicy'], isNeeded: (spec) => isExternal(spec) },
];

/** A type that needs no addresses or ports loses those the old one had, unless the client changed them itself. */
export function dropForType(spec: JsonObject, old: JsonObject): void {
  for (const { keys, isNeeded } of TYPED) if (isNeeded(old) && !isNeeded(spec)) dropUnchanged(spec, old, keys);
  if (!needsNodePorts(old) || needsNodePorts(spec)) return;
  const before = new Set(objectsAt(old, 'ports').map((port) => port['nodePort']));
  for (const port of objectsAt(spec, 'ports')) if (before.has(port['nodePort'] ?? 0)) delete port['nodePort'];
}

export const isExternal = (spec: JsonObject): boolean =>
  ['NodePort', 'LoadBalancer'].includes(textAt(spec, 'type')) ||
  (textAt(spec, 'type') === 'ClusterIP' && textsAt(spec, 'externalIPs').length > 0);

const dropUnchanged = (spec: JsonObject, old: JsonObject, keys: readonly string[]): void => {
  for (const key of keys) if (JSON.stringify(spec[key]) === JSON.stringify(old[key])) delete spec[key];
};

interface Taken {
  readonly addresses: readonly string[];
  readonly ports: readonly number[];
}

const NOTHING_TAKEN: Taken = { addresses: [], ports: [] };

/** What a service holds of the pools. */
function takenBy(spec: JsonObject | undefined): Taken {
  if (spec === undefined) return NOTHING_TAKEN;
  const ports = objectsAt(spec, 'ports').map((port) => numberAt(port, 'nodePort') ?? 0);
  return {
    addresses: textsAt(spec, 'clusterIPs').filter((address) => address !== 'None' && address !== ''),
    ports: [...new Set([...ports, numberAt(spec, 'healthCheckNodePort') ?? 0])].filter((port) => port > 0),
  };
}

/** What an object that is on its way to the store has taken; a dry run holds nothing. */
const onTheWay = new WeakMap<JsonObject, Taken>();

/**
 * Takes what the service needs, all or nothing. What the old one had stays taken until the change is stored: a write that
 * loses its race must not give away what is still in use.
 */
export function allocateService(
  service: JsonObject,
  old: JsonObject | undefined,
  pools: ServicePools,
  isDryRun = false,
): void {
  const spec = specOf(service);
  const before = takenBy(old && specOf(old));
  const undo: (() => void)[] = [];
  try {
    takeAll(spec, before, pools, undo);
  } catch (error) {
    for (const back of undo) back();
    if (error instanceof Refusal)
      throw invalidObject({ group: '', kind: 'Service' }, nameOf(service), [error.problem]);
    throw error;
  }
  if (isDryRun) for (const back of undo) back();
  onTheWay.set(service, isDryRun ? NOTHING_TAKEN : without(takenBy(spec), before));
}

const without = (taken: Taken, kept: Taken): Taken => ({
  addresses: taken.addresses.filter((address) => !kept.addresses.includes(address)),
  ports: taken.ports.filter((port) => !kept.ports.includes(port)),
});

function giveBack({ addresses, ports }: Taken, { clusterIps, nodePorts }: ServicePools): void {
  for (const address of addresses) clusterIps.release(address);
  for (const port of ports) nodePorts.release(port);
}

/** A change is stored: what only the old service had is free again. */
export function settleService(service: JsonObject, old: JsonObject, pools: ServicePools): void {
  onTheWay.delete(service);
  giveBack(without(takenBy(specOf(old)), takenBy(specOf(service))), pools);
}

function takeAll(spec: JsonObject, before: Taken, pools: ServicePools, undo: (() => void)[]): void {
  if (needsClusterIp(spec) && !isHeadless(spec)) takeAddress(spec, before, pools, undo);
  if (needsNodePorts(spec)) takePorts(spec, before, pools, undo);
  if (needsHealthPort(spec)) takeHealthPort(spec, before, pools, undo);
}

class Refusal extends Error {
  readonly problem: FieldError;

  constructor(problem: FieldError) {
    super(problem.message);
    this.problem = problem;
  }
}

/** Turns the refusal of a pool into the error of a field. */
function orRefuse<T>(take: () => T, field: string, value: Json, prefix = ''): T {
  try {
    return take();
  } catch (error) {
    if (!(error instanceof AllocationError)) throw error;
    throw new Refusal(invalid(field, value, `${prefix}${error.message}`));
  }
}

function takeAddress(spec: JsonObject, before: Taken, { clusterIps }: ServicePools, undo: (() => void)[]): void {
  const wanted = textsAt(spec, 'clusterIPs')[0] ?? '';
  if (before.addresses.includes(wanted)) return;
  const take = (): string => clusterIps.allocate(wanted === '' ? undefined : wanted);
  const prefix = `failed to allocate IP ${wanted}: `;
  const address = orRefuse(take, 'spec.clusterIPs', wanted === '' ? [] : [wanted], prefix);
  undo.push(() => clusterIps.release(address));
  spec['clusterIP'] = address;
  spec['clusterIPs'] = [address];
}

function takePorts(spec: JsonObject, before: Taken, { nodePorts }: ServicePools, undo: (() => void)[]): void {
  // One number may serve a port in several protocols.
  const own = new Set(before.ports);
  objectsAt(spec, 'ports').forEach((port, index) => {
    const wanted = numberAt(port, 'nodePort') ?? 0;
    if (wanted > 0 && own.has(wanted)) return;
    const take = (): number => nodePorts.allocate(wanted === 0 ? undefined : wanted);
    const number = orRefuse(take, `spec.ports[${index}].nodePort`, wanted);
    undo.push(() => nodePorts.release(number));
    own.add(number);
    port['nodePort'] = number;
  });
}

function takeHealthPort(spec: JsonObject, before: Taken, { nodePorts }: ServicePools, undo: (() => void)[]): void {
  const wanted = numberAt(spec, 'healthCheckNodePort') ?? 0;
  if (wanted > 0 && before.ports.includes(wanted)) return;
  const take = (): number => nodePorts.allocate(wanted === 0 ? undefined : wanted);
  const port = orRefuse(
    take,
    'spec.healthCheckNodePort',
    wanted,
    'failed to allocate requested HealthCheck NodePort: ',
  );
  undo.push(() => nodePorts.release(port));
  spec['healthCheckNodePort'] = port;
}

/** Gives back what a write took that was not stored, or everything a deleted service holds. */
export function releaseService(service: JsonObject, pools: ServicePools): void {
  giveBack(onTheWay.get(service) ?? takenBy(specOf(service)), pools);
  onTheWay.delete(service);
}
