import type { AssistedCondition } from '../../../api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../../api/assisted/hive-extensions-v1beta1.ts';
import { ClusterDeployment } from '../../../api/hive/hive-v1.ts';
import type { JsonObject } from '../../../api/json.ts';
import { keyOf } from '../../../api/object.ts';
import type { FinalizedReconciler } from '../../../kube/apply/with-finalizer.ts';
import { after, DONE, type ReconcileContext, type Result } from '../../../kube/controller/reconcile.ts';
import { jsonEqual } from '../../../object/json.ts';
import { conditionIn, news, withConditions } from './assisted-conditions.ts';
import type { AssistedOptions } from './assisted-options.ts';
import { installOf } from './bound-agents.ts';
import { delaysAt } from './delays.ts';
import { identity, patchStatus } from './status-patch.ts';

export const DEPLOYMENT_FINALIZER = 'clusterdeployments.agent-install.openshift.io/ai-deprovision';

/** Those that Hive knows; on the ClusterDeployment they begin with `ClusterInstall`. */
const COPIED = ['RequirementsMet', 'Completed', 'Failed', 'Stopped'];

/** The part of assisted-service and of Hive in a ClusterDeployment (S-hive, S23). */
export class DeploymentReconciler implements FinalizedReconciler<ClusterDeployment> {
  readonly #pollMs: number;

  constructor({ pace }: AssistedOptions) {
    this.#pollMs = delaysAt(pace).pollMs;
  }

  async reconcile(deployment: ClusterDeployment, context: ReconcileContext): Promise<Result> {
    const install = await installOf(context, keyOf(deployment));
    if (install === undefined) return DONE;
    await patchStatus(context, ClusterDeployment, deployment, statusOf(deployment, install, context.now()));
    const spec = specChange(deployment, install);
    if (spec === undefined) return DONE;
    const body = { metadata: identity(deployment), spec };
    await context.client.patch(
      ClusterDeployment,
      keyOf(deployment),
      { type: 'merge', body },
      { signal: context.signal },
    );
    return DONE;
  }

  /** The installation goes first, with everything that belongs to it. */
  async finalize(deployment: ClusterDeployment, context: ReconcileContext): Promise<'done' | Result> {
    const install = await installOf(context, keyOf(deployment));
    if (install === undefined) return 'done';
    if (install.metadata.deletionTimestamp === undefined)
      await context.client.delete(AgentClusterInstall, keyOf(install), { signal: context.signal });
    return after(this.#pollMs);
  }
}

/** Pure: the conditions of the installation under Hive's names. */
function statusOf(
  { status = {} }: ClusterDeployment,
  install: AgentClusterInstall,
  now: Date,
): NonNullable<ClusterDeployment['status']> {
  const told = COPIED.flatMap((type) => {
    const { status: value, reason = '', message = '' } = conditionIn(install.status?.conditions, type) ?? NOTHING;
    return value === undefined ? [] : [news(`ClusterInstall${type}`, value, reason, message)];
  });
  return { ...status, conditions: withConditions(status.conditions ?? [], told, now) };
}

const NOTHING: Partial<AssistedCondition> = {};

/** Pure: what Hive writes into the spec when it is there; undefined when nothing changes. */
function specChange({ spec }: ClusterDeployment, install: AgentClusterInstall): JsonObject | undefined {
  const isTrue = (type: string) => conditionIn(install.status?.conditions, type)?.status === 'True';
  // Plain JSON that came from the server.
  const [before, metadata] = [spec?.clusterMetadata, install.spec?.clusterMetadata] as unknown as readonly (
    | JsonObject
    | undefined
  )[];
  const isInstalled = isTrue('Completed') && isTrue('Stopped');
  const change: JsonObject = {
    ...(metadata !== undefined && !jsonEqual(before, metadata) && { clusterMetadata: metadata }),
    ...(isInstalled && spec?.installed !== true && { installed: true }),
  };
  return Object.keys(change).length === 0 ? undefined : change;
}
