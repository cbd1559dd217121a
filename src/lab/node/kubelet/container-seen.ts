import type { Container, PodSpec } from '../../../api/generated/core-v1-types.ts';

/** A run of a container that goes on. */
export interface GoingRun {
  readonly kind: 'going';
  /** `slipway://<64 hex>` or `simulated://<64 hex>` */
  readonly id: string;
  /** What its container named when it started: another one now means a restart (N17). */
  readonly image: string;
  readonly startedAt: Date;
  readonly isStarted: boolean;
  readonly isReady: boolean;
}

/** A run that is over. What an earlier life of the lab did not tell is absent. */
export interface EndedRun {
  readonly kind: 'ended';
  readonly id?: string;
  readonly exitCode: number;
  readonly signal?: number;
  readonly reason: string;
  readonly message?: string;
  readonly startedAt?: Date;
  readonly finishedAt?: Date;
  /** Stopped because its definition changed: another run follows whatever the policy says (N17). */
  readonly isReplaced?: boolean;
  /** Of an earlier life of the lab: nothing that ran beside it is left, so init containers run again first (N18). */
  readonly isEarlier?: boolean;
}

/** Why a run that should go on does not. */
export interface Waiting {
  readonly reason: string;
  readonly message?: string;
}

/** What the node knows of one container of a pod. */
export interface ContainerSeen {
  /** Of the newest run. */
  readonly restartCount: number;
  /** The newest run. */
  readonly run?: GoingRun | EndedRun;
  /** The run before it. */
  readonly last?: EndedRun;
  /** Why the next run has not begun. */
  readonly waiting?: Waiting;
  /** It is being started or stopped: nothing is to be decided before that is done. */
  readonly isBusy: boolean;
}

/** By name of the container. */
export type ContainersSeen = Readonly<Record<string, ContainerSeen>>;

/** Nothing has happened yet. */
export const UNSEEN: ContainerSeen = { restartCount: 0, isBusy: false };

export const seenOf = (seen: ContainersSeen, { name }: Pick<Container, 'name'>): ContainerSeen =>
  (Object.hasOwn(seen, name) ? seen[name] : undefined) ?? UNSEEN;

/** An init container that stays: the next one begins when it has started (N10). */
export const isSidecar = ({ restartPolicy }: Pick<Container, 'restartPolicy'>): boolean =>
  restartPolicy === 'Always';

export type RestartPolicy = 'Always' | 'OnFailure' | 'Never';

/** Of one container: its own, else that of the pod; ordinary init containers never run again after success. */
export function policyOf(container: Container, spec: PodSpec, isInit: boolean): RestartPolicy {
  const own = container.restartPolicy;
  if (own === 'Always' || own === 'OnFailure' || own === 'Never') return own;
  const { restartPolicy = 'Always' } = spec;
  return isInit && restartPolicy === 'Always' ? 'OnFailure' : restartPolicy;
}

/** Whether another run follows one that ended with this code. */
export const runsAgain = (policy: RestartPolicy, exitCode: number): boolean =>
  policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);

export const isRunning = ({ run }: ContainerSeen): boolean => run?.kind === 'going';

/** It ran in this life: what init containers did is done, and need not be done again. */
export const hasRunHere = ({ run }: ContainerSeen): boolean =>
  run !== undefined && !(run.kind === 'ended' && run.isEarlier === true);

/** It ran once, in this life or an earlier one. */
export const hasRun = ({ run, last }: ContainerSeen): boolean => run !== undefined || last !== undefined;
