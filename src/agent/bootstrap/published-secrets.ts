import type { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { Secret } from '../../api/generated/core-v1.ts';
import type { Json } from '../../api/json.ts';
import type { Clock } from '../../base/clock.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { RecentLooks } from '../cluster-facts/recent-looks.ts';

/** What only a look from time to time finds out: a Secret that somebody deleted, a template that somebody changed. */
export const RARELY_MS = 10 * 60_000;

/** Which configs have their Secret (B11). A change of the config itself brings a look; how its cluster does brings none. */
export class PublishedSecrets {
  readonly #looks: RecentLooks;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#looks = new RecentLooks({ clock, lifeMs: RARELY_MS });
  }

  /** Whether what was published is still there. */
  async isThere(client: Pick<KubeClient, 'live'>, config: OpenshiftAssistedConfig): Promise<boolean> {
    if (config.status?.initialization?.dataSecretCreated !== true) return false;
    if (this.lookAgainMs(config) > 0) return true;
    const { namespace = '' } = config.metadata;
    const found = await client.live.find(Secret, { namespace, name: publishedName(config) });
    if (found === undefined) return false;
    this.saw(config);
    return true;
  }

  /** Its Secret was just made, or found. */
  saw(config: OpenshiftAssistedConfig): void {
    this.#looks.remember(config.metadata.uid ?? '', factsOf(config));
  }

  /** When it is time for another look; 0: now. */
  lookAgainMs(config: OpenshiftAssistedConfig): number {
    return this.#looks.remainingMs(config.metadata.uid ?? '', factsOf(config));
  }
}

export const publishedName = ({ metadata, status }: OpenshiftAssistedConfig): string =>
  status?.dataSecretName ?? metadata.name;

/** Not what is said of it: most of that this provider says itself. */
const factsOf = (config: OpenshiftAssistedConfig): Json => {
  const { generation = 0, labels = {}, annotations = {} } = config.metadata;
  return [publishedName(config), generation, { ...labels }, { ...annotations }];
};
