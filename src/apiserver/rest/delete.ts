import type { JsonObject } from '../../object/json.ts';
import { type ApiResponse, metadataOf } from '../request.ts';
import { conflict, notFound } from '../status.ts';
import { type Entry, StoreConflict } from '../store/store.ts';
import { objectAnswer } from './answers.ts';
import { deleteOptions } from './delete-options.ts';
import { type Deletion, type DeletionOptions, planDeletion } from './deletion.ts';
import { textOf } from './object-meta.ts';
import { negotiateObject, presentObject } from './present.ts';
import { keyOf, type Scope } from './services.ts';
import { refuseLarge, storeErrors } from './sizes.ts';
import { removeFinal } from './update.ts';

/** DELETE of one object. */
export async function deleteOne(scope: Scope): Promise<ApiResponse> {
  const as = negotiateObject(scope);
  const options = await deleteOptions(scope);
  const { strategy, group, plural } = scope.resource;
  if (group === 'batch' && plural === 'jobs' && isPolicyOpen(options)) scope.warnings.add(JOB_WARNING);
  const done = await deleteObject(scope, scope.info.name, options);
  if (done.type === 'remove' && strategy.returnsDeletedObject !== true) {
    return objectAnswer(200, deletedStatus(scope, done.object), as);
  }
  const isAccepted = options.orphanDependents === false && done.type !== 'remove';
  return presentObject(scope, isAccepted ? 202 : 200, done.object, as);
}

const JOB_WARNING =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';

const isPolicyOpen = ({ propagationPolicy, orphanDependents }: DeletionOptions): boolean =>
  propagationPolicy === undefined && orphanDependents === undefined;

/** DE2: what a removal answers for most kinds; it has no code. */
function deletedStatus({ resource }: Scope, object: JsonObject): JsonObject {
  const metadata = metadataOf(object);
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: textOf(metadata['name']),
      ...(resource.group !== '' && { group: resource.group }),
      kind: resource.plural,
      uid: textOf(metadata['uid']),
    },
  };
}

/** Deletes one object by the rules of its kind; a lost race is tried again, with the preconditions checked anew. */
export async function deleteObject(scope: Scope, name: string, options: DeletionOptions): Promise<Deletion> {
  const { resource, info, store } = scope;
  const key = keyOf(resource, info.namespace, name);
  for (;;) {
    const entry = store.head(key);
    if (entry === undefined) throw notFound({ group: resource.group, resource: resource.plural }, name);
    try {
      return await attempt(scope, entry, options);
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw storeErrors(error);
    }
  }
}

async function attempt(scope: Scope, entry: Entry, options: DeletionOptions): Promise<Deletion> {
  const { resource, codec, store, clock } = scope;
  const read = codec.read(entry, resource);
  const old = read instanceof Promise ? await read : read;
  checkPreconditions(scope, entry, old, options);
  await admit(scope, old, options);
  const plan = planDeletion(old, resource.strategy, options, clock.now());
  if (options.isDryRun) return plan;
  if (plan.type === 'remove') {
    const removed = await removeFinal(scope, entry, plan.object);
    metadataOf(plan.object)['resourceVersion'] = String(removed.revision);
  }
  if (plan.type === 'wait' && store.revision < entry.revision) {
    await store.reached(entry.revision, scope.request.signal);
  }
  if (plan.type === 'mark') {
    const converted = codec.toStorage(plan.object, resource);
    const stored = converted instanceof Promise ? await converted : converted;
    const written = await store.put(
      entry.key,
      entry.revision,
      refuseLarge(codec.renderer(stored, resource), stored),
    );
    codec.remember(written, stored);
    metadataOf(plan.object)['resourceVersion'] = String(written.revision);
  }
  return plan;
}

function checkPreconditions(
  { resource }: Scope,
  entry: Entry,
  object: JsonObject,
  { uid, resourceVersion }: DeletionOptions,
): void {
  const metadata = metadataOf(object);
  const name = textOf(metadata['name']);
  // E6: here the Status names the Kind.
  const groupKind = { group: resource.group, resource: resource.kind };
  const modified = 'The object might have been deleted and then recreated';
  if (uid !== undefined && uid !== metadata['uid']) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${textOf(metadata['uid'])}). ${modified}`;
    throw conflict(groupKind, name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== String(entry.revision)) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${entry.revision}). The object might have been modified`;
    throw conflict(groupKind, name, why);
  }
}

async function admit(scope: Scope, oldObject: JsonObject, options: DeletionOptions): Promise<void> {
  const metadata = metadataOf(oldObject);
  const attributes = {
    operation: 'DELETE' as const,
    resource: scope.resource,
    subresource: '',
    namespace: textOf(metadata['namespace']),
    name: textOf(metadata['name']),
    object: undefined,
    oldObject,
    user: scope.user,
    isDryRun: options.isDryRun,
    options: optionsObject(options),
    warnings: scope.warnings,
  };
  await scope.admission.mutate(attributes);
  await scope.admission.validate(attributes);
}

const optionsObject = (options: DeletionOptions): JsonObject => ({
  kind: 'DeleteOptions',
  apiVersion: 'meta.k8s.io/v1',
  ...(options.gracePeriodSeconds !== undefined && { gracePeriodSeconds: options.gracePeriodSeconds }),
  ...(options.propagationPolicy !== undefined && { propagationPolicy: options.propagationPolicy }),
  ...(options.orphanDependents !== undefined && { orphanDependents: options.orphanDependents }),
  ...preconditionsOf(options),
  ...(options.isDryRun && { dryRun: ['All'] }),
});

function preconditionsOf({ uid, resourceVersion }: DeletionOptions): JsonObject {
  if (uid === undefined && resourceVersion === undefined) return {};
  return {
    preconditions: {
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  };
}
