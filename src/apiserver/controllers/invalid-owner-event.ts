import { createHash } from 'node:crypto';
import type { JsonObject } from '../../object/json.ts';
import type { OwnerReference } from './owner-index.ts';

const COMPONENT = 'garbage-collector-controller';

export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** G8: tells that a reference leads into another namespace. The same pair gives the same name, so it is told once. */
export function invalidOwnerEvent(subject: EventSubject, owner: OwnerReference, time: string): JsonObject {
  const { namespace, name, uid, kind, apiVersion } = subject;
  const reference = `[${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}]`;
  const suffix = createHash('sha256').update(`${uid} ${owner.uid}`).digest('hex').slice(0, 16);
  return {
    metadata: { name: `${name}.${suffix}`, namespace: namespace === '' ? 'default' : namespace },
    involvedObject: { kind, ...(namespace !== '' && { namespace }), name, uid, apiVersion },
    reason: 'OwnerRefInvalidNamespace',
    message: `ownerRef ${reference} does not exist in namespace ${JSON.stringify(namespace)}`,
    source: { component: COMPONENT },
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
    type: 'Warning',
    eventTime: null,
    reportingComponent: COMPONENT,
    reportingInstance: '',
  };
}
