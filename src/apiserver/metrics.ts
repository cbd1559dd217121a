import type { Resource } from './registry/resource.ts';
import type { RequestInfo } from './routing/request-info.ts';
import type { RequestObserver } from './routing/serve.ts';
import type { WatchCounters } from './watching/watch.ts';

// Upstream's buckets, thinned out: dashboards read quantiles, not single buckets.
const BUCKETS_SECONDS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 5, 10, 30, 60];

interface Timing {
  readonly buckets: number[];
  sum: number;
  count: number;
}

type Labels = Readonly<Record<string, string>>;

/** What `/metrics` also shows and nobody counts: read when asked. */
export interface Gauges {
  /** Objects by resource (`deployments.apps`). */
  storedObjects(): ReadonlyMap<string, number>;
  readonly revision: number;
  readonly inFlight: { readonly reading: number; readonly mutating: number };
}

/**
 * Counts requests and watches (D10). Counting must cost nothing on the way of a request, and the text is asked for
 * once in a while: so numbers are kept in plain maps, bounded by the resources, verbs and codes that exist.
 */
export class ApiMetrics implements RequestObserver, WatchCounters {
  readonly #requests = new Map<string, { readonly labels: Labels; count: number }>();
  readonly #timings = new Map<string, { readonly labels: Labels; readonly timing: Timing }>();
  readonly #open = new Map<string, { readonly labels: Labels; count: number }>();
  readonly #sent = new Map<string, { readonly labels: Labels; count: number }>();
  #terminated = 0;

  finished({ info, code, seconds }: { info: RequestInfo; code: number; seconds: number }): void {
    const { group, version, resource, subresource } = info;
    const labels = { verb: verbLabel(info), group, version, resource, subresource };
    const key = `${labels.verb} ${group} ${version} ${resource} ${subresource}`;
    bump(this.#requests, `${key} ${code}`, () => ({ ...labels, code: String(code) }), 1);
    if (info.verb === 'watch') return;
    let found = this.#timings.get(key);
    if (found === undefined) {
      found = { labels, timing: { buckets: BUCKETS_SECONDS.map(() => 0), sum: 0, count: 0 } };
      this.#timings.set(key, found);
    }
    const { timing } = found;
    timing.sum += seconds;
    timing.count++;
    const bucket = BUCKETS_SECONDS.findIndex((limit) => seconds <= limit);
    if (bucket >= 0) timing.buckets[bucket] = (timing.buckets[bucket] ?? 0) + 1;
  }

  opened(resource: Resource): void {
    this.#watch(resource, 1);
  }

  closed(resource: Resource): void {
    this.#watch(resource, -1);
  }

  sent({ group, version, kind }: Resource, count: number): void {
    bump(this.#sent, `${group} ${version} ${kind}`, () => ({ group, version, kind }), count);
  }

  terminated(): void {
    this.#terminated++;
  }

  #watch({ group, version, plural }: Resource, by: number): void {
    const labels = () => ({ verb: 'WATCH', group, version, resource: plural });
    bump(this.#open, `${group} ${version} ${plural}`, labels, by);
  }

  /** The Prometheus text format. */
  text(gauges: Gauges): string {
    const { revision, inFlight } = gauges;
    const objects = [...gauges.storedObjects()].map(([resource, count]) => ({
      labels: { resource },
      count,
    }));
    return [
      ...family(
        'apiserver_request_total',
        'counter',
        'Requests by verb, resource and code',
        this.#requests.values(),
      ),
      ...timingFamily(this.#timings.values()),
      ...family('apiserver_longrunning_requests', 'gauge', 'Open watches', this.#open.values()),
      ...family('apiserver_watch_events_total', 'counter', 'Events sent to watchers', this.#sent.values()),
      ...family('apiserver_storage_objects', 'gauge', 'Objects by resource', objects),
      ...family('apiserver_current_inflight_requests', 'gauge', 'Requests being served', [
        { labels: { request_kind: 'readOnly' }, count: inFlight.reading },
        { labels: { request_kind: 'mutating' }, count: inFlight.mutating },
      ]),
      ...family('slipway_watch_terminated_total', 'counter', 'Watches ended because the client did not read', [
        { labels: {}, count: this.#terminated },
      ]),
      ...family('slipway_store_revision', 'gauge', 'Highest committed revision', [
        { labels: {}, count: revision },
      ]),
      '',
    ].join('\n');
  }
}

type Counters = Map<string, { readonly labels: Labels; count: number }>;

function bump(counters: Counters, key: string, labels: () => Labels, by: number): void {
  const found = counters.get(key);
  if (found === undefined) counters.set(key, { labels: labels(), count: by });
  else found.count += by;
}

// Methods outside the API are one label value, whatever clients make up.
const KNOWN_VERBS = new Set([
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'post',
  'put',
  'head',
]);
const verbLabel = ({ verb }: RequestInfo): string => (KNOWN_VERBS.has(verb) ? verb.toUpperCase() : 'OTHER');

function family(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  samples: Iterable<{ readonly labels: Labels; readonly count: number }>,
): readonly string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...[...samples].map(({ labels, count }) => `${name}${labelText(labels)} ${count}`),
  ];
}

function timingFamily(samples: Iterable<{ readonly labels: Labels; readonly timing: Timing }>): readonly string[] {
  const name = 'apiserver_request_duration_seconds';
  const lines = [`# HELP ${name} Duration of requests other than watches`, `# TYPE ${name} histogram`];
  for (const { labels, timing } of samples) {
    let below = 0;
    BUCKETS_SECONDS.forEach((limit, index) => {
      below += timing.buckets[index] ?? 0;
      lines.push(`${name}_bucket${labelText({ ...labels, le: String(limit) })} ${below}`);
    });
    lines.push(`${name}_bucket${labelText({ ...labels, le: '+Inf' })} ${timing.count}`);
    lines.push(
      `${name}_sum${labelText(labels)} ${timing.sum}`,
      `${name}_count${labelText(labels)} ${timing.count}`,
    );
  }
  return lines;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
