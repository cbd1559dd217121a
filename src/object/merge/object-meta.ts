import type { Schema } from '../schema.ts';

const STRING: Schema = { type: 'string' };
const STRINGS: Schema = { type: 'object', additionalProperties: STRING };
const INTEGER: Schema = { type: 'integer' };
const TIME: Schema = { type: 'string', format: 'date-time' };
const OWNER_REFERENCE: Schema = {
  type: 'object',
  properties: {
    apiVersion: STRING,
    blockOwnerDeletion: { type: 'boolean' },
    controller: { type: 'boolean' },
    kind: STRING,
    name: STRING,
    uid: STRING,
  },
  'x-kubernetes-map-type': 'atomic',
};
/** Whatever an entry holds, the list is one leaf. */
const MANAGED_FIELDS: Schema = {
  type: 'array',
  items: { type: 'object' },
  'x-kubernetes-list-type': 'atomic',
};

/** Metadata as far as ownership is concerned; the same for every kind, whatever a CustomResourceDefinition says about it. */
export const OBJECT_META: Schema = {
  type: 'object',
  properties: {
    annotations: STRINGS,
    creationTimestamp: TIME,
    deletionGracePeriodSeconds: INTEGER,
    deletionTimestamp: TIME,
    finalizers: { type: 'array', items: STRING, 'x-kubernetes-list-type': 'set' },
    generateName: STRING,
    generation: INTEGER,
    labels: STRINGS,
    managedFields: MANAGED_FIELDS,
    name: STRING,
    namespace: STRING,
    ownerReferences: {
      type: 'array',
      items: OWNER_REFERENCE,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
    },
    resourceVersion: STRING,
    selfLink: STRING,
    uid: STRING,
  },
};
