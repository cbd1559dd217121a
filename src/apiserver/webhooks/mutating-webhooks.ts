import { cloneJson, isJsonObject, type Json, type JsonObject, jsonEqual } from '../../object/json.ts';
import { applyJsonPatch } from '../../object/json-patch.ts';
import { PatchProblem } from '../../object/patch-problem.ts';
import type { AdmissionPlugin, AdmissionRound, WebhookMemory } from '../admission/chain.ts';
import { decodeObject } from '../rest/decode.ts';
import type { AdmissionAttributes, Scope } from '../rest/services.ts';
import { internalError, StatusError } from '../status.ts';
import type { ReviewRequest } from './admission-review.ts';
import { askHook, conditionsHold, type WebhookServices } from './ask-hook.ts';
import { type Hook, HookIndex } from './configurations.ts';
import { candidates, type Invocation, selectorsMatch } from './hook-match.ts';
import { fromView, objectsFor, requestedObjects } from './object-views.ts';

/** Asks mutating webhooks one after the other; each sees what those before it made of the object (V2–V5). */
export function mutatingWebhooks(services: WebhookServices): AdmissionPlugin & Disposable {
  const index = new HookIndex(services.store, 'mutating');
  return {
    mutate(attributes, round) {
      const found = candidates(index.hooks, attributes, services.registry);
      // Labels change only by a webhook, so nobody is asked later when nobody is asked now.
      if (!found.some(({ hook }) => selectorsMatch(hook, attributes, services))) return undefined;
      return askAll(found, attributes, round, services);
    },
    [Symbol.dispose]: () => index[Symbol.dispose](),
  };
}

async function askAll(
  found: readonly Invocation[],
  given: AdmissionAttributes,
  round: AdmissionRound,
  services: WebhookServices,
): Promise<JsonObject | undefined> {
  const memory = (round.webhooks ??= { reinvocable: new Set(), due: new Set(), output: undefined });
  // Built-in plugins had another look and changed something.
  if (round.isAgain && !jsonEqual(given.object, memory.output)) makeDue(memory);
  let attributes = given;
  for (const invocation of found) {
    const { hook } = invocation;
    const isDue = !round.isAgain || memory.due.has(hook.id);
    if (!isDue || !selectorsMatch(hook, attributes, services)) continue;
    const changed = await askOne(invocation, attributes, services);
    if (changed !== undefined) {
      attributes = { ...attributes, object: changed };
      round.isAgainWanted = true;
      makeDue(memory);
    }
    if (hook.isReinvocable) memory.reinvocable.add(hook.id);
  }
  if (attributes.object === given.object) return undefined;
  // A copy, for built-in plugins write to the object itself.
  memory.output = attributes.object && cloneJson(attributes.object);
  return attributes.object;
}

/** The object changed: whoever saw it before must see it again, if willing. */
function makeDue(memory: WebhookMemory): void {
  for (const id of memory.reinvocable) memory.due.add(id);
  memory.reinvocable.clear();
}

/** The object as one webhook changed it; undefined when it did not. */
async function askOne(
  { hook, target }: Invocation,
  attributes: AdmissionAttributes,
  services: WebhookServices,
): Promise<JsonObject | undefined> {
  const requested = requestedObjects(attributes);
  const objects = await objectsFor(requested, attributes, target, services.converter);
  const request: ReviewRequest = { attributes, target, objects, requested };
  if (!conditionsHold(hook, request)) return undefined;
  const verdict = await askHook('mutating', hook, request, services);
  if (verdict === undefined || verdict.patch.length === 0) return undefined;
  const changed = patched(hook, objects.object, verdict.patch, { resource: target, registry: services.registry });
  return jsonEqual(changed, objects.object) ? undefined : fromView(changed, attributes, services.converter);
}

function patched(
  { name }: Hook,
  object: JsonObject | undefined,
  patch: readonly Json[],
  target: Pick<Scope, 'resource' | 'registry'>,
): JsonObject {
  if (object === undefined) {
    throw internalError(
      `admission webhook "${name}" attempted to modify the object, which is not supported for this operation`,
    );
  }
  try {
    const result = applyJsonPatch(object, [...patch]);
    if (!isJsonObject(result)) throw internalError('the patch of the webhook leaves no object');
    const own = cloneJson(result);
    // A subresource may have a kind of its own, of which nothing more is known.
    return object['kind'] === target.resource.kind ? decoded(own, target) : own;
  } catch (error) {
    throw error instanceof PatchProblem ? internalError(error.message) : error;
  }
}

/** What upstream's decoder says about a type that does not fit, without the part about the request. */
const REQUEST_PART = / cannot be handled as a [^:]+: (.*)$/s;

function decoded(object: JsonObject, target: Pick<Scope, 'resource' | 'registry'>): JsonObject {
  try {
    return decodeObject(target, object).object;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw internalError(REQUEST_PART.exec(error.message)?.[1] ?? error.message);
  }
}
