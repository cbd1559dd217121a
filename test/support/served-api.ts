import assert from 'node:assert/strict';
import type { InProcessResponse } from '../../src/apiserver/http/in-process.ts';
import type { ApiServer, ApiServerOptions } from '../../src/apiserver/options.ts';
import { textOf } from '../../src/apiserver/rest/object-meta.ts';
import { startApiServer } from '../../src/apiserver/start.ts';
import { VirtualClock } from '../../src/base/clock.ts';
import { isJsonObject, type JsonObject } from '../../src/object/json.ts';
import { parseJsonBytes } from '../../src/object/json-text.ts';

export interface ApiAnswer {
  readonly status: number;
  readonly headers: InProcessResponse['headers'];
  readonly text: string;
  /** Empty when the answer is no JSON object. */
  readonly body: JsonObject;
}

export interface Sent {
  readonly body?: JsonObject | readonly JsonObject[] | string | Uint8Array;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Who asks; the administrator unless told otherwise. */
  readonly user?: string;
  readonly groups?: readonly string[];
}

export const MERGE = 'application/merge-patch+json';
export const JSON_PATCH = 'application/json-patch+json';
export const STRATEGIC = 'application/strategic-merge-patch+json';
export const APPLY = 'application/apply-patch+yaml';

/** Our API server in this process. Without a real clock or socket it holds nothing open. */
export class ServedApi implements AsyncDisposable {
  readonly server: ApiServer;
  readonly clock: VirtualClock;
  #namespaces = 0;

  constructor(server: ApiServer, clock: VirtualClock) {
    this.server = server;
    this.clock = clock;
  }

  static async start(options: Omit<ApiServerOptions, 'clock'> = {}, clock = newClock()): Promise<ServedApi> {
    return new ServedApi(await startApiServer({ storage: 'memory', listen: false, ...options, clock }), clock);
  }

  request(method: string, target: string, sent: Sent = {}): Promise<InProcessResponse> {
    const { body, type = 'application/json', headers = {}, user, groups } = sent;
    const content = contentOf(body);
    return this.server.client(
      user,
      groups,
    )({
      method,
      target,
      headers: { 'user-agent': 'test/1', ...(content !== undefined && { 'content-type': type }), ...headers },
      ...(content !== undefined && { body: content }),
    });
  }

  async send(method: string, target: string, sent: Sent = {}): Promise<ApiAnswer> {
    const answer = await this.request(method, target, sent);
    const bytes = await answer.bytes();
    const text = Buffer.from(bytes).toString('utf8');
    return { status: answer.status, headers: answer.headers, text, body: objectOf(bytes) };
  }

  get(target: string, sent: Sent = {}): Promise<ApiAnswer> {
    return this.send('GET', target, sent);
  }

  /** POST that must succeed. */
  async create(target: string, body: JsonObject): Promise<JsonObject> {
    const answer = await this.send('POST', target, { body });
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  }

  /** The path of a new namespace. */
  async namespace(): Promise<string> {
    const name = `ns-${++this.#namespaces}`;
    await this.create('/api/v1/namespaces', { metadata: { name } });
    return `/api/v1/namespaces/${name}`;
  }

  /** Creates a definition and waits until it is served. */
  async define(crd: JsonObject): Promise<void> {
    await this.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
    const key = `/registry/apiextensions.k8s.io/customresourcedefinitions/${textOf(metaOf(crd)['name'])}`;
    await this.until(() => /"type":"Established"/.test(this.stored(key)));
  }

  /** The JSON that is stored; empty when there is none. */
  stored(key: string): string {
    return Buffer.from(this.server.store.get(key)?.bytes ?? []).toString('utf8');
  }

  /** Resolves when something holds: looked at now and after every change of the store. */
  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const subscription = this.server.store.subscribe('/registry/', () => holds() && resolve());
    return promise.finally(() => subscription[Symbol.dispose]());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
  }
}

const contentOf = (body: Sent['body']): string | Uint8Array | undefined =>
  typeof body === 'object' && !(body instanceof Uint8Array) ? JSON.stringify(body) : body;

const newClock = (): VirtualClock => new VirtualClock({ start: new Date('2026-05-04T03:02:01Z') });

let shared: Promise<ServedApi> | undefined;

/** One server for all tests that keep to namespaces of their own and do not move its time. */
export function sharedApi(): Promise<ServedApi> {
  shared ??= ServedApi.start();
  return shared;
}

function objectOf(bytes: Uint8Array): JsonObject {
  try {
    const { value } = parseJsonBytes(bytes);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** A failure must have this code, reason and message. */
export function assertStatus(answer: ApiAnswer, code: number, reason: string, message: string | RegExp): void {
  const { body, status } = answer;
  assert.deepEqual([status, body['code'], body['reason'] ?? ''], [code, code, reason], answer.text.slice(0, 500));
  if (typeof message === 'string') assert.equal(body['message'], message);
  else assert.match(textOf(body['message']), message);
}

/** A part of an object by the keys on the way to it. */
export function at(object: JsonObject, ...keys: readonly (string | number)[]): unknown {
  let value: unknown = object;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

export const metaOf = (object: JsonObject): JsonObject => {
  const { metadata } = object;
  return isJsonObject(metadata) ? metadata : {};
};

export const itemNames = (list: JsonObject): readonly unknown[] => {
  const items = list['items'];
  return Array.isArray(items) ? items.filter(isJsonObject).map((item) => metaOf(item)['name']) : [];
};

export const configMap = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...more,
});

export interface DefinedVersion {
  readonly name: string;
  readonly served?: boolean;
  readonly spec?: JsonObject;
  readonly more?: JsonObject;
}

/** A definition of `<plural>.t.io` with subresources; the first version is stored. */
export const customDefinition = (
  plural: string,
  kind: string,
  versions: readonly DefinedVersion[] = [{ name: 'v1' }],
  more: JsonObject = {},
): JsonObject => ({
  metadata: { name: `${plural}.t.io` },
  spec: {
    group: 't.io',
    scope: 'Namespaced',
    names: { plural, kind },
    versions: versions.map(({ name, served = true, spec = {}, more: extra = {} }, index) => ({
      name,
      served,
      storage: index === 0,
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: { type: 'object', properties: spec },
            status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      },
      subresources: { status: {} },
      ...extra,
    })),
    ...more,
  },
});
