import type { Schema } from '../../api/schema/structural.ts';
import { cloneJson, isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { applyJsonPatch } from '../../object/json-patch.ts';
import { JsonProblem, type ParsedJson, parseJsonBytes, stringifyJson } from '../../object/json-text.ts';
import { applyMergePatch } from '../../object/merge-patch.ts';
import { PatchProblem } from '../../object/patch-problem.ts';
import { applyStrategicMergePatch } from '../../object/strategic-merge.ts';
import { goKind, goPlain, goQuote } from '../../object/validation/go-text.ts';
import type { ApiResponse } from '../request.ts';
import { badRequest, entityTooLarge, invalidObject, StatusError, unsupportedMediaType } from '../status.ts';
import { apply } from './apply.ts';
import { checkIdentity, type Decoded, decodeObject, reportProblems, strictText } from './decode.ts';
import { writeOptions } from './options.ts';
import { isLarge, noteSize, pause } from './pause.ts';
import { negotiateObject } from './present.ts';
import { presentUpdated } from './put.ts';
import type { Scope } from './services.ts';
import { update } from './update.ts';

type Patcher = (old: JsonObject) => Json;

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
const APPLY_PATCH = 'application/apply-patch+yaml';
const CUSTOM_TYPES = [JSON_PATCH, MERGE_PATCH, APPLY_PATCH];

/** PATCH in the four forms (§12, §13). */
export async function patch(scope: Scope): Promise<ApiResponse> {
  const as = negotiateObject(scope);
  const mediaType = patchType(scope);
  if (mediaType === APPLY_PATCH) return apply(scope, as);
  const options = writeOptions(scope.request, 'PatchOptions');
  const patcher = await readPatcher(scope, scope.resource.schema);
  const updated = await update(scope, {
    name: scope.info.name,
    options,
    optionsKind: 'PatchOptions',
    transform: (old) => {
      const { object, duplicates, shown } = patcher(old);
      const decoded = decodePatched(scope, object, shown);
      const problems = [...duplicates, ...decoded.problems];
      if (problems.length > 0 && options.fieldValidation === 'Strict') {
        throw patchInvalid(shown, strictText(problems));
      }
      reportProblems(scope, { ...decoded, problems }, options.fieldValidation);
      checkIdentity(scope, decoded.object, scope.info.name);
      return decoded.object;
    },
  });
  return presentUpdated(scope, updated, as);
}

/** What a patch leaves must be an object of the kind; here that is the patch's fault, not the body's (P5). */
function decodePatched(scope: Scope, object: JsonObject, shown: () => string): Decoded {
  try {
    return decodeObject(scope, object, 'patch');
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 400) throw error;
    throw patchInvalid(shown, error.message.replace(REQUEST_PART, ''));
  }
}

