import { connect, type TLSSocket } from 'node:tls';

export interface Credentials {
  readonly host: string;
  readonly port: number;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');

/**
 * One keep-alive HTTP/1.1 connection, one request at a time. Written by hand because the client shares the machine with
 * the server it measures: `node:https` costs as much processor time as the fast server does.
 */
export class Connection implements Disposable {
  readonly #socket: TLSSocket;
  readonly #host: string;
  #received: Buffer[] = [];
  #size = 0;
  #head: Head | undefined;
  #waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;
  #onChunk: ((chunk: Buffer) => void) | undefined;

  private constructor(socket: TLSSocket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.on('data', (chunk: Buffer) => this.#data(chunk));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('the connection was closed')));
  }

  static open({ host, port, ca, cert, key }: Credentials): Promise<Connection> {
    const { promise, resolve, reject } = Promise.withResolvers<Connection>();
    const socket = connect({ host, port, ca, cert, key, ALPNProtocols: ['http/1.1'] }, () => {
      socket.setNoDelay(true);
      socket.off('error', reject);
      resolve(new Connection(socket, `${host}:${port}`));
    });
    socket.once('error', reject);
    return promise;
  }

  send(method: string, path: string, body = '', contentType = 'application/json'): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#waiting = { resolve, reject };
    this.#write(method, path, body, contentType);
    return promise;
  }

  /** Sends a request whose answer never ends; `onChunk` gets the raw bytes of its body. */
  stream(path: string, onChunk: (chunk: Buffer) => void): void {
    this.#onChunk = onChunk;
    this.#write('GET', path, '', '');
  }

  [Symbol.dispose](): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #write(method: string, path: string, body: string, contentType: string): void {
    const content =
      body === '' ? '' : `Content-Type: ${contentType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
    const head = `${method} ${path} HTTP/1.1\r\nHost: ${this.#host}\r\nUser-Agent: bench/1\r\nAccept: application/json\r\n`;
    this.#socket.write(`${head}${content}\r\n${body}`);
  }

  #data(chunk: Buffer): void {
    if (this.#onChunk !== undefined) {
      this.#onChunk(chunk);
      return;
    }
    this.#received.push(chunk);
    this.#size += chunk.length;
    // A long answer comes in many packets: joining them each time would cost more than the request.
    if (this.#head === undefined || this.#size >= this.#head.end) this.#tryFinish(chunk);
  }

  #tryFinish(last: Buffer): void {
    this.#head ??= parseHead(Buffer.concat(this.#received));
    const head = this.#head;
    if (head === undefined) return;
    const isComplete = head.isChunked ? endsChunks(last) : this.#size >= head.end;
    if (!isComplete) return;
    const bytes = Buffer.concat(this.#received);
    const body = head.isChunked ? joinChunks(bytes, head.start) : bytes.subarray(head.start, head.end);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#received = [];
    this.#size = 0;
    this.#head = undefined;
    waiting?.resolve({ status: head.status, body });
  }
}

interface Head {
  readonly status: number;
  readonly start: number;
  /** Where the body ends; unknown (0) when it comes in chunks. */
  readonly end: number;
  readonly isChunked: boolean;
}

function parseHead(bytes: Buffer): Head | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = bytes.toString('latin1', 0, headEnd);
  const start = headEnd + HEAD_END.length;
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return {
    status: Number(head.slice(9, 12)),
    start,
    end: length === undefined ? 0 : start + Number(length),
    isChunked: length === undefined,
  };
}

const endsChunks = (last: Buffer): boolean =>
  last.toString('latin1', Math.max(0, last.length - 5)).endsWith('0\r\n\r\n');

function joinChunks(bytes: Buffer, start: number): Buffer {
  const chunks: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf(LINE_END, at);
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (!(size > 0)) return Buffer.concat(chunks);
    const from = lineEnd + LINE_END.length;
    chunks.push(bytes.subarray(from, from + size));
    at = from + size + LINE_END.length;
  }
}
