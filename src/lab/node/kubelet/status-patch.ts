import type { Pod, PodCondition, PodStatus } from '../../../api/generated/core-v1-types.ts';
import { type Json, type JsonObject, jsonEqual } from '../../../object/json.ts';
import type { OwnedStatus } from './pod-status.ts';

const SIMULATED = 'slipway.dev/simulated';

/**
 * The strategic merge patch of `pods/status` that makes a pod what the node wants it to be, with the annotation that
 * names its simulated containers (N12); undefined when it is already. Refused when the pod is another one by now.
 */
export function podPatch(
  onServer: Pod,
  wanted: OwnedStatus,
  simulated: ReadonlySet<string>,
): JsonObject | undefined {
  const { uid = '', annotations = {} } = onServer.metadata;
  const status = statusPatch(onServer.status ?? {}, wanted);
  const { initContainers = [], containers } = onServer.spec;
  const names = [...initContainers, ...containers].map(({ name }) => name).filter((name) => simulated.has(name));
  const text = names.join(',');
  const isNamed = text === '' || annotations[SIMULATED] === text;
  if (status === undefined && isNamed) return undefined;
  return {
    metadata: { uid, ...(!isNamed && { annotations: { [SIMULATED]: text } }) },
    ...(status !== undefined && { status }),
  };
}

/** Fields that are replaced as a whole. */
const WHOLE = [
  'phase',
  'reason',
  'message',
  'startTime',
  'hostIP',
  'podIP',
  'initContainerStatuses',
  'containerStatuses',
  'observedGeneration',
] as const;
/** Lists whose items are known by their `ip`. */
const ADDRESSES = ['hostIPs', 'podIPs'] as const;

/**
 * The strategic merge patch that makes a status what the node wants; undefined when it is already. Conditions of others
 * stay: only ours that differ are sent.
 */
export function statusPatch(before: PodStatus, after: OwnedStatus): JsonObject | undefined {
  const patch: JsonObject = {};
  for (const key of WHOLE) {
    const [from, to] = [json(before[key]), json(after[key])];
    if (!jsonEqual(from, to)) patch[key] = to ?? null;
  }
  for (const key of ADDRESSES) {
    const addresses = addressPatch(before[key] ?? [], after[key] ?? []);
    if (addresses !== undefined) patch[key] = addresses;
  }
  const conditions = (after.conditions ?? []).flatMap((condition) => conditionPatch(before, condition));
  if (conditions.length > 0) patch['conditions'] = conditions;
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/** A pod keeps its addresses to the end: none is wanted away. */
function addressPatch(from: readonly object[], to: readonly object[]): Json | undefined {
  if (to.length === 0 || jsonEqual(asJson(from), asJson(to))) return undefined;
  // Items with another `ip` would be added to the old ones.
  return from.length === 0 ? asJson(to) : [...to.map(asJson), { $patch: 'replace' }];
}

function conditionPatch({ conditions = [] }: PodStatus, wanted: PodCondition): JsonObject[] {
  const old = conditions.find(({ type }) => type === wanted.type);
  const to = asJson(wanted) as JsonObject;
  if (old === undefined) return [to];
  const from = asJson(old) as JsonObject;
  // A time at which it was last looked at is nothing that we know.
  const gone = Object.keys(from).filter((key) => !Object.hasOwn(to, key) && key !== 'lastProbeTime');
  const isSame = gone.length === 0 && Object.keys(to).every((key) => jsonEqual(to[key], from[key]));
  return isSame ? [] : [{ ...to, ...Object.fromEntries(gone.map((key) => [key, null])) }];
}

// Kubernetes objects are plain JSON; their types only say more than that.
const asJson = (value: object): Json => value as unknown as Json;
const json = (value: unknown): Json | undefined => value as Json | undefined;
