import { InfraEnv } from '../../../api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../../api/assisted/hive-extensions-v1beta1.ts';
import { Secret } from '../../../api/generated/core-v1.ts';
import { ClusterDeployment } from '../../../api/hive/hive-v1.ts';
import { keyOf } from '../../../api/object.ts';
import type { FinalizedReconciler } from '../../../kube/apply/with-finalizer.ts';
import { after, DONE, type ReconcileContext, type Result } from '../../../kube/controller/reconcile.ts';
import type { AssistedOptions } from './assisted-options.ts';
import { type Delays, delaysAt } from './delays.ts';
import { infraEnvStep } from './infra-env-status.ts';
import { installStateOf } from './install-state.ts';
import { patchStatus } from './status-patch.ts';

export const INFRA_ENV_FINALIZER = 'infraenv.agent-install.openshift.io/ai-deprovision';

/** An InfraEnv gets an image and an address for its hosts (S16); when it goes, the garbage collector takes its Agents. */
export class InfraEnvReconciler implements FinalizedReconciler<InfraEnv> {
  readonly #options: AssistedOptions;
  readonly #delays: Delays;

  constructor(options: AssistedOptions) {
    this.#options = options;
    this.#delays = delaysAt(options.pace);
  }

  async reconcile(infraEnv: InfraEnv, context: ReconcileContext): Promise<Result> {
    const { address, faults, hasImageService = true } = this.#options;
    const isMade = infraEnv.status?.debugInfo?.eventsURL !== undefined;
    const { status, waitMs } = infraEnvStep({
      infraEnv,
      isClusterMissing: !isMade && !(await isClusterRegistered(infraEnv, context)),
      hasPullSecret: isMade || (await hasPullSecret(infraEnv, context)),
      isLate: !isMade && faults?.isEventsUrlLate(keyOf(infraEnv)) === true,
      address,
      hasImageService,
      delays: this.#delays,
      now: context.now(),
    });
    await patchStatus(context, InfraEnv, infraEnv, status);
    return waitMs === undefined ? DONE : after(waitMs);
  }

  finalize(): Promise<'done'> {
    return Promise.resolve('done');
  }
}

async function isClusterRegistered({ spec }: InfraEnv, { client }: ReconcileContext): Promise<boolean> {
  const { clusterRef } = spec ?? {};
  if (clusterRef === undefined) return true;
  const deployment = await client.find(ClusterDeployment, clusterRef);
  const { name } = deployment?.spec?.clusterInstallRef ?? {};
  if (name === undefined) return false;
  const install = await client.find(AgentClusterInstall, { namespace: clusterRef.namespace, name });
  return install !== undefined && installStateOf(install) !== '';
}

async function hasPullSecret(
  { spec, metadata }: InfraEnv,
  { client, signal }: ReconcileContext,
): Promise<boolean> {
  const { name = '' } = spec?.pullSecretRef ?? {};
  if (name === '') return false;
  const { namespace = '' } = metadata;
  return (await client.live.find(Secret, { namespace, name }, { signal })) !== undefined;
}
