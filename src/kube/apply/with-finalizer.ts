import type { Kind, KubeObject } from '../../api/object.ts';
import { after, DONE, type ReconcileContext, type Reconciler, type Result } from '../controller/reconcile.ts';

// The event of the write comes at once, unless a predicate keeps it back.
const NEXT_EVENT_MS = 1000;

export interface FinalizedReconciler<T extends KubeObject> {
  /** The object has the finalizer and is not being deleted. */
  reconcile(object: T, context: ReconcileContext): Promise<Result>;
  /** Undoes what `reconcile` did outside of the cluster; called until it says 'done', so it must bear repetition. */
  finalize(object: T, context: ReconcileContext): Promise<'done' | Result>;
}

/**
 * A reconciler that sets its finalizer before anything else happens, and removes it only when `finalize` is done. After
 * setting it, the work waits for the event of that write, so that it starts from what the server has.
 */
export const withFinalizer = <T extends KubeObject, I>(
  kind: Kind<T, I>,
  finalizer: string,
  inner: FinalizedReconciler<T>,
): Reconciler<T> => ({
  reconcile: async (object, context) => {
    const { finalizers = [], deletionTimestamp } = object.metadata;
    const isSet = finalizers.includes(finalizer);
    if (deletionTimestamp === undefined) {
      if (isSet) return inner.reconcile(object, context);
      await context.client.addFinalizer(kind, object, finalizer);
      return after(NEXT_EVENT_MS);
    }
    if (!isSet) return DONE;
    const outcome = await inner.finalize(object, context);
    if (outcome !== 'done') return outcome;
    await context.client.removeFinalizer(kind, object, finalizer);
    return DONE;
  },
});
