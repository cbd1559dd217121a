import { ClusterVersion, FeatureGate, SINGLETON } from '../../api/openshift/config-v1.ts';
import { aborted } from '../../kube/aborted.ts';
import type { Manager } from '../../kube/manager/create-manager.ts';
import type { Runnable } from '../../kube/manager/runnable.ts';
import type { Need } from '../../kube/rbac/need.ts';
import { eventNeeds } from '../../kube/rbac/runtime-needs.ts';
import { observedGates } from '../config/feature-gates.ts';

const LONGEST_WAIT_MS = 60_000;

/**
 * Tells of the feature gates of the cluster (R14), and holds back the controllers until they are known, for a minute at
 * most (R2). What is not known then is a failure of whoever asks, not of the program.
 */
export class GatesWatch implements Runnable {
  readonly name = 'feature gates';
  readonly group = 'other';
  /** Whoever works with gates may read them; of objects without a namespace, events are written here. */
  readonly needs: readonly Need[] = eventNeeds().map((need) => ({ ...need, namespace: 'default' }));
  readonly #manager: Pick<Manager, 'cache' | 'clock' | 'events' | 'log'>;
  readonly #version: string;
  readonly #observed = Promise.withResolvers<void>();
  #last: string | undefined;

  constructor(manager: Pick<Manager, 'cache' | 'clock' | 'events' | 'log'>, version: string) {
    this.#manager = manager;
    this.#version = version;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { cache } = this.#manager;
    using gates = cache.informer(FeatureGate).subscribe(() => this.#look());
    using versions = cache.informer(ClusterVersion).subscribe(() => this.#look());
    await Promise.race([Promise.all([gates.synced, versions.synced]), aborted(signal)]);
    this.#look();
    await aborted(signal);
  }

  async ready(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#manager;
    const enough = new AbortController();
    const late = clock.sleep(LONGEST_WAIT_MS, AbortSignal.any([signal, enough.signal])).then(
      () => log.error({ version: this.#version }, 'The feature gates are not known in time'),
      () => undefined,
    );
    await Promise.race([this.#observed.promise, late]);
    enough.abort();
  }

  #look(): void {
    const { cache, events, log } = this.#manager;
    const [gates, versions] = [cache.informer(FeatureGate), cache.informer(ClusterVersion)];
    // The first list of one may be told before the other can be asked.
    if (!gates.isSynced || !versions.isSynced) return;
    const gate = gates.get(SINGLETON);
    const release = versions.get({ name: 'version' });
    const observed = gate === undefined ? undefined : observedGates(gate, this.#version, release);
    if (gate === undefined || observed === undefined) return;
    const enabled = observed.enabled.join(', ');
    if (enabled === this.#last) return;
    const isFirst = this.#last === undefined;
    this.#last = enabled;
    log.info({ enabled }, 'Feature gates are known');
    const note = `enabled: ${enabled === '' ? 'none' : enabled}`;
    if (isFirst) events.normal(gate, 'FeatureGatesInitialized', note);
    else events.normal(gate, 'FeatureGatesModified', note);
    this.#observed.resolve();
  }
}
