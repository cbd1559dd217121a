import type { ApiClient, RawAnswer } from '../../support/api-client.ts';
import {
  type ApiObject,
  type Compaction,
  isForeign,
  type List,
  type Operation,
  seenOf,
  type View,
  type Watch,
  type Write,
} from './history.ts';
import type { Collection, Content } from './world.ts';

const MERGE = 'application/merge-patch+json';
const APPLY = 'application/apply-patch+yaml';

interface Sending {
  readonly client: string;
  readonly method: string;
  readonly path: string;
  readonly body?: object | undefined;
  readonly type?: string;
}

export interface Target {
  readonly client: string;
  readonly collection: Collection;
  readonly namespace: string;
  readonly name: string;
}

export interface ListRequest {
  readonly client: string;
  readonly collection: Collection;
  readonly namespace: string;
  readonly selector: string;
  readonly query?: string;
  readonly resourceVersion?: string;
  readonly match?: List['match'];
  readonly chain?: string;
  /** Revision of the earlier pages. */
  readonly revision?: number;
}

/** Makes requests and writes down what was asked and what was answered. */
export class Recorder {
  readonly operations: Operation[] = [];
  readonly watches: Watch[] = [];
  readonly compactions: Compaction[] = [];
  /** Newest revision anybody was told of. */
  newest = 0;
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  async create(target: Target, content: Content): Promise<ApiObject | undefined> {
    const { collection, namespace, name } = target;
    const sent = { method: 'POST', path: collection.path(namespace), body: collection.object(name, content) };
    return this.#write('create', target, sent);
  }

  update(target: Target, known: ApiObject, content: Content): Promise<ApiObject | undefined> {
    const { metadata } = known;
    const change = target.collection.change(content);
    const body = { ...known, ...change, metadata: { ...metadata, ...(change['metadata'] as object) } };
    const expected = { revision: Number(metadata?.resourceVersion), uid: metadata?.uid ?? '' };
    return this.#write('update', target, { method: 'PUT', path: pathOf(target), body }, expected);
  }

  patch(target: Target, content: Content): Promise<ApiObject | undefined> {
    const body = target.collection.change(content);
    return this.#write('patch', target, { method: 'PATCH', path: pathOf(target), body, type: MERGE });
  }

  status(target: Target, { mark }: Content): Promise<ApiObject | undefined> {
    const body = { status: { mark } };
    return this.#write('patch', target, { method: 'PATCH', path: `${pathOf(target)}/status`, body, type: MERGE });
  }

  /** Creates what is missing, so it cannot be refused for that. */
  async apply(target: Target, content: Content): Promise<ApiObject | undefined> {
    const path = `${pathOf(target)}?fieldManager=${target.client}&force=true`;
    const body = target.collection.object(target.name, content);
    return this.#write('patch', target, { method: 'PATCH', path, body, type: APPLY });
  }

