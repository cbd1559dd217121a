import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { JsonObject } from '../../../src/object/json.ts';
import { parseYaml } from '../../../src/object/yaml.ts';

export interface Answer {
  readonly status: number;
  /** Empty if the answer is no JSON, as for a path that is not served yet. */
  readonly body: JsonObject;
}

/** As far as the harness writes one: a single cluster and a single user. */
interface Kubeconfig {
  readonly clusters: readonly [
    { readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } },
  ];
  readonly users: readonly [
    { readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string } },
  ];
}

/** Requests to a real API server as the user of a kubeconfig. */
export class Client implements Disposable {
  readonly #url: string;
  readonly #agent: Agent;

  constructor(kubeconfigFile: string) {
    const { clusters, users } = parseYaml(readFileSync(kubeconfigFile, 'utf8')) as Kubeconfig;
    const [{ cluster }, { user }] = [clusters[0], users[0]];
    this.#url = cluster.server;
    this.#agent = new Agent({
      keepAlive: true,
      ca: decoded(cluster['certificate-authority-data']),
      cert: decoded(user['client-certificate-data']),
      key: decoded(user['client-key-data']),
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  async send(method: string, path: string, body?: JsonObject, type = 'application/json'): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; answer: string }>();
    const options = { method, agent: this.#agent, headers: { 'content-type': type } };
    const call = request(`${this.#url}${path}`, options, (response) => {
      const { statusCode: status = 0 } = response;
      text(response).then((answer) => resolve({ status, answer }), reject);
    });
    call.on('error', reject);
    call.end(body === undefined ? '' : JSON.stringify(body));
    const { status, answer } = await promise;
    return { status, body: answer.startsWith('{') ? JSON.parse(answer) : {} };
  }
}

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString();
