/**
 * When a part starts and stops (M1, M2). Started in this order, each after the one before is ready; stopped as
 * `stop-order.ts` says.
 */
export type RunnableGroup = 'http' | 'webhook' | 'cache' | 'other' | 'warm-up' | 'leader';

/** A part of a program that runs until it is told to stop. */
export interface Runnable {
  /** For logs and errors. */
  readonly name: string;
  readonly group: RunnableGroup;
  /** Resolves when the part has stopped after `signal`, or when it has nothing left to do; rejects when it failed. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the next group may start; at once unless told otherwise. */
  ready?(signal: AbortSignal): Promise<void>;
}
