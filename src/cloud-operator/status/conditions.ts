import type { ClusterOperator, ClusterOperatorCondition } from '../../api/openshift/config-v1.ts';
import type { ConditionOverride } from '../definition.ts';
import type { OperandVersion, OperatorCondition, StatusUpdate } from './operator-status.ts';

/** What the operator says when all is well. */
export const AS_EXPECTED = 'AsExpected';
const SYNCING_RESOURCES = 'SyncingResources';
export const SYNCING_FAILED = 'SyncingFailed';
/** Why a cluster must not be upgraded now. */
const OPERAND_SYNC_FAILED = 'OperandSyncFailed';

/** What every ClusterOperator has; others are there only while somebody says them. */
export const USUAL_TYPES: readonly string[] = ['Available', 'Progressing', 'Degraded', 'Upgradeable'];

export const operatorVersions = (version: string): readonly OperandVersion[] => [{ name: 'operator', version }];

/** Whether the ClusterOperator says that this version has been rolled out. */
export function isVersionReported(object: ClusterOperator | undefined, version: string): boolean {
  const versions = object?.status?.versions ?? [];
  return versions.length === 1 && versions[0]?.name === 'operator' && versions[0].version === version;
}

/** What a process may go by that was not there when this was said. */
export interface Told {
  /** Why it is degraded; absent where it is not. */
  readonly degraded?: string;
  /** This version has been rolled out, and nothing has been written since. */
  readonly isSettled: boolean;
}

export function toldBy(object: ClusterOperator | undefined, version: string): Told {
  const degradedNow = found(object, 'Degraded');
  const { status, reason } = found(object, 'Progressing') ?? {};
  return {
    ...(degradedNow?.status === 'True' && { degraded: degradedNow.reason ?? '' }),
    // Nobody who was paused, or had nothing to do, has rolled out anything.
    isSettled: status === 'False' && reason === AS_EXPECTED && isVersionReported(object, version),
  };
}

const found = (object: ClusterOperator | undefined, wanted: string): ClusterOperatorCondition | undefined =>
  object?.status?.conditions?.find(({ type }) => type === wanted);

export interface WellFacts {
  readonly version: string;
  /** Of Available; the usual sentence unless told otherwise. */
  readonly message?: string;
  /** Of Available and Progressing. */
  readonly reason?: string;
}

/** Everything is as it should be, or there is nothing to do (R50). */
export function available({ version, message, reason = AS_EXPECTED }: WellFacts): StatusUpdate {
  const text = message ?? `Cluster Cloud Controller Manager Operator is available at ${version}`;
  return {
    conditions: [
      condition('Available', 'True', reason, text),
      condition('Progressing', 'False', reason),
      condition('Degraded', 'False'),
      condition('Upgradeable', 'True'),
    ],
    versions: operatorVersions(version),
  };
}

export interface ProgressFacts {
  readonly version: string;
  readonly isVersionReported: boolean;
  /** What is waited for, where that is known. */
  readonly waiting?: { readonly reason: string; readonly message: string };
}

/** Something was written, or has not arrived yet (R51, R52). */
export function progressing({
  version,
  isVersionReported: isReported,
  waiting,
}: ProgressFacts): readonly OperatorCondition[] {
  const usual = isReported
    ? { reason: AS_EXPECTED, message: '' }
    : { reason: SYNCING_RESOURCES, message: progressText(version) };
  const { reason, message } = waiting ?? usual;
  return [condition('Progressing', 'True', reason, message), condition('Upgradeable', 'True')];
}

/**
 * Available as it stands, in words that hold now: whatever was the reason before, such as that everything has been
 * removed, is over when something is deployed. Nothing where the usual words are there.
 */
export function stillAvailable(
  object: ClusterOperator | undefined,
  version: string,
): readonly OperatorCondition[] {
  const { status, reason = AS_EXPECTED } = found(object, 'Available') ?? {};
  if (status === undefined || reason === AS_EXPECTED || reason === SYNCING_RESOURCES) return [];
  return [condition('Available', status, SYNCING_RESOURCES, progressText(version))];
}

export const progressText = (version: string): string => `Progressing towards operator: ${version}`;

export interface FailureFacts {
  readonly version: string;
  readonly isVersionReported: boolean;
  readonly problem: string;
  readonly reason?: string;
}

/** It does not work, and has not for a while (R53). Plain text: the same failure gives the same condition. */
export function degraded(facts: FailureFacts): readonly OperatorCondition[] {
  const { version, problem, reason = SYNCING_FAILED } = facts;
  const attempt = facts.isVersionReported
    ? `Failed to resync for operator: ${version}`
    : `Failed when progressing towards operator: ${version}`;
  const message = `${attempt} because ${problem}`;
  return [
    condition('Degraded', 'True', reason, message),
    condition('Upgradeable', 'False', OPERAND_SYNC_FAILED, message),
  ];
}

/** What a provider says besides wins (R54). */
export function overridden(
  conditions: readonly OperatorCondition[],
  overrides: readonly ConditionOverride[],
): readonly OperatorCondition[] {
  const named = new Set(overrides.map(({ type }) => type));
  return [...conditions.filter(({ type }) => !named.has(type)), ...overrides];
}

export const condition = (
  type: string,
  status: OperatorCondition['status'],
  reason = AS_EXPECTED,
  message = '',
): OperatorCondition => ({ type, status, reason, message });
