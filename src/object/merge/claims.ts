import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { goQuote } from '../validation/go-text.ts';
import { type FieldSet, NOTHING } from './field-set.ts';
import { parseFields } from './fields-v1.ts';
import { compareText, keyJson } from './path-element.ts';

/** What one manager owns, in the spelling of one API version. */
export interface Claim {
  readonly manager: string;
  readonly isApplied: boolean;
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly set: FieldSet;
  /** The entry this was read from, given back as long as nothing changes. */
  readonly entry?: JsonObject;
}

/** Claims by identity (S3). */
export type Claims = Map<string, Claim>;

type Identity = Pick<Claim, 'manager' | 'isApplied' | 'apiVersion' | 'subresource'>;

/**
 * What makes two entries the same (S3). An applier keeps its entry when it changes versions. Upstream's own spelling,
 * because managers are sorted by it.
 */
export function identityOf({ manager, isApplied, apiVersion, subresource }: Identity): string {
  const parts = [`"operation":"${isApplied ? 'Apply' : 'Update'}"`];
  if (manager !== '') parts.unshift(`"manager":${keyJson(manager)}`);
  if (!isApplied) parts.push(`"apiVersion":${keyJson(apiVersion)}`);
  if (subresource !== '') parts.push(`"subresource":${keyJson(subresource)}`);
  return `{${parts.join(',')}}`;
}

/** The claims of managedFields; throws with upstream's reason if they make no sense. */
export function parseManagedFields(entries: Json | undefined): Claims {
  const claims: Claims = new Map();
  if (entries === undefined || entries === null) return claims;
  if (!Array.isArray(entries)) throw new Error('managedFields is not a list');
  for (const [at, entry] of entries.entries()) {
    const claim = parseEntry(entry, at);
    claims.set(identityOf(claim), claim);
  }
  return claims;
}

const textAt = (entry: JsonObject, key: string): string => {
  const value = Object.hasOwn(entry, key) ? entry[key] : undefined;
  return typeof value === 'string' ? value : '';
};

// Objects in memory are written again and again; their entries are never changed in place.
const known = new WeakMap<JsonObject, Claim>();

function parseEntry(entry: Json, at: number): Claim {
  if (!isJsonObject(entry)) throw new Error('a managed fields entry is not an object');
  const seen = known.get(entry);
  if (seen !== undefined) return seen;
  const claim = readEntry(entry, at);
  if (claim.entry === entry) known.set(entry, claim);
  return claim;
}

function readEntry(entry: JsonObject, at: number): Claim {
  const operation = textAt(entry, 'operation');
  if (operation !== 'Apply' && operation !== 'Update') throw new Error('operation must be `Apply` or `Update`');
  const apiVersion = textAt(entry, 'apiVersion');
  if (apiVersion === '') throw new Error('apiVersion must not be empty');
  const fieldsType = textAt(entry, 'fieldsType');
  if (fieldsType === '') throw new Error(`missing fieldsType in managed fields entry ${at}`);
  if (fieldsType !== 'FieldsV1') {
    throw new Error(`invalid fieldsType ${goQuote(fieldsType)} in managed fields entry ${at}`);
  }
  const fields = entry['fieldsV1'] ?? null;
  const set = fields === null ? NOTHING : parseFields(fields);
  return {
    manager: textAt(entry, 'manager'),
    isApplied: operation === 'Apply',
    apiVersion,
    subresource: textAt(entry, 'subresource'),
    time: textAt(entry, 'time') || undefined,
    set,
    ...(set === fields ? { entry } : {}),
  };
}

/** managedFields as they are stored: sorted by operation, time, manager, version and subresource. */
export const printManagedFields = (claims: Claims): Json[] => [...claims.values()].sort(byOrder).map(printEntry);

function byOrder(a: Claim, b: Claim): number {
  if (a.isApplied !== b.isApplied) return a.isApplied ? -1 : 1;
  return (
    secondsOf(a.time) - secondsOf(b.time) ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

export const secondsOf = (time: string | undefined): number => {
  const milliseconds = time === undefined ? 0 : Date.parse(time);
  return Number.isNaN(milliseconds) ? 0 : Math.floor(milliseconds / 1000);
};

function printEntry(claim: Claim): JsonObject {
  if (claim.entry !== undefined) return claim.entry;
  const { manager, isApplied, apiVersion, subresource, time, set } = claim;
  return {
    ...(manager === '' ? {} : { manager }),
    operation: isApplied ? 'Apply' : 'Update',
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    // A set is JSON already; its type only forbids to change it.
    fieldsV1: set as JsonObject,
    ...(subresource === '' ? {} : { subresource }),
  };
}

/** The claim with another set, and the entry it came from only if that is the same one. */
export function withSet(claim: Claim, set: FieldSet): Claim {
  if (claim.set === set) return claim;
  const { entry: _, ...rest } = claim;
  return { ...rest, set };
}

export function withTime(claim: Claim, time: string | undefined): Claim {
  if (claim.time === time) return claim;
  const { entry: _, ...rest } = claim;
  return { ...rest, time };
}

/** A moment as managedFields state it: whole seconds. */
export const timeText = (now: Date): string => `${now.toISOString().slice(0, 19)}Z`;

/** managedFields of an object as they stand in its metadata. */
export function entriesOf(object: JsonObject | undefined): Json | undefined {
  const metadata = object?.['metadata'];
  return isJsonObject(metadata) ? metadata['managedFields'] : undefined;
}

/** The object with other managedFields; none if there are none. */
export function withManagedFields(object: JsonObject, entries: Json[]): JsonObject {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: entries.length === 0 ? rest : { ...rest, managedFields: entries } };
}
