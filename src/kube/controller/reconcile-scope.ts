import { AsyncLocalStorage } from 'node:async_hooks';
import type { ReconcileLog } from './reconcile.ts';

/** The reconcile on whose behalf something happens. */
export interface ReconcileScope {
  readonly controller: string;
  readonly reconcileId: string;
  /** Text of the key. */
  readonly key: string;
  readonly log: ReconcileLog;
}

const storage = new AsyncLocalStorage<ReconcileScope>();

/** Calls `run` so that everything it starts, however deep and late, finds the scope (O2). */
export const withinReconcile = <T>(scope: ReconcileScope, run: () => T): T => storage.run(scope, run);

/** The reconcile that this code runs for, so that logs and spans of clients join it; undefined outside of one (O2). */
export const currentReconcile = (): ReconcileScope | undefined => storage.getStore();
