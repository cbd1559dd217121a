import { isJsonObject, type JsonObject } from '../../object/json.ts';
import { metadataOf } from '../request.ts';
import { textOf } from '../rest/object-meta.ts';
import type { StoreEvent } from '../store/store.ts';
import type { ControllerServices } from './controllers.ts';
import { deletionStatus } from './namespace-conditions.ts';
import { type Emptied, emptyNamespace } from './namespace-content.ts';
import { SelfRequests } from './self-requests.ts';
import { namespaceInKey, parseEntry, StoredObjects } from './stored-objects.ts';
import { WorkQueue } from './work-queue.ts';

export const NAMESPACES = '/registry/core/namespaces/';
const FINALIZER = 'kubernetes';

/** Empties namespaces that are being deleted and lets them go (G1–G3). */
export class NamespaceController implements AsyncDisposable {
  readonly #services: ControllerServices;
  readonly #requests: SelfRequests;
  readonly #objects: StoredObjects;
  readonly #queue: WorkQueue;
  readonly #subscriptions = new DisposableStack();
  /** Namespaces that wait for their content to go. */
  readonly #terminating = new Set<string>();
  /** Namespaces whose content is left alone for a while. */
  readonly #delays = new Map<string, Disposable>();
  readonly #delayMs: number;

  constructor(services: ControllerServices, delayMs = 0) {
    const { store, registry, codec, clock, log, transport } = services;
    this.#services = services;
    this.#delayMs = delayMs;
    this.#requests = new SelfRequests(transport, 'kube-controller-manager');
    this.#objects = new StoredObjects(registry, codec);
    this.#queue = new WorkQueue({ name: 'namespace', clock, log, work: (name) => this.#sync(name) });
    this.#subscriptions.use(store.subscribe('/registry/', (event) => this.#changed(event)));
    this.#subscriptions.use(registry.onChange(() => this.#retryAll()));
    for (const entry of store.list(NAMESPACES)) this.#look(entry.key, parseEntry(entry));
  }

  settled(): Promise<void> {
    return this.#queue.settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscriptions.dispose();
    for (const delay of this.#delays.values()) delay[Symbol.dispose]();
    await this.#queue[Symbol.asyncDispose]();
  }

  #changed({ key, entry, isRemoval }: StoreEvent): void {
    if (key.startsWith(NAMESPACES)) {
      if (isRemoval) this.#terminating.delete(key.slice(NAMESPACES.length));
      else this.#look(key, parseEntry(entry));
      return;
    }
    if (this.#terminating.size === 0) return;
    const namespace = namespaceInKey(key);
    if (this.#terminating.has(namespace)) this.#queue.add(namespace);
  }

  #look(key: string, namespace: JsonObject): void {
    const { deletionTimestamp } = metadataOf(namespace);
    if (deletionTimestamp === undefined) return;
    const name = key.slice(NAMESPACES.length);
    const leftMs = Date.parse(textOf(deletionTimestamp)) + this.#delayMs - this.#services.clock.now().getTime();
    if (this.#delayMs > 0 && leftMs > 0) this.#delay(name, leftMs);
    else this.#begin(name);
  }

  #delay(name: string, leftMs: number): void {
    this.#delays.get(name)?.[Symbol.dispose]();
    this.#delays.set(
      name,
      this.#services.clock.timer(leftMs, () => {
        this.#delays.delete(name);
        this.#begin(name);
      }),
    );
  }

  #begin(name: string): void {
    this.#terminating.add(name);
    this.#queue.add(name);
  }

  #retryAll(): void {
    for (const name of this.#terminating) this.#queue.add(name);
  }

  async #sync(name: string): Promise<void> {
    const before = this.#read(name);
    if (before === undefined || !finalizersIn(before).includes(FINALIZER)) return;
    const emptied = await emptyNamespace(
      { ...this.#services, objects: this.#objects, requests: this.#requests },
      name,
    );
    await this.#writeConditions(name, emptied);
    const { problems } = emptied.remains;
    if (problems.length > 0) throw new Error(problems.join(', '));
    if (emptied.isEmpty) await this.#finalize(name);
  }

  /** The namespace as it is now, if it is being deleted. */
  #read(name: string): JsonObject | undefined {
    const entry = this.#services.store.get(`${NAMESPACES}${name}`);
    if (entry === undefined) return undefined;
    const namespace = parseEntry(entry);
    return metadataOf(namespace)['deletionTimestamp'] === undefined ? undefined : namespace;
  }

  async #writeConditions(name: string, { remains }: Emptied): Promise<void> {
    const namespace = this.#read(name);
    if (namespace === undefined) return;
    const { status: old } = namespace;
    const status = deletionStatus(isJsonObject(old) ? old : {}, remains, this.#services.clock.now());
    if (status === undefined) return;
    await this.#requests.put(`/api/v1/namespaces/${name}/status`, { ...namespace, status });
  }

  async #finalize(name: string): Promise<void> {
    const namespace = this.#read(name);
    if (namespace === undefined) return;
    const finalizers = finalizersIn(namespace).filter((finalizer) => finalizer !== FINALIZER);
    await this.#requests.put(`/api/v1/namespaces/${name}/finalize`, {
      ...namespace,
      spec: { finalizers: [...new Set(finalizers)].toSorted() },
    });
  }
}

function finalizersIn({ spec }: JsonObject): readonly string[] {
  const finalizers = isJsonObject(spec) ? spec['finalizers'] : undefined;
  return Array.isArray(finalizers) ? finalizers.filter((item) => typeof item === 'string') : [];
}
