import type {
  ConfigMap,
  Pod,
  Secret,
  ServiceAccountTokenProjection,
  Volume,
} from '../../../api/generated/core-v1-types.ts';
import type { KubeObject } from '../../../api/object.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { SpecialVerbs } from '../../../kube/client/kube-client.ts';
import { PodToken } from './pod-token.ts';
import type { FollowedObject, ReferencedObjects } from './referenced-objects.ts';
import { referencesOf, tokensOf, type VolumeFacts, type VolumeReference } from './volume-files.ts';

export interface PodSourcesOptions {
  readonly objects: ReferencedObjects;
  readonly client: Pick<SpecialVerbs, 'createToken'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly pod: Pod;
  /** An object has another state, or a token must be replaced. */
  readonly changed: () => void;
}

/** What the volumes of one pod are made from: objects that are followed and tokens that are kept fresh. */
export class PodSources implements Disposable {
  readonly #options: PodSourcesOptions;
  /** Both bounded by the volumes of the pod, whose spec cannot change. */
  readonly #objects = new Map<string, FollowedObject>();
  readonly #tokens = new Map<string, PodToken>();
  #isDisposed = false;

  constructor(options: PodSourcesOptions) {
    this.#options = options;
  }

  get isDisposed(): boolean {
    return this.#isDisposed;
  }

  /** Reads what the volume needs. Rejects when nothing is known of an object yet, and when there is no token. */
  async factsFor(volume: Volume): Promise<Omit<VolumeFacts, 'allocatable'>> {
    const found = new Map<string, KubeObject | undefined>();
    for (const reference of referencesOf(volume)) {
      this.#refuseDisposed();
      found.set(idOf(reference), await this.#object(reference).found());
    }
    const tokens = new Map<string, string>();
    for (const projection of tokensOf(volume)) {
      this.#refuseDisposed();
      tokens.set(tokenId(projection), await this.#token(projection).current());
    }
    // The watch of a kind gives objects of that kind.
    return {
      configMap: (name) => found.get(idOf({ kind: 'ConfigMap', name })) as ConfigMap | undefined,
      secret: (name) => found.get(idOf({ kind: 'Secret', name })) as Secret | undefined,
      token: (projection) => tokens.get(tokenId(projection)) ?? '',
    };
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    for (const object of this.#objects.values()) object[Symbol.dispose]();
    for (const token of this.#tokens.values()) token[Symbol.dispose]();
    this.#objects.clear();
    this.#tokens.clear();
  }

  /** What is followed from now on would never be given back. */
  #refuseDisposed(): void {
    if (this.#isDisposed) throw new Error('the pod is being taken away');
  }

  #object(reference: VolumeReference): FollowedObject {
    const known = this.#objects.get(idOf(reference));
    if (known !== undefined) return known;
    const { objects, pod, changed } = this.#options;
    // A function of its own for each interest: the same one would count once.
    const followed = objects.follow(pod.metadata.namespace ?? 'default', reference, () => changed());
    this.#objects.set(idOf(reference), followed);
    return followed;
  }

  #token(projection: ServiceAccountTokenProjection): PodToken {
    const known = this.#tokens.get(tokenId(projection));
    if (known !== undefined) return known;
    const { client, clock, log, pod, changed } = this.#options;
    const token = new PodToken({ client, clock, log, pod, projection, due: changed });
    this.#tokens.set(tokenId(projection), token);
    return token;
  }
}

const idOf = ({ kind, name }: VolumeReference): string => `${kind} ${name}`;

/** Equal wishes share a token. */
const tokenId = ({ audience = '', expirationSeconds = 0 }: ServiceAccountTokenProjection): string =>
  `${expirationSeconds} ${audience}`;
