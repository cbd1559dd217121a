import type { JsonObject } from '../../object/json.ts';

const parameter = (name: string, type: string, place = 'query'): JsonObject => ({
  name,
  in: place,
  ...(place === 'path' && { required: true }),
  schema: { type, uniqueItems: true },
});

export const NAME = parameter('name', 'string', 'path');
export const NAMESPACE = parameter('namespace', 'string', 'path');
export const PRETTY = parameter('pretty', 'string');
export const RESOURCE_VERSION = parameter('resourceVersion', 'string');

const CONTINUE = parameter('continue', 'string');
const DRY_RUN = parameter('dryRun', 'string');
const FIELD_SELECTOR = parameter('fieldSelector', 'string');
const LABEL_SELECTOR = parameter('labelSelector', 'string');
const LIMIT = parameter('limit', 'integer');

const SELECTION = [
  CONTINUE,
  FIELD_SELECTOR,
  LABEL_SELECTOR,
  LIMIT,
  RESOURCE_VERSION,
  parameter('resourceVersionMatch', 'string'),
  parameter('sendInitialEvents', 'boolean'),
  parameter('shardSelector', 'string'),
  parameter('timeoutSeconds', 'integer'),
];

export const LIST: readonly JsonObject[] = [
  ...SELECTION,
  parameter('allowWatchBookmarks', 'boolean'),
  parameter('watch', 'boolean'),
];

/** kubectl looks for dryRun and fieldValidation here before it trusts the server with either (D7). */
export const WRITE: readonly JsonObject[] = [
  DRY_RUN,
  parameter('fieldManager', 'string'),
  parameter('fieldValidation', 'string'),
];

export const PATCH: readonly JsonObject[] = [...WRITE, parameter('force', 'boolean')];

export const DELETE: readonly JsonObject[] = [
  DRY_RUN,
  parameter('gracePeriodSeconds', 'integer'),
  parameter('ignoreStoreReadErrorWithClusterBreakingPotential', 'boolean'),
  parameter('orphanDependents', 'boolean'),
  parameter('propagationPolicy', 'string'),
];

export const DELETE_COLLECTION: readonly JsonObject[] = [...SELECTION, ...DELETE];
