import type { Clock } from '../../base/clock.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Transport } from './transport.ts';

/** As client-go has them, so that dashboards fit. */
const BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const NO_ANSWER = '<error>';

interface MeasureOptions {
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** `host:port`, the label of every series. */
  readonly host: string;
}

/**
 * Counts requests by status and the time until the headers of their answer (N9). Each attempt counts when it is below
 * `retrying`. Changes nothing about answers and failures.
 */
export function measured(transport: Transport, { clock, metrics, host }: MeasureOptions): Transport {
  const requests = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Requests by status code, method and host; code <error> when there was no answer',
    labels: ['code', 'method', 'host'],
  });
  const durations = metrics.histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Seconds until the headers of an answer, by verb and host',
    labels: ['verb', 'host'],
    buckets: BUCKETS,
  });
  requests.add({ code: '200', method: 'GET', host }, 0);
  return async (request) => {
    const { method } = request;
    const startMs = clock.monotonicMs();
    let code = NO_ANSWER;
    try {
      const answer = await transport(request);
      code = String(answer.status);
      return answer;
    } finally {
      requests.add({ code, method, host });
      durations.observe({ verb: method, host }, (clock.monotonicMs() - startMs) / 1000);
    }
  };
}

/** Counts repetitions (N9); for `onRetry` of `retrying`. */
export function retryCounter(metrics: Metrics, host: string): (code: string, method: string) => void {
  const retries = metrics.counter({
    name: 'rest_client_request_retries_total',
    help: 'Requests that were sent again, by the status code that was the reason, method and host',
    labels: ['code', 'verb', 'host'],
  });
  retries.add({ code: '429', verb: 'GET', host }, 0);
  return (code, verb) => retries.add({ code, verb, host });
}
