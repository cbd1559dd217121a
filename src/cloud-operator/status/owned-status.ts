import type { ClusterOperator, ClusterOperatorCondition } from '../../api/openshift/config-v1.ts';
import { isRecord } from '../../object/record.ts';

/** What of a status a field manager has applied. */
export interface OwnedStatus {
  readonly conditions: readonly ClusterOperatorCondition[];
  readonly versions?: NonNullable<ClusterOperator['status']>['versions'];
  readonly relatedObjects?: NonNullable<ClusterOperator['status']>['relatedObjects'];
}

/** By the record of the server; nothing for an object that came without it, such as one from a cache. Pure. */
export function ownedStatus({ metadata, status = {} }: ClusterOperator, fieldManager: string): OwnedStatus {
  const entry = metadata.managedFields?.find(
    ({ manager, operation, subresource }) =>
      manager === fieldManager && operation === 'Apply' && subresource === 'status',
  );
  const fields = recordIn(entry?.fieldsV1, 'f:status');
  const types = new Set(Object.keys(recordIn(fields, 'f:conditions')).flatMap(typeIn));
  const { conditions = [], versions, relatedObjects } = status;
  return {
    conditions: conditions.filter(({ type }) => types.has(type)),
    ...('f:versions' in fields && versions !== undefined && { versions }),
    ...('f:relatedObjects' in fields && relatedObjects !== undefined && { relatedObjects }),
  };
}

function recordIn(value: unknown, key: string): Readonly<Record<string, unknown>> {
  const found = isRecord(value) ? value[key] : undefined;
  return isRecord(found) ? found : {};
}

/** `k:{"type":"Available"}`. */
function typeIn(key: string): readonly string[] {
  if (!key.startsWith('k:')) return [];
  const parsed: unknown = JSON.parse(key.slice(2));
  return isRecord(parsed) && typeof parsed['type'] === 'string' ? [parsed['type']] : [];
}
