import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ClusterIpAllocator, NodePortAllocator } from '../../src/apiserver/builtin/allocators.ts';
import { autoscalerFromV1, autoscalerToV1 } from '../../src/apiserver/builtin/autoscaler-versions.ts';
import { eventFromV1, eventToV1 } from '../../src/apiserver/builtin/event-versions.ts';
import { strategyOf } from '../../src/apiserver/builtin/strategies.ts';
import { builtinResources } from '../../src/apiserver/builtin-data/builtin-resources.ts';
import type { Strategy, WriteContext } from '../../src/apiserver/registry/resource.ts';
import { StatusError } from '../../src/apiserver/status.ts';
import { cloneJson, isJsonObject, type Json, type JsonObject } from '../../src/object/json.ts';
import { parseYaml } from '../../src/object/yaml.ts';

export const NAMESPACE = 'builtin-test';
const UID = '00000000-0000-4000-8000-000000000001';

/** Where the answers of the real server are kept for the unit tests. */
export const CREATED = 'src/apiserver/builtin/testdata/created.json';
export const UPDATED = 'src/apiserver/builtin/testdata/updated.json';

export const PRINTED = 'src/apiserver/printing/testdata/printed.json';

export interface PrintedRow {
  readonly name: string;
  readonly now: string;
  readonly object: JsonObject;
  readonly cells: readonly Json[];
  readonly conditions: readonly JsonObject[];
}

export const CONVERTED = 'src/apiserver/builtin/testdata/converted.json';

export interface ConvertedRow {
  readonly name: string;
  readonly as: string;
  readonly from: JsonObject;
  readonly to: JsonObject;
}

export interface CreatedRow {
  readonly name: string;
  readonly sent: JsonObject;
  /** Masked; absent when it was refused. */
  readonly stored?: JsonObject;
  readonly causes: readonly string[];
}

export interface UpdatedRow {
  readonly name: string;
  readonly stored: JsonObject;
  readonly sent: JsonObject;
  readonly subresource: string;
  /** Only reasons and fields of the causes are compared. */
  readonly isShort: boolean;
  readonly causes: readonly string[];
  /** Masked; absent when it was refused. */
  readonly after?: JsonObject;
}

export interface Cause {
  readonly reason: string;
  readonly field: string;
  readonly message: string;
}

export const testdata = <T>(name: string): readonly T[] => {
  const rows = parseYaml(readFileSync(join(import.meta.dirname, 'testdata', name), 'utf8'));
  if (!Array.isArray(rows)) throw new Error(`${name} holds no list`);
  return rows;
};

/** The object of a row as it is sent: named, and in the namespace of the test. */
export function sentObject(object: JsonObject): JsonObject {
  const copy = cloneJson(object);
  copy['metadata'] = { name: 'x', ...(isJsonObject(copy['metadata']) ? copy['metadata'] : {}) };
  return copy;
}

const context = (subresource = ''): WriteContext => ({
  now: new Date('2026-01-01T00:00:00Z'),
  isDryRun: false,
  subresource,
  user: { name: 'admin', groups: ['system:masters', 'system:authenticated'] },
});

export const textOf = (object: JsonObject, key: string): string => {
  const value = object[key];
  return typeof value === 'string' ? value : '';
};

export const groupOf = (object: JsonObject): string => {
  const [group = '', version] = textOf(object, 'apiVersion').split('/');
  return version === undefined ? '' : group;
};

const strategyFor = (object: JsonObject): Strategy =>
  strategyOf(
    groupOf(object),
    textOf(object, 'kind'),
    {
      clusterIps: addressesInUse(),
      nodePorts: new NodePortAllocator(),
    },
    textOf(object, 'apiVersion').split('/').at(-1),
  );

/** The service `kubernetes` exists in every cluster. */
function addressesInUse(): ClusterIpAllocator {
  const addresses = new ClusterIpAllocator();
  addresses.allocate(addresses.kubernetesAddress);
  return addresses;
}

const isNamespaced = (object: JsonObject): boolean =>
  builtinResources().some(
    ({ group, kind, isNamespaced: is }) => is && group === groupOf(object) && kind === textOf(object, 'kind'),
  );

function fillMetadata(object: JsonObject, strategy: Strategy): void {
  const metadata = object['metadata'];
  if (!isJsonObject(metadata)) return;
  if (isNamespaced(object)) metadata['namespace'] = NAMESPACE;
  metadata['uid'] = UID;
  if (strategy.tracksGeneration) metadata['generation'] = 1;
}

interface Ours {
  readonly object: JsonObject;
  readonly causes: readonly Cause[];
}

