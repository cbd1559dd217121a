import { cloneJson, type JsonObject, jsonEqual } from '../../object/json.ts';
import type { Strategy } from '../registry/resource.ts';
import { metadataOf } from '../request.ts';
import { finalizersOf, isHeldBy, textOf, timestamp } from './object-meta.ts';

export type Propagation = 'Background' | 'Foreground' | 'Orphan';

export interface DeletionOptions {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: Propagation | undefined;
  readonly orphanDependents: boolean | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly isDryRun: boolean;
}

/** What a delete does to an object: it goes, it is marked and waits, or it is waiting already. */
export type Deletion =
  | { readonly type: 'remove'; readonly object: JsonObject }
  | { readonly type: 'mark'; readonly object: JsonObject }
  | { readonly type: 'wait'; readonly object: JsonObject };

export const ORPHAN_FINALIZER = 'orphan';
export const FOREGROUND_FINALIZER = 'foregroundDeletion';

/** Decides DE2–DE5 from the object, its kind and the options alone. */
export function planDeletion(old: JsonObject, strategy: Strategy, options: DeletionOptions, now: Date): Deletion {
  const object = cloneJson(old);
  const metadata = metadataOf(object);
  const wasMarked = metadata['deletionTimestamp'] !== undefined;
  // A namespace that waits for its content is not even asked again.
  if (wasMarked && isHeldBy(strategy, old)) return { type: 'wait', object: old };
  setFinalizers(metadata, finalizersAfter(metadata, strategy, options));
  if (!wasMarked) strategy.beginDeletion?.(object, now);
  const graceSeconds = strategy.gracePeriod?.(object, options.gracePeriodSeconds) ?? 0;
  const isHeld = finalizersOf(metadata).length > 0 || isHeldBy(strategy, object);
  if (graceSeconds === 0 && !isHeld) {
    // Kinds that can wait are marked even when they do not (DE5).
    if (strategy.gracePeriod !== undefined) mark(object, { graceSeconds: 0, now, isBare: false });
    return { type: 'remove', object };
  }
  mark(object, { graceSeconds, now, isBare: strategy.isHeld !== undefined });
  return jsonEqual(object, old) ? { type: 'wait', object: old } : { type: 'mark', object };
}

interface Marking {
  readonly graceSeconds: number;
  readonly now: Date;
  /** A namespace or definition gets no grace period (G1), and deletion is no generation of it. */
  readonly isBare: boolean;
}

function mark(object: JsonObject, { graceSeconds, now, isBare }: Marking): void {
  const metadata = metadataOf(object);
  const previous = metadata['deletionGracePeriodSeconds'];
  const isMarked = metadata['deletionTimestamp'] !== undefined;
  // Only shortening is allowed later (DE5).
  if (isMarked && (isBare || graceSeconds >= Number(previous ?? 0))) return;
  const from = isMarked ? startOf(metadata, Number(previous ?? 0)) : now;
  metadata['deletionTimestamp'] = timestamp(new Date(from.getTime() + graceSeconds * 1000));
  if (!isBare) metadata['deletionGracePeriodSeconds'] = graceSeconds;
  const generation = Number(metadata['generation'] ?? 0);
  if (!isMarked && !isBare && generation > 0) metadata['generation'] = generation + 1;
}

/** When the first delete came in: its timestamp is the end of the grace period. */
const startOf = (metadata: JsonObject, graceSeconds: number): Date =>
  new Date(Date.parse(textOf(metadata['deletionTimestamp'])) - graceSeconds * 1000);

function setFinalizers(metadata: JsonObject, finalizers: readonly string[]): void {
  if (finalizers.length === 0) delete metadata['finalizers'];
  else metadata['finalizers'] = [...finalizers];
}

/** DE4: the policy adds or removes the finalizers of the garbage collector; without one, what is there decides. */
function finalizersAfter(metadata: JsonObject, strategy: Strategy, options: DeletionOptions): readonly string[] {
  const finalizers = finalizersOf(metadata);
  if (strategy.isCollected === false) return finalizers;
  const others = finalizers.filter((name) => name !== ORPHAN_FINALIZER && name !== FOREGROUND_FINALIZER);
  const policy =
    policyOf(options) ?? policyOfFinalizers(finalizers) ?? strategy.defaultPropagation ?? 'Background';
  if (policy === 'Orphan') return keptOrAdded(finalizers, others, ORPHAN_FINALIZER);
  if (policy === 'Foreground') return keptOrAdded(finalizers, others, FOREGROUND_FINALIZER);
  return others;
}

const keptOrAdded = (all: readonly string[], others: readonly string[], name: string): readonly string[] =>
  all.includes(name) && all.length === others.length + 1 ? all : [...others, name];

function policyOf({ propagationPolicy, orphanDependents }: DeletionOptions): Propagation | undefined {
  if (propagationPolicy !== undefined) return propagationPolicy;
  if (orphanDependents === undefined) return undefined;
  return orphanDependents ? 'Orphan' : 'Background';
}

function policyOfFinalizers(finalizers: readonly string[]): Propagation | undefined {
  if (finalizers.includes(ORPHAN_FINALIZER)) return 'Orphan';
  return finalizers.includes(FOREGROUND_FINALIZER) ? 'Foreground' : undefined;
}
