import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sharedApi } from '../../test/support/served-api.ts';
import { gadgets } from '../../test/support/served-resources.ts';
import { ApiMetrics } from './metrics.ts';
import { parseRequestInfo } from './routing/request-info.ts';

const GAUGES = {
  revision: 7,
  inFlight: { reading: 2, mutating: 1 },
  storedObjects: () => new Map([['pods', 3]]),
};

const SAMPLE = /^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)*)\})? (-?[\d.e+-]+)$/;

/** Every sample by name and labels; fails on a line that Prometheus would not read. */
function parse(text: string): ReadonlyMap<string, number> {
  const samples = new Map<string, number>();
  const typed = new Set<string>();
  for (const line of text.split('\n').filter((candidate) => candidate !== '')) {
    const [, typedName] = /^# TYPE ([a-z_]+) (?:counter|gauge|histogram)$/.exec(line) ?? [];
    if (typedName !== undefined) {
      assert.ok(!typed.has(typedName), `${typedName} comes twice`);
      typed.add(typedName);
    } else if (!line.startsWith('# HELP ')) {
      const [, name = '', labels = '', value] = SAMPLE.exec(line) ?? assert.fail(`not a sample: ${line}`);
      assert.ok(typed.has(name.replace(/_(bucket|sum|count)$/, '')), `${name} has no type`);
      samples.set(`${name}{${labels}}`, Number(value));
    }
  }
  assert.ok(text.endsWith('\n'));
  return samples;
}

const info = (method: string, path: string) => parseRequestInfo(method, path, new URLSearchParams());

describe('ApiMetrics', () => {
  it('apiserver/D10: counts requests by verb, resource and code, and times them in buckets', () => {
    const metrics = new ApiMetrics();
    for (const seconds of [0.001, 0.3, 100]) {
      metrics.finished({ info: info('GET', '/api/v1/pods'), code: 200, seconds });
    }
    metrics.finished({ info: info('GET', '/api/v1/pods'), code: 403, seconds: 0.001 });
    const samples = parse(metrics.text(GAUGES));
    const labels = 'verb="LIST",group="",version="v1",resource="pods",subresource=""';
    const timing = (name: string) => samples.get(`apiserver_request_duration_seconds_${name}}`);
    assert.equal(samples.get(`apiserver_request_total{${labels},code="200"}`), 3);
    assert.equal(samples.get(`apiserver_request_total{${labels},code="403"}`), 1);
    assert.equal(timing(`bucket{${labels},le="0.005"`), 2);
    assert.equal(timing(`bucket{${labels},le="0.4"`), 3);
    assert.equal(timing(`bucket{${labels},le="60"`), 3);
    assert.equal(timing(`bucket{${labels},le="+Inf"`), 4);
    assert.equal(timing(`count{${labels}`), 4);
    assert.equal(timing(`sum{${labels}`), 100.302);
  });

  it('apiserver/D10: shows open watches, events sent, objects stored and requests in flight', () => {
    const metrics = new ApiMetrics();
    const resource = gadgets('v1', {});
    metrics.opened(resource);
    metrics.opened(resource);
    metrics.closed(resource);
    metrics.sent(resource, 5);
    metrics.terminated();
    const samples = parse(metrics.text(GAUGES));
    const expected: Readonly<Record<string, number>> = {
      'apiserver_longrunning_requests{verb="WATCH",group="generated.slipway.dev",version="v1",resource="gadgets"}': 1,
      'apiserver_watch_events_total{group="generated.slipway.dev",version="v1",kind="Gadget"}': 5,
      'apiserver_storage_objects{resource="pods"}': 3,
      'apiserver_current_inflight_requests{request_kind="readOnly"}': 2,
      'apiserver_current_inflight_requests{request_kind="mutating"}': 1,
      'slipway_watch_terminated_total{}': 1,
      'slipway_store_revision{}': 7,
    };
    assert.deepEqual(Object.fromEntries(samples), expected);
  });

  it('does not time watches, which take as long as the client likes', () => {
    const metrics = new ApiMetrics();
    metrics.finished({ info: info('GET', '/api/v1/watch/pods'), code: 200, seconds: 1800 });
    const names = [...parse(metrics.text(GAUGES)).keys()].join('\n');
    assert.match(names, /request_total\{verb="WATCH"/);
    assert.doesNotMatch(names, /duration_seconds/);
  });

  it('has one label for all methods a client makes up', () => {
    const metrics = new ApiMetrics();
    for (const method of ['BREW', 'PROPFIND']) {
      metrics.finished({ info: info(method, '/'), code: 404, seconds: 0 });
    }
    const text = metrics.text(GAUGES);
    assert.match(text, /request_total\{verb="OTHER",[^}]*code="404"\} 2/);
  });

  it('apiserver/D10: serves the text, and names a client makes up add no series to it', async () => {
    const api = await sharedApi();
    const lines = async (): Promise<number> => {
      const { status, headers, text } = await api.get('/metrics');
      assert.deepEqual([status, headers['content-type']], [200, 'text/plain; version=0.0.4; charset=utf-8']);
      return parse(text).size;
    };
    for (const path of ['/apis/x/y/a', '/api/v1/nodes/a/b', '/nope']) await api.get(path);
    await lines();
    const before = await lines();
    for (let index = 0; index < 50; index++) {
      await api.get(`/apis/group-${index}.io/v1/things`);
      await api.get(`/api/v1/nodes/a/sub-${index}`);
      await api.get(`/path-${index}`);
    }
    assert.equal(await lines(), before);
  });
});
