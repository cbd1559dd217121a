/** A question to the server of a node, however it came. */
export interface NodeRequest {
  readonly method: string;
  /** As in the URL: names in it may be encoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export interface NodeResponse {
  readonly status: number;
  /** Plain text unless told otherwise. */
  readonly contentType?: string;
  readonly body: string | ReadableStream<Uint8Array>;
}

/** Answers a question. Rejects only for what nobody foresaw. */
export type NodeServe = (request: NodeRequest) => Promise<NodeResponse>;

export const textResponse = (status: number, body: string): NodeResponse => ({ status, body });

export const jsonResponse = (body: unknown): NodeResponse => ({
  status: 200,
  contentType: 'application/json',
  body: JSON.stringify(body),
});
