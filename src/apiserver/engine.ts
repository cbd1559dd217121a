import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { type AdmissionPlugin, createAdmission } from './admission/chain.ts';
import { crdTerminating } from './admission/crd-terminating.ts';
import { defaultClasses } from './admission/default-classes.ts';
import { namespaceLifecycle } from './admission/namespace-lifecycle.ts';
import { createNotices } from './admission/notices.ts';
import { podPolicies } from './admission/pod-policies.ts';
import { rbacEscalation } from './admission/rbac-escalation.ts';
import { serviceAccounts } from './admission/service-accounts.ts';
import { alwaysAllow, RbacAuthorizer } from './auth/rbac-authorizer.ts';
import { convertBuiltin } from './builtin/builtin-conversion.ts';
import { createBuiltins, priorityOf } from './builtin/builtin-registry.ts';
import { createConverter } from './crd/converter.ts';
import type { Conversion } from './crd/definition.ts';
import type { ApiServerOptions } from './options.ts';
import { Registry } from './registry/registry.ts';
import { Codec } from './rest/codec.ts';
import type { Services } from './rest/services.ts';
import type { Store } from './store/store.ts';
import type { WebhookServices } from './webhooks/ask-hook.ts';
import { mutatingWebhooks } from './webhooks/mutating-webhooks.ts';
import { validatingWebhooks } from './webhooks/validating-webhooks.ts';
import { createWebhookClient, type WebhookClient } from './webhooks/webhook-client.ts';

export type EngineOptions = ApiServerOptions & { readonly clock: Clock; readonly log: Log };

/** What verbs work with, and what is needed to complete it. */
export interface Engine extends Disposable {
  readonly services: Services;
  readonly rbac: RbacAuthorizer | undefined;
  readonly callWebhook: WebhookClient;
  readonly kubernetesAddress: string;
  /** Who knows how definitions convert; known only when requests can be made. */
  useConversions(conversionOf: (name: string) => Conversion | undefined): void;
}

const CONVERSION_TIMEOUT_MS = 30_000;
const SERVICE_RANGE = '10.0.0.0/24';

/** Registry, codec, authorization and admission around a store. */
export function createEngine(options: EngineOptions, store: Store): Engine {
  const { clock, auth = {}, serviceRange = SERVICE_RANGE, resolveService = () => undefined } = options;
  let conversionOf: (name: string) => Conversion | undefined = () => undefined;
  const builtins = createBuiltins({ store, clock, serviceRange });
  const registry = new Registry(builtins.resources);
  const callWebhook = createWebhookClient({ resolveService });
  const converter = createConverter({
    conversionOf: (name) => conversionOf(name),
    callWebhook: (review, clientConfig) => callWebhook({ review, clientConfig, timeoutMs: CONVERSION_TIMEOUT_MS }),
    uuid: () => clock.uuid(),
    builtin: convertBuiltin,
  });
  const rbac = auth.mode === 'AlwaysAllow' ? undefined : new RbacAuthorizer(store);
  const codec = new Codec(registry, converter);
  const { log } = options;
  const resources = new DisposableStack();
  if (rbac !== undefined) resources.use(rbac);
  const webhooks = { clock, log, store, registry, codec, converter, callWebhook };
  const services: Services = {
    clock,
    store,
    registry,
    codec,
    admission: createAdmission([
      ...admissionPlugins({ ...webhooks, real: options.real ?? clock }, rbac, resources),
      createNotices(options.notices ?? {}),
    ]),
    authorizer: rbac ?? alwaysAllow,
  };
  return {
    services,
    rbac,
    callWebhook,
    kubernetesAddress: builtins.kubernetesAddress,
    useConversions: (find) => {
      conversionOf = find;
    },
    [Symbol.dispose]: () => resources.dispose(),
  };
}

/** In upstream's order: built-in steps, then webhooks. What they subscribe to ends with `resources`. */
function admissionPlugins(
  services: WebhookServices & { readonly real: Clock },
  rbac: RbacAuthorizer | undefined,
  resources: DisposableStack,
): readonly AdmissionPlugin[] {
  const { store, clock, real } = services;
  return [
    crdTerminating(store),
    namespaceLifecycle(store),
    serviceAccounts({ store, clock, real }),
    podPolicies((name) => priorityOf(store, name)),
    defaultClasses(store),
    resources.use(mutatingWebhooks(services)),
    ...(rbac === undefined ? [] : [rbacEscalation(rbac)]),
    resources.use(validatingWebhooks(services)),
  ];
}
