import {
  CLUSTER_NAME_LABEL,
  Cluster,
  type ContractReference,
  Machine,
} from '../../../api/cluster-api/core-v1beta2.ts';
import { type Kind, keyOf, resourceOf } from '../../../api/object.ts';
import type { Unstructured } from '../../../api/unstructured.ts';
import type { Cache } from '../../../kube/cache/cache.ts';
import { Channel } from '../../../kube/controller/channel.ts';
import type { Controller } from '../../../kube/controller/controller.ts';
import { ownerKeys } from '../../../kube/controller/event-keys.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile.ts';
import { type ContractKind, ContractKinds } from './contract-kinds.ts';
import { writeChanges } from './write-changes.ts';

/** An object of a provider, and how it is spelled. */
export interface External extends ContractKind {
  readonly object: Unstructured;
}

/** What an owner does to the metadata of an object that it refers to. */
export type Claim = (object: Unstructured) => Unstructured;

const machineKeys = ownerKeys(Machine);
const clusterKeys = ownerKeys(Cluster);

/**
 * Objects of providers, of whatever kind: which kinds there are is known only when a Cluster or a Machine refers to one.
 * From then on the kind is watched, and a change is work for whoever owns the object.
 */
export class ExternalObjects {
  /** Keys of Clusters and Machines whose objects changed. */
  readonly clusters = new Channel();
  readonly machines = new Channel();
  readonly #kinds = new ContractKinds();
  /** Resources of the cache that are watched; as many as there are kinds of providers. */
  readonly #watched = new Set<string>();
  #cache: Cache | undefined;

  /** The same controller, which lets this look through the cache of its manager. */
  around(controller: Controller): Controller {
    return {
      ...controller,
      bind: (environment) => {
        this.#attach(environment.cache);
        return controller.bind(environment);
      },
    };
  }

  /** Undefined when there is none of that name. */
  async find(
    reference: ContractReference,
    namespace: string,
    context: ReconcileContext,
  ): Promise<External | undefined> {
    const found = await this.#kinds.resolve(reference, context);
    this.#watch(found.kind);
    const { client, signal } = context;
    const object = await client.find(found.kind, { namespace, name: reference.name }, { signal });
    return object === undefined ? undefined : { ...found, object };
  }

  /** Writes what `claim` changes, if anything. */
  async claim(external: External, claim: Claim, { client }: ReconcileContext): Promise<External> {
    const { kind, object } = external;
    const changed = await writeChanges(client, kind, object, { metadata: claim(object).metadata });
    return { ...external, object: changed };
  }

  async remove({ kind, object }: External, { client, signal }: ReconcileContext): Promise<void> {
    if (object.metadata.deletionTimestamp === undefined) await client.delete(kind, keyOf(object), { signal });
  }

  #attach(cache: Cache): void {
    if (this.#cache === cache) return;
    this.#cache = cache;
    this.#watched.clear();
  }

  #watch(kind: Kind<Unstructured>): void {
    const resource = `${resourceOf(kind)}/${kind.version}`;
    const cache = this.#cache;
    if (cache === undefined || this.#watched.has(resource)) return;
    this.#watched.add(resource);
    cache.informer(kind).subscribe((event) => {
      for (const key of machineKeys(event, { cache })) this.machines.send(key);
      for (const key of clusterKeys(event, { cache })) this.clusters.send(key);
      const { namespace = '', labels = {} } = event.object.metadata;
      const { [CLUSTER_NAME_LABEL]: name = '' } = labels;
      if (name !== '') this.clusters.send({ namespace, name });
    });
  }
}
