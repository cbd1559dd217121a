import type { ApiRequest } from '../../src/apiserver/request.ts';

/** A request by its target, as a transport would hand it on. */
export function apiRequest(target: string, more: Partial<ApiRequest> = {}): ApiRequest {
  const url = new URL(target, 'https://localhost');
  return {
    method: 'GET',
    path: url.pathname,
    query: url.searchParams,
    headers: {},
    credentials: {},
    isInProcess: true,
    signal: new AbortController().signal,
    body: () => Promise.resolve(new Uint8Array()),
    ...more,
  };
}
