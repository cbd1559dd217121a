import { isJsonObject, type JsonObject } from '../../object/json.ts';
import { type ApiResponse, metadataOf } from '../request.ts';
import { deleteObject } from '../rest/delete.ts';
import { parseDeleteOptions } from '../rest/delete-options.ts';
import type { DeletionOptions } from '../rest/deletion.ts';
import { textOf } from '../rest/object-meta.ts';
import { writeOptions } from '../rest/options.ts';
import { type Admission, keyOf, type Scope } from '../rest/services.ts';
import { badRequest, conflict, notFound, StatusError } from '../status.ts';
import type { Entry } from '../store/store.ts';
import { admitCreated, created, metadataIn, readCreated } from './create-body.ts';
import { allowsUnready, budgetsOf, stillProcessed, takeDisruption } from './disruption-budget.ts';
import { isConditionTrue, setPodCondition } from './pod-conditions.ts';
import { rewrite } from './rewrite.ts';

const EVICTION = { group: 'policy', version: 'v1', kind: 'Eviction' };
const SEVERAL_BUDGETS =
  'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
/** Admission has judged the eviction; the delete it means is not asked about again. */
const ADMITTED: Admission = { mutate: () => undefined, validate: () => undefined };

/** POST to `pods/eviction`: a delete that budgets may refuse (lab W34). */
export async function evictPod(scope: Scope): Promise<ApiResponse> {
  const options = writeOptions(scope.request, 'CreateOptions');
  const body = await readCreated(scope, EVICTION, { deleteOptions: { type: 'object' } }, ['v1', 'v1beta1']);
  if (textOf(metadataIn(body)['name']) !== scope.info.name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  const eviction = await admitCreated(scope, scope.resource, 'eviction', { object: body, options });
  const raw = isJsonObject(eviction['deleteOptions']) ? eviction['deleteOptions'] : {};
  const asked = parseDeleteOptions(raw);
  const deletion: DeletionOptions = { ...asked, isDryRun: asked.isDryRun || options.isDryRun };
  for (;;) {
    try {
      await evict(scope, deletion);
      return created(scope);
    } catch (error) {
      // The pod changed while it was judged; who asked for one revision gets to know, anybody else another attempt.
      if (!(error instanceof PodChanged)) throw error;
    }
  }
}

class PodChanged extends Error {
  override readonly name = 'PodChanged';
}

async function evict(scope: Scope, deletion: DeletionOptions): Promise<void> {
  const { resource, info, store, codec } = scope;
  const entry = store.head(keyOf(resource, info.namespace, info.name));
  if (entry === undefined) throw notFound({ group: '', resource: 'pods' }, info.name);
  const pod = codec.stored(entry, resource);
  if (isFree(pod)) return remove(scope, deletion, isPending(pod) ? entry : undefined);
  const budgets = scope.registry.find('policy', 'v1', 'poddisruptionbudgets');
  const [budget, another] = budgets === undefined ? [] : budgetsOf(scope, budgets, pod);
  if (another !== undefined) throw new StatusError({ code: 500, message: SEVERAL_BUDGETS });
  if (budget === undefined || budgets === undefined) return remove(scope, deletion, undefined);
  const budgetName = textOf(metadataOf(budget)['name']);
  if (!isConditionTrue(pod, 'Ready') && allowsUnready(budget)) {
    // It may have become ready since: then the budget has a say after all.
    return removeUnready(scope, deletion, entry, budgetName);
  }
  const isDryRun = deletion.isDryRun;
  await takeDisruption(scope, { budgets, budgetName, podName: info.name, isDryRun });
  await remove(scope, deletion, undefined);
}

async function removeUnready(
  scope: Scope,
  deletion: DeletionOptions,
  judged: Entry,
  budgetName: string,
): Promise<void> {
  try {
    await remove(scope, deletion, judged);
  } catch (error) {
    throw error instanceof PodChanged ? stillProcessed(budgetName) : error;
  }
}

const phaseOf = ({ status }: JsonObject): string => (isJsonObject(status) ? textOf(status['phase']) : '');
const isPending = (pod: JsonObject): boolean =>
  phaseOf(pod) === 'Pending' && metadataOf(pod)['deletionTimestamp'] === undefined;

/** Pods that serve nobody: no budget protects them. */
const isFree = (pod: JsonObject): boolean =>
  ['Succeeded', 'Failed', 'Pending'].includes(phaseOf(pod)) || metadataOf(pod)['deletionTimestamp'] !== undefined;

/** Marks the pod as disrupted and deletes it. `judged`: only if it is still in this state. */
async function remove(scope: Scope, deletion: DeletionOptions, judged: Entry | undefined): Promise<void> {
  const { resource, info, clock } = scope;
  let options = deletion;
  if (!deletion.isDryRun) {
    const written = await rewrite(scope, {
      resource,
      name: info.name,
      isDryRun: false,
      change: (pod, entry) => {
        checkPreconditions(metadataOf(pod), entry, deletion);
        if (judged !== undefined && judged.revision !== entry.revision) throw new PodChanged();
        setPodCondition(pod, DISRUPTED, clock.now());
      },
    });
    const isStrict = judged !== undefined || deletion.resourceVersion !== undefined;
    if (isStrict) options = { ...deletion, resourceVersion: String(written.revision) };
  }
  await deleteObject({ ...scope, admission: ADMITTED }, info.name, options);
}

const DISRUPTED = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
} as const;

function checkPreconditions(
  metadata: JsonObject,
  { revision }: Entry,
  { uid = '', resourceVersion = '' }: DeletionOptions,
): void {
  const name = textOf(metadata['name']);
  const refuse = (what: string, asked: string, found: string, happened: string): void => {
    if (asked === '' || asked === found) return;
    const why = `the ${what} in the precondition (${asked}) does not match the ${what} in record (${found}). The object might have been ${happened}`;
    throw conflict({ group: '', resource: 'Pod' }, name, why);
  };
  refuse('UID', uid, textOf(metadata['uid']), 'deleted and then recreated');
  refuse('ResourceVersion', resourceVersion, String(revision), 'modified');
}
