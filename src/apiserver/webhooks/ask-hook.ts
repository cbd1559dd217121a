import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Converter } from '../rest/codec.ts';
import { badRequest, forbiddenObject, internalError } from '../status.ts';
import { CallProblem, denial, type Verdict, verdictOf } from './admission-response.ts';
import { admissionRequest, admissionReview, type ReviewRequest } from './admission-review.ts';
import type { Hook, HookKind } from './configurations.ts';
import type { MatchServices } from './hook-match.ts';
import type { WebhookClient } from './webhook-client.ts';

export interface WebhookServices extends MatchServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly converter: Converter;
  readonly callWebhook: WebhookClient;
}

/** Whether the conditions of a webhook hold (§15.6). What they cannot decide, the failure policy does. */
export function conditionsHold(hook: Hook, request: ReviewRequest): boolean {
  if (hook.conditions === undefined) return true;
  const { attributes, objects } = request;
  const outcome = hook.conditions.evaluate({
    object: objects.object ?? null,
    oldObject: objects.oldObject ?? null,
    request: admissionRequest(request, ''),
  });
  if (typeof outcome === 'string') return outcome === 'match';
  if (hook.isOptional) return false;
  const { resource, name } = attributes;
  throw forbiddenObject({ group: resource.group, resource: resource.plural }, name, outcome.error);
}

/** What a webhook decides; undefined when it could not be asked and need not be. Throws the denial. */
export async function askHook(
  kind: HookKind,
  hook: Hook,
  request: ReviewRequest,
  services: WebhookServices,
): Promise<Verdict | undefined> {
  try {
    return await verdict(kind, hook, request, services);
  } catch (error) {
    if (!(error instanceof CallProblem)) throw error;
    const text = `failed calling webhook "${hook.name}": ${error.message}`;
    if (!hook.isOptional) throw internalError(text);
    services.log.warn({ webhook: hook.name, problem: error.message }, 'a webhook could not be asked; going on');
    return undefined;
  }
}

async function verdict(
  kind: HookKind,
  hook: Hook,
  request: ReviewRequest,
  { clock, callWebhook }: WebhookServices,
): Promise<Verdict> {
  const { attributes } = request;
  if (attributes.isDryRun && !hook.hasNoEffectsOnDryRun) {
    throw badRequest(`admission webhook "${hook.name}" does not support dry run`);
  }
  const version = hook.reviewVersions.find((known) => known === 'v1' || known === 'v1beta1');
  if (version === undefined) {
    throw new CallProblem(
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    );
  }
  const uid = clock.uuid();
  const review = admissionReview(admissionRequest(request, uid), version);
  const { clientConfig, timeoutMs } = hook;
  const answer = await callWebhook({ review, clientConfig, timeoutMs }).catch((error: unknown) => {
    throw new CallProblem(`failed to call webhook: ${error instanceof Error ? error.message : String(error)}`);
  });
  const found = verdictOf(answer, { uid, version, isMutating: kind === 'mutating' });
  attributes.warnings.addAll(found.warnings);
  if (!found.isAllowed) throw denial(hook.name, found.status);
  return found;
}
