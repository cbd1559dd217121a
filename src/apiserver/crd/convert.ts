import { type FieldError, fieldErrorText } from '../../object/field-error.ts';
import { cloneJson, getKey, isJsonObject, type Json, type JsonObject, jsonEqual } from '../../object/json.ts';
import { annotationErrors, labelErrors } from '../../object/metadata.ts';
import { goQuote } from '../../object/validation/go-text.ts';
import { apiVersionOf } from '../registry/resource.ts';
import { StatusError } from '../status.ts';
import type { CustomResource } from './custom-resource.ts';
import { decodeCustomResource } from './decoding.ts';
import { type Conversion, textAt } from './definition.ts';

/** Sends a ConversionReview to the webhook of a definition and gives back the answer; rejects when that fails. */
export type CallWebhook = (review: JsonObject, clientConfig: JsonObject) => Promise<Json>;

export interface ConverterOptions {
  readonly conversion: Conversion | undefined;
  readonly callWebhook: CallWebhook;
  /** A new uid for each review. */
  readonly uuid: () => string;
}

/**
 * Objects in the version of `to`, with that version's fields and defaults (X10, X33). The given ones are not changed.
 * Synchronous unless a webhook has to be asked (X35).
 */
export function convertObjects(
  objects: readonly JsonObject[],
  to: CustomResource,
  options: ConverterOptions,
): readonly JsonObject[] | Promise<readonly JsonObject[]> {
  const wanted = apiVersionOf(to);
  const foreign = objects.filter((object) => textAt(object, 'apiVersion') !== wanted);
  if (foreign.length === 0 || options.conversion?.strategy !== 'Webhook') {
    return objects.map((object) => finished({ ...cloneJson(object), apiVersion: wanted }, to));
  }
  return askWebhook(foreign, to, options).then((converted) => {
    let next = 0;
    return objects.map((object) => {
      if (textAt(object, 'apiVersion') === wanted) return finished(cloneJson(object), to);
      const result = converted[next] ?? object;
      next += 1;
      return finished(result, to);
    });
  });
}

/** Prunes and defaults by the schema of the version, as after reading (X33). */
function finished(object: JsonObject, to: CustomResource): JsonObject {
  decodeCustomResource(object, to.userSchema);
  to.strategy.setDefaults?.(object);
  return object;
}

const failed = (object: JsonObject, why: string): StatusError => {
  const message = `conversion webhook for ${textAt(object, 'apiVersion')}, Kind=${textAt(object, 'kind')} ${why}`;
  return new StatusError({ code: 500, message });
};

async function askWebhook(
  objects: readonly JsonObject[],
  to: CustomResource,
  { conversion, callWebhook, uuid }: ConverterOptions,
): Promise<readonly JsonObject[]> {
  const [first = {}] = objects;
  const uid = uuid();
  const version = conversion?.reviewVersions.find((name) => name === 'v1' || name === 'v1beta1');
  if (version === undefined) throw failed(first, 'failed: no supported conversion review versions');
  const review: JsonObject = {
    kind: 'ConversionReview',
    apiVersion: `apiextensions.k8s.io/${version}`,
    request: { uid, desiredAPIVersion: apiVersionOf(to), objects: objects.map(withoutRevision) },
    response: { uid: '', convertedObjects: null, result: { metadata: {} } },
  };
  const answer = await callWebhook(review, conversion?.clientConfig ?? {}).catch((error: unknown) => {
    throw failed(first, `failed: ${error instanceof Error ? error.message : String(error)}`);
  });
  const converted = responseObjects(answer, { uid, version, first });
  if (converted.length !== objects.length) {
    throw failed(first, `returned ${converted.length} objects, expected ${objects.length}`);
  }
  return objects.map((original, index) =>
    checked(original, converted[index] ?? null, { to, index, count: objects.length }),
  );
}

/** Upstream converts what it reads before it knows the revision. */
function withoutRevision(object: JsonObject): JsonObject {
  const copy = cloneJson(object);
  const { metadata } = copy;
  if (isJsonObject(metadata)) delete metadata['resourceVersion'];
  return copy;
}

interface Expected {
  readonly uid: string;
  readonly version: string;
  readonly first: JsonObject;
}

