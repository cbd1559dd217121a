import type { TransportResponse } from './transport.ts';

/** The same answer, its chunks changed on the way. */
export const withStream = (
  response: TransportResponse,
  change: (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>,
): TransportResponse => ({
  status: response.status,
  headers: response.headers,
  stream: () => change(response.stream()),
  bytes: () => collected(change(response.stream())),
});

async function collected(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
}
