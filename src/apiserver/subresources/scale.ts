import { invalid } from '../../object/field-error.ts';
import { humanDuration } from '../../object/human-duration.ts';
import { cloneJson, isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { checkTypes } from '../../object/validation/type-check.ts';
import type { Representation } from '../negotiation/accept.ts';
import type { Column, Resource, ScalePaths } from '../registry/resource.ts';
import { type ApiResponse, metadataOf } from '../request.ts';
import { objectAnswer } from '../rest/answers.ts';
import { readConfiguration, refusingApply } from '../rest/apply.ts';
import { textOf } from '../rest/object-meta.ts';
import { type WriteOptions, writeOptions } from '../rest/options.ts';
import { isApplyPatch, readPatcher } from '../rest/patch.ts';
import { negotiateObject, presentObject } from '../rest/present.ts';
import { readJsonBody } from '../rest/read-body.ts';
import { keyOf, type Scope } from '../rest/services.ts';
import { update } from '../rest/update.ts';
import { badRequest, conflict, internalError, invalidObject, notFound } from '../status.ts';
import { applyToScale, ownersAfter } from './scale-owners.ts';
import { at, pathOf, SCALE, SCALE_SCHEMA, scaleOf, setAt } from './scale-view.ts';

/** GET, PUT and PATCH of `/scale` (§14): a small view of an object that has replicas. */
export async function scale(scope: Scope): Promise<ApiResponse> {
  const as = negotiateObject(scope);
  const { resource, info, store, codec } = scope;
  const { scale: paths } = resource;
  const groupResource = { group: resource.group, resource: resource.plural };
  if (paths === undefined) throw notFound(groupResource, info.name);
  if (info.verb === 'get') {
    const entry = store.get(keyOf(resource, info.namespace, info.name));
    if (entry === undefined) throw notFound(groupResource, info.name);
    const object = await codec.read(entry, resource);
    requireReplicas(scope, object, paths);
    return presentScale(scope, scaleOf(object, paths), as);
  }
  const kind = info.verb === 'patch' ? 'PatchOptions' : 'UpdateOptions';
  const isApply = info.verb === 'patch' && isApplyPatch(scope);
  const options = writeOptions(scope.request, kind, isApply);
  const change = isApply ? await applied(scope, options) : await changed(scope, options);
  const updated = await update(scope, {
    name: info.name,
    options,
    optionsKind: kind,
    transform: (old) => withScale(scope, old, change.rescale(old), paths),
    own: (object, old) => change.own(object, old),
  });
  const object = updated.entry === undefined ? updated.object : await codec.read(updated.entry, resource);
  return presentScale(scope, scaleOf(object, paths), as);
}

/** A custom resource that has no replicas yet has no Scale either. */
function requireReplicas({ resource }: Scope, object: JsonObject, { specReplicasPath }: ScalePaths): void {
  if (!resource.isCustom || at(object, pathOf(specReplicasPath)) !== undefined) return;
  throw internalError(`the spec replicas field ${JSON.stringify(specReplicasPath)} does not exist`);
}

/** A Scale to write and who owns the parent's fields afterwards. */
interface ScaleChange {
  rescale(old: JsonObject): JsonObject;
  own(object: JsonObject, old: JsonObject): Json[];
}

async function changed(scope: Scope, options: WriteOptions): Promise<ScaleChange> {
  const own = (object: JsonObject, old: JsonObject) => ownersAfter(scope, options, object, old);
  const view = (old: JsonObject) => (scope.resource.scale === undefined ? {} : scaleOf(old, scope.resource.scale));
  if (scope.info.verb === 'patch') {
    const patcher = await readPatcher(scope, SCALE_SCHEMA);
    return { rescale: (old) => patcher(view(old)).object, own };
  }
  const body = await readJsonBody(scope, { ...SCALE, version: 'v1' });
  if (textOf(body['kind']) !== 'Scale' && body['kind'] !== undefined) {
    throw badRequest('no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"');
  }
  return { rescale: () => body, own };
}

async function applied(scope: Scope, options: WriteOptions): Promise<ScaleChange> {
  const config = await readConfiguration(scope, options);
  metadataOf(config)['name'] ??= scope.info.name;
  let owners: Json[] = [];
  return {
    rescale: (old) => {
      const result = refusingApply(() => applyToScale(scope, options, config, old));
      owners = result.owners;
      return result.scale;
    },
    own: () => owners,
  };
}

const columnsOf = (isCustom: boolean): readonly Column[] => [
  { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 },
  { name: 'Desired', type: 'integer', format: '', description: '', priority: 0 },
  { name: 'Available', type: 'integer', format: '', description: '', priority: 0 },
  { name: 'Age', type: isCustom ? 'date' : 'string', format: '', description: '', priority: 0 },
];

function presentScale(scope: Scope, view: JsonObject, as: Representation): ApiResponse {
  if (as.transform === undefined) return objectAnswer(200, view, as);
  // The same resource seen through other columns; a spread would build its schema.
  const columns = { definitions: columnsOf(scope.resource.isCustom), cells: scaleCells };
  const resource: Resource = Object.create(scope.resource, { columns: { value: columns } });
  return presentObject({ ...scope, resource }, 200, view, as);
}

function scaleCells(view: JsonObject, now: Date): readonly (string | number | null)[] {
  const metadata = metadataOf(view);
  const count = (part: Json | undefined) => (isJsonObject(part) ? Number(part['replicas'] ?? 0) : 0);
  const age = now.getTime() - Date.parse(textOf(metadata['creationTimestamp']));
  return [textOf(metadata['name']), count(view['spec']), count(view['status']), humanDuration(age)];
}

/** The object with the replicas of a Scale. */
function withScale(scope: Scope, old: JsonObject, wanted: JsonObject, paths: ScalePaths): JsonObject {
  const { info, resource } = scope;
  const { problem } = checkTypes(wanted, SCALE_SCHEMA);
  if (problem !== undefined) throw badRequest(`Scale in version "v1" cannot be handled as a Scale: ${problem}`);
  const metadata = metadataOf(wanted);
  const name = textOf(metadata['name']);
  if (name !== '' && name !== info.name) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${info.name})`);
  }
  const spec = isJsonObject(wanted['spec']) ? wanted['spec'] : {};
  const replicas = spec['replicas'] ?? 0;
  // Custom resources are judged by their own validation (X20).
  if (Number(replicas) < 0 && !resource.isCustom) {
    throw invalidObject(SCALE, info.name, [
      invalid('spec.replicas', replicas, 'must be greater than or equal to 0'),
    ]);
  }
  const uid = textOf(metadata['uid']);
  if (uid !== '' && uid !== metadataOf(old)['uid']) {
    const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${textOf(metadataOf(old)['uid'])}`;
    throw conflict({ group: resource.group, resource: resource.plural }, info.name, why);
  }
  const object = cloneJson(old);
  setAt(object, pathOf(paths.specReplicasPath), replicas);
  const wantedVersion = textOf(metadata['resourceVersion']);
  if (wantedVersion !== '') metadataOf(object)['resourceVersion'] = wantedVersion;
  return object;
}
