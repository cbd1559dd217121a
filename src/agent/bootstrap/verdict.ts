import type { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import type { InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import type { Cluster, Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { messageOf, SlipwayError } from '../../base/errors.ts';
import { redactedText } from '../../base/redaction.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile.ts';
import type { Installation } from '../cluster-facts/installation.ts';

/** Why there is no bootstrap data. The first seven are upstream's; programs look for them. */
export const REASONS = [
  'WaitingForClusterInfrastructure',
  'WaitingForAssistedInstaller',
  'WaitingForInstallComplete',
  'WaitingForInfraEnvToBeReady',
  'WaitingForLiveISOURL',
  'InfraEnvFailed',
  'CreatingSecretFailed',
  'WaitingForInfrastructureMachine',
  'UnsupportedInfrastructure',
  'InvalidBootMethod',
  'InvalidNodeSettings',
  'InfrastructureMachineFailed',
] as const;
export type Reason = (typeof REASONS)[number];

/** What a look at a config came to. */
export type Verdict =
  /** There is nothing to say of it. */
  | { readonly type: 'idle' }
  | { readonly type: 'available'; readonly secretName: string; readonly againMs?: number }
  | WaitingVerdict
  | FailedVerdict;

export interface WaitingVerdict {
  readonly type: 'waiting';
  readonly reason: Reason;
  readonly message: string;
  /** Something is wrong that people have to put right. */
  readonly isWarning?: boolean;
  /** The generation was not worked off: upstream ends this with an error (B12). */
  readonly isUnfinished?: boolean;
  /** Absent: only a change helps, and every change is watched. */
  readonly againMs?: number;
}

/** Told, then thrown: it is tried again with growing pauses. */
export interface FailedVerdict {
  readonly type: 'failed';
  readonly reason: Reason;
  readonly message: string;
  readonly isWarning?: boolean;
  readonly cause: unknown;
}

/** The bootstrap data, which is not published yet. */
export interface BootData {
  readonly type: 'data';
  readonly value: string;
}

/** A config whose Cluster is ready for it, and what is known of it. */
export interface BootStep extends Installation {
  readonly config: OpenshiftAssistedConfig;
  readonly machine: Machine;
  readonly cluster: Cluster;
  readonly context: ReconcileContext;
}

/** One way to get a host into discovery. */
export interface Boot {
  /** Everything but the Secret. */
  prepare(step: BootStep): Promise<Verdict | BootData>;
}

export const IDLE: Verdict = { type: 'idle' };

/** For what the API server, or somebody else, refused. */
export function failed(reason: Reason, cause: unknown, what = ''): FailedVerdict {
  const told = cause instanceof SlipwayError ? messageOf(cause) : 'the log of the controller has the details';
  return { type: 'failed', reason, message: redactedText(`${what}${told}`), isWarning: true, cause };
}

/** While assisted-service has not finished its part, a look from time to time in case an event got lost. */
export const AGAIN_MS = 20_000;
export const LATER_MS = 60_000;

/** Pure: an InfraEnv on its way out cannot be used, and the next one must wait for its name. */
export const infraEnvLeaves = ({ metadata }: InfraEnv): WaitingVerdict | undefined =>
  metadata.deletionTimestamp === undefined
    ? undefined
    : {
        type: 'waiting',
        reason: 'WaitingForInfraEnvToBeReady',
        message: `InfraEnv ${metadata.name} is being deleted; another one is made when it is gone`,
        isUnfinished: true,
        againMs: AGAIN_MS,
      };
