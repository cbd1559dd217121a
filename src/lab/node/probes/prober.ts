import type { Container, Pod } from '../../../api/generated/core-v1-types.ts';
import type { RunningContainer } from '../runtime/container-runtime.ts';

/** What probes say of one container (N19, N20). */
export interface ProbeState {
  /** The startup probe succeeded, or there is none. */
  readonly isStarted: boolean;
  /** The readiness probe succeeded last, or there is none. */
  readonly isReady: boolean;
}

/** What to look at. */
export interface Probed {
  readonly pod: Pod;
  readonly container: Container;
  readonly run: RunningContainer;
  /** Where it listens on this machine. */
  readonly wire: string;
}

export interface ProbeEvents {
  /** The state is another one. */
  changed(): void;
  /** Liveness or startup failed for good: the container must be killed, with this message in the event `Killing`. */
  mustRestart(message: string, graceSeconds: number | undefined): void;
  /** An event Warning `Unhealthy`. */
  unhealthy(message: string): void;
  /** An event Warning `ProbeWarning`: it succeeded, but somebody should look. */
  warned?(message: string): void;
}

/** The probes of one run of a container; ticks are lab time, timeouts are real time (N23). */
export interface ContainerProbes extends Disposable {
  readonly state: ProbeState;
  /** A status was written while it is not ready: look at once (N20). */
  nudge(): void;
  /** The pod is being deleted: only readiness goes on (N14). */
  terminating(): void;
}

export type StartProbes = (probed: Probed, events: ProbeEvents) => ContainerProbes;
