/**
 * One request to an API server, whatever carries it: sockets, or a call in this process. `startApiServer().client(user)`
 * is a transport as it is (N8). Retries, fencing, faults, recording and auditing are transports around a transport.
 */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;

export interface TransportRequest {
  readonly method: string;
  /** Path with query; a path prefix of the server (C2) is added by the connection. */
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly signal?: AbortSignal;
  /** Stays open: gets a socket of its own, and a deadline only until the headers of its answer. */
  readonly isStream?: boolean;
  /** For the whole answer of a request that is no stream; 30 s unless told otherwise (N4). */
  readonly timeoutMs?: number;
  /** While a stream is read, this long without a byte destroys its socket with a `NetworkError` (P22); never unless told. */
  readonly silenceMs?: number;
  /**
   * Called right before the first byte is sent, and again before each repetition: what it throws is thrown instead of
   * sending. Decorators that refuse requests (E7) use it, because credentials and connecting may take long.
   */
  readonly beforeSend?: () => void;
  /** The caller says that sending it twice does no harm, so it may be repeated when its outcome is unknown (N5). */
  readonly isIdempotent?: boolean;
}

export interface TransportResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Chunks as they come. Leaving the loop ends the request and frees its socket. */
  stream(): AsyncIterable<Uint8Array>;
  /** The whole body. */
  bytes(): Promise<Uint8Array>;
}

/** A way to one API server with its sockets, credentials and timers; ends when disposed. */
export interface Connection extends AsyncDisposable {
  readonly transport: Transport;
  /** For messages and metrics: `127.0.0.1:6443`. */
  readonly host: string;
  /** Throws away what was cached of the credentials; the next request reads them again (I6: after a 401). */
  refreshCredentials(): void;
}

export const isWrite = ({ method }: Pick<TransportRequest, 'method'>): boolean =>
  method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
