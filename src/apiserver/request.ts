import type { JsonObject } from '../object/json.ts';

/** Who asks, as TokenReview and admission reviews spell it. */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What the transport knows about the caller before anybody is asked. */
export interface Credentials {
  /** Subject of a client certificate that our authority signed. */
  readonly certificate?: {
    readonly commonName: string;
    readonly organizations: readonly string[];
    /** SHA-256 of the certificate, in hex. */
    readonly fingerprint: string;
  };
  /** In process only: the caller is this user, nothing needs to be proven. */
  readonly user?: UserInfo;
}

/** One request, whatever carries it: a socket, or a call in this process (H12). */
export interface ApiRequest {
  readonly method: string;
  /** Path without query, as sent (percent-encoded). */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly credentials: Credentials;
  readonly isInProcess: boolean;
  /** Aborts when the caller is gone or the server stops. */
  readonly signal: AbortSignal;
  /** Reads the body, up to the limit; called only after the request was authorized (reliability P12). */
  body(): Promise<Uint8Array>;
}

/** Where a streaming answer goes. */
export interface StreamSink {
  /** Bytes written and not yet taken by the client. */
  readonly queuedBytes: number;
  write(chunk: Uint8Array): void;
  /** Resolves when most of what was queued is taken, or the client is gone. */
  drained(): Promise<void>;
  end(): void;
  /** Ends the stream so that the client sees that it is broken. */
  destroy(): void;
}

/** A running answer; disposed when the client is gone. */
export type StreamBody = (sink: StreamSink) => Disposable;

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: readonly Uint8Array[] | StreamBody;
}

/** What serves requests: the whole server behind its transports. */
export type Handle = (request: ApiRequest) => Promise<ApiResponse>;

/** metadata of an object; a body that has none gets an empty one. */
export function metadataOf(object: JsonObject): JsonObject {
  const { metadata } = object;
  if (typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)) return metadata;
  const fresh: JsonObject = {};
  object['metadata'] = fresh;
  return fresh;
}
