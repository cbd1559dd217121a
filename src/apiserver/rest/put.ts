import type { JsonObject } from '../../object/json.ts';
import { cloneJson } from '../../object/json.ts';
import { type ApiResponse, metadataOf } from '../request.ts';
import { conflict } from '../status.ts';
import { createObject } from './create.ts';
import { checkIdentity, decodeBody, reportProblems } from './decode.ts';
import { textOf } from './object-meta.ts';
import { writeOptions } from './options.ts';
import { negotiateObject, presentEntry, presentObject } from './present.ts';
import type { Scope } from './services.ts';
import { type Updated, uidMismatch, update } from './update.ts';

/** PUT: replaces an object, and for some kinds creates it (W7). */
export async function put(scope: Scope): Promise<ApiResponse> {
  const as = negotiateObject(scope);
  const options = writeOptions(scope.request, 'UpdateOptions');
  const decoded = await decodeBody(scope);
  reportProblems(scope, decoded, options.fieldValidation);
  const { object } = decoded;
  checkIdentity(scope, object, scope.info.name);
  const canCreate = scope.resource.strategy.createsOnUpdate === true && scope.info.subresource === '';
  const updated = await update(scope, {
    name: scope.info.name,
    options,
    optionsKind: 'UpdateOptions',
    isPut: true,
    // The body is used up by the first attempt; another one starts from it again.
    transform: () => cloneJson(object),
    ...(canCreate && { createMissing: () => createByPut(scope, object, options) }),
  });
  return presentUpdated(scope, updated, as);
}

async function createByPut(
  scope: Scope,
  object: JsonObject,
  options: Parameters<typeof createObject>[2],
): Promise<Updated> {
  // Whoever means a certain object does not want another one in its place.
  const wanted = textOf(metadataOf(object)['uid']);
  if (wanted !== '') {
    const { resource, info } = scope;
    const why = uidMismatch(scope, info.name, { wanted, found: '' });
    throw conflict({ group: resource.group, resource: resource.plural }, info.name, why);
  }
  const created = await createObject(scope, object, options);
  if ('object' in created) return { object: created.object, entry: undefined, isCreated: true };
  return { object, entry: created.entry, isCreated: true };
}

/** The answer to an update: what was stored, or the object itself when nothing was. */
export function presentUpdated(
  scope: Scope,
  { entry, object, isCreated }: Updated,
  as: ReturnType<typeof negotiateObject>,
): Promise<ApiResponse> {
  const status = isCreated ? 201 : 200;
  if (entry !== undefined) return presentEntry(scope, status, entry, as);
  return Promise.resolve(presentObject(scope, status, object, as));
}
