import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { CrdRuntime } from '../crd/crd-runtime.ts';
import type { Transport } from '../http/in-process.ts';
import type { Registry } from '../registry/registry.ts';
import type { Codec } from '../rest/codec.ts';
import type { Store } from '../store/store.ts';
import { AccountController } from './account-controller.ts';
import { CrdFinalizer } from './crd-finalizer.ts';
import { EventExpiry } from './event-expiry.ts';
import { GarbageCollector } from './garbage-collector.ts';
import { NamespaceController } from './namespace-controller.ts';
import { RoleAggregation } from './role-aggregation.ts';

export interface ControllerServices {
  readonly store: Store;
  readonly registry: Registry;
  readonly codec: Codec;
  readonly clock: Clock;
  readonly log: Log;
  /** Requests as the server itself, in the group that may do everything. */
  readonly transport: Transport;
  readonly crds: CrdRuntime;
  /** For the ConfigMap `kube-root-ca.crt` of every namespace. */
  readonly authorityPem: string;
}

export interface EnabledControllers {
  readonly gc: boolean;
  readonly namespace: boolean;
  /** How long a namespace that is being deleted keeps its content (G1); default 0. */
  readonly namespaceDelayMs?: number | undefined;
  readonly crd: boolean;
  readonly accounts: boolean;
}

export interface Controllers extends AsyncDisposable {
  /** Resolves when everything is there that every cluster has from its first moment (G4). */
  ready(): Promise<void>;
}

/** Starts what a kube-controller-manager would do and a bare API server lacks (§16). */
export function startControllers(services: ControllerServices, enabled: EnabledControllers): Controllers {
  const parts = new AsyncDisposableStack();
  const accounts = enabled.accounts ? parts.use(new AccountController(services)) : undefined;
  const roles = parts.use(new RoleAggregation(services));
  parts.use(new EventExpiry(services));
  if (enabled.namespace) parts.use(new NamespaceController(services, enabled.namespaceDelayMs));
  if (enabled.gc) parts.use(new GarbageCollector(services));
  if (enabled.crd) parts.use(new CrdFinalizer(services));
  return {
    // Not for the others: what they do after a restart may have to wait for webhooks that are not up yet.
    ready: async () => {
      await Promise.all([accounts?.settled(), roles.settled()]);
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
