import type { Json } from '../../api/json.ts';
import type { Kind, Scope } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { terminalError } from '../../base/errors.ts';
import { isRecord } from '../../object/record.ts';
import { ApiError } from './api-error.ts';
import type { KubeClient } from './kube-client.ts';

/** What to ask `/api` and `/apis` for, so that {@link kindsIn} can read the answer. */
export const DISCOVERY_ACCEPT =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
const REFETCH_MS = 10_000;

/** What a manifest says of its kind. */
export interface TypeName {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Finds the kinds that a server has, for objects whose kind is known only at run time (A6). */
export interface RestMapper {
  /**
   * Rejects with an ApiError that `isNoMatch` when the server does not serve it. Discovery is read once and kept; a kind
   * that is not in it has it read again, at most every 10 s.
   */
  kindFor(name: TypeName): Promise<Kind>;
  /** Reads discovery again when next asked: a definition has just been established. */
  forget(): void;
}

type Kinds = ReadonlyMap<string, Kind>;

export function createRestMapper(client: Pick<KubeClient, 'raw'>, clock: Clock): RestMapper {
  return new DiscoveredKinds(client, clock);
}

class DiscoveredKinds implements RestMapper {
  readonly #client: Pick<KubeClient, 'raw'>;
  readonly #clock: Clock;
  /** One entry per kind that the server has. */
  #kinds: Kinds | undefined;
  #fetchedMs = Number.NEGATIVE_INFINITY;
  #fetching: Promise<Kinds> | undefined;

  constructor(client: Pick<KubeClient, 'raw'>, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  async kindFor(name: TypeName): Promise<Kind> {
    const known = this.#kinds?.get(textOf(name));
    if (known !== undefined) return known;
    const isDue = this.#kinds === undefined || this.#clock.monotonicMs() - this.#fetchedMs >= REFETCH_MS;
    const found = isDue ? (await this.#fetch()).get(textOf(name)) : undefined;
    if (found !== undefined) return found;
    const message = `no matches for kind "${name.kind}" in version "${name.apiVersion}"; is its definition installed?`;
    throw new ApiError({ code: 404, reason: 'NoMatch', message });
  }

  forget(): void {
    this.#kinds = undefined;
    // What is on its way may have been read before the change.
    this.#fetching = undefined;
  }

  /** All who ask at once share one reading; a failure is not kept. */
  #fetch(): Promise<Kinds> {
    if (this.#fetching !== undefined) return this.#fetching;
    const fetching = this.#read().then(
      (kinds) => {
        if (this.#fetching !== fetching) return kinds;
        this.#kinds = kinds;
        this.#fetchedMs = this.#clock.monotonicMs();
        this.#fetching = undefined;
        return kinds;
      },
      (error: unknown) => {
        if (this.#fetching === fetching) this.#fetching = undefined;
        throw error;
      },
    );
    this.#fetching = fetching;
    return fetching;
  }

  async #read(): Promise<Kinds> {
    const options = { headers: { accept: DISCOVERY_ACCEPT } };
    const answers = await Promise.all([this.#client.raw('/api', options), this.#client.raw('/apis', options)]);
    return new Map(
      answers.flatMap(kindsIn).map((kind) => [textOf({ apiVersion: versionText(kind), kind: kind.kind }), kind]),
    );
  }
}

const textOf = ({ apiVersion, kind }: TypeName): string => `${apiVersion} ${kind}`;
const versionText = ({ group, version }: Kind): string => (group === '' ? version : `${group}/${version}`);

/** The kinds of an APIGroupDiscoveryList, of each group in the order in which the server prefers its versions. */
export function kindsIn(list: Json | undefined): Kind[] {
  if (!isRecord(list) || list['kind'] !== 'APIGroupDiscoveryList') {
    throw terminalError(
      'DiscoveryUnsupported',
      'the server has no aggregated discovery; Kubernetes 1.30 or newer has',
    );
  }
  return recordsIn(list['items']).flatMap((group) => {
    const metadata = isRecord(group['metadata']) ? group['metadata'] : {};
    const name = stringOf(metadata['name']);
    return recordsIn(group['versions']).flatMap((version) =>
      recordsIn(version['resources']).flatMap((resource) => kindIn(name, stringOf(version['version']), resource)),
    );
  });
}

function kindIn(group: string, version: string, resource: Readonly<Record<string, unknown>>): Kind[] {
  const { responseKind, resource: plural, scope } = resource;
  const kind = isRecord(responseKind) ? stringOf(responseKind['kind']) : '';
  if (kind === '' || typeof plural !== 'string' || !isScope(scope)) return [];
  // A resource may answer with a kind of another group; it is asked for by the group it is served in.
  return [{ group, version, kind, plural, scope }];
}

const isScope = (scope: unknown): scope is Scope => scope === 'Namespaced' || scope === 'Cluster';
const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const recordsIn = (value: unknown): Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];
