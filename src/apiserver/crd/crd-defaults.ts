import { getKey, isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { objectAt, objectsAt, optionalObjectAt, textAt, textsAt } from './definition.ts';

const WEBHOOK_PORT = 443;

/** X1: what a CustomResourceDefinition gets when it does not say; in place. */
export function setCrdDefaults(crd: JsonObject): void {
  const spec = optionalObjectAt(crd, 'spec');
  if (spec === undefined) return;
  nameDefaults(spec);
  spec['conversion'] ??= { strategy: 'None' };
  const service = serviceOf(spec);
  if (service !== undefined) service['port'] ??= WEBHOOK_PORT;
  storedVersionDefault(crd, spec);
  for (const version of objectsAt(spec, 'versions')) dropEmptyLists(objectAt(version, 'schema'));
}

/** Lists that Go leaves out when they are empty. */
const OMITTED_LISTS = new Set(['enum', 'required', 'allOf', 'oneOf', 'anyOf', 'x-kubernetes-list-map-keys']);

function dropEmptyLists(schema: JsonObject): void {
  for (const [key, value] of Object.entries(schema)) {
    if (Array.isArray(value) && value.length === 0 && OMITTED_LISTS.has(key)) delete schema[key];
    else if (key !== 'default' && key !== 'example') dropBelow(value);
  }
}

function dropBelow(value: Json): void {
  for (const child of Array.isArray(value) ? value : [value]) if (isJsonObject(child)) dropEmptyLists(child);
}

function nameDefaults(spec: JsonObject): void {
  const names = optionalObjectAt(spec, 'names');
  if (names === undefined) return;
  const kind = textAt(names, 'kind');
  if (kind === '') return;
  if (textAt(names, 'singular') === '') names['singular'] = kind.toLowerCase();
  if (textAt(names, 'listKind') === '') names['listKind'] = `${kind}List`;
}

function serviceOf(spec: JsonObject): JsonObject | undefined {
  const webhook = objectAt(objectAt(spec, 'conversion'), 'webhook');
  return optionalObjectAt(objectAt(webhook, 'clientConfig'), 'service');
}

/** The storage version counts as stored as soon as it is there. */
function storedVersionDefault(crd: JsonObject, spec: JsonObject): void {
  const storage = objectsAt(spec, 'versions').find((version) => getKey(version, 'storage') === true);
  const status = isJsonObject(crd['status']) ? crd['status'] : {};
  if (storage === undefined || textsAt(status, 'storedVersions').length > 0) return;
  crd['status'] = { ...status, storedVersions: [textAt(storage, 'name')] };
}
