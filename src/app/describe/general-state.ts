import { PAUSED_ANNOTATION } from '../../api/cluster-api/core-v1beta2.ts';
import type { KubeObject } from '../../api/object.ts';
import { fieldAt } from '../../api/unstructured.ts';
import { ageMs } from './age.ts';
import { isBeingDeleted, isTrueAt, textAt } from './object-fields.ts';
import { kubectl, type State } from './row.ts';
import { conditionIn, oneLine } from './told-condition.ts';

/** A deletion that takes longer than this does not go on by itself. */
const DELETION_MS = 15 * 60_000;
/** A controller that runs has looked at a new object by then. */
const SILENCE_MS = 60_000;

/** Who takes a finalizer away, by what its name holds. The first match counts. */
const FINALIZERS: readonly (readonly [part: string, who: string])[] = [
  ['openshiftassistedconfig', 'agent-bootstrap'],
  ['openshiftassistedcontrolplane', 'agent-control-plane'],
  ['metal3machine', 'the Metal3 provider'],
  ['metal3cluster', 'the Metal3 provider'],
  ['baremetalhost', 'the baremetal-operator'],
  ['agent-install.openshift.io', 'assisted-service'],
  ['hive.openshift.io', 'Hive or assisted-service'],
  ['foregroundDeletion', 'the garbage collector, when all it owns is gone'],
  ['kubeadm', 'the kubeadm provider'],
  ['.cluster.x-k8s.io', 'Cluster API'],
  ['cluster.x-k8s.io/', 'Cluster API'],
];

const remover = (finalizer: string): string =>
  FINALIZERS.find(([part]) => finalizer.includes(part))?.[1] ?? 'the controller that set it';

/**
 * What is true of an object of any kind: it goes, it is paused, it failed for good, or nobody has looked at it. Undefined
 * when its own fields tell more.
 */
export const generalState = (object: KubeObject, at: Date): State | undefined =>
  deletingState(object, at) ?? pausedState(object) ?? failedState(object) ?? silentState(object, at);

/** `waitsFor`: what is known to be in the way; without it, the object's own words, and at last its finalizers. */
export function deletingState(object: KubeObject, at: Date, waitsFor = ''): State | undefined {
  if (!isBeingDeleted(object)) return undefined;
  const { deletionTimestamp: since, finalizers = [] } = object.metadata;
  const isStuck = (ageMs(since, at) ?? 0) > DELETION_MS;
  const [first = ''] = finalizers;
  return {
    health: isStuck ? 'attention' : 'working',
    word: 'deleting',
    since,
    why: waitsFor || deletionText(object) || heldText(finalizers),
    ...(first !== '' && {
      next: `see whether ${remover(first)} runs and what its log says of ${object.kind} ${object.metadata.name}`,
    }),
  };
}

/** What the object itself says of its deletion; empty when it says nothing. */
export function deletionText(object: KubeObject): string {
  const told = conditionIn(object, 'Deleting');
  return told?.status === 'True' ? oneLine(told.message) : '';
}

const heldText = (finalizers: readonly string[]): string =>
  finalizers.length === 0
    ? 'it is about to be gone'
    : `held by the finalizer ${finalizers.map((name) => `${name} (removed by ${remover(name)})`).join(', ')}`;

/** Only what is paused itself: of a paused Cluster its own row tells. */
export function pausedState(object: KubeObject): State | undefined {
  const since = conditionIn(object, 'Paused')?.since;
  if (isTrueAt(object, 'spec', 'paused'))
    return {
      health: 'attention',
      word: 'paused',
      since,
      why: 'spec.paused is true: nothing is done for it',
      next: kubectl(object, 'patch', `--type merge -p '{"spec":{"paused":false}}'`),
    };
  if (!Object.hasOwn(object.metadata.annotations ?? {}, PAUSED_ANNOTATION)) return undefined;
  return {
    health: 'attention',
    word: 'paused',
    since,
    why: `the annotation ${PAUSED_ANNOTATION} is set: nothing is done for it`,
    next: kubectl(object, 'annotate', `${PAUSED_ANNOTATION}-`),
  };
}

/** The older contracts have fields for what no time heals. */
function failedState(object: KubeObject): State | undefined {
  const failure = textAt(object, 'status', 'failureMessage') || textAt(object, 'status', 'failureReason');
  if (failure === '') return undefined;
  return {
    health: 'failed',
    word: 'failed',
    since: conditionIn(object, 'Ready')?.since,
    why: oneLine(failure),
    next: kubectl(object, 'describe'),
  };
}

function silentState(object: KubeObject, at: Date): State | undefined {
  const { creationTimestamp: created } = object.metadata;
  const isSilent = fieldAt(object, 'status') === undefined && (ageMs(created, at) ?? 0) > SILENCE_MS;
  if (!isSilent) return undefined;
  return {
    health: 'attention',
    word: 'not looked at',
    since: created ?? undefined,
    why: `it has no status: no controller has looked at this ${object.kind}`,
    next: `see whether the provider of ${object.kind} runs`,
  };
}