/** What our strategies make of a new object, and what they say about it. */
export function createOurs(sent: JsonObject): Ours {
  const object = cloneJson(sent);
  const strategy = strategyFor(object);
  fillMetadata(object, strategy);
  strategy.setDefaults?.(object);
  strategy.prepareForCreate?.(object, context());
  const causes = strategy.validate?.(object, context()) ?? [];
  if (causes.length > 0) return { object, causes };
  return { object, causes: allocationCauses(strategy, object, undefined) };
}

function allocationCauses(strategy: Strategy, object: JsonObject, old: JsonObject | undefined): readonly Cause[] {
  try {
    strategy.allocate?.(object, old, context());
    return [];
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return (error.details?.causes ?? []).map(({ reason = '', field = '', message = '' }) => ({
      reason,
      field,
      message,
    }));
  }
}

/** The same for a PUT over a stored object. */
export function updateOurs(old: JsonObject, sent: JsonObject, subresource = ''): Ours {
  const object = cloneJson(sent);
  const strategy = strategyFor(object);
  strategy.setDefaults?.(object);
  strategy.prepareForUpdate?.(object, cloneJson(old), context(subresource));
  const causes = strategy.validateUpdate?.(object, old, context(subresource)) ?? [];
  if (causes.length > 0 || subresource !== '') return { object, causes };
  return { object, causes: allocationCauses(strategy, object, old) };
}

/** Values that differ from run to run, and metadata that is not the business of strategies. */
export function masked(object: JsonObject): JsonObject {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const uid = textOf(metadata, 'uid');
  const copy = JSON.parse(JSON.stringify(maskedValue(object, '')).replaceAll(uid, 'UID'));
  for (const key of ['uid', 'creationTimestamp', 'managedFields', 'resourceVersion']) delete copy.metadata[key];
  return copy;
}

const MASKED = new Set([
  'nodePort',
  'healthCheckNodePort',
  'lastTransitionTime',
  'lastUpdateTime',
  'lastPhaseTransitionTime',
  'clusterIP',
  'clusterIPs',
  'extra',
]);

function maskedValue(value: Json, key: string): Json {
  if (MASKED.has(key) && !isHeadless(value)) return key === 'extra' ? [] : 'masked';
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, ''));
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => name !== 'extra');
  return Object.fromEntries(kept.map(([name, item]) => [name, maskedValue(item, name)]));
}

const isHeadless = (value: Json): boolean => JSON.stringify(value).includes('None');

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Causes as a sorted list of lines; names of objects are checked by the engine, not by strategies. */
export const causeLines = (causes: readonly Cause[], isShort = false): readonly string[] => {
  const own = causes.filter(({ field, reason }) => field !== 'metadata.name' || reason === 'FieldValueForbidden');
  const lines = own.map(({ field, reason, message }) =>
    isShort ? `${field} ${reason}` : `${field}: ${message.replace(UUID, 'UID')} (${reason})`,
  );
  return [...new Set(lines)].sort();
};

/** Counting changes is the engine's task. */
export function ungenerated(object: JsonObject): JsonObject {
  const { metadata, ...rest } = masked(object);
  const { generation: _, ...kept } = metadata as JsonObject;
  return { metadata: kept, ...rest };
}

/** Who wrote what is long, and no business of strategies. */
export function withoutManagers(object: JsonObject): JsonObject {
  const { managedFields: _, ...metadata } = object['metadata'] as JsonObject;
  return { ...object, metadata };
}

/** Seconds pass between two answers. */
export const steady = (cells: readonly Json[]): readonly Json[] =>
  cells.map((cell) => (typeof cell === 'string' ? cell.replace(/\b\d+s\b/, 'a few seconds') : cell));

const CONVERSIONS: Readonly<Record<string, (object: JsonObject) => JsonObject>> = {
  v1: eventFromV1,
  'events.k8s.io/v1': eventToV1,
  'autoscaling/v1': autoscalerToV1,
  'autoscaling/v2': autoscalerFromV1,
};

/** An object in another version. */
export function convertOurs(object: JsonObject, as: string): JsonObject {
  const convert = CONVERSIONS[as];
  if (convert === undefined) throw new Error(`nothing converts to ${as}`);
  return convert(object);
}

/** JSON inside annotations, read so that the order of its keys does not matter. */
export function withReadAnnotations(object: JsonObject): JsonObject {
  const metadata = object['metadata'] as JsonObject;
  const annotations = metadata['annotations'];
  if (!isJsonObject(annotations)) return object;
  const read = Object.keys(annotations).map((key) => [key, JSON.parse(textOf(annotations, key)) as Json] as const);
  return { ...object, metadata: { ...metadata, annotations: Object.fromEntries(read) } };
}
