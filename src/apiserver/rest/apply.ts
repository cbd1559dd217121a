import { isJsonObject, type JsonObject } from '../../object/json.ts';
import { JsonProblem, type ParsedJson } from '../../object/json-text.ts';
import {
  ApplyConflict,
  applyConfiguration,
  ConversionProblem,
  TypedProblem,
} from '../../object/merge/managed-fields.ts';
import { goKind } from '../../object/validation/go-text.ts';
import { yamlStrictError } from '../../object/yaml-json.ts';
import type { Representation } from '../negotiation/accept.ts';
import { apiVersionOf } from '../registry/resource.ts';
import { type ApiResponse, metadataOf } from '../request.ts';
import { forbiddenStatus } from '../routing/forbidden.ts';
import { badRequest, conflict, StatusError } from '../status.ts';
import { createObject } from './create.ts';
import { checkIdentity, decodeObject, reportProblems } from './decode.ts';
import { textOf } from './object-meta.ts';
import { type WriteOptions, writeOptions } from './options.ts';
import { writingOf } from './ownership.ts';
import { isLarge, noteSize, pause } from './pause.ts';
import { presentUpdated } from './put.ts';
import type { Scope } from './services.ts';
import { type Updated, update } from './update.ts';
import { type Views, withViews } from './version-views.ts';
import { readYaml } from './yaml.ts';

/** Server-side apply (§13.3). */
export async function apply(scope: Scope, as: Representation): Promise<ApiResponse> {
  const options = writeOptions(scope.request, 'PatchOptions', true);
  const config = await configurationOf(scope, options);
  const decode = (merged: JsonObject): JsonObject => {
    const decoded = decodeObject(scope, merged, 'apply');
    reportProblems(scope, decoded, options.fieldValidation);
    return decoded.object;
  };
  const run = (live: JsonObject | undefined): JsonObject | Promise<JsonObject> => {
    const merged = mergeConfiguration(scope, { live, config, options });
    return merged instanceof Promise ? merged.then(decode) : decode(merged);
  };
  const updated = await update(scope, {
    name: scope.info.name,
    options,
    optionsKind: 'PatchOptions',
    isOwned: true,
    transform: run,
    ...(scope.info.subresource === '' && {
      createMissing: async () => createByApply(scope, await run(undefined), options),
    }),
  });
  return presentUpdated(scope, updated, as);
}

/** The body as an object whose name and namespace are those of the URL (S14). */
async function configurationOf(scope: Scope, options: WriteOptions): Promise<JsonObject> {
  const { resource, info } = scope;
  const config = await readConfiguration(scope, options);
  const [apiVersion, kind] = [textOf(config['apiVersion']), textOf(config['kind'])];
  if (apiVersion !== apiVersionOf(resource) || kind !== resource.kind) {
    throw badRequest(`invalid object type: ${gvkText(apiVersion)}, Kind=${kind}`);
  }
  const metadata = metadataOf(config);
  if (metadata['managedFields'] !== undefined) throw badRequest('metadata.managedFields must be nil');
  metadata['name'] ??= info.name;
  const { namespace } = metadata;
  checkIdentity(scope, config, info.name);
  // What the configuration does not say is not part of it; the object gets its namespace from the URL later.
  if (namespace === undefined) delete metadata['namespace'];
  return config;
}

// Upstream prints the core group with a leading slash.
const gvkText = (apiVersion: string): string => (apiVersion.includes('/') ? apiVersion : `/${apiVersion}`);

/** The body of an apply, as it is written. */
export async function readConfiguration(scope: Scope, { fieldValidation }: WriteOptions): Promise<JsonObject> {
  const bytes = await scope.request.body();
  noteSize(scope.request, bytes);
  const { value, duplicates } = await readDocument(bytes);
  if (isLarge(scope.request)) await pause();
  if (duplicates.length > 0 && fieldValidation === 'Strict') {
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${yamlStrictError(duplicates)}`);
  }
  if (fieldValidation === 'Warn') scope.warnings.addAll(duplicates);
  // As in Go, an empty document leaves an object without anything in it.
  if (isJsonObject(value ?? {})) return isJsonObject(value) ? value : {};
  throw badRequest(
    `error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal ${goKind(value)} into Go value of type map[string]interface {}`,
  );
}

async function readDocument(bytes: Uint8Array): Promise<ParsedJson> {
  try {
    return await readYaml(bytes);
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    if (error.kind === 'depth') throw badRequest(error.message);
    throw badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`);
  }
}

interface Merge {
  readonly live: JsonObject | undefined;
  readonly config: JsonObject;
  readonly options: WriteOptions;
}

function mergeConfiguration(scope: Scope, { live, config, options }: Merge): JsonObject | Promise<JsonObject> {
  const merge = (views?: Views): JsonObject => {
    const writing = writingOf(scope, options, scope.info.subresource, views);
    const request = { ...writing, live, config, force: options.force ?? false };
    return refusingApply(() => applyConfiguration(request).object);
  };
  // Only the owners of an object that exists may be on record in other versions.
  return scope.resource.isCustom && live !== undefined ? withViews(scope, [live], merge) : merge();
}

/** Turns what the merge refuses into answers: a conflict with others, or a configuration that does not fit. */
export function refusingApply<Result>(merge: () => Result): Result {
  try {
    return merge();
  } catch (error) {
    if (error instanceof ConversionProblem) throw new StatusError({ code: 500, message: error.message });
    if (error instanceof TypedProblem) throw badRequest(error.message);
    if (error instanceof ApplyConflict) throw applyConflict(error);
    throw error;
  }
}

const applyConflict = (error: ApplyConflict): StatusError =>
  new StatusError({ code: 409, reason: 'Conflict', message: error.message, details: { causes: error.causes } });

async function createByApply(scope: Scope, object: JsonObject, options: WriteOptions): Promise<Updated> {
  const { resource, info } = scope;
  const metadata = metadataOf(object);
  const groupResource = { group: resource.group, resource: resource.plural };
  if (textOf(metadata['uid']) !== '') {
    const why = `uid mismatch: the provided object specified uid ${textOf(metadata['uid'])}, and no existing object was found`;
    throw conflict(groupResource, info.name, why);
  }
  requireCreateRight(scope);
  const created = await createObject(scope, object, options, true);
  if ('object' in created) return { object: created.object, entry: undefined, isCreated: true };
  return { object, entry: created.entry, isCreated: true };
}

/** Creating by apply needs the right to create (S11). */
function requireCreateRight({ authorizer, user, info }: Scope): void {
  const creating = { ...info, verb: 'create' };
  if (!authorizer.authorize({ ...creating, user }).isAllowed) throw forbiddenStatus(creating, user);
}
