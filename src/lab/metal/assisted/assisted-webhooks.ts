import { InfraEnv } from '../../../api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../../api/assisted/hive-extensions-v1beta1.ts';
import type { Json, JsonObject } from '../../../api/json.ts';
import type { DeepReadonly } from '../../../api/object.ts';
import { type AdmissionResult, denied } from '../../../kube/webhook/admission-result.ts';
import type { Webhooks } from '../../../kube/webhook/webhooks.ts';
import { semanticEqual } from '../../../object/semantic-equality.ts';
import { conditionIn } from './assisted-conditions.ts';
import { platformOf } from './install-state.ts';

const refused = (message: string): AdmissionResult => denied(message, { reason: 'BadRequest', code: 400 });

/**
 * What assisted-service refuses when it is written, and what it fills in (spec section 7). Needs the configuration
 * objects that `webhookConfigurations` makes of it, and a server that finds it.
 */
export function addAssistedWebhooks(webhooks: Webhooks): Webhooks {
  return webhooks
    .validating(InfraEnv, {
      validateCreate: (infraEnv) => createdInfraEnv(infraEnv),
      validateUpdate: (old, infraEnv) => changedInfraEnv(old, infraEnv),
    })
    .validating(AgentClusterInstall, { validateUpdate: (old, install) => changedInstall(old, install) })
    .mutating(AgentClusterInstall, (install) => {
      const { spec } = install;
      if (spec === undefined || spec.networking?.userManagedNetworking !== undefined) return;
      const platform = platformOf(spec);
      // Somebody else balances the load of machines without a platform.
      spec.networking = {
        ...spec.networking,
        userManagedNetworking: platform === 'None' || platform === 'External',
      };
    });
}

/** Undefined when it may be. */
function createdInfraEnv({ spec }: DeepReadonly<InfraEnv>): AdmissionResult | undefined {
  const { clusterRef, osImageVersion = '' } = spec ?? {};
  if (clusterRef === undefined || osImageVersion === '') return undefined;
  return refused('spec.osImageVersion and spec.clusterRef exclude each other: the cluster says which version');
}

function changedInfraEnv(
  old: DeepReadonly<InfraEnv>,
  { spec }: DeepReadonly<InfraEnv>,
): AdmissionResult | undefined {
  const changed = (['clusterRef', 'cpuArchitecture'] as const).find(
    // Plain JSON of the API.
    (field) => !semanticEqual(old.spec?.[field] as Json | undefined, spec?.[field] as Json | undefined),
  );
  return changed === undefined ? undefined : refused(`spec.${changed} cannot be changed`);
}

const STARTED = new Set(['InstallationInProgress', 'InstallationCompleted', 'InstallationFailed']);
const ALWAYS_FREE = ['clusterMetadata', 'ignitionEndpoint'];

export function changedInstall(
  old: DeepReadonly<AgentClusterInstall>,
  install: DeepReadonly<AgentClusterInstall>,
): AdmissionResult | undefined {
  // Plain JSON of the API.
  const [before, now] = [old.spec ?? {}, install.spec ?? {}] as unknown as readonly [JsonObject, JsonObject];
  const { imageSetRef } = before;
  if (imageSetRef !== undefined && !semanticEqual(imageSetRef, now['imageSetRef']))
    return refused('spec.imageSetRef cannot be changed');
  const { reason = '' } = conditionIn(old.status?.conditions, 'Completed') ?? {};
  if (!STARTED.has(reason)) return undefined;
  const free = [...ALWAYS_FREE, ...(reason === 'InstallationInProgress' ? [] : ['provisionRequirements'])];
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  const changed = [...names].find((name) => !free.includes(name) && !semanticEqual(before[name], now[name]));
  if (changed === undefined) return undefined;
  return refused(`spec.${changed} cannot be changed after the installation has begun; the state is ${reason}`);
}
