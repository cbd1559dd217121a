import { isDeepStrictEqual } from 'node:util';
import { ApiServerConfig, SINGLETON } from '../../api/openshift/config-v1.ts';
import { aborted } from '../aborted.ts';
import { type Need, needs } from '../rbac/need.ts';
import { WATCHING } from '../rbac/rules.ts';
import { type TlsPolicy, tlsFromCluster } from '../serving/tls-profile.ts';
import type { Manager } from './create-manager.ts';
import type { Runnable } from './runnable.ts';

/** Nobody has to read others. */
export const TLS_CACHE = { 'apiservers.config.openshift.io': { fields: `metadata.name=${SINGLETON.name}` } };

/** Whether two policies are the same for a program; every difference counts unless told otherwise. */
export type SamePolicy = (now: TlsPolicy, before: TlsPolicy) => boolean;

/** Stops the program, leader or not, when the cluster wants another TLS than it was started with (operator/R8). */
export class TlsWatch implements Runnable {
  readonly name = 'TLS profile watch';
  readonly group = 'other';
  readonly needs: readonly Need[] = [needs(ApiServerConfig, WATCHING, { names: [SINGLETON.name] })];
  readonly #manager: Pick<Manager, 'cache' | 'log'>;
  readonly #policy: TlsPolicy;
  readonly #stop: () => void;
  readonly #isSame: SamePolicy;

  constructor(
    manager: Pick<Manager, 'cache' | 'log'>,
    policy: TlsPolicy,
    stop: () => void,
    isSame: SamePolicy = isDeepStrictEqual,
  ) {
    this.#manager = manager;
    this.#policy = policy;
    this.#stop = stop;
    this.#isSame = isSame;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { cache, log } = this.#manager;
    using _subscription = cache.informer(ApiServerConfig).subscribe(({ type, object }) => {
      // One that is gone says nothing.
      if (type === 'delete' || object.metadata.name !== SINGLETON.name) return;
      const { policy } = tlsFromCluster(object);
      if (this.#isSame(policy, this.#policy)) return;
      log.info({ adherence: policy.adherence }, 'The TLS profile of the cluster changed: starting anew');
      this.#stop();
    });
    await aborted(signal);
  }
}