  remove(target: Target, expected?: Write['expected']): Promise<ApiObject | undefined> {
    const { revision, uid } = expected ?? {};
    const preconditions = {
      ...(revision !== undefined && { resourceVersion: String(revision) }),
      ...(uid !== undefined && { uid }),
    };
    return this.#write(
      'delete',
      target,
      { method: 'DELETE', path: pathOf(target), body: { preconditions } },
      expected,
    );
  }

  async removeAll(client: string, collection: Collection, namespace: string): Promise<void> {
    const selector = 'toggle=on';
    const path = `${collection.path(namespace)}?labelSelector=${encodeURIComponent(selector)}`;
    const { answer, times } = await this.#send({ client, method: 'DELETE', path });
    const view = { collection: collection.name, namespace, selector };
    this.operations.push({ kind: 'deletecollection', client, ...times, status: answer.status, view });
  }

  async get(target: Target): Promise<ApiObject | undefined> {
    const { client, collection } = target;
    const { answer, times } = await this.#send({ client, method: 'GET', path: pathOf(target) });
    const object = answer.status === 200 ? bodyOf(answer) : undefined;
    const seen = object === undefined ? {} : { seen: seenOf(object) };
    const [key, name] = [keyOf(target), collection.name];
    this.operations.push({ kind: 'get', client, ...times, status: answer.status, collection: name, key, ...seen });
    return object;
  }

  /** Gives the token of the next page. */
  async list(request: ListRequest): Promise<{ readonly next: string; readonly revision: number }> {
    const { client, collection, namespace, selector, resourceVersion = '', match = '', chain } = request;
    const { answer, times } = await this.#send({ client, method: 'GET', path: listPath(request) });
    const { status } = answer;
    const { items, revision, next } = pageOf(answer, request.revision ?? Number(resourceVersion));
    const view: View = { collection: collection.name, namespace, selector };
    const page = { view, resourceVersion, match, hasMore: next !== '', revision, items };
    const part = chain === undefined ? {} : { chain };
    this.operations.push({ kind: 'list', client, ...times, status, ...page, ...part });
    if (status === 200) this.newest = Math.max(this.newest, revision);
    return { next, revision };
  }

  async compact(revision: number): Promise<void> {
    const path = `/debug/slipway/compact?revision=${revision}`;
    const { answer, times } = await this.#send({ client: 'compactor', method: 'POST', path });
    if (answer.status === 200) this.compactions.push({ revision, ...times });
  }

  async #write(
    kind: Write['kind'],
    target: Target,
    sent: Omit<Sending, 'client'>,
    expected?: Write['expected'],
  ): Promise<ApiObject | undefined> {
    const { client, collection } = target;
    const { answer, times } = await this.#send({ client, ...sent });
    const { status } = answer;
    const body = status === 200 || status === 201 ? bodyOf(answer) : undefined;
    // An apply that made the object is a create in all but name: it needs none to be there.
    const done = status === 201 ? 'create' : kind;
    const known = { kind: done, client, ...times, status, collection: collection.name, key: keyOf(target) };
    this.operations.push({ ...known, ...told(kind, body), ...(expected && { expected }) });
    if (kind !== 'delete') this.newest = Math.max(this.newest, revisionOf(body));
    return body;
  }

  async #send({ client, method, path, body, type = 'application/json' }: Sending) {
    const invokedAt = performance.now();
    const answer = await this.#client.send({
      method,
      path,
      headers: { 'user-agent': client, ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const isKnown = answer.status > 0 && answer.status < 500;
    const returnedAt = isKnown ? performance.now() : Number.POSITIVE_INFINITY;
    return { answer, times: { invokedAt, returnedAt } };
  }
}

const pathOf = ({ collection, namespace, name }: Target): string => `${collection.path(namespace)}/${name}`;
const keyOf = ({ namespace, name }: Target): string => `${namespace}/${name}`;
const bodyOf = ({ body }: RawAnswer): ApiObject => JSON.parse(body.toString('utf8'));
const revisionOf = (body: ApiObject | undefined): number => Number(body?.metadata?.resourceVersion ?? 0);
const removedUid = (body: ApiObject): string =>
  (body['details'] as { uid?: string } | undefined)?.uid ?? body.metadata?.uid ?? '';

function told(kind: Write['kind'], body: ApiObject | undefined): Pick<Write, 'seen' | 'uid'> {
  if (body === undefined) return {};
  return kind === 'delete' ? { uid: removedUid(body) } : { seen: seenOf(body) };
}

function listPath({
  collection,
  namespace,
  selector,
  resourceVersion = '',
  match = '',
  query,
}: ListRequest): string {
  const parameters = new URLSearchParams(query);
  if (selector !== '') parameters.set('labelSelector', selector);
  if (resourceVersion !== '') parameters.set('resourceVersion', resourceVersion);
  if (match !== '') parameters.set('resourceVersionMatch', match);
  return `${collection.path(namespace === '' ? undefined : namespace)}?${parameters.toString()}`;
}

/** What a list holds; one that failed is at the revision it was asked for. */
function pageOf(answer: RawAnswer, asked: number) {
  if (answer.status !== 200) return { items: [], revision: asked, next: '' };
  const { metadata, items } = JSON.parse(answer.body.toString('utf8'));
  const revision = Number(metadata.resourceVersion);
  return {
    items: (items as ApiObject[]).map(seenOf).filter((seen) => !isForeign(seen)),
    revision,
    next: String(metadata.continue ?? ''),
  };
}
