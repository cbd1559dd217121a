import type { JsonObject } from '../../../object/json.ts';
import type { ResourceRecord, ShelfName, StateReason } from './resource-record.ts';

/** A change that takes time, from its start until its object comes to rest (C10). */
export interface Operation {
  readonly id: string;
  readonly kind: string;
  readonly targetId: string;
  readonly state: 'running' | 'succeeded' | 'failed';
  readonly createdAt: string;
  readonly finishedAt?: string;
  readonly error?: StateReason;
}

export const OPERATIONS: ShelfName<Operation> = { shelf: 'operations' };

/** What is finished can be asked for a day; there are never more than so many. */
const OPERATION_LIMITS = { visibleMs: 86_400_000, most: 10_000 };

/** Below 100 until it is done: time may be over while the work goes on. */
const MOST_RUNNING_PERCENT = 99;

export function operationView(operation: Operation, target: ResourceRecord | undefined, now: Date): JsonObject {
  const { id, kind, targetId, state, createdAt, finishedAt, error } = operation;
  return {
    id,
    kind,
    targetId,
    state,
    progress: state === 'running' ? transitionProgress(target, now) : 100,
    createdAt,
    ...(finishedAt !== undefined && { finishedAt }),
    ...(error !== undefined && { error: { ...error } }),
  };
}

/** In percent, by time: 100 when the object is at rest. */
export function transitionProgress(record: ResourceRecord | undefined, now: Date): number {
  const transition = record?.transition;
  if (transition === undefined) return 100;
  const passedMs = now.getTime() - Date.parse(transition.startedAt);
  const share = transition.durationMs === 0 ? 1 : passedMs / transition.durationMs;
  return Math.floor(MOST_RUNNING_PERCENT * Math.min(1, Math.max(0, share)));
}

/** Finished ones that are too old, and the oldest of too many. They come in the order of their last change. */
export function expiredOperations(operations: Iterable<Operation>, count: number, now: Date): readonly string[] {
  const oldest = now.getTime() - OPERATION_LIMITS.visibleMs;
  const expired: string[] = [];
  for (const { id, finishedAt } of operations) {
    if (finishedAt === undefined) continue;
    const isSurplus = count - expired.length >= OPERATION_LIMITS.most;
    if (!isSurplus && Date.parse(finishedAt) > oldest) break;
    expired.push(id);
  }
  return expired;
}
