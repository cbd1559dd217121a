import type { AdmissionPlugin } from '../admission/chain.ts';
import type { AdmissionAttributes } from '../rest/services.ts';
import { askHook, conditionsHold, type WebhookServices } from './ask-hook.ts';
import { HookIndex } from './configurations.ts';
import { candidates, type Invocation, selectorsMatch } from './hook-match.ts';
import { objectsFor, requestedObjects } from './object-views.ts';

/** Asks validating webhooks, all at once (V2–V5). The first that denies, in their order, is heard. */
export function validatingWebhooks(services: WebhookServices): AdmissionPlugin & Disposable {
  const index = new HookIndex(services.store, 'validating');
  return {
    validate(attributes) {
      const found = candidates(index.hooks, attributes, services.registry).filter(({ hook }) =>
        selectorsMatch(hook, attributes, services),
      );
      return found.length === 0 ? undefined : askAll(found, attributes, services);
    },
    [Symbol.dispose]: () => index[Symbol.dispose](),
  };
}

async function askAll(
  found: readonly Invocation[],
  attributes: AdmissionAttributes,
  services: WebhookServices,
): Promise<void> {
  const requested = requestedObjects(attributes);
  const reviews = await Promise.all(
    found.map(async ({ hook, target }) => {
      const objects = await objectsFor(requested, attributes, target, services.converter);
      return { hook, request: { attributes, target, objects, requested } };
    }),
  );
  const wanted = reviews.filter(({ hook, request }) => conditionsHold(hook, request));
  const outcomes = await Promise.allSettled(
    wanted.map(({ hook, request }) => askHook('validating', hook, request, services)),
  );
  const denied = outcomes.find((outcome) => outcome.status === 'rejected');
  if (denied !== undefined) throw denied.reason;
}
