import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { JsonObject } from '../../src/object/json.ts';
import { parseYaml } from '../../src/object/yaml.ts';

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

interface Resource {
  readonly plural: string;
  readonly isNamespaced: boolean;
}

const decoded = (value: unknown): string => Buffer.from(String(value), 'base64').toString();

/** Plain requests to a real API server as the user of a kubeconfig: no client of ours stands between. */
export class OracleRequests implements Disposable {
  readonly #url: string;
  readonly #agent: Agent;
  readonly #resources = new Map<string, Promise<ReadonlyMap<string, Resource>>>();

  constructor(kubeconfigFile: string) {
    // oxlint-disable-next-line typescript/no-explicit-any -- a kubeconfig of our own making
    const config = parseYaml(readFileSync(kubeconfigFile, 'utf8')) as any;
    const cluster = config.clusters[0].cluster;
    const user = config.users[0].user;
    this.#url = cluster.server;
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: 4,
      ca: decoded(cluster['certificate-authority-data']),
      cert: decoded(user['client-certificate-data']),
      key: decoded(user['client-key-data']),
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  async send(
    method: string,
    path: string,
    body?: JsonObject,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const content = body === undefined ? '' : JSON.stringify(body);
    // Node gives the body of a DELETE no length of its own.
    const length = { 'content-length': Buffer.byteLength(content) };
    const call = request(
      `${this.#url}${path}`,
      { method, agent: this.#agent, headers: { 'content-type': 'application/json', ...length, ...headers } },
      (response) => {
        // A path that is not served yet is answered with plain text.
        const isJson = response.headers['content-type']?.startsWith('application/json') === true;
        text(response).then(
          (answer) => resolve({ status: response.statusCode ?? 0, body: isJson ? JSON.parse(answer) : {} }),
          reject,
        );
      },
    );
    call.on('error', reject);
    call.end(content);
    return await promise;
  }

  /** The collection an object belongs to: `/apis/apps/v1/namespaces/test/deployments`. */
  async collectionOf(apiVersion: string, kind: string, namespace: string): Promise<string> {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const known = this.#resources.get(root) ?? this.#discover(root);
    this.#resources.set(root, known);
    const resource = (await known).get(kind);
    if (resource === undefined) throw new Error(`the oracle serves no ${kind} in ${apiVersion}`);
    return resource.isNamespaced
      ? `${root}/namespaces/${namespace}/${resource.plural}`
      : `${root}/${resource.plural}`;
  }

  async #discover(root: string): Promise<ReadonlyMap<string, Resource>> {
    const { body } = await this.send('GET', root);
    const list = body['resources'] as unknown as { name: string; kind: string; namespaced: boolean }[];
    const main = list.filter(({ name }) => !name.includes('/'));
    return new Map(main.map(({ name, kind, namespaced }) => [kind, { plural: name, isNamespaced: namespaced }]));
  }
}
