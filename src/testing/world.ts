import type { Store } from '../apiserver/store/store.ts';
import { isJsonObject, type Json, type JsonObject } from '../object/json.ts';
import { parseJsonBytes, stringifyJson } from '../object/json-text.ts';

/** Every object that a scenario left behind, without what differs from run to run; by its place. */
export type World = ReadonlyMap<string, string>;

// Made by the server for each namespace, with the authority of that very server inside.
const NOT_COMPARED = /^\/registry\/[^/]+\/(events|leases)\/|\/kube-root-ca\.crt$/;
const VOLATILE = new Set(['uid', 'resourceVersion', 'generation', 'selfLink', 'managedFields']);

interface Found {
  readonly key: string;
  readonly object: Json;
}

/** What is in the store beyond `since`, made comparable (reliability T1.6). */
export function worldOf(store: Store, since = 0): World {
  const all = [...store.list('/')].map(({ key, bytes, createRevision }) => ({
    key,
    createRevision,
    object: parseJsonBytes(bytes).value,
  }));
  const uids = new Set(all.map(({ object }) => metadataOf(object)['uid']));
  const found = all.filter(({ key, createRevision }) => createRevision > since && !NOT_COMPARED.test(key));
  const texts = found.map(({ key, object }) => [key, stringifyJson(comparable(object, uids))] as const);
  const roles = rolesOf(found, new Map(texts));
  const inRoles = (text: string): string => roles.reduce((all, [name, role]) => all.replaceAll(name, role), text);
  return new Map(texts.map(([key, text]) => [inRoles(key), inRoles(text)]));
}

const metadataOf = (object: Json): JsonObject => {
  const metadata = isJsonObject(object) ? (object['metadata'] ?? null) : null;
  return isJsonObject(metadata) ? metadata : {};
};

/** Names that the server made up, and what stands for them: how they begin, and a number in order of what they are. */
function rolesOf(found: readonly Found[], texts: World): readonly (readonly [name: string, role: string])[] {
  const generated = found.flatMap(({ key, object }) => {
    const { name, generateName } = metadataOf(object);
    if (typeof name !== 'string' || typeof generateName !== 'string') return [];
    return [{ name, prefix: generateName, text: (texts.get(key) ?? '').replaceAll(name, '') }];
  });
  const numbers = new Map<string, number>();
  return generated
    .toSorted((a, b) => (a.text < b.text ? -1 : Number(a.text > b.text)))
    .map(({ name, prefix }) => {
      const number = (numbers.get(prefix) ?? 0) + 1;
      numbers.set(prefix, number);
      return [name, `${prefix}<${number}>`] as const;
    });
}

type Uids = ReadonlySet<Json | undefined>;

/** Objects in order of kind, namespace and name, without what differs from run to run. */
export function maskedObjects(objects: readonly Json[]): readonly Json[] {
  const uids = new Set(objects.map((object) => metadataOf(object)['uid']));
  const place = (object: Json): string => {
    const { namespace = '', name = '' } = metadataOf(object);
    return JSON.stringify([isJsonObject(object) ? object['kind'] : '', namespace, name]);
  };
  const places = new Map(objects.map((object) => [object, place(object)]));
  const placeOf = (object: Json): string => places.get(object) ?? '';
  return objects
    .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : Number(placeOf(a) > placeOf(b))))
    .map((object) => comparable(object, uids));
}

function comparable(object: Json, uids: Uids): Json {
  if (!isJsonObject(object)) return object;
  const metadata = metadataOf(object);
  return timeless({ ...object, metadata: comparableMeta(metadata, uids) }, metadata['generation']);
}

function comparableMeta(metadata: JsonObject, uids: Uids): JsonObject {
  const entries = Object.entries(metadata).filter(([key]) => !VOLATILE.has(key));
  const owners = metadata['ownerReferences'];
  return {
    ...Object.fromEntries(entries),
    ...(Array.isArray(owners) && { ownerReferences: owners.map((owner) => comparableOwner(owner, uids)) }),
  };
}

/** An owner that does not exist any more is a difference, whatever its uid. */
function comparableOwner(owner: Json, uids: Uids): Json {
  if (!isJsonObject(owner)) return owner;
  return { ...owner, uid: uids.has(owner['uid']) ? '<uid>' : '<dangling>' };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Keys in order, times without their value, and of an observed generation only whether it is the newest. */
function timeless(value: Json, generation: Json | undefined): Json {
  if (Array.isArray(value)) return value.map((item) => timeless(item, generation));
  if (typeof value === 'string') return TIME.test(value) ? '<time>' : value;
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, member(key, value[key] ?? null, generation)]));
}

function member(key: string, value: Json, generation: Json | undefined): Json {
  if (key !== 'observedGeneration') return timeless(value, generation);
  return value === generation ? '<newest>' : '<older>';
}

/** What differs between two worlds, one line each; empty when they are alike. */
export function worldDifferences(expected: World, found: World): readonly string[] {
  const keys = [...new Set([...expected.keys(), ...found.keys()])].toSorted();
  return keys.flatMap((key) => {
    const [want, have] = [expected.get(key), found.get(key)];
    if (want === have) return [];
    if (want === undefined) return [`${key} is there and should not be: ${have}`];
    if (have === undefined) return [`${key} is missing`];
    return [`${key} is ${have}, not ${want}`];
  });
}
