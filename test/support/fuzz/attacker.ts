import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { type Access, ApiClient, type RawAnswer } from '../api-client.ts';
import type { FuzzRequest } from './request.ts';

/** After this long nobody waits any more (reliability/P9). Far more than it takes: the machine may be busy. */
const ANSWER_MS = 20_000;
/** After this long without a byte, a connection with half a request is left. */
const QUIET_MS = 60;

/** What came back; status 0 means that the connection was closed instead. */
export interface Outcome extends RawAnswer {
  readonly tookMs: number;
  /** Says why there is no answer, if it should be one. */
  readonly problem?: string;
}

/** Sends hostile requests over HTTP/1.1, HTTP/2 and bare connections, as the administrator or as nobody. */
export class Attacker implements Disposable {
  readonly #access: Access;
  readonly #client: ApiClient;
  #session: ClientHttp2Session | undefined;
  #sent = 0;

  constructor(access: Access) {
    this.#access = access;
    this.#client = new ApiClient(access);
  }

  async send(request: FuzzRequest): Promise<Outcome> {
    const startedMs = performance.now();
    const sending = this.#answer(request);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${ANSWER_MS} ms`)), ANSWER_MS);
    });
    try {
      return { ...(await Promise.race([sending, late])), tookMs: performance.now() - startedMs };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { status: 0, headers: [], body: Buffer.alloc(0), tookMs: performance.now() - startedMs, problem };
    } finally {
      clearTimeout(timer);
    }
  }

  [Symbol.dispose](): void {
    this.#client[Symbol.dispose]();
    this.#session?.destroy();
  }

  #answer(request: FuzzRequest): Promise<RawAnswer> {
    if (request.raw !== undefined) return this.#raw(request.raw, request.isAnonymous === true);
    if (request.path.includes('watch=true')) return this.#watch(request);
    this.#sent += 1;
    // Node's HTTP/1.1 client refuses such paths and headers, which is no help here.
    const isPlain = /^[\u0021-\u007e]*$/.test(request.path);
    return this.#sent % 3 === 0 || !isPlain ? this.#overHttp2(request) : this.#client.send(request);
  }

  /** Whatever comes at once: a refusal as a whole, or the first events. */
  async #watch(request: FuzzRequest): Promise<RawAnswer> {
    const stream = await this.#client.open(request);
    // A refusal ends by itself, however busy this process is; only a watch that goes on has to be left.
    const quietMs = stream.head.status < 400 ? QUIET_MS : ANSWER_MS;
    for (const startedMs = performance.now(); !stream.hasEnded() && performance.now() - startedMs < quietMs; ) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    // Half a line is no document.
    const lines = stream.hasEnded() ? stream.lines : stream.lines.slice(0, -1);
    const body = Buffer.from(lines.join('\n'));
    stream.close();
    return { ...stream.head, body };
  }

  async #overHttp2({ method, path, headers, body }: FuzzRequest): Promise<RawAnswer> {
    const stream = this.#http2().request(
      { ...headers, ':method': method, ':path': path },
      { endStream: body === undefined },
    );
    stream.on('error', () => undefined);
    if (body !== undefined) stream.end(body);
    // Read from the start: Node drops what nobody has begun to read when a stream closes.
    const reading = buffer(stream);
    reading.catch(() => undefined);
    const head = await Promise.race([once(stream, 'response'), once(stream, 'close')]);
    const found = (head[0] ?? {}) as Record<string, string | number>;
    const status = Number(found[':status'] ?? 0);
    const entries = Object.entries(found).map(([name, value]) => [name, String(value)] as const);
    return {
      status,
      headers: entries,
      body: status === 0 ? Buffer.alloc(0) : await reading,
    };
  }

  #http2(): ClientHttp2Session {
    if (this.#session !== undefined && !this.#session.closed && !this.#session.destroyed) return this.#session;
    const { server, authorityPem, certificatePem, keyPem } = this.#access;
    this.#session = connectHttp2(server, {
      ca: authorityPem,
      cert: certificatePem,
      key: keyPem,
      // Megabytes: several of the largest bodies at once must not fail on this side.
      maxSessionMemory: 1000,
    });
    this.#session.on('error', () => undefined);
    return this.#session;
  }

  /** Writes the bytes and reads what comes, until the server closes or has nothing more to say. */
  async #raw(bytes: Buffer, isAnonymous: boolean): Promise<RawAnswer> {
    const { server, authorityPem, certificatePem, keyPem } = this.#access;
    const { hostname, port } = new URL(server);
    const credential = isAnonymous ? {} : { cert: certificatePem, key: keyPem };
    const socket = connectTls({
      host: hostname,
      port: Number(port),
      ca: authorityPem,
      ALPNProtocols: ['http/1.1'],
      ...credential,
    });
    socket.on('error', () => undefined);
    await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]);
    socket.write(bytes);
    const received = await everything(socket);
    socket.destroy();
    const [, status = '0'] = /^HTTP\/1\.1 (\d{3})/.exec(received.toString('latin1')) ?? [];
    return { status: Number(status), headers: [], body: received };
  }
}

function everything(socket: TLSSocket): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  const done = () => resolve(Buffer.concat(chunks));
  let timer = setTimeout(done, QUIET_MS);
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    clearTimeout(timer);
    timer = setTimeout(done, QUIET_MS);
  });
  socket.on('close', () => {
    clearTimeout(timer);
    done();
  });
  return promise;
}
