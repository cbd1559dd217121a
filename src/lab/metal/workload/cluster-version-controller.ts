import { isDeepStrictEqual } from 'node:util';
import { ClusterVersion, type ClusterVersionHistoryEntry } from '../../../api/openshift/config-v1.ts';
import { type Controller, controllerFor } from '../../../kube/controller/controller.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../../kube/controller/reconcile.ts';
import { needs } from '../../../kube/rbac/need.ts';
import {
  begunStatus,
  CLUSTER_VERSION,
  type ClusterVersionStatus,
  completedStatus,
  FAIL_UPDATE,
  failedStatus,
  isInstalling,
  type Release,
  refusedStatus,
  unnamedImage,
} from './cluster-version.ts';

/** The version of a release image; undefined when nobody has it. Rejects when nobody can tell now. */
export type VersionOfImage = (image: string) => Promise<string | undefined>;

export interface ClusterVersionOptions {
  readonly versionOfImage: VersionOfImage;
  /** How long an update takes, in lab time; 10 min unless told otherwise. */
  readonly updateMs?: number;
}

const UPDATE_MS = 10 * 60_000;
/** When somebody may have pushed the image by now. */
const LOOK_AGAIN_MS = 60_000;

/** Stands in for the operator that updates a cluster of OpenShift, as far as its ClusterVersion shows it (S25). */
export const clusterVersionController = (options: ClusterVersionOptions): Controller =>
  controllerFor(ClusterVersion, { name: 'cluster-version' })
    .needs(needs(ClusterVersion, ['update'], { subresource: 'status' }))
    .reconcile(new ClusterVersionReconciler(options));

class ClusterVersionReconciler implements Reconciler<ClusterVersion> {
  readonly #options: ClusterVersionOptions;

  constructor(options: ClusterVersionOptions) {
    this.#options = options;
  }

  async reconcile(cv: ClusterVersion, context: ReconcileContext): Promise<Result> {
    // An installation ends when whoever installs says so.
    if (cv.metadata.name !== CLUSTER_VERSION.name || isInstalling(cv.status ?? {})) return DONE;
    const { updateMs = UPDATE_MS } = this.#options;
    const { target, refusal } = await this.#target(cv, context.now());
    const next = nextStatus(cv, { target, updateMs, now: context.now() });
    // What is under way goes on, whatever is asked for besides.
    const status = next !== undefined && 'status' in next ? next.status : refusal;
    if (status !== undefined) {
      await context.client.updateStatus(ClusterVersion, { ...cv, status }, { signal: context.signal });
      return DONE;
    }
    const waits = [
      ...(next !== undefined && 'waitMs' in next ? [next.waitMs] : []),
      ...(target === 'unknown' ? [LOOK_AGAIN_MS] : []),
    ];
    return waits.length === 0 ? DONE : after(Math.min(...waits));
  }

  /** What it is to become; undefined when nobody asks for anything. The refusal is what is to be said of an image that nobody has. */
  async #target(cv: ClusterVersion, now: Date): Promise<{ target: Target; refusal?: ClusterVersionStatus }> {
    const { version = '', image = '' } = cv.spec?.desiredUpdate ?? {};
    if (image === '') return { target: version === '' ? undefined : { version, image: unnamedImage(version) } };
    const found = await this.#options.versionOfImage(image);
    if (found !== undefined) return { target: { version: found, image } };
    const refusal = refusedStatus(cv, image, 'nobody has this image', now);
    const isSaid = isDeepStrictEqual(refusal, cv.status);
    return { target: 'unknown', ...(!isSaid && { refusal }) };
  }
}

type Target = Release | 'unknown' | undefined;

interface UpdateFacts {
  readonly target: Target;
  readonly updateMs: number;
  readonly now: Date;
}

/** Pure: what follows for a cluster that was installed; undefined when nothing does. */
function nextStatus(
  cv: ClusterVersion,
  { target, updateMs, now }: UpdateFacts,
): { readonly status: ClusterVersionStatus } | { readonly waitMs: number } | undefined {
  const { status = {}, metadata } = cv;
  if (isNew(cv, target)) return { status: begunStatus(cv, target, now) };
  const [newest = {}] = status.history ?? [];
  if (newest.state !== 'Partial' || hasEnded(newest)) return undefined;
  const waitMs = Date.parse(newest.startedTime ?? '') + updateMs - now.getTime();
  if (waitMs > 0) return { waitMs };
  const why = metadata.annotations?.[FAIL_UPDATE];
  return { status: why === undefined ? completedStatus(status, now) : failedStatus(status, why, now) };
}

const hasEnded = ({ completionTime = null }: ClusterVersionHistoryEntry): boolean => completionTime !== null;

/** Another release than the newest one; or the same again after it failed, when somebody asks anew. */
function isNew({ status = {}, metadata }: ClusterVersion, target: Target): target is Release {
  if (target === undefined || target === 'unknown') return false;
  const { version, image } = target;
  const [newest = {}] = status.history ?? [];
  if (newest.version !== version) return true;
  // Whoever names a version only means any image of it.
  if (newest.image !== image && image !== unnamedImage(version)) return true;
  return hasFailed(newest) && metadata.generation !== status.observedGeneration;
}

const hasFailed = (entry: ClusterVersionHistoryEntry): boolean => entry.state === 'Partial' && hasEnded(entry);
