import type { Pod } from '../../../api/generated/core-v1-types.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { Transport } from '../../../kube/transport/transport.ts';

/** What a program is given that stands for an image and runs in the process of the lab (P12). */
export interface ProgramContext {
  readonly pod: Pod;
  /** As a container of the pod would have it. */
  readonly env: Readonly<Record<string, string>>;
  /** `args` of the container, with their variables expanded. */
  readonly args: readonly string[];
  /** Where the pod is on this machine; nothing binds it there by itself. */
  readonly address?: string;
  /** Of the lab. */
  readonly clock: Clock;
  /** As the service account of the pod. */
  readonly transport: Transport;
  /** The log of the container. */
  readonly log: Log;
  /** Aborts when the container is to stop. */
  readonly signal: AbortSignal;
  /** It cannot go on: the container ends with code 1. */
  readonly fail: (error: unknown) => void;
}

/** Resolves when the program runs; disposed when the container stops. Rejects: the container ends with code 1. */
export type InProcessProgram = (context: ProgramContext) => Promise<AsyncDisposable>;
