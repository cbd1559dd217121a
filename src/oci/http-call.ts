/** One HTTP request without a body to send, or with a small one. */
export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT';
  /** Absolute, `http:` or `https:`. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  /** Certificates in PEM that are trusted besides those of the machine. */
  readonly caPem?: string;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Read to its end, or abandoned with `return()`: either frees the connection. */
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * The way to servers that are no Kubernetes API. Rejects when no answer comes; every status is an answer. Follows no
 * redirects. Whoever runs in a lab or a test is given one that ends in this process.
 */
export type HttpCall = (request: HttpRequest) => Promise<HttpAnswer>;
