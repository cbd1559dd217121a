import type { Kind, KubeObject } from '../../api/object.ts';
import { isForbidden, isNoMatch } from '../../kube/client/api-error.ts';
import type { KubeClient, ListOptions } from '../../kube/client/kube-client.ts';
import { DISCOVERY_ACCEPT, kindsIn } from '../../kube/client/rest-mapper.ts';
import { type GroupKind, kindText, knownKind } from './known-kinds.ts';

/** What to list: a kind whose version the server decides, and which of its objects. */
export interface ListTarget extends GroupKind {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly fields?: string;
  readonly metadataOnly?: boolean;
}

/** What was found. */
export interface Listing {
  readonly objects: readonly KubeObject[];
  /** Why nothing is known of these objects: nobody may ask, or the server does not have the kind. */
  readonly unread?: string;
  readonly isServed: boolean;
  /** What to watch from where, to hear of changes. */
  readonly place?: WatchPlace;
}

export interface WatchPlace {
  readonly kind: Kind;
  readonly options: Omit<ListTarget, 'group' | 'kind'>;
  readonly resourceVersion: string;
}

/** An API server that is silent for longer than this is not there. */
const TIMEOUT_MS = 10_000;

/** The management cluster, in lists. Kinds that it does not have, and those nobody may list, are empty and say so. */
export class Hub {
  readonly #client: KubeClient;
  readonly #signal: AbortSignal;
  #discovery: Promise<ReadonlyMap<string, Kind>> | undefined;

  constructor(client: KubeClient, signal: AbortSignal) {
    this.#client = client;
    this.#signal = signal;
  }

  async list(target: ListTarget): Promise<Listing> {
    const known = knownKind(target);
    const kind = known ?? (await this.#served(target));
    if (kind === undefined) return notServed(target);
    const listing = await this.#listed(kind, target);
    if (listing.isServed) return listing;
    // Perhaps in another version: a Cluster API before v1beta2 is still worth describing.
    const served = known === undefined ? undefined : await this.#served(target);
    return served === undefined || served.version === known?.version ? listing : this.#listed(served, target);
  }

  /** The value of one key of a Secret; undefined when there is no such Secret or key. */
  async secretText(namespace: string, name: string, key: string): Promise<string | undefined> {
    const { Secret } = await import('../../api/generated/core-v1.ts');
    const options = { signal: this.#signal, timeoutMs: TIMEOUT_MS };
    const secret = await this.#client.live.find(Secret, { namespace, name }, options);
    const encoded = secret?.data?.[key];
    return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8');
  }

  async #listed(kind: Kind, target: ListTarget): Promise<Listing> {
    const { group: _group, kind: _kind, ...options } = target;
    const call: ListOptions = { ...options, signal: this.#signal, timeoutMs: TIMEOUT_MS };
    try {
      const { items, metadata } = await this.#client.live.list(kind, call);
      const place = { kind, options, resourceVersion: metadata.resourceVersion ?? '' };
      return { objects: items, isServed: true, place };
    } catch (error) {
      if (isForbidden(error)) return { objects: [], isServed: true, unread: forbidden(target) };
      if (isNoMatch(error)) return notServed(target);
      throw error;
    }
  }

  /** The kind in the version that the server prefers; its contract fields are read in both spellings. */
  async #served(wanted: GroupKind): Promise<Kind | undefined> {
    this.#discovery ??= this.#discover();
    return (await this.#discovery).get(kindText(wanted));
  }

  async #discover(): Promise<ReadonlyMap<string, Kind>> {
    const options = { headers: { accept: DISCOVERY_ACCEPT }, signal: this.#signal, timeoutMs: TIMEOUT_MS };
    const kinds = kindsIn(await this.#client.raw('/apis', options));
    // Versions come in the order in which the server prefers them: the first one stays.
    return new Map(kinds.toReversed().map((kind) => [kindText(kind), kind]));
  }
}

const notServed = ({ group, kind }: GroupKind): Listing => ({
  objects: [],
  isServed: false,
  unread: `the server has no ${kind} of ${group}; install its provider`,
});

const forbidden = ({ kind, namespace }: ListTarget): string =>
  `you may not list ${kind}s${namespace === undefined ? '' : ` in namespace ${namespace}`}`;
