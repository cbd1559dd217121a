import type { JsonObject } from '../../object/json.ts';

/** Pairs of names for one field: core/v1 and events.k8s.io/v1 (G12). All other fields have one name. */
const RENAMED: readonly (readonly [core: string, current: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];
const TO_CURRENT = new Map(RENAMED);
const TO_CORE = new Map(RENAMED.map(([core, current]) => [current, core]));

/** Fields that core/v1 writes even when they are empty, and those the other version does. */
const CORE_ALWAYS: JsonObject = {
  involvedObject: {},
  source: {},
  firstTimestamp: null,
  lastTimestamp: null,
  eventTime: null,
  reportingComponent: '',
  reportingInstance: '',
};
const CURRENT_ALWAYS: JsonObject = {
  eventTime: null,
  regarding: {},
  deprecatedSource: {},
  deprecatedFirstTimestamp: null,
  deprecatedLastTimestamp: null,
};
const EMPTY_IN_CURRENT = ['reportingController', 'reportingInstance'];

/** A core/v1 Event as events.k8s.io/v1 shows it. */
export function eventToV1(event: JsonObject): JsonObject {
  const result = renamed(event, TO_CURRENT, 'events.k8s.io/v1');
  for (const key of EMPTY_IN_CURRENT) if (result[key] === '') delete result[key];
  return { ...missing(CURRENT_ALWAYS, result), ...result };
}

/** An events.k8s.io/v1 Event as core/v1 keeps it. */
export function eventFromV1(event: JsonObject): JsonObject {
  const result = renamed(event, TO_CORE, 'v1');
  return { ...missing(CORE_ALWAYS, result), ...result };
}

function renamed(event: JsonObject, names: ReadonlyMap<string, string>, apiVersion: string): JsonObject {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(event)) result[names.get(key) ?? key] = value;
  if (result['apiVersion'] !== undefined) result['apiVersion'] = apiVersion;
  return result;
}

const missing = (always: JsonObject, event: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(always).filter(([key]) => !Object.hasOwn(event, key)));
