import { isJsonObject } from '../../object/json.ts';
import { metadataOf } from '../request.ts';
import type { StoreEvent } from '../store/store.ts';
import type { ControllerServices } from './controllers.ts';
import { NAMESPACES } from './namespace-controller.ts';
import { SelfRequests } from './self-requests.ts';
import { namespaceInKey, parseEntry } from './stored-objects.ts';
import { WorkQueue } from './work-queue.ts';

const ACCOUNTS = '/registry/core/serviceaccounts/';
const CONFIG_MAPS = '/registry/core/configmaps/';
const ACCOUNT = 'default';
const AUTHORITY = 'kube-root-ca.crt';
const ABOUT = 'The authority by which clients inside the cluster check the certificate of the API server.';

/** Gives every namespace in use the ServiceAccount and the ConfigMap that pods rely on (G4). */
export class AccountController implements AsyncDisposable {
  readonly #services: ControllerServices;
  readonly #requests: SelfRequests;
  readonly #queue: WorkQueue;
  readonly #subscriptions = new DisposableStack();

  constructor(services: ControllerServices) {
    const { store, clock, log, transport } = services;
    this.#services = services;
    this.#requests = new SelfRequests(transport, 'kube-controller-manager');
    this.#queue = new WorkQueue({ name: 'accounts', clock, log, work: (name) => this.#sync(name) });
    const namespaceOf = ({ key }: StoreEvent) => key.slice(NAMESPACES.length);
    this.#subscriptions.use(store.subscribe(NAMESPACES, (event) => this.#queue.add(namespaceOf(event))));
    this.#subscriptions.use(
      store.subscribe(ACCOUNTS, ({ key, isRemoval }) => {
        if (isRemoval && key.endsWith(`/${ACCOUNT}`)) this.#queue.add(namespaceInKey(key));
      }),
    );
    this.#subscriptions.use(
      store.subscribe(CONFIG_MAPS, ({ key }) => {
        if (key.endsWith(`/${AUTHORITY}`)) this.#queue.add(namespaceInKey(key));
      }),
    );
    for (const { key } of store.list(NAMESPACES)) this.#queue.add(key.slice(NAMESPACES.length));
  }

  settled(): Promise<void> {
    return this.#queue.settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscriptions.dispose();
    await this.#queue[Symbol.asyncDispose]();
  }

  async #sync(namespace: string): Promise<void> {
    const entry = this.#services.store.get(`${NAMESPACES}${namespace}`);
    // What is going gets nothing new.
    if (entry === undefined || metadataOf(parseEntry(entry))['deletionTimestamp'] !== undefined) return;
    await Promise.all([this.#account(namespace), this.#authority(namespace)]);
  }

  async #account(namespace: string): Promise<void> {
    if (this.#services.store.get(`${ACCOUNTS}${namespace}/${ACCOUNT}`) !== undefined) return;
    await this.#requests.post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: ACCOUNT } });
  }

  async #authority(namespace: string): Promise<void> {
    const { store, authorityPem } = this.#services;
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const data = { 'ca.crt': authorityPem };
    const entry = store.get(`${CONFIG_MAPS}${namespace}/${AUTHORITY}`);
    if (entry === undefined) {
      const metadata = { name: AUTHORITY, annotations: { 'kubernetes.io/description': ABOUT } };
      await this.#requests.post(path, { metadata, data });
      return;
    }
    const current = parseEntry(entry);
    if (metadataOf(current)['deletionTimestamp'] !== undefined || holdsOnly(current['data'], authorityPem)) return;
    await this.#requests.put(`${path}/${AUTHORITY}`, { ...current, data });
  }
}

const holdsOnly = (data: unknown, authorityPem: string): boolean =>
  isJsonObject(data) && Object.keys(data).length === 1 && data['ca.crt'] === authorityPem;
