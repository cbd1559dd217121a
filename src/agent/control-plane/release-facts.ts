import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import {
  type OpenshiftAssistedControlPlane,
  RELEASE_REPOSITORY_OVERRIDE,
} from '../../api/agent/controlplane-v1alpha3.ts';
import { CLUSTER_NAME_LABEL } from '../../api/cluster-api/core-v1beta2.ts';
import type { Clock } from '../../base/clock.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { releaseImage } from '../release/release-image.ts';
import type { ReleaseImages } from '../release/release-images.ts';
import { namespaceOf } from './ownership.ts';

/** A tag may be pushed again, which release tags are not: it is asked again so seldom. */
const DIGEST_LASTS_MS = 600_000;
/** Images of control planes, and some that they left. The oldest is forgotten, which costs one look. */
const MOST_ANSWERS = 256;

/** Who asks about which image. */
export interface ReleaseQuestion {
  readonly object: OpenshiftAssistedControlPlane;
  readonly image: string;
  /** Read only when a registry has to be asked. */
  readonly pullSecret: () => Promise<string>;
  readonly signal: AbortSignal;
}

interface Answer {
  readonly text: string;
  readonly untilMs: number;
}

export const repositoryOverride = ({ metadata }: OpenshiftAssistedControlPlane): string | undefined => {
  const override = metadata.annotations?.[RELEASE_REPOSITORY_OVERRIDE] ?? '';
  return override === '' ? undefined : override;
};

/** The image of the version that the control plane asks for (R1). Pure. */
export function releaseImageOf(object: OpenshiftAssistedControlPlane, architecture: string): string {
  const override = repositoryOverride(object);
  return releaseImage({
    version: object.spec.distributionVersion,
    architecture,
    ...(override !== undefined && { repositoryOverride: override }),
  });
}

/** All configs of the cluster, of workers too: images depend on their architecture (R2). */
export async function clusterConfigs(
  client: Pick<KubeClient, 'list'>,
  object: OpenshiftAssistedControlPlane,
): Promise<readonly OpenshiftAssistedConfig[]> {
  const cluster = object.metadata.labels?.[CLUSTER_NAME_LABEL];
  if (cluster === undefined) return [];
  const labels = { [CLUSTER_NAME_LABEL]: cluster };
  const { items } = await client.list(OpenshiftAssistedConfig, { namespace: namespaceOf(object), labels });
  return items;
}

/** What registries say about release images, remembered per control plane: reconciles are many, answers are few. */
export class ReleaseFacts {
  readonly #releases: ReleaseImages;
  readonly #clock: Clock;
  readonly #answers = new Map<string, Answer>();

  constructor(releases: ReleaseImages, clock: Clock) {
    this.#releases = releases;
    this.#clock = clock;
  }

  kubernetesVersion(question: ReleaseQuestion): Promise<string> {
    return this.#answer('version', question, (pullSecret) =>
      this.#releases.kubernetesVersionOf(question.image, pullSecret, question.signal),
    );
  }

  /** The image by its digest. */
  digestForm(question: ReleaseQuestion): Promise<string> {
    return this.#answer('digest', question, (pullSecret) =>
      this.#releases.digestOf(question.image, pullSecret, question.signal),
    );
  }

  /** Per control plane: what one may read with its pull secret is no answer to another. */
  async #answer(
    what: string,
    { object, image, pullSecret }: ReleaseQuestion,
    ask: (pullSecret: string) => Promise<string>,
  ): Promise<string> {
    const key = [what, object.metadata.uid, image].join('\n');
    const nowMs = this.#clock.monotonicMs();
    const known = this.#answers.get(key);
    if (known !== undefined && known.untilMs > nowMs) return known.text;
    const text = await ask(await pullSecret());
    this.#answers.delete(key);
    this.#answers.set(key, { text, untilMs: nowMs + DIGEST_LASTS_MS });
    const [oldest] = this.#answers.size > MOST_ANSWERS ? this.#answers.keys() : [];
    if (oldest !== undefined) this.#answers.delete(oldest);
    return text;
  }
}