/** What the decoder says about the request, which is not the patch's. */
const REQUEST_PART = /^.*? (cannot be handled as a|\(must be of type) [^:]*: /;

/** The Status upstream gives for a patch that leaves something wrong: it names neither the object nor its kind. */
function patchInvalid(shown: () => string, why: string): StatusError {
  const message = `Invalid value: ${goQuote(shown())}: ${why}`;
  return invalidObject({ group: '', kind: '' }, '', [{ reason: 'FieldValueInvalid', field: 'patch', message }]);
}

export interface PatchedObject {
  /** The caller's own. */
  readonly object: JsonObject;
  /** Keys that the patch has twice, as warnings say it. */
  readonly duplicates: readonly string[];
  /** What a refusal quotes: the object, or the patch itself in the strategic form. */
  readonly shown: () => string;
}

/** What the body of a PATCH does to an object. It is read when there is an object to patch: a missing one is told first. */
export async function readPatcher(scope: Scope, schema: Schema): Promise<(old: JsonObject) => PatchedObject> {
  const mediaType = patchType(scope);
  const bytes = await scope.request.body();
  noteSize(scope.request, bytes);
  const read = once(() => patcherOf(mediaType, bytes, schema));
  if (isLarge(scope.request)) {
    attempt(read);
    await pause();
  }
  return (old) => {
    const { patcher, duplicates, value } = read();
    const result = patched(patcher, old);
    const isStrategic = mediaType === STRATEGIC_PATCH;
    return {
      object: cloneJson(result),
      duplicates,
      shown: () => (isStrategic ? goPlain(value) : stringifyJson(result)),
    };
  };
}

function once<Result>(make: () => Result): () => Result {
  let made: { readonly result: Result } | undefined;
  return () => {
    made ??= { result: make() };
    return made.result;
  };
}

/** What is wrong is told when it is asked for again. */
function attempt(read: () => unknown): void {
  try {
    read();
  } catch {
    // See above.
  }
}

export const isApplyPatch = (scope: Scope): boolean => patchType(scope) === APPLY_PATCH;

/** The media type of a PATCH; 415 for one the resource does not take. */
function patchType(scope: Scope): string {
  const [mediaType = ''] = (scope.request.headers['content-type'] ?? '').split(';').map((part) => part.trim());
  refuseUnknownType(scope, mediaType);
  return mediaType;
}

function refuseUnknownType({ resource }: Scope, mediaType: string): void {
  const types = resource.isCustom ? CUSTOM_TYPES : [...CUSTOM_TYPES, STRATEGIC_PATCH];
  if (types.includes(mediaType)) return;
  if (resource.isCustom) {
    throw unsupportedMediaType(
      `the body of the request was in an unknown format - accepted media types include: ${CUSTOM_TYPES.join(', ')}`,
    );
  }
  // Built-in routes refuse it before they are reached, with Go's short text (E28).
  throw new StatusError({
    code: 415,
    reason: 'UnsupportedMediaType',
    message: '415: Unsupported Media Type',
    details: {},
  });
}

function patcherOf(mediaType: string, bytes: Uint8Array, schema: Schema) {
  // Only the strategic form hands the parser's words on without a prefix.
  const prefix = mediaType === STRATEGIC_PATCH ? '' : 'error decoding patch: ';
  const { value, duplicates } = parsePatch(bytes, prefix);
  const texts = duplicates.map((path) => `duplicate field "${path}"`);
  return { patcher: patcherFor(mediaType, value, { schema, prefix }), duplicates: texts, value };
}

interface PatchForm {
  readonly schema: Schema;
  readonly prefix: string;
}

function patcherFor(mediaType: string, value: Json, { schema, prefix }: PatchForm): Patcher {
  if (mediaType === JSON_PATCH) return (old) => applyJsonPatch(old, value);
  if (value === null && mediaType === MERGE_PATCH) throw badRequest('Invalid JSON Patch');
  // As in Go, null reads as a patch that says nothing.
  const patchObject = value ?? {};
  if (!isJsonObject(patchObject)) {
    throw badRequest(
      `${prefix}json: cannot unmarshal ${goKind(value)} into Go value of type map[string]interface {}`,
    );
  }
  if (mediaType === MERGE_PATCH) return (old) => applyMergePatch(old, patchObject);
  return (old) => applyStrategicMergePatch(old, patchObject, schema);
}

function parsePatch(bytes: Uint8Array, prefix: string): ParsedJson {
  try {
    return parseJsonBytes(bytes);
  } catch (error) {
    if (error instanceof JsonProblem) throw badRequest(`${prefix}${error.message}`);
    throw error;
  }
}

function patched(patcher: Patcher, old: JsonObject): JsonObject {
  try {
    const result = patcher(old);
    if (isJsonObject(result)) return result;
    throw badRequest('the patch does not leave an object');
  } catch (error) {
    if (error instanceof PatchProblem) throw patchStatus(error);
    throw error;
  }
}

/** E24: a patch that cannot be applied hides its cause upstream, and clients compare that text. */
function patchStatus(problem: PatchProblem): StatusError {
  if (problem.kind === 'too-large') return entityTooLarge(problem.message);
  if (problem.kind === 'malformed') return badRequest(problem.message);
  // Upstream hands such an error on as it is: a 500 without a reason.
  if (problem.kind === 'internal') return new StatusError({ code: 500, message: problem.message });
  return new StatusError({
    code: 422,
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
    details: {},
  });
}
