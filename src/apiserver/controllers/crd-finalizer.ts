import { type JsonObject, jsonEqual } from '../../object/json.ts';
import { CRD_PREFIX } from '../crd/crd-runtime.ts';
import { CLEANUP_FINALIZER } from '../crd/crd-strategy.ts';
import { isConditionTrue, objectAt, parse } from '../crd/definition.ts';
import { type Condition, setConditions } from '../crd/names.ts';
import type { Resource } from '../registry/resource.ts';
import { metadataOf } from '../request.ts';
import { finalizersOf } from '../rest/object-meta.ts';
import type { Entry, StoreEvent } from '../store/store.ts';
import { contains } from './byte-search.ts';
import type { ControllerServices } from './controllers.ts';
import { collectionPath, RequestFailed, SelfRequests } from './self-requests.ts';
import { namespaceInKey, parseEntry } from './stored-objects.ts';
import { WorkQueue } from './work-queue.ts';

const CRD_PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Removes the objects of a definition before the definition itself goes (X6). */
export class CrdFinalizer implements AsyncDisposable {
  readonly #services: ControllerServices;
  readonly #requests: SelfRequests;
  readonly #queue: WorkQueue;
  readonly #subscription: Disposable;
  /** Definitions that wait until their last object is gone. */
  readonly #waiting = new Map<string, Disposable>();

  constructor(services: ControllerServices) {
    const { store, clock, log, transport } = services;
    this.#services = services;
    this.#requests = new SelfRequests(transport, 'kube-apiserver');
    this.#queue = new WorkQueue({ name: 'definitions', clock, log, work: (name) => this.#sync(name) });
    this.#subscription = store.subscribe(CRD_PREFIX, (event) => this.#changed(event));
    for (const entry of store.list(CRD_PREFIX)) this.#look(entry);
  }

  settled(): Promise<void> {
    return this.#queue.settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscription[Symbol.dispose]();
    for (const name of this.#waiting.keys()) this.#stopWaiting(name);
    await this.#queue[Symbol.asyncDispose]();
  }

  #changed({ key, entry, isRemoval }: StoreEvent): void {
    if (isRemoval) this.#stopWaiting(key.slice(CRD_PREFIX.length));
    else this.#look(entry);
  }

  /** Definitions are large: those that stay are not parsed. */
  #look({ key, bytes }: Entry): void {
    if (contains(bytes, CLEANUP_FINALIZER)) this.#queue.add(key.slice(CRD_PREFIX.length));
  }

  async #sync(name: string): Promise<void> {
    const crd = this.#read(name);
    if (crd === undefined) return;
    await this.#write(name, crd, IN_PROGRESS);
    if (!isConditionTrue(parse(crd), 'Established')) return this.#finish(name, NEVER_ESTABLISHED);
    const [resource] = this.#services.registry.versionsOf(prefixOf(crd));
    if (resource === undefined) throw new Error(`no version of ${name} is served`);
    await this.#deleteInstances(name, resource);
    if (this.#services.store.count(resource.prefix) === 0) await this.#finish(name, COMPLETED);
    else this.#waitFor(name, resource.prefix);
  }

  /** A definition that is being deleted and still has our finalizer. */
  #read(name: string): JsonObject | undefined {
    const entry = this.#services.store.get(`${CRD_PREFIX}${name}`);
    if (entry === undefined) return undefined;
    const crd = parseEntry(entry);
    const metadata = metadataOf(crd);
    const isOurs =
      metadata['deletionTimestamp'] !== undefined && finalizersOf(metadata).includes(CLEANUP_FINALIZER);
    return isOurs ? crd : undefined;
  }

  async #deleteInstances(name: string, resource: Resource): Promise<void> {
    const keys = [...this.#services.store.list(resource.prefix)].map(({ key }) => key);
    const namespaces = new Set(keys.map((key) => (resource.isNamespaced ? namespaceInKey(key) : '')));
    try {
      await Promise.all(
        [...namespaces].map((namespace) => this.#requests.delete(collectionPath(resource, namespace), {})),
      );
    } catch (error) {
      const crd = this.#read(name);
      if (error instanceof RequestFailed && crd !== undefined) await this.#write(name, crd, failed(error));
      throw error;
    }
  }

  /** Their finalizers are honoured: every object that goes may have been the last one. */
  #waitFor(name: string, prefix: string): void {
    if (this.#waiting.has(name)) return;
    const { store } = this.#services;
    const subscription = store.subscribe(prefix, () => {
      if (store.count(prefix) === 0) this.#queue.add(name);
    });
    this.#waiting.set(name, subscription);
  }

  #stopWaiting(name: string): void {
    this.#waiting.get(name)?.[Symbol.dispose]();
    this.#waiting.delete(name);
  }

  async #finish(name: string, condition: Condition): Promise<void> {
    this.#stopWaiting(name);
    const crd = this.#read(name);
    if (crd === undefined) return;
    const metadata = { ...metadataOf(crd) };
    metadata['finalizers'] = finalizersOf(metadata).filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
    await this.#write(name, { ...crd, metadata }, condition);
  }

  async #write(name: string, crd: JsonObject, condition: Condition): Promise<void> {
    const status = objectAt(crd, 'status');
    const conditions = setConditions(parse(crd).conditions, [condition], this.#services.clock.now());
    const isFinal = !finalizersOf(metadataOf(crd)).includes(CLEANUP_FINALIZER);
    if (!isFinal && jsonEqual(conditions, status['conditions'])) return;
    await this.#requests.put(`${CRD_PATH}/${name}/status`, {
      ...crd,
      kind: 'CustomResourceDefinition',
      apiVersion: 'apiextensions.k8s.io/v1',
      status: { ...status, conditions },
    });
  }
}

const prefixOf = (crd: JsonObject): string => {
  const { group, names } = parse(crd);
  return `/registry/${group}/${names.plural}/`;
};

const terminating = (status: 'True' | 'False', reason: string, message: string): Condition => ({
  type: 'Terminating',
  status,
  reason,
  message,
});

const IN_PROGRESS = terminating('True', 'InstanceDeletionInProgress', 'CustomResource deletion is in progress');
const COMPLETED = terminating('False', 'InstanceDeletionCompleted', 'removed all instances');
const NEVER_ESTABLISHED = terminating('False', 'NeverEstablished', 'resource was never established');
const failed = ({ message }: Error): Condition =>
  terminating('True', 'InstanceDeletionFailed', `could not issue all deletes: ${message}`);
