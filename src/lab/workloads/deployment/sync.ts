import { Deployment, type DeploymentStatus, ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { Pod } from '../../../api/generated/core-v1.ts';
import type { JsonObject } from '../../../api/json.ts';
import { keyOf } from '../../../api/object.ts';
import { messageOf } from '../../../base/errors.ts';
import { isLeadershipLost } from '../../../kube/client/api-error.ts';
import { mergeFrom } from '../../../kube/client/patches.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile.ts';
import { semanticEqual } from '../../../object/semantic-equality.ts';
import { writeStatus } from '../pods/status-write.ts';
import { deploymentStatus } from './deployment-status.ts';
import { newReplicaSet } from './new-replica-set.ts';
import { isComplete, type Progress, pauseStatus, progressOf, rolloutStatus, withProgress } from './progress.ts';
import { isScalingEvent, scalingSteps } from './proportions.ts';
import { hasOldPods, recreateSteps } from './recreate.ts';
import { expiredSets, newSetAnnotations, nextRevision, REVISION, replicasAnnotations } from './revision.ts';
import { rollingSteps } from './rolling.ts';
import { desiredReplicas, isRolling, type Rollout, rolloutOf, type ScaleStep, sizeOf } from './rollout.ts';
import { createSet } from './set-creation.ts';

/** One pass over a Deployment: what was read of it and of its sets, brought up to date with every write. */
export class DeploymentSync {
  readonly #context: ReconcileContext;
  #deployment: Deployment;
  #sets: readonly ReplicaSet[];

  constructor(deployment: Deployment, sets: readonly ReplicaSet[], context: ReconcileContext) {
    this.#deployment = deployment;
    this.#sets = sets;
    this.#context = context;
  }

  /** As the last write left it. */
  get deployment(): Deployment {
    return this.#deployment;
  }

  /** In the order of W1. */
  async run(): Promise<void> {
    const { metadata, spec } = this.#deployment;
    if (metadata.deletionTimestamp !== undefined) return this.#tell(deploymentStatus(this.#rollout, this.#now));
    await this.#tell(pauseStatus(this.#deployment, this.#now));
    await this.#updateNewSet();
    if (spec.paused === true || isScalingEvent(this.#rollout)) return this.#scaleOnly();
    return isRolling(this.#deployment) ? this.#roll() : this.#recreate();
  }

  get #rollout(): Rollout {
    return rolloutOf(this.#deployment, this.#sets);
  }

  get #now(): Date {
    return this.#context.now();
  }

  async #scaleOnly(): Promise<void> {
    await this.#scale(scalingSteps(this.#rollout));
    if (this.#deployment.spec.paused === true) await this.#removeExpired();
    await this.#tell(deploymentStatus(this.#rollout, this.#now));
  }

  async #roll(): Promise<void> {
    if (!(await this.#ensureNewSet())) return;
    const steps = rollingSteps(this.#rollout);
    await this.#scale(steps);
    await this.#conclude({ isMoving: steps.length > 0 });
  }

  async #recreate(): Promise<void> {
    const steps = recreateSteps(this.#rollout);
    await this.#scale(steps);
    const isMoving = steps.length > 0 || hasOldPods(this.#rollout, await this.#pods());
    if (isMoving) return this.#conclude({ isMoving });
    if (!(await this.#ensureNewSet())) return;
    const { newSet } = this.#rollout;
    if (newSet !== undefined) await this.#scale([{ set: newSet, replicas: desiredReplicas(this.#deployment) }]);
    return this.#conclude({ isMoving });
  }

  async #conclude({ isMoving }: { readonly isMoving: boolean }): Promise<void> {
    if (!isMoving && isComplete(this.#deployment, this.#deployment.status)) await this.#removeExpired();
    await this.#tell(rolloutStatus(this.#rollout, this.#now));
  }

  async #pods(): Promise<readonly Pod[]> {
    const { client, signal } = this.#context;
    const { namespace } = this.#deployment.metadata;
    const { items } = await client.list(Pod, { signal, ...(namespace !== undefined && { namespace }) });
    return items;
  }

  /** Brings what the new set says up to date, and with it the revision of the Deployment (W6). */
  async #updateNewSet(): Promise<void> {
    const { newSet, oldSets } = this.#rollout;
    if (newSet === undefined) return;
    const before = newSet.metadata.annotations ?? {};
    const annotations = newSetAnnotations(this.#deployment, before, nextRevision(oldSets));
    const { minReadySeconds = 0 } = this.#deployment.spec;
    const isSameWait = (newSet.spec.minReadySeconds ?? 0) === minReadySeconds;
    if (annotations !== before || !isSameWait) {
      const metadata = { ...newSet.metadata, annotations };
      const spec = isSameWait ? newSet.spec : { ...newSet.spec, minReadySeconds };
      await this.#change(newSet, { ...newSet, metadata, spec });
    }
    const message = `Found new replica set "${newSet.metadata.name}"`;
    const isFirstSight = progressOf(this.#deployment.status) === undefined;
    const status = isFirstSight
      ? this.#withProgress({ status: 'True', reason: 'FoundNewReplicaSet', message })
      : (this.#deployment.status ?? {});
    await this.#tell(status, annotations[REVISION]);
  }

  /** False when it cannot be made now: the namespace goes, or the name is taken and the next pass tries another (W5). */
  async #ensureNewSet(): Promise<boolean> {
    const { newSet, oldSets } = this.#rollout;
    if (newSet !== undefined) return true;
    const wanted = newReplicaSet(this.#deployment, oldSets);
    const { name } = wanted.metadata;
    const creation = await createSet(this.#deployment, wanted, this.#context).catch((error: unknown) =>
      this.#cannotCreate(name, error),
    );
    if (creation.outcome === 'terminating') return false;
    if (creation.outcome === 'collision') {
      const { status = {} } = this.#deployment;
      await this.#tell({ ...status, collisionCount: (status.collisionCount ?? 0) + 1 });
      return false;
    }
    this.#sets = [...this.#sets, creation.set];
    const size = sizeOf(creation.set);
    if (creation.outcome === 'created' && size > 0) this.#reportScaling(creation.set, 0, size);
    const message = `Created new replica set "${name}"`;
    const status = this.#withProgress({ status: 'True', reason: 'NewReplicaSetCreated', message });
    await this.#tell(status, wanted.metadata.annotations?.[REVISION]);
    return true;
  }

  async #cannotCreate(name: string, error: unknown): Promise<never> {
    if (isLeadershipLost(error)) throw error;
    const message = `Failed to create new replica set "${name}": ${messageOf(error)}`;
    const status = this.#withProgress({ status: 'False', reason: 'ReplicaSetCreateError', message });
    this.#context.events.warning(this.#deployment, 'ReplicaSetCreateError', message);
    // That the set cannot be made matters more than that this cannot be said.
    await this.#tell(status).catch(() => {});
    throw error;
  }

  #withProgress(progress: Progress): DeploymentStatus {
    return withProgress(this.#deployment, progress, this.#now);
  }

  async #removeExpired(): Promise<void> {
    const { client, signal } = this.#context;
    for (const set of expiredSets(this.#deployment, this.#rollout.oldSets)) {
      const { uid } = set.metadata;
      await client.delete(ReplicaSet, keyOf(set), {
        signal,
        ...(uid !== undefined && { preconditions: { uid } }),
      });
      this.#sets = this.#sets.filter((one) => one !== set);
    }
  }

  /** One after the other: a set may have several steps, and what fails stops the rest. */
  async #scale(steps: readonly ScaleStep[]): Promise<void> {
    for (const step of steps) {
      const set = this.#sets.find(({ metadata }) => metadata.uid === step.set.metadata.uid);
      if (set !== undefined) await this.#scaleSet(set, step);
    }
  }

  async #scaleSet(set: ReplicaSet, { replicas, isForced = false }: ScaleStep): Promise<void> {
    const size = sizeOf(set);
    const counts = replicasAnnotations(this.#deployment);
    const { annotations = {} } = set.metadata;
    const isOutdated = Object.entries(counts).some(([key, count]) => annotations[key] !== count);
    if (size === replicas && !(isForced && isOutdated)) return;
    const metadata = { ...set.metadata, annotations: { ...annotations, ...counts } };
    const scaled = await this.#change(set, { ...set, metadata, spec: { ...set.spec, replicas } });
    if (size !== replicas) this.#reportScaling(scaled, size, replicas);
  }

  /** The numbers are part of the action: another step is another event, not the same one again (W14). */
  #reportScaling(set: ReplicaSet, from: number, to: number): void {
    const note = `Scaled ${from < to ? 'up' : 'down'} replica set ${set.metadata.name} from ${from} to ${to}`;
    const details = { action: `Scale${from}To${to}`, related: set };
    this.#context.events.normal(this.#deployment, 'ScalingReplicaSet', note, details);
  }

  /** Only what differs, and only of the version that was looked at. */
  async #change(before: ReplicaSet, after: ReplicaSet): Promise<ReplicaSet> {
    const { client, signal } = this.#context;
    const patch = mergeFrom(before, after, { optimisticLock: true });
    const changed = await client.patch(ReplicaSet, keyOf(before), patch, { signal });
    this.#sets = this.#sets.map((set) => (set === before ? changed : set));
    return changed;
  }

  /** Writes the status, and the revision that goes with it, where they differ from what is stored. */
  async #tell(status: DeploymentStatus, revision?: string): Promise<void> {
    const { metadata, status: stored = {} } = this.#deployment;
    const isSameRevision = revision === undefined || metadata.annotations?.[REVISION] === revision;
    if (isSameRevision && semanticEqual(jsonOf(stored), jsonOf(status))) return;
    this.#deployment = await writeStatus(this.#context, Deployment, this.#deployment, {
      status,
      ...(revision !== undefined && { annotations: { [REVISION]: revision } }),
    });
  }
}

// Plain JSON that came from the server, or goes there.
const jsonOf = (status: DeploymentStatus): JsonObject => status as unknown as JsonObject;
