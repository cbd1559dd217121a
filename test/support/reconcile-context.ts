import { SILENT_LOG } from '../../src/base/log.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { ReconcileContext } from '../../src/kube/controller/reconcile.ts';

/** A context for one call of a reconciler, without a manager; `told` collects its events as `Warning Reason note`. */
export function reconcileContext(client: KubeClient, now = new Date('2026-01-01T12:00:00Z')) {
  const told: string[] = [];
  const context: ReconcileContext = {
    client,
    events: {
      normal: (_regarding, reason, note) => void told.push(`Normal ${reason} ${note}`),
      warning: (_regarding, reason, note) => void told.push(`Warning ${reason} ${note}`),
    },
    log: { ...SILENT_LOG, changed: () => {} },
    signal: new AbortController().signal,
    now: () => now,
    reconcileId: '1',
    fencingToken: '1',
  };
  return { context, told };
}
