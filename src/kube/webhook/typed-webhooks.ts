import type { JsonObject } from '../../api/json.ts';
import type { DeepReadonly, KubeObject, Mutable } from '../../api/object.ts';
import { terminalError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { cloneJson, jsonEqual } from '../../object/json.ts';
import { diffJsonPatch } from '../../object/json-patch-diff.ts';
import { stringifyJson } from '../../object/json-text.ts';
import { type AdmissionRequest, objectAt, textAt } from './admission-request.ts';
import { type AdmissionResult, allowed, patched } from './admission-result.ts';

/** What a handler may use besides the request. */
export interface AdmissionContext {
  readonly request: AdmissionRequest;
  readonly log: Log;
  /** Aborts when the API server no longer waits for an answer. */
  readonly signal: AbortSignal;
  /** Shown to the user by his client, whatever is decided. */
  warn(text: string): void;
}

/** Decides about a write; may be asked twice about the same one and must have no effects of its own. */
export type AdmissionHandler = (
  request: AdmissionRequest,
  context: AdmissionContext,
) => Promise<AdmissionResult> | AdmissionResult;

/**
 * Fills in what an object leaves out. Writes to the copy it gets; fields that its type does not know are kept. Must be
 * idempotent: the API server may call it again with what it made (W4).
 */
export type Defaulter<T extends KubeObject> = (
  object: Mutable<T>,
  context: AdmissionContext,
) => Promise<void> | void;

// A method that is async and returns nothing is common and means yes.
// oxlint-disable-next-line typescript/no-invalid-void-type
type Verdict = AdmissionResult | undefined | void;

/** Judges writes of one kind; nothing returned means yes. What is not there is not asked for. */
export interface Validator<T extends KubeObject> {
  validateCreate?(object: DeepReadonly<T>, context: AdmissionContext): Promise<Verdict> | Verdict;
  validateUpdate?(
    old: DeepReadonly<T>,
    object: DeepReadonly<T>,
    context: AdmissionContext,
  ): Promise<Verdict> | Verdict;
  validateDelete?(old: DeepReadonly<T>, context: AdmissionContext): Promise<Verdict> | Verdict;
  /** Updates that only take finalizers off an object that is being deleted are judged too; else they always pass. */
  readonly judgesDeletion?: boolean;
}

/** `isChecked` runs the defaulter again on what it made and fails when it changes anything: for tests. */
export const defaulterHandler =
  <T extends KubeObject>(defaulter: Defaulter<T>, isChecked: boolean): AdmissionHandler =>
  async ({ object }, context) => {
    if (object === undefined) return allowed();
    const copy = await defaulted(object, defaulter, context);
    if (isChecked) {
      const again = await defaulted(copy, defaulter, context);
      if (!jsonEqual(copy, again)) {
        const change = stringifyJson(diffJsonPatch(copy, again));
        throw terminalError('NotIdempotent', `a defaulter changes what it made itself: ${change}`);
      }
    }
    return patched(copy);
  };

async function defaulted<T extends KubeObject>(
  object: JsonObject,
  defaulter: Defaulter<T>,
  context: AdmissionContext,
): Promise<JsonObject> {
  const copy = cloneJson(object);
  // The API server sends objects of the kind that the webhook is registered for.
  await defaulter(copy as unknown as Mutable<T>, context);
  return copy;
}

export const validatorHandler =
  <T extends KubeObject>(validator: Validator<T>): AdmissionHandler =>
  async (request, context) => {
    // As above: the API server sends objects of this kind.
    const [object, old] = [request.object, request.oldObject] as unknown as readonly (
      | DeepReadonly<T>
      | undefined
    )[];
    return (await verdictOf(validator, { request, object, old }, context)) ?? allowed();
  };

interface Judged<T extends KubeObject> {
  readonly request: AdmissionRequest;
  readonly object: DeepReadonly<T> | undefined;
  readonly old: DeepReadonly<T> | undefined;
}

function verdictOf<T extends KubeObject>(
  validator: Validator<T>,
  { request, object, old }: Judged<T>,
  context: AdmissionContext,
): Promise<Verdict> | Verdict {
  const { operation } = request;
  if (operation === 'DELETE') return old && validator.validateDelete?.(old, context);
  if (object === undefined || operation === 'CONNECT') return undefined;
  if (operation === 'CREATE') return validator.validateCreate?.(object, context);
  const isPassing = validator.judgesDeletion !== true && onlyLosesFinalizers(request);
  return old === undefined || isPassing ? undefined : validator.validateUpdate?.(old, object, context);
}

const BOOKKEEPING: ReadonlySet<string> = new Set(['finalizers', 'managedFields', 'resourceVersion', 'generation']);

/** A validator that turns stricter must not keep old objects from being deleted (W4). */
function onlyLosesFinalizers({ object = {}, oldObject = {} }: AdmissionRequest): boolean {
  if (textAt(objectAt(object, 'metadata'), 'deletionTimestamp') === '') return false;
  return jsonEqual(withoutBookkeeping(object), withoutBookkeeping(oldObject));
}

function withoutBookkeeping(object: JsonObject): JsonObject {
  const metadata = Object.entries(objectAt(object, 'metadata')).filter(([key]) => !BOOKKEEPING.has(key));
  return { ...object, metadata: Object.fromEntries(metadata) };
}
