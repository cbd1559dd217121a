import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { retryError, SlipwayError, userError } from '../../base/errors.ts';
import type { HttpCall } from '../../oci/http-call.ts';
import { type ImageReference, imageText, parseImageReference } from '../../oci/image-reference.ts';
import { type RegistryAccess, RegistryClient } from '../../oci/registry-client.ts';
import type { RegistryMirror } from '../../oci/registry-mirrors.ts';
import { ExpiringCache } from './expiring-cache.ts';
import { IMAGE_REFERENCES, kubernetesVersionIn, kubernetesVersionNotFound } from './kubernetes-version.ts';
import { type PullSecret, parsePullSecret } from './pull-secret.ts';

/**
 * What registries say about release images. `pullSecret` is the text of `.dockerconfigjson`. Failures are errors with one
 * of the reasons `InvalidPullSecret`, `ReleaseImageNotFound`, `RegistryUnauthorized`, `RegistryUnavailable`,
 * `KubernetesVersionNotFound` (X22), or the reason of the signal.
 */
export interface ReleaseImages {
  /** The image by its digest (R3); one that has a digest comes back as it is. */
  digestOf(image: string, pullSecret: string, signal?: AbortSignal): Promise<string>;
  /** Without `v` (R4). */
  kubernetesVersionOf(image: string, pullSecret: string, signal?: AbortSignal): Promise<string>;
}

export interface ReleaseImagesOptions {
  readonly http: HttpCall;
  readonly clock: Clock;
  /** Of the management cluster. */
  readonly mirrors?: readonly RegistryMirror[];
  readonly caPem?: string;
  /** For each piece of an answer. */
  readonly timeoutMs?: number;
  /** How often a request is sent at most. */
  readonly attempts?: number;
  /** How long a tag is believed to stay where it is; a minute unless told otherwise. */
  readonly tagLifeMs?: number;
}

/** Controllers ask at every turn, and registries count. */
const TAG_LIFE_MS = 60_000;
/** Tags and digests that are remembered: far more than clusters have releases. */
const MOST_REMEMBERED = 500;

export function releaseImages(options: ReleaseImagesOptions): ReleaseImages {
  const { clock, tagLifeMs = TAG_LIFE_MS } = options;
  const client = new RegistryClient(options);
  const digests = new ExpiringCache<string>({ clock, lifeMs: tagLifeMs, mostEntries: MOST_REMEMBERED });
  // What a digest names never changes.
  const versions = new ExpiringCache<string>({ clock, lifeMs: Infinity, mostEntries: MOST_REMEMBERED });

  const pinned = async (image: string, secret: PullSecret, signal?: AbortSignal): Promise<ImageReference> => {
    const reference = parseImageReference(image);
    if (reference.digest !== undefined) return reference;
    const key = `${image} ${fingerprint(secret, reference)}`;
    const digest = await digests.get(key, () => client.digestOf(reference, accessOf(secret, signal)));
    return { registry: reference.registry, repository: reference.repository, digest };
  };

  return {
    digestOf: (image, pullSecret, signal) =>
      told(async () => {
        // Whatever it is, the installer decides: the text is passed on.
        if (image.includes('@sha')) return image;
        return imageText(await pinned(image, parsePullSecret(pullSecret), signal));
      }),
    kubernetesVersionOf: (image, pullSecret, signal) =>
      told(async () => {
        const secret = parsePullSecret(pullSecret);
        const reference = await pinned(image, secret, signal);
        return await versions.get(reference.digest ?? '', async () => {
          const bytes = await client.fileOf(reference, IMAGE_REFERENCES, accessOf(secret, signal));
          return kubernetesVersionIn(new TextDecoder().decode(bytes), image);
        });
      }),
  };
}

const accessOf = (secret: PullSecret, signal: AbortSignal | undefined): RegistryAccess => ({
  credentials: (registry) => secret.get(registry),
  ...(signal !== undefined && { signal }),
});

/** Who may read a tag is asked anew with other credentials. */
function fingerprint(secret: PullSecret, { registry }: ImageReference): string {
  const { username = '', password = '' } = secret.get(registry) ?? {};
  return createHash('sha256')
    .update(JSON.stringify([username, password]))
    .digest('hex');
}

/** The reasons of registries as those of releases. */
async function told<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (thrown) {
    if (!(thrown instanceof SlipwayError)) throw thrown;
    const { reason, message } = thrown;
    if (reason === 'InvalidImage') throw kubernetesVersionNotFound(message, thrown);
    if (reason === 'ImageNotFound') throw retryError('ReleaseImageNotFound', message, { cause: thrown });
    if (reason === 'InvalidImageReference') throw userError('ReleaseImageNotFound', message, { cause: thrown });
    throw thrown;
  }
}