function responseObjects(answer: Json, { uid, version, first }: Expected): readonly Json[] {
  const review = isJsonObject(answer) ? answer : {};
  const response = getKey(review, 'response');
  if (version === 'v1') {
    const kind = `${textAt(review, 'apiVersion')}, Kind=${textAt(review, 'kind')}`;
    const wanted = 'apiextensions.k8s.io/v1, Kind=ConversionReview';
    if (kind !== wanted) throw failed(first, `failed: expected webhook response of ${wanted}, got ${kind}`);
  }
  if (!isJsonObject(response)) throw failed(first, 'failed: no response provided');
  const got = textAt(response, 'uid');
  if (version === 'v1' && got !== uid) {
    throw failed(first, `failed: expected response.uid=${goQuote(uid)}, got ${goQuote(got)}`);
  }
  const result = isJsonObject(response['result']) ? response['result'] : {};
  const status = textAt(result, 'status');
  if (status !== 'Success') {
    const message = textAt(result, 'message') || `response.result.status was '${status}', not 'Success'`;
    throw failed(first, `failed: ${message}`);
  }
  const objects = getKey(response, 'convertedObjects');
  return Array.isArray(objects) ? objects : [];
}

interface Position {
  readonly to: CustomResource;
  readonly index: number;
  readonly count: number;
}

function checked(original: JsonObject, answer: Json, { to, index, count }: Position): JsonObject {
  const isList = count > 1;
  const refuse = (why: string): never => {
    throw failed(original, `returned invalid ${isList ? 'converted object' : 'object'}${why}`);
  };
  const at = ` at index ${index}`;
  if (!isJsonObject(answer)) return refuse(`${at}: Object 'Kind' is missing`);
  const converted = cloneJson(answer);
  const wanted = apiVersionOf(to);
  const apiVersion = textAt(converted, 'apiVersion');
  if (apiVersion !== wanted) {
    return refuse(`${at}: invalid groupVersion (expected ${wanted}, received ${apiVersion})`);
  }
  const [kind, oldKind] = [textAt(converted, 'kind'), textAt(original, 'kind')];
  if (kind !== oldKind) return refuse(`${at}: invalid kind (expected ${oldKind}, received ${kind})`);
  const changed = changedIdentity(original, converted);
  if (changed !== undefined) return refuse(`${isList ? at : ''}: ${changed}`);
  const problem = restoreMetadata(original, converted);
  if (problem !== undefined) {
    throw failed(original, `returned invalid metadata${isList ? ` in object${at}` : ''}: ${problem}`);
  }
  return converted;
}

const metadataOf = (object: JsonObject): JsonObject =>
  isJsonObject(object['metadata']) ? object['metadata'] : {};

function changedIdentity(original: JsonObject, converted: JsonObject): string | undefined {
  const [before, after] = [metadataOf(original), metadataOf(converted)];
  const fields = [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const;
  for (const [key, label] of fields) {
    const [old, now] = [textAt(before, key), textAt(after, key)];
    if (old !== now) return `must have the same ${label}: ${old} != ${now}`;
  }
  return undefined;
}

/** X34: of the metadata only labels and annotations are taken from the webhook. Returns what is wrong with them. */
function restoreMetadata(original: JsonObject, converted: JsonObject): string | undefined {
  const answered = getKey(converted, 'metadata');
  if (answered === undefined) return 'missing metadata in converted object';
  if (!isJsonObject(answered)) return 'invalid metadata in converted object';
  const metadata = cloneJson(metadataOf(original));
  for (const key of ['labels', 'annotations'] as const) {
    const value = getKey(answered, key);
    if (value === undefined || value === null) {
      delete metadata[key];
      continue;
    }
    if (!isJsonObject(value)) return `invalid metadata.${key} in converted object`;
    if (!jsonEqual(value, metadata[key])) {
      const problem = mapProblem(value, key);
      if (problem !== undefined) return problem;
    }
    metadata[key] = value;
  }
  converted['metadata'] = metadata;
  return undefined;
}

function mapProblem(value: JsonObject, key: 'labels' | 'annotations'): string | undefined {
  const stranger = Object.keys(value).find((name) => typeof value[name] !== 'string');
  if (stranger !== undefined) return `metadata.${key}[${stranger}] must be a string in converted object`;
  const errors: readonly FieldError[] =
    key === 'labels' ? labelErrors(value, 'metadata.labels') : annotationErrors(value, 'metadata.annotation');
  if (errors.length === 0) return undefined;
  const texts = errors.map(fieldErrorText);
  return texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`;
}
