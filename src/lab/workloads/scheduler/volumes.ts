import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  TopologySelectorTerm,
} from '../../../api/generated/core-v1-types.ts';
import type { StorageClass } from '../../../api/generated/storage-v1-types.ts';
import { isControlledBy } from '../../../object/owner-references.ts';
import { matchesTerms } from '../placement/node-affinity.ts';
import type { ClaimUse, PodFacts } from './pod-facts.ts';
import { classOf, isFullyBound, type StorageObjects, type StorageView } from './storage-view.ts';

/** The claims of a pod that can be scheduled: with a volume, or waiting for somebody to choose a node. */
export interface PodClaims {
  readonly bound: readonly PersistentVolumeClaim[];
  readonly delayed: readonly PersistentVolumeClaim[];
}

/** Why no node will do, as long as the claims are as they are. */
export interface ClaimProblem {
  readonly problem: string;
}

const UNBOUND: ClaimProblem = { problem: 'pod has unbound immediate PersistentVolumeClaims' };
const NOT_FOUND = "node(s) didn't find available persistent volumes to bind";
const OTHER_NODES = "node(s) didn't match PersistentVolume's node affinity";
const NO_VOLUME = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';
const NO_PROVISIONER: readonly string[] = ['', 'kubernetes.io/no-provisioner'];

export function podClaims(facts: PodFacts, storage: StorageView): PodClaims | ClaimProblem {
  const bound: PersistentVolumeClaim[] = [];
  const delayed: PersistentVolumeClaim[] = [];
  for (const use of facts.claims) {
    const claim = storage.objects.claims.get(claimKey(facts, use.name));
    const problem = claimProblem(use, claim, facts);
    if (claim === undefined || problem !== undefined) return { problem: problem ?? '' };
    if (isFullyBound(claim)) bound.push(claim);
    else if (isDelayed(claim, storage.objects)) delayed.push(claim);
    else return UNBOUND;
  }
  return { bound, delayed };
}

export const claimKey = ({ namespace }: { readonly namespace: string }, name: string): string =>
  `${namespace}/${name}`;

/** In the words of upstream. */
function claimProblem(
  { name, isEphemeral }: ClaimUse,
  claim: PersistentVolumeClaim | undefined,
  { pod, namespace }: PodFacts,
): string | undefined {
  if (claim === undefined) {
    return isEphemeral
      ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${name}"`
      : `persistentvolumeclaim "${name}" not found`;
  }
  const { volumeName = '' } = claim.spec;
  if (claim.status?.phase === 'Lost')
    return `persistentvolumeclaim "${name}" bound to non-existent persistentvolume "${volumeName}"`;
  if (claim.metadata.deletionTimestamp !== undefined) return `persistentvolumeclaim "${name}" is being deleted`;
  if (isEphemeral && !isControlledBy(claim, pod)) {
    const owner = `${namespace}/${pod.metadata.name}`;
    return `PVC ${namespace}/${name} was not created for pod ${owner} (pod is not owner)`;
  }
  return undefined;
}

/** A claim that names its volume itself waits for nobody. */
const isDelayed = (claim: PersistentVolumeClaim, { classes }: StorageObjects): boolean =>
  (claim.spec.volumeName ?? '') === '' &&
  classes.get(classOf(claim))?.volumeBindingMode === 'WaitForFirstConsumer';

/** Why the volumes of a pod keep it from a node; none when they do not. Volumes without a provisioner are not looked for. */
export function volumeReasons({ bound, delayed }: PodClaims, node: Node, storage: StorageView): readonly string[] {
  const volumes = bound.map(({ spec }) => storage.objects.volumes.get(spec.volumeName ?? ''));
  const [lost, kept] = [volumes.includes(undefined), volumes.filter((volume) => volume !== undefined)];
  const isElsewhere = kept.some((volume) => !isReachable(volume, node));
  const isNotFound = delayed.some((claim) => !canBeMade(claim, node, storage));
  return [
    ...(isElsewhere ? [OTHER_NODES] : []),
    ...(isNotFound ? [NOT_FOUND] : []),
    ...(lost && !isElsewhere ? [NO_VOLUME] : []),
  ];
}

export const isReachable = ({ spec }: PersistentVolume, node: Node): boolean =>
  spec.nodeAffinity?.required === undefined || matchesTerms(spec.nodeAffinity.required.nodeSelectorTerms, node);

function canBeMade(claim: PersistentVolumeClaim, node: Node, storage: StorageView): boolean {
  const { name, namespace = '' } = claim.metadata;
  const selected = storage.selectedNode(claimKey({ namespace }, name), claim);
  if (selected !== undefined && selected !== node.metadata.name) return false;
  const found = storage.objects.classes.get(classOf(claim));
  return found !== undefined && !NO_PROVISIONER.includes(found.provisioner) && isAllowed(found, node);
}

const isAllowed = ({ allowedTopologies = [] }: StorageClass, node: Node): boolean =>
  allowedTopologies.length === 0 || allowedTopologies.some((term) => isWithin(term, node));

const isWithin = (
  { matchLabelExpressions = [] }: TopologySelectorTerm,
  { metadata: { labels = {} } }: Node,
): boolean =>
  matchLabelExpressions.length > 0 &&
  matchLabelExpressions.every(
    ({ key, values }) => Object.hasOwn(labels, key) && values.includes(labels[key] ?? ''),
  );
