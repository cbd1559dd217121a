import type { ClusterVersion } from '../../api/openshift/config-v1.ts';
import type { ConditionFields } from '../../object/conditions.ts';
import { isMet, isUnmet, UPGRADE_COMPLETED } from '../control-plane/conditions.ts';

/** How far a cluster is with its version (U1, U2). */
export interface VersionProgress {
  readonly isInProgress: boolean;
  /** The version that was last installed completely; undefined before the first. */
  readonly running: string | undefined;
  /** Whether the cluster version operator works on the wanted version. */
  readonly isDesired: boolean;
  /** Whether the operator has seen what it was last asked for. */
  readonly isObserved: boolean;
  readonly message: string;
}

/** What a ClusterVersion tells. Pure. */
export function versionProgress({ metadata, status }: ClusterVersion, wanted: string): VersionProgress {
  const { history = [], conditions = [], desired, observedGeneration } = status ?? {};
  const isPartial = history.some(
    ({ state, completionTime }) => state === 'Partial' && (completionTime ?? '') === '',
  );
  const isProgressing = conditions.some((one) => one.type === 'Progressing' && one.status === 'True');
  return {
    isInProgress: isPartial || isProgressing,
    running: history.find(({ state }) => state === 'Completed')?.version,
    isDesired: isDesiredVersion(desired?.version ?? '', wanted),
    isObserved: observedGeneration === undefined || observedGeneration === metadata.generation,
    message: progressMessage(conditions),
  };
}

/** Equal, or the wanted one goes on with a pre-release or build: `4.15.1` is not `4.15.10` (X31). Pure. */
export const isDesiredVersion = (desired: string, wanted: string): boolean =>
  desired !== '' && (desired === wanted || wanted.startsWith(`${desired}-`) || wanted.startsWith(`${desired}+`));

type Conditions = NonNullable<NonNullable<ClusterVersion['status']>['conditions']>;

/** The first that is True, and then why the operator does not go on: those are not among the first. */
function progressMessage(conditions: Conditions): string {
  const first = conditions.find(({ status }) => status === 'True');
  const causes = conditions.filter((one) => one !== first && isCause(one));
  return [first, ...causes].flatMap((one) => one?.message ?? []).join('\n');
}

const isCause = ({ type, status }: Conditions[number]): boolean =>
  ((type === 'Failing' || type === 'Invalid') && status === 'True') ||
  (type === 'ReleaseAccepted' && status === 'False');

export type DesiredUpdate = NonNullable<NonNullable<NonNullable<ClusterVersion['spec']>['desiredUpdate']>>;

/** What is to be done about a version (U3–U5). Pure. */
export type UpgradeStep = 'done' | 'wait' | 'request';

export function upgradeStep(progress: VersionProgress, wanted: string): UpgradeStep {
  if (progress.isDesired && progress.isInProgress) return 'wait';
  return progress.running === wanted && !progress.isInProgress ? 'done' : 'request';
}

/** Whether a ClusterVersion asks for this already. Pure. */
export function isRequested({ spec }: ClusterVersion, { version, image }: DesiredUpdate): boolean {
  const current = spec?.desiredUpdate ?? {};
  return version === undefined ? current.image === image : current.version === version;
}

export interface UpgradeFacts {
  readonly wanted: string;
  readonly progress: VersionProgress;
  /** It was asked for just now: nobody can have worked on it yet. */
  readonly isFresh: boolean;
  /** What was said before. */
  readonly before: ConditionFields['status'] | undefined;
}

/** `UpgradeCompleted` (U6): said from the first time that the cluster is not at its version. Pure. */
export function upgradeConditions({
  wanted,
  progress,
  isFresh,
  before,
}: UpgradeFacts): readonly ConditionFields[] {
  const { isInProgress, running, isObserved, message } = progress;
  if (isInProgress || isFresh || (running !== wanted && !isObserved))
    return [
      isUnmet(
        UPGRADE_COMPLETED,
        'UpgradeInProgress',
        `upgrade to version ${wanted} in progress\n${message}`.trimEnd(),
      ),
    ];
  if (running !== wanted)
    return [
      isUnmet(UPGRADE_COMPLETED, 'UpgradeFailed', `upgrade to version ${wanted} has failed\n${message}`.trimEnd()),
    ];
  return before === undefined || before === 'True' ? [] : [isMet(UPGRADE_COMPLETED)];
}
