import { isJsonObject, type JsonObject } from '../../object/json.ts';
import { JsonProblem, summarizeBody } from '../../object/json-text.ts';
import { typeHeaderProblem, UNREADABLE_TYPE } from '../../object/type-header.ts';
import { goQuote } from '../../object/validation/go-text.ts';
import { checkTypes } from '../../object/validation/type-check.ts';
import { builtinTypeOf } from '../builtin-data/builtin-schema.ts';
import { type CustomResource, isCustomResource } from '../crd/custom-resource.ts';
import { decodeCustomResource } from '../crd/decoding.ts';
import { ProtobufProblem } from '../protobuf/decode-body.ts';
import type { Registry } from '../registry/registry.ts';
import type { Resource } from '../registry/resource.ts';
import { metadataOf } from '../request.ts';
import { badRequest, unsupportedMediaType } from '../status.ts';
import { checkBuiltinKind, mishandled, requireKind, unrecognized } from './kind-check.ts';
import { textOf } from './object-meta.ts';
import type { FieldValidation } from './options.ts';
import { bodyType, type ParsedBody, PROTOBUF, parseBody } from './parse-body.ts';
import { isLarge, noteSize, pause } from './pause.ts';
import type { Scope } from './services.ts';

/** A body as the kind's Go type would hold it: typed, pruned, defaulted. */
export interface Decoded {
  readonly object: JsonObject;
  /** What strict decoding complains about: `unknown field "spec.zzz"`, `duplicate field "spec.color"`. */
  readonly problems: readonly string[];
  /** The same in the words of a refusal, where they differ. */
  readonly strict?: readonly string[];
}

const READABLE = ['application/json', 'application/yaml', PROTOBUF];

/** Reads, parses and types the body of a write. */
export async function decodeBody(scope: Scope): Promise<Decoded> {
  const { resource } = scope;
  const bytes = await scope.request.body();
  noteSize(scope.request, bytes);
  const { value: parsed, warnings, strict } = await parsedBody(scope, bytes);
  if (isLarge(scope.request)) await pause();
  // As in Go, null leaves the object as it was: empty.
  const value = parsed ?? {};
  const notReadable = typeHeaderProblem(value);
  if (notReadable !== undefined || !isJsonObject(value)) {
    throw unrecognized(resource, `${notReadable} (${summarizeBody(bytes)})`);
  }
  const { object, problems } = decodeObject(scope, value);
  if (isLarge(scope.request)) await pause();
  if (warnings.length === 0) return { object, problems };
  // Go does not look into what it does not know, so it sees no duplicates there.
  const unknown = resource.isCustom ? [] : problems.map((problem) => problem.slice(UNKNOWN.length + 1, -1));
  const known = (texts: readonly string[]) => texts.filter((text) => !isBelowUnknown(text, unknown));
  const all = (texts: readonly string[]) => cut(resource, [...known(texts), ...problems]);
  return { object, problems: all(warnings), strict: all(strict) };
}

/** The decoder of typed objects remembers no more problems than this. */
const MOST_PROBLEMS = 100;

const cut = ({ isCustom }: Resource, problems: readonly string[]): readonly string[] =>
  isCustom ? problems : problems.slice(0, MOST_PROBLEMS);

const UNKNOWN = 'unknown field ';
const DUPLICATE = 'duplicate field ';

function isBelowUnknown(duplicate: string, unknown: readonly string[]): boolean {
  const path = duplicate.slice(DUPLICATE.length + 1, -1);
  return unknown.some((field) => path.startsWith(field) && [undefined, '.', '['].includes(path[field.length]));
}

