import type { Json, JsonObject } from '../../../object/json.ts';
import type { DefinedKind } from './resource-kind.ts';
import type { ResourceRecord } from './resource-record.ts';

/** An object as clients see it. */
export function resourceView(kind: DefinedKind, record: ResourceRecord, now: Date): JsonObject {
  const { id, name, tags, state, stateReason, createdAt, updatedAt, generation, transition } = record;
  return {
    id,
    name,
    tags: { ...tags },
    state,
    ...(stateReason !== undefined && { stateReason: { ...stateReason } }),
    createdAt,
    updatedAt,
    generation,
    ...(transition !== undefined && { operationId: transition.operationId }),
    ...fieldsOf(record),
    ...kind.view?.(record, now),
  };
}

/** Kinds keep only JSON in their fields. */
export const fieldsOf = ({ fields }: ResourceRecord): JsonObject => fields as Record<string, Json>;

export const etagOf = ({ generation }: ResourceRecord): string => `"${generation}"`;
