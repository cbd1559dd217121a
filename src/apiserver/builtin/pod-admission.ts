import type { Json, JsonObject } from '../../object/json.ts';
import { forbiddenObject } from '../status.ts';
import { metadataOf, nameOf, numberAt, objectAt, objectsAt, optionalAt, setDefault, textAt } from './fields.ts';
import { mirrorAccount } from './pod-defaults.ts';
import { compareAmounts, isPositive } from './quantities.ts';

/** What a pod takes from its PriorityClass. */
export interface Priority {
  readonly name: string;
  readonly value: number;
  readonly preemptionPolicy: string;
}

/** The class of a name; with an empty name the one that is the default of the cluster, if any. */
export type FindPriority = (name: string) => Priority | undefined;

const PODS = { group: '', resource: 'pods' };
const MIRROR = 'kubernetes.io/config.mirror';
const TOLERATION_SECONDS = 300;
const NO_PRIORITY: Priority = { name: '', value: 0, preemptionPolicy: 'PreemptLowerPriority' };

const SYSTEM_PRIORITIES: readonly Priority[] = [
  { name: 'system-node-critical', value: 2_000_001_000, preemptionPolicy: 'PreemptLowerPriority' },
  { name: 'system-cluster-critical', value: 2_000_000_000, preemptionPolicy: 'PreemptLowerPriority' },
];

/** The value of a class that exists in every cluster. */
export const systemPriority = (name: string): Priority | undefined =>
  SYSTEM_PRIORITIES.find((priority) => priority.name === name);

/** What admission plugins of upstream put into every new pod: account, priority, tolerations. */
export function admitPod(pod: JsonObject, findPriority: FindPriority): void {
  const spec = objectAt(pod, 'spec');
  // A mirror shows a pod of a file, which has no account.
  if (objectAt(metadataOf(pod), 'annotations')[MIRROR] === undefined) {
    if (textAt(spec, 'serviceAccountName') === '') spec['serviceAccountName'] = 'default';
    mirrorAccount(spec);
  }
  admitPriority(pod, spec, findPriority);
  addTolerations(spec);
}

function admitPriority(pod: JsonObject, spec: JsonObject, findPriority: FindPriority): void {
  const wanted = textAt(spec, 'priorityClassName');
  const found = (wanted === '' ? undefined : systemPriority(wanted)) ?? findPriority(wanted);
  if (found === undefined && wanted !== '') {
    throw forbiddenObject(PODS, nameOf(pod), `no PriorityClass with name ${wanted} was found`);
  }
  const { name, value, preemptionPolicy } = found ?? NO_PRIORITY;
  const given = numberAt(spec, 'priority');
  if (given !== undefined && given !== value) {
    const why = `the integer value of priority (${given}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`;
    throw forbiddenObject(PODS, nameOf(pod), why);
  }
  if (name !== '') spec['priorityClassName'] = name;
  spec['priority'] = value;
  setDefault(spec, 'preemptionPolicy', preemptionPolicy);
}

/** Pods stay five minutes on a node that is lost, unless they say otherwise; checked on every write. */
export function addTolerations(spec: JsonObject): void {
  const list: Json[] = Array.isArray(spec['tolerations']) ? spec['tolerations'] : [];
  for (const key of ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']) {
    const isThere = objectsAt(spec, 'tolerations').some((toleration) => tolerates(toleration, key));
    if (!isThere)
      list.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: TOLERATION_SECONDS });
  }
  if (list.length > 0) spec['tolerations'] = list;
}

function tolerates(toleration: JsonObject, key: string): boolean {
  const own = textAt(toleration, 'key');
  const effect = textAt(toleration, 'effect');
  return (own === key || own === '') && (effect === 'NoExecute' || effect === '');
}

/** Guaranteed, Burstable or BestEffort, from the cpu and memory of all containers. */
export function qosClassOf(pod: JsonObject): string {
  const spec = objectAt(pod, 'spec');
  const containers = [...objectsAt(spec, 'containers'), ...objectsAt(spec, 'initContainers')];
  const holders = optionalAt(spec, 'resources') === undefined ? containers : [spec];
  const resources = holders.map((holder) => objectAt(holder, 'resources'));
  const hasAny = resources.some((item) =>
    COUNTED.some((name) => ['requests', 'limits'].some((list) => isPositive(objectAt(item, list)[name]))),
  );
  if (!hasAny) return 'BestEffort';
  return resources.every(isGuaranteed) ? 'Guaranteed' : 'Burstable';
}

const COUNTED = ['cpu', 'memory'];

const isGuaranteed = (resources: JsonObject): boolean =>
  COUNTED.every((name) => {
    const limit = objectAt(resources, 'limits')[name];
    return isPositive(limit) && compareAmounts(objectAt(resources, 'requests')[name] ?? limit, limit) === 0;
  });