async function parsedBody({ request, resource }: Scope, bytes: Uint8Array): Promise<ParsedBody> {
  const mediaType = bodyType(request.headers);
  const types = resource.isCustom ? READABLE.slice(0, 2) : READABLE;
  try {
    const parsed = types.includes(mediaType) ? await parseBody(mediaType, bytes, resource) : undefined;
    if (parsed !== undefined) return parsed;
  } catch (error) {
    throw bodyProblem(error, resource, bytes);
  }
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${READABLE.join(', ')}`,
  );
}

/** E11: what cannot be read at all. */
function bodyProblem(error: unknown, expected: Resource, bytes: Uint8Array): unknown {
  if (error instanceof JsonProblem) {
    if (error.kind === 'depth') return badRequest(error.message);
    if (error.kind === 'number') return mishandled(expected, error.message);
    const prefix = error.message.startsWith('yaml: ') ? '' : UNREADABLE_TYPE;
    return unrecognized(expected, `${prefix}${error.message} (${summarizeBody(bytes)})`);
  }
  if (error instanceof ProtobufProblem)
    return unrecognized(expected, `${error.message} (${summarizeBody(bytes)})`);
  return error;
}

/** How an object came to be: a body, what a patch left, or what an apply merged. */
export type Origin = 'body' | 'patch' | 'apply';

/** Types an object; it is changed in place. */
export function decodeObject(
  { resource, registry }: Pick<Scope, 'resource' | 'registry'>,
  object: JsonObject,
  origin: Origin = 'body',
): Decoded {
  const isCleared = clearsManagedFields(object);
  const unknown = isCustomResource(resource)
    ? typeCustom(resource, object, origin)
    : typeBuiltin(resource, registry, object);
  resource.strategy.setDefaults?.(object);
  // Empty lists are left out of typed objects, but here an empty list says something (S6).
  if (isCleared) metadataOf(object)['managedFields'] = [];
  return { object, problems: unknown.map((path) => `${UNKNOWN}${goQuote(path)}`) };
}

function typeCustom(resource: CustomResource, object: JsonObject, origin: Origin): readonly string[] {
  requireKind(resource, object, origin === 'patch');
  // What somebody applies may hold nulls, which validation refuses; elsewhere they are dropped (S12, X11).
  const { unknown, problem } = decodeCustomResource(object, resource.userSchema, {
    keepsNulls: origin === 'apply',
  });
  if (problem !== undefined) throw mishandled(resource, problem);
  return unknown;
}

function typeBuiltin(resource: Resource, registry: Registry, object: JsonObject): readonly string[] {
  checkBuiltinKind(resource, registry, object);
  const { unknown, problem } = checkTypes(object, resource.schema, builtinTypeOf);
  if (problem !== undefined) throw mishandled(resource, problem);
  return unknown;
}

/** `[]` and `[{}]`: a client that wants ownership forgotten. */
function clearsManagedFields(object: JsonObject): boolean {
  const { metadata } = object;
  const entries = isJsonObject(metadata) ? metadata['managedFields'] : undefined;
  if (!Array.isArray(entries)) return false;
  const [only] = entries;
  return entries.length === 0 || (entries.length === 1 && isJsonObject(only) && Object.keys(only).length === 0);
}

/** Warns about or refuses what strict decoding found (W3). */
export function reportProblems(
  scope: Scope,
  { problems, strict = problems }: Decoded,
  validation: FieldValidation,
): void {
  if (problems.length === 0 || validation === 'Ignore') return;
  if (validation === 'Strict') throw mishandled(scope.resource, strictText(strict));
  scope.warnings.addAll(problems);
}

export const strictText = (problems: readonly string[]): string => `strict decoding error: ${problems.join(', ')}`;

/** Name and namespace of a body must be those of the URL, or absent (E12, E13). `name` is empty on create. */
export function checkIdentity(scope: Scope, object: JsonObject, name: string): void {
  const { resource, info } = scope;
  const metadata = metadataOf(object);
  const bodyName = textOf(metadata['name']);
  if (name !== '' && bodyName === '') {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (name !== '' && bodyName !== name) {
    throw badRequest(`the name of the object (${bodyName}) does not match the name on the URL (${name})`);
  }
  const namespace = textOf(metadata['namespace']);
  if (!resource.isNamespaced) return;
  if (namespace === '') metadata['namespace'] = info.namespace;
  else if (namespace !== info.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}
