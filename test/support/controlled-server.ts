import assert from 'node:assert/strict';
import type { InProcessResponse } from '../../src/apiserver/http/in-process.ts';
import type { ApiServer, ApiServerOptions } from '../../src/apiserver/options.ts';
import { startApiServer } from '../../src/apiserver/start.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/object/json.ts';

export interface ServerAnswer {
  readonly status: number;
  readonly body: JsonObject;
  /** Of a Status; empty in anything else. */
  readonly message: string;
}

/** Our API server in this process with its controllers, as their tests use it. */
export class ControlledServer implements AsyncDisposable {
  readonly #server: ApiServer;

  constructor(server: ApiServer) {
    this.#server = server;
  }

  static async start(options: ApiServerOptions = {}): Promise<ControlledServer> {
    return new ControlledServer(await startApiServer({ listen: false, ...options }));
  }

  get store(): ApiServer['store'] {
    return this.#server.store;
  }

  async send(
    method: string,
    target: string,
    sent?: JsonObject | string,
    type = 'application/json',
  ): Promise<ServerAnswer> {
    const response = await this.raw(method, target, sent, type);
    const body: JsonObject = JSON.parse(Buffer.from(await response.bytes()).toString('utf8'));
    return { status: response.status, body, message: textOf(body['message']) };
  }

  raw(
    method: string,
    target: string,
    body?: JsonObject | string,
    type = 'application/json',
  ): Promise<InProcessResponse> {
    const content = typeof body === 'object' ? JSON.stringify(body) : body;
    return this.#server.client()({
      method,
      target,
      headers: { 'content-type': type, 'user-agent': 'test' },
      ...(content !== undefined && { body: content }),
    });
  }

  async create(target: string, body: JsonObject): Promise<JsonObject> {
    const answer = await this.send('POST', target, body);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  }

  async remove(target: string, options: JsonObject = {}): Promise<JsonObject> {
    const answer = await this.send('DELETE', target, options);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  }

  async merge(target: string, patch: JsonObject): Promise<JsonObject> {
    const answer = await this.send('PATCH', target, patch, 'application/merge-patch+json');
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  }

  /** What the store holds below `/registry/`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into objects they have made themselves
  stored(key: string): any {
    const entry = this.store.get(`/registry/${key}`);
    return entry === undefined ? undefined : JSON.parse(Buffer.from(entry.bytes).toString('utf8'));
  }

  /** Resolves when something holds: looked at now and after every change of the store. */
  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => {
      const subscription = this.store.subscribe('/registry/', () => {
        if (!holds()) return;
        subscription[Symbol.dispose]();
        resolve();
      });
    });
  }

  gone(...keys: readonly string[]): Promise<void> {
    return this.until(() => keys.every((key) => this.stored(key) === undefined));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop();
  }
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const metadataOf = ({ metadata }: JsonObject): JsonObject => (isJsonObject(metadata) ? metadata : {});

export const uidOf = (object: JsonObject): string => textOf(metadataOf(object)['uid']);

/** A reference to an object as owner. */
export const ownedBy = (object: JsonObject, more: JsonObject = {}): JsonObject => ({
  apiVersion: textOf(object['apiVersion']),
  kind: textOf(object['kind']),
  name: textOf(metadataOf(object)['name']),
  uid: uidOf(object),
  ...more,
});

/** A CustomResourceDefinition with one version and no rules. */
export const definition = (plural: string, kind: string, scope = 'Namespaced'): JsonObject => ({
  metadata: { name: `${plural}.test.io` },
  spec: {
    group: 'test.io',
    scope,
    names: { plural, kind },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
});
