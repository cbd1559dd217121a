import { isDeepStrictEqual } from 'node:util';
import { ApiServerConfig, SINGLETON } from '../../api/openshift/config-v1.ts';
import { aborted } from '../../kube/aborted.ts';
import type { Manager } from '../../kube/manager/create-manager.ts';
import type { Runnable } from '../../kube/manager/runnable.ts';
import { type Need, needs } from '../../kube/rbac/need.ts';
import { WATCHING } from '../../kube/rbac/rules.ts';
import { type TlsPolicy, tlsFromCluster } from '../config/tls-profile.ts';

/** Nobody has to read others. */
export const TLS_CACHE = { 'apiservers.config.openshift.io': { fields: `metadata.name=${SINGLETON.name}` } };

/** Stops the program, leader or not, when the cluster wants another TLS than it was started with (R8). */
export class TlsWatch implements Runnable {
  readonly name = 'TLS profile watch';
  readonly group = 'other';
  readonly needs: readonly Need[] = [needs(ApiServerConfig, WATCHING, { names: [SINGLETON.name] })];
  readonly #manager: Pick<Manager, 'cache' | 'log'>;
  readonly #policy: TlsPolicy;
  readonly #stop: () => void;

  constructor(manager: Pick<Manager, 'cache' | 'log'>, policy: TlsPolicy, stop: () => void) {
    this.#manager = manager;
    this.#policy = policy;
    this.#stop = stop;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { cache, log } = this.#manager;
    using _subscription = cache.informer(ApiServerConfig).subscribe(({ type, object }) => {
      // One that is gone says nothing.
      if (type === 'delete' || object.metadata.name !== SINGLETON.name) return;
      const { policy } = tlsFromCluster(object);
      if (isDeepStrictEqual(policy, this.#policy)) return;
      log.info({ adherence: policy.adherence }, 'The TLS profile of the cluster changed: starting anew');
      this.#stop();
    });
    await aborted(signal);
  }
}
