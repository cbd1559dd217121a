import { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../api/generated/core-v1.ts';
import type { Node } from '../../../api/generated/core-v1-types.ts';
import { keyFromText, type ObjectKey } from '../../../api/object.ts';
import { ApiError, isNotFound } from '../../../kube/client/api-error.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile.ts';
import type { PodFacts } from './pod-facts.ts';
import { isFullyBound, SELECTED_NODE } from './storage-view.ts';
import { isReachable } from './volumes.ts';

/** A pod is to get a node, and its volumes before. */
export interface Assignment {
  readonly type: 'assignment';
  readonly facts: PodFacts;
  readonly uid: string;
  readonly key: string;
  readonly node: string;
  /** Names of claims whose volumes are made for the node. */
  readonly claims: readonly string[];
  /** Those that say so: when they stop saying it, their volume cannot be made there. */
  readonly asked: Set<string>;
  readonly sinceMs: number;
  isWaiting: boolean;
}

export type Outcome =
  /** It has the node, maybe since an attempt that nobody answered. */
  | { readonly type: 'bound'; readonly pod: Pod }
  /** Somebody else gave it a node. */
  | { readonly type: 'elsewhere' }
  | { readonly type: 'gone' }
  /** For its volumes. */
  | { readonly type: 'waiting' }
  | Rejection;

/** Not this node: the pod has to be scheduled anew. */
export interface Rejection {
  readonly type: 'rejected';
  readonly message: string;
}

const GONE: Outcome = { type: 'gone' };
const WAITING: Outcome = { type: 'waiting' };
/** The server, or somebody who admits, does not want this. Whatever else fails may go well the next time. */
const REFUSALS: readonly number[] = [400, 403, 422];

/** Does what is left to do. Throws when that failed for now. */
export async function carryOut(
  assignment: Assignment,
  node: Node | undefined,
  context: ReconcileContext,
): Promise<Outcome> {
  const key = keyFromText(assignment.key);
  const pod = await context.client.find(Pod, key, { signal: context.signal });
  if (pod?.metadata.uid !== assignment.uid || pod.metadata.deletionTimestamp !== undefined) return GONE;
  const { nodeName = '' } = pod.spec;
  if (nodeName !== '') return nodeName === assignment.node ? { type: 'bound', pod } : { type: 'elsewhere' };
  if (node === undefined) return rejected(`node "${assignment.node}" not found`);
  return (await volumesFor(assignment, node, context)) ?? (await bind(assignment, pod, context));
}

const rejected = (message: string): Rejection => ({ type: 'rejected', message });

export const volumesRejected = (why: string): Rejection =>
  rejected(`running PreBind plugin "VolumeBinding": binding volumes: ${why}`);

async function bind({ key, uid, node }: Assignment, pod: Pod, context: ReconcileContext): Promise<Outcome> {
  const { client, signal } = context;
  const { name, namespace } = keyFromText(key);
  const binding = {
    apiVersion: 'v1',
    kind: 'Binding',
    // Not to another pod that got the name meanwhile.
    metadata: { name, ...(namespace !== undefined && { namespace }), uid },
    target: { kind: 'Node', name: node },
  };
  try {
    await client.subresource('binding').create(Pod, keyFromText(key), binding, { signal });
    return { type: 'bound', pod };
  } catch (error) {
    if (isNotFound(error)) return GONE;
    if (!(error instanceof ApiError) || !REFUSALS.includes(error.code)) throw error;
    return rejected(`running Bind plugin "DefaultBinder": ${error.message}`);
  }
}

/** Asks for volumes that are still to be made; undefined when all of them are there. */
async function volumesFor(
  assignment: Assignment,
  node: Node,
  context: ReconcileContext,
): Promise<Outcome | undefined> {
  const { namespace } = assignment.facts;
  const outcomes: (Outcome | undefined)[] = [];
  for (const name of assignment.claims)
    outcomes.push(await volumeFor({ namespace, name }, assignment, { node, context }));
  return (
    outcomes.find((outcome) => outcome?.type === 'rejected') ?? outcomes.find((outcome) => outcome !== undefined)
  );
}

interface Tools {
  readonly node: Node;
  readonly context: ReconcileContext;
}

async function volumeFor(key: ObjectKey, { asked }: Assignment, tools: Tools): Promise<Outcome | undefined> {
  const { client, signal } = tools.context;
  const { name } = key;
  const claim = await client.find(PersistentVolumeClaim, key, { signal });
  if (claim === undefined) return volumesRejected(`persistentvolumeclaim "${name}" not found`);
  if (isFullyBound(claim)) return volumeOf(claim, tools);
  const selected = claim.metadata.annotations?.[SELECTED_NODE];
  const wanted = tools.node.metadata.name;
  if (selected === undefined && !asked.has(name)) await select(claim, tools);
  // Who cannot make a volume takes the annotation away.
  else if (selected !== wanted) return volumesRejected(`provisioning failed for PVC "${name}"`);
  asked.add(name);
  return WAITING;
}

async function volumeOf({ spec }: PersistentVolumeClaim, { node, context }: Tools): Promise<Outcome | undefined> {
  const { volumeName: name = '' } = spec;
  const volume = await context.client.find(PersistentVolume, { name }, { signal: context.signal });
  if (volume === undefined) return WAITING;
  if (isReachable(volume, node)) return undefined;
  const why = `pv "${name}" node affinity doesn't match node "${node.metadata.name}"`;
  return volumesRejected(`${why}: no matching NodeSelectorTerms`);
}

/** In the very version that was looked at: two schedulers must not send one claim to two nodes. */
async function select({ metadata }: PersistentVolumeClaim, { node, context }: Tools): Promise<void> {
  const { name, namespace = '', uid = '', resourceVersion = '' } = metadata;
  const annotations = { [SELECTED_NODE]: node.metadata.name };
  const body = { metadata: { uid, resourceVersion, annotations } };
  const { client, signal } = context;
  await client.patch(PersistentVolumeClaim, { namespace, name }, { type: 'merge', body }, { signal });
}
