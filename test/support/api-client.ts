import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { parseYaml } from '../../src/object/yaml.ts';

/** How to reach an API server as somebody; without certificate and token that is the anonymous user. */
export interface Access {
  readonly server: string;
  readonly authorityPem: string;
  readonly certificatePem?: string | undefined;
  readonly keyPem?: string | undefined;
}

export interface RawRequest {
  readonly method: string;
  /** Path and query, sent as they are. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: Buffer | string | undefined;
}

export interface RawAnswer {
  /** 0 when the server closed the connection instead of answering. */
  readonly status: number;
  /** Names in lower case, in the order of the wire; a repeated header comes several times. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

/** An answer whose body arrives over time, line by line. */
export interface RawStream {
  readonly head: RawAnswer;
  readonly lines: readonly string[];
  readonly hasEnded: () => boolean;
  close(): void;
}

interface KubeconfigFile {
  readonly clusters: readonly { cluster: { server: string; 'certificate-authority-data': string } }[];
  readonly users: readonly { user: { 'client-certificate-data'?: string; 'client-key-data'?: string } }[];
}

/** What a kubeconfig with one user and everything embedded says. */
export function accessFrom(kubeconfigFile: string): Access {
  const { clusters, users } = parseYaml(readFileSync(kubeconfigFile, 'utf8')) as KubeconfigFile;
  const [cluster, user] = [clusters[0]?.cluster, users[0]?.user];
  if (cluster === undefined) throw new Error(`${kubeconfigFile} names no cluster`);
  const decoded = (text: string | undefined) =>
    text === undefined ? undefined : Buffer.from(text, 'base64').toString('utf8');
  return {
    server: cluster.server,
    authorityPem: decoded(cluster['certificate-authority-data']) ?? '',
    certificatePem: decoded(user?.['client-certificate-data']),
    keyPem: decoded(user?.['client-key-data']),
  };
}

// A read that waits for a future revision takes 3 s and a dead webhook up to 30 s; nothing takes longer.
const ANSWER_TIMEOUT_MS = 45_000;

/** HTTP/1.1 over TLS with nothing between the test and the wire: no retries, no content negotiation, no decoding. */
export class ApiClient implements Disposable {
  readonly #access: Access;
  readonly #agent: Agent;

  constructor(access: Access) {
    this.#access = access;
    this.#agent = new Agent({
      keepAlive: true,
      ca: access.authorityPem,
      cert: access.certificatePem,
      key: access.keyPem,
    });
  }

  async send(request: RawRequest): Promise<RawAnswer> {
    try {
      const response = await this.#respond(request);
      return { ...head(response), body: await buffer(response) };
    } catch (error) {
      if (!isHangUp(error)) throw error;
      return { status: 0, headers: [], body: Buffer.from('connection closed without an answer') };
    }
  }

  /** Gives the head as soon as it is there; the lines gather behind it. */
  async open(request: RawRequest): Promise<RawStream> {
    const response = await this.#respond(request);
    const lines: string[] = [];
    let rest = '';
    let ended = false;
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    });
    response.on('error', () => undefined);
    response.on('close', () => {
      ended = true;
      if (rest !== '') lines.push(rest);
    });
    return { head: head(response), lines, hasEnded: () => ended, close: () => void response.destroy() };
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  async #respond({ method, path, headers, body }: RawRequest): Promise<IncomingMessage> {
    const { hostname, port } = new URL(this.#access.server);
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const request = httpsRequest({
      agent: this.#agent,
      host: hostname,
      port,
      method,
      path,
      headers: { 'user-agent': 'differential/1.0', ...headers, ...length },
      timeout: ANSWER_TIMEOUT_MS,
    });
    // Later than the head, the error reaches whoever reads the body.
    request.on('error', () => undefined);
    request.on('timeout', () => request.destroy(new Error(`no answer to ${method} ${path}`)));
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  }
}

const isHangUp = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');

function head(response: IncomingMessage): RawAnswer {
  const headers: [string, string][] = [];
  for (let at = 0; at < response.rawHeaders.length; at += 2) {
    headers.push([(response.rawHeaders[at] ?? '').toLowerCase(), response.rawHeaders[at + 1] ?? '']);
  }
  return { status: response.statusCode ?? 0, headers, body: Buffer.alloc(0) };
}
