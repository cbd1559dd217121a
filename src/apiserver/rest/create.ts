import type { FieldError } from '../../object/field-error.ts';
import type { JsonObject } from '../../object/json.ts';
import { updateManagedFields } from '../../object/merge/managed-fields.ts';
import { validateObjectMeta } from '../../object/metadata.ts';
import { generateName } from '../../object/names.ts';
import type { WriteContext } from '../registry/resource.ts';
import { type ApiResponse, metadataOf } from '../request.ts';
import { alreadyExists, badRequest, invalidObject, StatusError } from '../status.ts';
import { type Entry, StoreConflict } from '../store/store.ts';
import { checkIdentity, decodeBody, reportProblems } from './decode.ts';
import {
  dedupeOwners,
  fillOnCreate,
  finalizerNameErrors,
  kindOf,
  nameRuleOf,
  textOf,
  wipeOnCreate,
} from './object-meta.ts';
import { optionsObject, type WriteOptions, writeOptions } from './options.ts';
import { setManagedFields, writingOf } from './ownership.ts';
import { isLarge, pause } from './pause.ts';
import { negotiateObject, presentEntry, presentObject } from './present.ts';
import { keyOf, type Scope } from './services.ts';
import { refuseLarge, storeErrors } from './sizes.ts';

const MOST_NAME_ATTEMPTS = 8;
const LONGEST_BASE = 58;

