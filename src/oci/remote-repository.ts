import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { SlipwayError } from '../base/errors.ts';
import { bytesOf, tooLarge } from './bounded-bytes.ts';
import type { HttpAnswer } from './http-call.ts';
import { abandon, type HttpExchange, hostOf, retryAfterMs } from './http-exchange.ts';
import { type Descriptor, MANIFEST_MEDIA_TYPES, type Manifest, parseManifest } from './image-manifest.ts';
import { isDigest } from './image-reference.ts';
import type { RegistryAuthorization, RegistryCredentials } from './registry-authorization.ts';
import { imageNotFound, registryUnauthorized, registryUnavailable } from './registry-failure.ts';
import { VerifiedBlob } from './verified-blob.ts';

/** The specification asks registries for 4 MiB, and clients for no more. */
const LONGEST_MANIFEST = 4 * 1024 * 1024;
/** The largest layer of a release is a tenth of it. */
const LARGEST_BLOB = 2 * 1024 * 1024 * 1024;
const MOST_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export interface RemoteRepositoryOptions {
  readonly exchange: HttpExchange;
  readonly authorization: RegistryAuthorization;
  readonly clock: Clock;
  /** `https://host:port`. */
  readonly origin: string;
  readonly repository: string;
  readonly credentials?: RegistryCredentials;
  readonly caPem?: string;
  readonly signal?: AbortSignal;
}

interface Asked {
  readonly method: 'GET' | 'HEAD';
  readonly url: string;
  readonly accept?: string;
  readonly authorization?: string | undefined;
}

interface Followed {
  readonly answer: HttpAnswer;
  /** It comes from where it was asked for first. */
  readonly isOwn: boolean;
}

/** One repository of one registry (OCI distribution specification), for whoever has these credentials. */
export class RemoteRepository {
  readonly #options: RemoteRepositoryOptions;

  constructor(options: RemoteRepositoryOptions) {
    this.#options = options;
  }

  /** For messages. */
  get place(): string {
    return `${hostOf(this.#options.origin)}/${this.#options.repository}`;
  }

  /** The digest of what a tag or digest names, as the registry keeps it: an index stays one. */
  async digestOf(reference: string): Promise<string> {
    const answer = await this.#manifestAnswer('HEAD', reference);
    await abandon(answer);
    const digest = answer.headers['docker-content-digest'] ?? '';
    if (isDigest(digest)) return digest;
    // Old registries say it only with the manifest, or not at all.
    return digestOf(await this.#manifestBytes(reference));
  }

  /** Checked against the digest that was asked for, if it was one. */
  async manifestOf(reference: string): Promise<Manifest> {
    return parseManifest(await this.#manifestBytes(reference), this.#name(reference));
  }

  /** Must be finished or abandoned. */
  async blob({ digest, sizeBytes }: Descriptor): Promise<VerifiedBlob> {
    if (sizeBytes > LARGEST_BLOB) throw tooLarge(`layer ${digest} of ${this.place}`, LARGEST_BLOB);
    const answer = await this.#ask({ method: 'GET', url: this.#url(`blobs/${digest}`) });
    if (answer.status !== 200) throw await this.#failure(answer, this.#name(digest));
    return new VerifiedBlob(answer.body, { digest, sizeBytes, place: this.place });
  }

  async #manifestBytes(reference: string): Promise<Uint8Array> {
    const answer = await this.#manifestAnswer('GET', reference);
    const bytes = await bytesOf(answer.body, LONGEST_MANIFEST, `the manifest of ${this.#name(reference)}`);
    if (!isDigest(reference)) return bytes;
    const found = digestOf(bytes, reference);
    if (found === reference) return bytes;
    throw registryUnavailable(
      `${this.place} gave wrong bytes: asked for ${reference}, got ${found}; check the registry and what is in between`,
    );
  }

  async #manifestAnswer(method: 'GET' | 'HEAD', reference: string): Promise<HttpAnswer> {
    const url = this.#url(`manifests/${reference}`);
    const answer = await this.#ask({ method, url, accept: MANIFEST_MEDIA_TYPES.join(', ') });
    if (answer.status === 200) return answer;
    throw await this.#failure(answer, this.#name(reference));
  }

  /** Says who asks when the registry wants to know. */
  async #ask(asked: Asked): Promise<HttpAnswer> {
    const { authorization, signal } = this.#options;
    const first = await this.#followed({ ...asked, authorization: authorization.known(this.#options) });
    const challenge = first.answer.headers['www-authenticate'];
    if (first.answer.status !== 401 || !first.isOwn || challenge === undefined) return first.answer;
    await abandon(first.answer);
    const header = await authorization.answering(challenge, this.#options, signal);
    if (header === undefined) return first.answer;
    return (await this.#followed({ ...asked, authorization: header })).answer;
  }

  /** Blobs often lie elsewhere. Whoever keeps them there is not told who we are. */
  async #followed({ method, url, accept, authorization }: Asked): Promise<Followed> {
    const { exchange, caPem, signal } = this.#options;
    const { origin } = new URL(url);
    let target = url;
    for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
      const isOwn = new URL(target).origin === origin;
      const answer = await exchange.call({
        method,
        url: target,
        headers: {
          ...(accept !== undefined && { accept }),
          ...(isOwn && authorization !== undefined && { authorization }),
        },
        ...(caPem !== undefined && { caPem }),
        ...(signal !== undefined && { signal }),
      });
      if (!REDIRECTS.has(answer.status)) return { answer, isOwn };
      await abandon(answer);
      target = this.#redirect(target, answer.headers['location'] ?? '');
    }
    throw registryUnavailable(
      `${this.place} sends us in circles: ${MOST_REDIRECTS} redirects; correct the registry`,
    );
  }

  #redirect(from: string, location: string): string {
    const to = URL.canParse(location, from) ? new URL(location, from) : undefined;
    const isSafe = to?.protocol === 'https:' || (to?.protocol === 'http:' && from.startsWith('http:'));
    if (to !== undefined && isSafe) return to.href;
    throw registryUnavailable(
      `${this.place} redirects to where we do not go: its location is no https:// address; correct the registry`,
    );
  }

  async #failure(answer: HttpAnswer, image: string): Promise<SlipwayError> {
    await abandon(answer);
    const { status } = answer;
    const registry = hostOf(this.#options.origin);
    if (status === 404)
      return imageNotFound(
        `there is no image ${image}: ${registry} answered 404; check version, architecture and repository`,
      );
    if (status === 401 || status === 403) {
      const isAnonymous = this.#options.credentials === undefined;
      return registryUnauthorized(
        `${registry} does not let us read ${image}: it answered ${status} ` +
          (isAnonymous
            ? `without credentials; add an entry "${registry}" to the pull secret`
            : `to the user of the pull secret; check its entry "${registry}"`),
      );
    }
    const waitMs = retryAfterMs(answer, this.#options.clock);
    return registryUnavailable(
      `${registry} does not work: it answered ${status} for ${image}; look at the registry, or try again later`,
      waitMs === undefined ? {} : { retryAfterMs: waitMs },
    );
  }

  #url(path: string): string {
    return `${this.#options.origin}/v2/${this.#options.repository}/${path}`;
  }

  #name(reference: string): string {
    return `${this.place}${isDigest(reference) ? '@' : ':'}${reference}`;
  }
}

function digestOf(bytes: Uint8Array, like = 'sha256:'): string {
  const algorithm = like.split(':', 1).join('');
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}
