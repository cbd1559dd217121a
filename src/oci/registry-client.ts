import type { Clock } from '../base/clock.ts';
import { messageOf, SlipwayError } from '../base/errors.ts';
import type { HttpCall } from './http-call.ts';
import { HttpExchange } from './http-exchange.ts';
import { fileInImage } from './image-file.ts';
import type { ImageReference } from './image-reference.ts';
import { RegistryAuthorization, type RegistryCredentials } from './registry-authorization.ts';
import { placesOf, type RegistryMirror, type RegistryPlace } from './registry-mirrors.ts';
import { RemoteRepository } from './remote-repository.ts';

export interface RegistryClientOptions {
  readonly http: HttpCall;
  readonly clock: Clock;
  /** Asked before the registries that images name. */
  readonly mirrors?: readonly RegistryMirror[];
  /** Trusted besides the authorities of the machine. */
  readonly caPem?: string;
  readonly timeoutMs?: number;
  readonly attempts?: number;
}

export interface RegistryAccess {
  /** By `host[:port]`; undefined: anybody may ask. */
  readonly credentials: (registry: string) => RegistryCredentials | undefined;
  readonly signal?: AbortSignal;
}

/**
 * Reads images of registries. Rejects with `ImageNotFound`, `RegistryUnauthorized` or `RegistryUnavailable` (may work
 * later), with `InvalidImage` for what cannot be read, or with the reason of the signal.
 */
export class RegistryClient {
  readonly #options: RegistryClientOptions;
  readonly #exchange: HttpExchange;
  readonly #authorization: RegistryAuthorization;

  constructor(options: RegistryClientOptions) {
    this.#options = options;
    this.#exchange = new HttpExchange(options);
    this.#authorization = new RegistryAuthorization(this.#exchange, options.clock);
  }

  /** `sha256:…` of what the reference names; of the index for images of several processors. */
  digestOf(reference: ImageReference, access: RegistryAccess): Promise<string> {
    return this.#anywhere(reference, access, (repository) => repository.digestOf(wantedOf(reference)));
  }

  /** The bytes of one file, of the Linux image for amd64 where there are several. `path` begins with `/`. */
  fileOf(reference: ImageReference, path: string, access: RegistryAccess): Promise<Uint8Array> {
    return this.#anywhere(reference, access, (repository) => fileInImage(repository, wantedOf(reference), path));
  }

  /** Asks one place after the other until one has it. */
  async #anywhere<T>(
    reference: ImageReference,
    access: RegistryAccess,
    ask: (repository: RemoteRepository) => Promise<T>,
  ): Promise<T> {
    const failures: SlipwayError[] = [];
    for (const place of placesOf(reference, this.#options.mirrors ?? [])) {
      if (place.isFallback === true && failures.at(-1)?.reason !== 'RegistryUnavailable') continue;
      try {
        return await ask(this.#repositoryAt(place, access));
      } catch (thrown) {
        access.signal?.throwIfAborted();
        if (!(thrown instanceof SlipwayError)) throw thrown;
        failures.push(thrown);
      }
    }
    throw failureOf(failures);
  }

  #repositoryAt(
    { scheme, registry, repository }: RegistryPlace,
    { credentials, signal }: RegistryAccess,
  ): RemoteRepository {
    const { clock, caPem } = this.#options;
    const user = credentials(registry);
    return new RemoteRepository({
      exchange: this.#exchange,
      authorization: this.#authorization,
      clock,
      origin: `${scheme}://${registry}`,
      repository,
      ...(user !== undefined && { credentials: user }),
      ...(caPem !== undefined && { caPem }),
      ...(signal !== undefined && { signal }),
    });
  }
}

const wantedOf = ({ digest, tag = '' }: ImageReference): string => digest ?? tag;

/**
 * What the last place says, which is the registry itself; in a network without a way to it, what a mirror says. The
 * others are told as well.
 */
function failureOf(failures: readonly SlipwayError[]): SlipwayError {
  const told = failures.findLast(({ reason }) => reason !== 'RegistryUnavailable') ?? failures.at(-1);
  if (told === undefined) throw new Error('an image has at least one place');
  const others = failures.filter((failure) => failure !== told).map(messageOf);
  if (others.length === 0) return told;
  const { disposition, reason, message, retryAfterMs } = told;
  return new SlipwayError(disposition, reason, [message, ...others].join('; and before that: '), {
    cause: told,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}