/** POST of a new object. */
export async function create(scope: Scope): Promise<ApiResponse> {
  const as = negotiateObject(scope);
  const options = writeOptions(scope.request, 'CreateOptions');
  const decoded = await decodeBody(scope);
  reportProblems(scope, decoded, options.fieldValidation);
  const { object } = decoded;
  checkIdentity(scope, object, '');
  // Zero, and what is no number, count as none.
  if (/^0*[1-9]\d*$/.test(textOf(metadataOf(object)['resourceVersion']))) {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  const created = await createObject(scope, object, options);
  return 'entry' in created
    ? presentEntry(scope, 201, created.entry, as)
    : presentObject(scope, 201, created.object, as);
}

export type Created = { readonly entry: Entry } | { readonly object: JsonObject };

/**
 * Everything that happens to a decoded object until it is stored (W1); apply and PUT create by it too. `isOwned`: its
 * managedFields are already right.
 */
export async function createObject(
  scope: Scope,
  decoded: JsonObject,
  options: WriteOptions,
  isOwned = false,
): Promise<Created> {
  const { resource, info, user, warnings } = scope;
  let object = decoded;
  const metadata = metadataOf(object);
  wipeOnCreate(metadata);
  if (resource.isNamespaced) metadata['namespace'] = info.namespace;
  const context: WriteContext = {
    now: scope.clock.now(),
    isDryRun: options.isDryRun,
    subresource: '',
    user,
  };
  warnings.add(dedupeOwners(object));
  if (!isOwned) ownFields(scope, object, options);
  if (isLarge(scope.request)) await pause();
  const attributes = {
    operation: 'CREATE' as const,
    resource,
    subresource: '',
    namespace: info.namespace,
    name: textOf(metadata['name']),
    oldObject: undefined,
    user,
    isDryRun: options.isDryRun,
    options: optionsObject('CreateOptions', options),
    warnings,
  };
  const mutated = scope.admission.mutate({ ...attributes, object });
  object = (mutated instanceof Promise ? await mutated : mutated) ?? object;
  warnings.add(dedupeOwners(object, true));
  nameObject(metadataOf(object), scope);
  fillOnCreate(object, scope.clock, resource.strategy.tracksGeneration);
  resource.strategy.prepareForCreate?.(object, context);
  validateNew(scope, object, context);
  if (isLarge(scope.request)) await pause();
  const validated = scope.admission.validate({ ...attributes, object });
  if (validated !== undefined) await validated;
  return insert(scope, object, context, isOwned);
}

/** The name a client left to us; collisions are tried again in `insert`. */
function nameObject(metadata: JsonObject, { clock }: Scope): void {
  const base = textOf(metadata['generateName']);
  if (textOf(metadata['name']) === '' && base !== '') metadata['name'] = generateName(base, () => clock.random());
}

function ownFields(scope: Scope, object: JsonObject, options: WriteOptions): void {
  const writing = writingOf(scope, options, '');
  setManagedFields(object, updateManagedFields({ ...writing, live: undefined, updated: object }));
}

function validateNew(scope: Scope, object: JsonObject, context: WriteContext): void {
  const { resource, warnings } = scope;
  const metadata = metadataOf(object);
  const nameRule = nameRuleOf(resource.strategy);
  const errors: FieldError[] = [
    ...validateObjectMeta(metadata, { nameRule, isNamespaced: resource.isNamespaced, path: 'metadata' }),
    ...finalizerNameErrors(resource, metadata),
    ...(resource.strategy.validate?.(object, context) ?? []),
  ];
  if (errors.length > 0) throw invalidObject(kindOf(resource), textOf(metadata['name']), errors);
  warnings.addAll(resource.strategy.warnings?.(object, undefined) ?? []);
}

async function insert(
  scope: Scope,
  object: JsonObject,
  context: WriteContext,
  isApply: boolean,
): Promise<Created> {
  const { resource, codec } = scope;
  const { strategy } = resource;
  strategy.allocate?.(object, undefined, context);
  try {
    if (context.isDryRun) return dryCreate(scope, object);
    const stored = codec.toStorage(object, resource);
    const final = stored instanceof Promise ? await stored : stored;
    const entry = await putNew(scope, final, isApply);
    codec.remember(entry, final);
    return { entry };
  } catch (error) {
    strategy.release?.(object);
    throw error;
  }
}

function dryCreate(scope: Scope, object: JsonObject): Created {
  const { resource, store, info } = scope;
  const name = textOf(metadataOf(object)['name']);
  const existing = store.head(keyOf(resource, info.namespace, name));
  if (existing !== undefined) throw nameTaken(scope, name, existing);
  return { object };
}

/** Stores the object, with another generated name when the first is taken (M2, E3). */
async function putNew(scope: Scope, object: JsonObject, isApply: boolean): Promise<Entry> {
  const { resource, store, codec, info, clock } = scope;
  const metadata = metadataOf(object);
  const base = textOf(metadata['generateName']);
  const isGenerated = base !== '' && isOurName(textOf(metadata['name']), base);
  for (let attempt = 1; ; attempt++) {
    const name = textOf(metadata['name']);
    try {
      const key = keyOf(resource, info.namespace, name);
      return await store.put(key, 0, refuseLarge(codec.renderer(object, resource), object, isApply));
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw storeErrors(error);
      const taken = nameTaken(scope, name, error.current);
      // A client that gives both names is told the same as one whose every try was taken (E3).
      if (base === '') throw taken;
      if (!isGenerated || attempt >= MOST_NAME_ATTEMPTS) throw notUnique(taken);
      metadata['name'] = generateName(base, () => clock.random());
    }
  }
}

/** Whether a name is one that we made: the base and five characters more. */
const isOurName = (name: string, base: string): boolean =>
  name.length === base.slice(0, LONGEST_BASE).length + 5 && name.startsWith(base.slice(0, LONGEST_BASE));

function nameTaken(scope: Scope, name: string, current: Entry | undefined): StatusError {
  const { resource, codec } = scope;
  const error = alreadyExists({ group: resource.group, resource: resource.plural }, name);
  const isGoing =
    current !== undefined && metadataOf(codec.stored(current, resource))['deletionTimestamp'] !== undefined;
  if (!isGoing) return error;
  return new StatusError({
    code: 409,
    reason: 'AlreadyExists',
    message: `object is being deleted: ${error.message}`,
    ...(error.details && { details: error.details }),
  });
}

const notUnique = (error: StatusError): StatusError =>
  new StatusError({
    code: 409,
    reason: 'AlreadyExists',
    message: `${error.message}, the server was not able to generate a unique name for the object`,
    details: { ...error.details, retryAfterSeconds: 1 },
  });
