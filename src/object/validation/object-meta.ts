import type { Schema } from '../../api/schema/structural.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { checkTypes, type TypeNames } from './type-check.ts';

const TEXT: Schema = { type: 'string' };
const TIME: Schema = { type: 'string', format: 'date-time' };
const TEXT_MAP: Schema = { type: 'object', additionalProperties: TEXT };
const UID: Schema = { type: 'string' };

const OWNER_REFERENCE: Schema = {
  type: 'object',
  required: ['apiVersion', 'kind', 'name', 'uid'],
  'x-kubernetes-map-type': 'atomic',
  properties: {
    apiVersion: TEXT,
    blockOwnerDeletion: { type: 'boolean' },
    controller: { type: 'boolean' },
    kind: TEXT,
    name: TEXT,
    uid: UID,
  },
};

const MANAGED_FIELDS_ENTRY: Schema = {
  type: 'object',
  properties: {
    apiVersion: TEXT,
    fieldsType: TEXT,
    fieldsV1: { type: 'object' },
    manager: TEXT,
    operation: TEXT,
    subresource: TEXT,
    time: TIME,
  },
};

/** The metadata every object has. */
export const OBJECT_META: Schema = {
  type: 'object',
  properties: {
    annotations: TEXT_MAP,
    creationTimestamp: TIME,
    deletionGracePeriodSeconds: { type: 'integer', format: 'int64' },
    deletionTimestamp: TIME,
    finalizers: { type: 'array', items: TEXT, 'x-kubernetes-list-type': 'set' },
    generateName: TEXT,
    generation: { type: 'integer', format: 'int64' },
    labels: TEXT_MAP,
    managedFields: { type: 'array', items: MANAGED_FIELDS_ENTRY, 'x-kubernetes-list-type': 'atomic' },
    name: TEXT,
    namespace: TEXT,
    ownerReferences: {
      type: 'array',
      items: OWNER_REFERENCE,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
    },
    resourceVersion: TEXT,
    selfLink: TEXT,
    uid: UID,
  },
};

const NAMES = new Map<Schema, string>([
  [OBJECT_META, 'meta.v1.ObjectMeta'],
  [OWNER_REFERENCE, 'meta.v1.OwnerReference'],
  [MANAGED_FIELDS_ENTRY, 'meta.v1.ManagedFieldsEntry'],
  [UID, 'types.UID'],
]);
const typeNames: TypeNames = (schema) => NAMES.get(schema);

interface DecodedMeta {
  /** Below `metadata`: `foo`, `ownerReferences[0].bar`. */
  readonly unknown: readonly string[];
  readonly problem: string | undefined;
}

/** A value that Go leaves out when it writes metadata; a grace period of 0 is not empty. */
const isEmpty = (value: Json): boolean =>
  value === '' ||
  value === 0 ||
  (Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0);

/**
 * Reads metadata as ObjectMeta, in place: unknown fields, nulls and empty fields are dropped. `problem` is what Go says
 * about a value of the wrong type.
 */
export function decodeObjectMeta(metadata: JsonObject): DecodedMeta {
  const { unknown, problem } = checkTypes(metadata, OBJECT_META, typeNames);
  for (const key of Object.keys(metadata)) {
    if (key !== 'deletionGracePeriodSeconds' && isEmpty(metadata[key] ?? null)) delete metadata[key];
  }
  return { unknown, problem };
}
