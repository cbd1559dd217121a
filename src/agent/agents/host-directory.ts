import type { Metal3Machine } from '../../api/metal3/infrastructure-v1beta2.ts';
import { BareMetalHost } from '../../api/metal3/metal3-v1alpha1.ts';
import type { Kind, KubeObject } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import type { LiveReader } from '../../kube/client/kube-client.ts';
import type { ContractKinds } from '../live-iso/metal3-kinds.ts';
import { type Host, hostsOf } from './host-match.ts';

/** What is not in the directory is looked for again at most so often: many Agents come at the same time. */
const FRESH_MS = 2_000;
/** What is in it is believed for so long. */
const KEPT_MS = 60_000;
/** Namespaces that are remembered; the oldest makes room, and at worst is read once more. */
const MOST_NAMESPACES = 256;

interface Page {
  readonly hosts: readonly Host[];
  readonly readAtMs: number;
}

/**
 * The hosts of a namespace and the machines that have them, read from the server and kept for a while: two lists serve
 * all Agents that come meanwhile. There is no watch, because where nothing boots from an ISO, Metal3 need not be served.
 */
export class HostDirectory {
  readonly #kinds: ContractKinds;
  readonly #clock: Clock;
  readonly #pages = new Map<string, Page>();

  constructor(kinds: ContractKinds, clock: Clock) {
    this.#kinds = kinds;
    this.#clock = clock;
  }

  /** The hosts; read anew when those that are known are not what the caller looks for. */
  async look(
    reader: LiveReader,
    namespace: string,
    isFound: (hosts: readonly Host[]) => boolean,
  ): Promise<readonly Host[]> {
    const page = this.#pages.get(namespace);
    const ageMs = page === undefined ? Number.POSITIVE_INFINITY : this.#clock.monotonicMs() - page.readAtMs;
    if (page !== undefined && ageMs < (isFound(page.hosts) ? KEPT_MS : FRESH_MS)) return page.hosts;
    const { machine } = await this.#kinds.find(reader);
    const machines = await all<Metal3Machine>(reader, machine, namespace);
    const hosts = hostsOf(machines, await all(reader, BareMetalHost, namespace));
    this.#keep(namespace, { hosts, readAtMs: this.#clock.monotonicMs() });
    return hosts;
  }

  #keep(namespace: string, page: Page): void {
    this.#pages.delete(namespace);
    this.#pages.set(namespace, page);
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= MOST_NAMESPACES) break;
      this.#pages.delete(oldest);
    }
  }
}

async function all<T extends KubeObject>(
  reader: LiveReader,
  kind: Kind<T, unknown>,
  namespace: string,
): Promise<readonly T[]> {
  const objects: T[] = [];
  for await (const object of reader.listAll(kind, { namespace })) objects.push(object);
  return objects;
}
