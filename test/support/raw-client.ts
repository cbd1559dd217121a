import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { buffer } from 'node:stream/consumers';

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Plain requests as the user of a kubeconfig of ours (which is JSON), without anything a client library would add. */
export class RawClient implements Disposable {
  readonly #server: string;
  readonly #agent: Agent;

  constructor(kubeconfigFile: string) {
    const { clusters, users } = JSON.parse(readFileSync(kubeconfigFile, 'utf8'));
    const [{ cluster }, { user }] = [clusters[0], users[0]];
    this.#server = cluster.server;
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: 8,
      ca: decoded(cluster['certificate-authority-data']),
      cert: decoded(user['client-certificate-data']),
      key: decoded(user['client-key-data']),
    });
  }

  async send(path: string, { method = 'GET', headers = {}, body }: RawRequest = {}): Promise<RawResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
    const sent = request(`${this.#server}${path}`, { method, headers, agent: this.#agent }, (response) => {
      const { statusCode: status = 0, headers: got } = response;
      buffer(response).then((bytes) => resolve({ status, headers: got, body: bytes }), reject);
    });
    sent.on('error', reject);
    sent.end(body);
    return promise;
  }

  /** The JSON of an answer that must be a success. */
  async json<Body>(path: string, options: RawRequest = {}): Promise<Body> {
    const { status, body } = await this.send(path, options);
    if (status >= 300) throw new Error(`${options.method ?? 'GET'} ${path}: ${status} ${body.toString()}`);
    return JSON.parse(body.toString());
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

const decoded = (base64: string): Buffer => Buffer.from(base64, 'base64');
