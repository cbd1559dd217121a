import { Deployment, ReplicaSet } from '../../../api/generated/apps-v1.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../../kube/controller/reconcile.ts';
import { claimObjects, selectorOf } from '../pods/claims.ts';
import { writeStatus } from '../pods/status-write.ts';
import { progressCheckMs } from './progress.ts';
import { DeploymentSync } from './sync.ts';

const SELECTING_ALL = 'This deployment is selecting all pods. A non-empty selector is required.';

/** Rolls the template of a Deployment out over its ReplicaSets (W1–W14). */
export class DeploymentReconciler implements Reconciler<Deployment> {
  async reconcile(deployment: Deployment, context: ReconcileContext): Promise<Result> {
    const { client, now, signal } = context;
    const selector = selectorOf(deployment.spec.selector);
    if (selector.requirements.length === 0) return this.#refuse(deployment, context);
    const { namespace } = deployment.metadata;
    const { items } = await client.list(ReplicaSet, { signal, ...(namespace !== undefined && { namespace }) });
    const claim = { kind: ReplicaSet, owner: deployment, ownerKind: Deployment, selector };
    const sync = new DeploymentSync(deployment, await claimObjects(items, claim, context), context);
    await sync.run();
    const isPaused = deployment.spec.paused === true;
    const waitMs = isPaused ? undefined : progressCheckMs(sync.deployment, now());
    return waitMs === undefined ? DONE : after(waitMs);
  }

  /** It would take the pods of everybody (W1). Only that it was looked at is said. */
  async #refuse(deployment: Deployment, context: ReconcileContext): Promise<Result> {
    const { generation = 0 } = deployment.metadata;
    const { status = {} } = deployment;
    context.events.warning(deployment, 'SelectingAll', SELECTING_ALL);
    if ((status.observedGeneration ?? 0) >= generation) return DONE;
    await writeStatus(context, Deployment, deployment, { status: { ...status, observedGeneration: generation } });
    return DONE;
  }
}
