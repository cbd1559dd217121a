import { type FieldError, fieldErrorText, notSupported, required } from '../../object/field-error.ts';
import { isJsonObject, type Json, type JsonObject, setKey } from '../../object/json.ts';
import { type ApiResponse, metadataOf } from '../request.ts';
import { textOf } from '../rest/object-meta.ts';
import { writeOptions } from '../rest/options.ts';
import type { Scope } from '../rest/services.ts';
import { badRequest, conflict, StatusError } from '../status.ts';
import type { Entry } from '../store/store.ts';
import { admitCreated, created, metadataIn, readCreated } from './create-body.ts';
import { setPodCondition } from './pod-conditions.ts';
import { rewrite } from './rewrite.ts';

const BINDING = { group: '', version: 'v1', kind: 'Binding' };
const TARGET = {
  target: { type: 'object', properties: { kind: { type: 'string' }, name: { type: 'string' } } },
} as const;

/** POST to `pods/binding`: gives a pod to a node (§14). */
export const bindPod = (scope: Scope): Promise<ApiResponse> => bind(scope, scope.info.name);

/** POST to `bindings`: the same, with the name of the pod in the body. */
export const bindNamed = (scope: Scope): Promise<ApiResponse> => bind(scope, undefined);

async function bind(scope: Scope, nameInUrl: string | undefined): Promise<ApiResponse> {
  const options = writeOptions(scope.request, 'CreateOptions');
  const body = await readCreated(scope, BINDING, TARGET);
  const pods = scope.registry.find('', 'v1', 'pods');
  if (pods === undefined) throw badRequest('pods are not served');
  const isSubresource = nameInUrl !== undefined;
  const binding = await admitCreated(
    scope,
    isSubresource ? pods : scope.resource,
    isSubresource ? 'binding' : '',
    {
      object: body,
      options,
    },
  );
  const name = textOf(metadataIn(binding)['name']);
  if (isSubresource && nameInUrl !== name) throw badRequest('name in URL does not match name in Binding object');
  refuseBad(binding);
  await rewrite(scope, {
    resource: pods,
    name,
    isDryRun: options.isDryRun,
    change: (pod, entry) => assign(scope, { pod, entry, binding }),
  });
  return created(scope);
}

const targetOf = ({ target }: JsonObject): JsonObject => (isJsonObject(target) ? target : {});

/** Upstream forgets to make a proper Status of it. */
function refuseBad(binding: JsonObject): void {
  const { kind, name } = targetOf(binding);
  const errors: FieldError[] = [];
  if (textOf(kind) !== '' && kind !== 'Node')
    errors.push(notSupported('target.kind', kind ?? '', ['Node', '<empty>']));
  if (textOf(name) === '') errors.push(required('target.name'));
  if (errors.length === 0) return;
  const texts = errors.map(fieldErrorText);
  throw new StatusError({ code: 500, message: texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]` });
}

interface Assignment {
  readonly pod: JsonObject;
  readonly entry: Entry;
  readonly binding: JsonObject;
}

function assign({ clock }: Scope, { pod, entry, binding }: Assignment): void {
  const wanted = metadataIn(binding);
  checkPreconditions(entry, metadataOf(pod), wanted);
  const spec = isJsonObject(pod['spec']) ? pod['spec'] : {};
  const name = textOf(wanted['name']);
  const problem = assignmentProblem(pod, spec, name);
  if (problem !== undefined) throw conflict({ group: '', resource: 'pods/binding' }, name, problem);
  pod['spec'] = { ...spec, nodeName: textOf(targetOf(binding)['name']) };
  mergeTexts(metadataOf(pod), 'annotations', wanted['annotations']);
  mergeTexts(metadataOf(pod), 'labels', wanted['labels']);
  if (isJsonObject(pod['status'])) delete pod['status']['nominatedNodeName'];
  setPodCondition(pod, { type: 'PodScheduled', status: 'True' }, clock.now());
}

function assignmentProblem(pod: JsonObject, spec: JsonObject, name: string): string | undefined {
  if (metadataOf(pod)['deletionTimestamp'] !== undefined) {
    return `pod ${name} is being deleted, cannot be assigned to a host`;
  }
  const node = textOf(spec['nodeName']);
  if (node !== '') return `pod ${name} is already assigned to node ${JSON.stringify(node)}`;
  const gates = spec['schedulingGates'];
  return Array.isArray(gates) && gates.length > 0 ? `pod ${name} has non-empty .spec.schedulingGates` : undefined;
}

/** uid and resourceVersion of a Binding are those the pod must have. */
function checkPreconditions({ revision }: Entry, metadata: JsonObject, wanted: JsonObject): void {
  const refuse = (field: string, asked: string, found: string): void => {
    if (asked === '' || asked === found) return;
    const why = `Precondition failed: ${field} in precondition: ${asked}, ${field} in object meta: ${found}`;
    const name = textOf(metadata['name']);
    const key = `/registry/pods/${textOf(metadata['namespace'])}/${name}`;
    throw conflict(
      { group: '', resource: 'pods' },
      name,
      `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`,
    );
  };
  refuse('UID', textOf(wanted['uid']), textOf(metadata['uid']));
  refuse('ResourceVersion', textOf(wanted['resourceVersion']), String(revision));
}

function mergeTexts(metadata: JsonObject, name: string, added: Json | undefined): void {
  if (!isJsonObject(added) || Object.keys(added).length === 0) return;
  const known = metadata[name];
  const merged: JsonObject = isJsonObject(known) ? known : {};
  for (const [key, value] of Object.entries(added)) setKey(merged, key, value);
  metadata[name] = merged;
}
