import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { timestamp } from '../rest/object-meta.ts';

export interface PodCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
}

/** Puts a condition into the status of a pod; its time changes only with its status. */
export function setPodCondition(pod: JsonObject, condition: PodCondition, now: Date): void {
  const status = isJsonObject(pod['status']) ? pod['status'] : {};
  const conditions: Json[] = Array.isArray(status['conditions']) ? status['conditions'] : [];
  const index = conditions.findIndex((known) => isJsonObject(known) && known['type'] === condition.type);
  const known = conditions[index];
  const { type, reason, message } = condition;
  const isSame = isJsonObject(known) && known['status'] === condition.status;
  const written: JsonObject = {
    type,
    status: condition.status,
    lastProbeTime: null,
    lastTransitionTime: isSame ? (known['lastTransitionTime'] ?? null) : timestamp(now),
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
  };
  if (index < 0) conditions.push(written);
  else conditions[index] = written;
  pod['status'] = { ...status, conditions };
}

export const isConditionTrue = ({ status }: JsonObject, type: string): boolean =>
  isJsonObject(status) &&
  Array.isArray(status['conditions']) &&
  status['conditions'].some((item) => isJsonObject(item) && item['type'] === type && item['status'] === 'True');
