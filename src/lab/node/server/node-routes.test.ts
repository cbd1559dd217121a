import assert from 'node:assert/strict';
import { realpath } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../../test/support/scratch.ts';
import type { ContainerStatus, Pod } from '../../../api/generated/core-v1-types.ts';
import { VirtualClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { ContainerLogs } from '../logs/container-logs.ts';
import type { NodeResponse } from './node-request.ts';
import { type NodeRoutesOptions, nodeRoutes } from './node-routes.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', uid: 'u-1' },
  spec: { containers: [{ name: 'a' }, { name: 'b' }] },
};
const statusOf = (name: string, more: Partial<ContainerStatus>): ContainerStatus => ({
  name,
  image: '',
  imageID: '',
  ready: true,
  restartCount: 0,
  ...more,
});

async function routesRig(more: Partial<NodeRoutesOptions> = {}) {
  const stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  const clock = new VirtualClock({ start: new Date('2030-01-01T00:00:00Z') });
  const logs = stack.use(new ContainerLogs({ root: await realpath(scratch.path), clock, log: SILENT_LOG }));
  let statuses: readonly ContainerStatus[] = [];
  const pods = () => [{ ...pod, status: { phase: 'Running' as const, containerStatuses: statuses } }];
  const node = { name: 'w-1', startedAt: clock.now() };
  const serve = nodeRoutes({ node, pods, logs, clock, ...more });
  const ask = async (target: string, method = 'GET') => {
    const url = new URL(target, 'http://node');
    const request = { method, path: url.pathname, query: url.searchParams, signal: new AbortController().signal };
    const response = await serve(request);
    return { status: response.status, contentType: response.contentType, text: await textOf(response) };
  };
  const set = (...next: readonly ContainerStatus[]) => {
    statuses = next;
  };
  return { clock, logs, ask, set, serve, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function textOf({ body }: NodeResponse): Promise<string> {
  return typeof body === 'string' ? body : await new Response(body).text();
}

describe('server of a node', () => {
  it('lab/N40: gives the log of a container, as the query wants it', async () => {
    await using rig = await routesRig();
    rig.set(statusOf('a', { state: { running: {} } }));
    const log = await rig.logs.open({ pod, container: 'a' }, 0);
    for (const word of ['one', 'two', 'three']) {
      log.write('stdout', Buffer.from(`${word}\n`));
      await rig.clock.advance(10_000);
    }
    await log.tail(1, 1);
    const text = async (query: string) => (await rig.ask(`/containerLogs/shop/web/a?${query}`)).text;
    assert.equal(await text(''), 'one\ntwo\nthree\n');
    assert.equal(await text('tailLines=1&timestamps=true'), '2030-01-01T00:00:20.000000000Z three\n');
    assert.equal(await text('sinceSeconds=15'), 'three\n');
    assert.equal(await text('sinceTime=2030-01-01T00:00:10Z'), 'two\nthree\n');
    assert.equal(await text('limitBytes=5'), 'one\nt');
  });

  it('lab/N41: gives the previous run when that is asked for', async () => {
    await using rig = await routesRig();
    for (const run of [0, 1]) {
      const log = await rig.logs.open({ pod, container: 'a' }, run);
      log.write('stdout', Buffer.from(`run ${run}\n`));
      await log.tail(1, 1);
    }
    rig.set(
      statusOf('a', { state: { running: {} }, lastState: { terminated: { exitCode: 1 } }, restartCount: 1 }),
      statusOf('b', { state: { running: {} } }),
    );
    assert.equal((await rig.ask('/containerLogs/shop/web/a')).text, 'run 1\n');
    assert.equal((await rig.ask('/containerLogs/shop/web/a?previous=true')).text, 'run 0\n');
    assert.partialDeepStrictEqual(await rig.ask('/containerLogs/shop/web/b?previous=true'), {
      status: 400,
      text: 'previous terminated container "b" in pod "web" not found',
    });
  });

  for (const { target, status, text } of [
    { target: '/containerLogs/shop/none/a', status: 404, text: 'pod "none" does not exist' },
    { target: '/containerLogs/other/web/a', status: 404, text: 'pod "web" does not exist' },
    { target: '/containerLogs/shop/web/x', status: 404, text: 'container "x" not found in pod "web"' },
    {
      target: '/containerLogs/shop/web/a',
      status: 400,
      text: 'container "a" in pod "web" is waiting to start: ContainerCreating',
    },
    {
      target: '/containerLogs/shop/web/a?tailLines=x',
      status: 400,
      text: 'strconv.ParseInt: parsing "x": invalid syntax',
    },
    { target: '/containerLogs/shop/%ff/a', status: 400, text: 'the path cannot be decoded' },
    { target: '/containerLogs/shop/web', status: 404, text: '404 page not found' },
    { target: '/nothing', status: 404, text: '404 page not found' },
    { target: '/constructor', status: 404, text: '404 page not found' },
    { target: '/', status: 404, text: '404 page not found' },
  ]) {
    it(`lab/N41: answers ${status} to ${target}: ${text}`, async () => {
      await using rig = await routesRig();
      assert.partialDeepStrictEqual(await rig.ask(target), { status, text });
    });
  }

  it('takes only GET', async () => {
    await using rig = await routesRig();
    assert.equal((await rig.ask('/pods', 'POST')).status, 405);
  });

  it('lab/N42: tells its pods, and that it is well', async () => {
    await using rig = await routesRig();
    assert.deepEqual(await rig.ask('/healthz'), { status: 200, contentType: undefined, text: 'ok' });
    const { text, contentType } = await rig.ask('/pods');
    assert.equal(contentType, 'application/json');
    const { kind, items } = JSON.parse(text);
    assert.deepEqual([kind, items.length, items[0].metadata.name], ['PodList', 1, 'web']);
  });

  it('lab/N42: counts pods and containers', async () => {
    await using rig = await routesRig({ metrics: { text: async () => 'prober_probe_total 7\n' } });
    rig.set(statusOf('a', { state: { running: {} } }), statusOf('b', { state: { terminated: { exitCode: 0 } } }));
    const { text } = await rig.ask('/metrics');
    assert.match(text, /^kubelet_running_pods 1$/m);
    assert.match(text, /^kubelet_running_containers\{container_state="running"\} 1$/m);
    assert.match(text, /^kubelet_running_containers\{container_state="exited"\} 1$/m);
    assert.match(text, /^prober_probe_total 7$/m);
  });

  it('lab/N42: sums up what containers use', async () => {
    const usages = async () => [
      { pod, container: 'a', cpuMs: 1500, rssBytes: 1000 },
      { pod, container: 'b', cpuMs: 500, rssBytes: 24 },
    ];
    await using rig = await routesRig({ usages });
    const summary = JSON.parse((await rig.ask('/stats/summary')).text);
    assert.equal(summary.node.nodeName, 'w-1');
    assert.equal(summary.node.cpu.usageCoreNanoSeconds, 2e9);
    assert.equal(summary.pods[0].podRef.uid, 'u-1');
    assert.equal(summary.pods[0].memory.rssBytes, 1024);
    assert.deepEqual(
      summary.pods[0].containers.map(({ name, cpu }: { name: string; cpu: object }) => [name, cpu]),
      [
        ['a', { time: '2030-01-01T00:00:00.000Z', usageCoreNanoSeconds: 1.5e9 }],
        ['b', { time: '2030-01-01T00:00:00.000Z', usageCoreNanoSeconds: 5e8 }],
      ],
    );
  });

  for (const what of ['exec', 'attach', 'portForward']) {
    it(`lab/N42: says that ${what} is not there yet`, async () => {
      await using rig = await routesRig();
      const { status, text } = await rig.ask(`/${what}/shop/web/a`, 'POST');
      assert.equal(status, 501);
      assert.equal(text, `${what} is not available: nodes of the lab do not open connections into containers yet`);
    });
  }
});
