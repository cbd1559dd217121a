import type { Serve, ServedResponse } from '../serving/https-listener.ts';
import type { Metrics } from './metrics.ts';
import type { ScrapeGate } from './scrape-gate.ts';

const REFUSALS: Readonly<Record<401 | 403 | 500, string>> = {
  401: 'Unauthorized\n',
  403: 'Authorization denied\n',
  500: 'Authorization failed\n',
};

/** `/metrics` in the text format of Prometheus, behind the gate where there is one. */
export const serveMetrics =
  (metrics: Metrics, gate?: ScrapeGate): Serve =>
  async ({ path, method, headers }): Promise<ServedResponse> => {
    const status = (await gate?.({ authorization: headers.authorization, path, method })) ?? 200;
    if (status !== 200) return { status, body: REFUSALS[status] };
    if (path !== '/metrics') return { status: 404, body: '404 page not found\n' };
    if (method !== 'GET' && method !== 'HEAD') return { status: 405, headers: { allow: 'GET, HEAD' } };
    return {
      status: 200,
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      body: await metrics.text(),
    };
  };
