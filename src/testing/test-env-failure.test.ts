import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Box } from '../../test/torture/crash-points/box-kind.ts';
import { boxController, childOf } from '../../test/torture/crash-points/controllers.ts';
import { ConfigMap, Namespace, Secret, Service } from '../api/generated/core-v1.ts';
import { SILENT_LOG } from '../base/log.ts';
import { isForbidden } from '../kube/client/api-error.ts';
import { controllerFor } from '../kube/controller/controller.ts';
import { DONE } from '../kube/controller/reconcile.ts';
import { needs } from '../kube/rbac/need.ts';
import { expectNoWrites, RequestRecorder } from './recorder.ts';
import { TestEnv, type TestEnvOptions } from './test-env.ts';

const box = {
  apiVersion: 'crash.example.com/v1',
  kind: 'Box',
  metadata: { name: 'a', namespace: 'default' },
  spec: { size: 1 },
} as const;

/** Writes something else each time, and is called because of it. */
function restless() {
  let number = 0;
  return boxController({
    reconcile: async (object, { client }) => {
      await client.apply(ConfigMap, { ...childOf(object), data: { number: String(++number) } }, { force: true });
      return DONE;
    },
  });
}

/** May only read ConfigMaps, or what is declared. */
const applying = (...verbs: Parameters<typeof needs>[1]) =>
  controllerFor(Box)
    .owns(ConfigMap)
    .needs(needs(ConfigMap, verbs))
    .reconcile({
      reconcile: async (object, { client }) => {
        await client.apply(ConfigMap, childOf(object), { force: true });
        return DONE;
      },
    });

const start = (options: TestEnvOptions = {}) => TestEnv.start({ kinds: [Box], log: SILENT_LOG, ...options });

describe('a test environment whose controllers fail', () => {
  const RESTLESS =
    /not at rest after \d+ writes: PATCH \S+\/configmaps\/a\S* \(×\d{3,}\).*; a reconcile that writes each time/;

  it('runtime/T2: settle names the writes of a controller that never comes to rest', async () => {
    await using env = await start();
    await env.startManager({ add: [restless()] });
    await env.client.create(Box, box);
    await assert.rejects(env.settle(), RESTLESS);
  });

  it('runtime/T2: so do advance and throughTime, after as many repetitions as are wanted', async () => {
    await using env = await start({ mostRepeats: 20 });
    await env.startManager({ add: [restless()] });
    await env.client.create(Box, box);
    await assert.rejects(env.advance(1000), /configmaps\/a\S* \(×\d+\)/);
    await assert.rejects(env.throughTime(env.clock.sleep(1000)), /configmaps\/a\S* \(×\d+\)/);
  });

  it('runtime/T2: counts anew when the recorder was cleared, and many different writes are no circle', async () => {
    await using env = await start({ mostRepeats: 20 });
    await env.startManager({ add: [applying('create', 'patch')] });
    for (let number = 0; number < 30; number++)
      await env.client.create(Box, { ...box, metadata: { ...box.metadata, name: `a${number}` } });
    await env.settle();
    const settled = env.settle();
    env.recorder.clear();
    await settled;
    assert.equal((await env.client.list(ConfigMap, { labels: 'crash.example.com/box' })).items.length, 30);
  });

  it('runtime/T4: expectNoWrites groups equal writes, the most frequent first, and not more than can be read', async () => {
    const recorder = new RequestRecorder();
    const send = recorder.around(async () => ({
      status: 200,
      headers: {},
      stream: async function* () {},
      bytes: async () => new Uint8Array(),
    }));
    const targets = [
      '/b',
      ...Array.from({ length: 6 }, () => '/a'),
      ...Array.from({ length: 30 }, (_, at) => `/${at}`),
    ];
    const act = async () => {
      for (const target of targets) await send({ method: 'PATCH', target });
    };
    await assert.rejects(
      expectNoWrites(recorder, act),
      /there were 37: PATCH \/a \(×6\), PATCH \/b, PATCH \/0, .*PATCH \/17, and 12 others$/,
    );
  });

  it('reliability/P62: a forbidden request fails the next settle, and only that', async () => {
    await using env = await start();
    await env.startManager({ add: [applying('delete')] });
    await env.client.create(Box, box);
    await assert.rejects(
      env.settle(),
      /test-manager may not patch configmaps default\/a: declare it with \.needs\(needs\(Kind, \['patch'\]\)\)/,
    );
    await env.advance(60_000);
  });

  it('reliability/P62: an apply that may patch and not create misses the right to create', async () => {
    await using env = await start();
    await env.startManager({ add: [applying('patch')] });
    await env.client.create(Box, box);
    await assert.rejects(env.settle(), /may not create configmaps default\/a: .*\['create'\]/);
  });

  it('reliability/P62: a forbidden request that nobody saw fails the end', async () => {
    const end = async (options: TestEnvOptions) => {
      await using env = await start(options);
      const { client } = await env.startManager({ add: [applying('create', 'patch')] });
      await client.live.list(Secret).catch(() => {});
      await client.applyStatus(Service, { metadata: box.metadata, status: {} }, { force: true }).catch(() => {});
    };
    await assert.rejects(
      end({}),
      /may not list secrets: .*; .* may not patch services\/status default\/a: .*\{ subresource: 'status' \}/,
    );
    await end({ allowsForbidden: true });
  });

  it('reliability/P62: an injected refusal, one of somebody else, and one of what is declared do not fail', async () => {
    await using env = await start();
    const { client } = await env.startManager({ add: [applying('create', 'patch')] });
    env.faults.arm({ matches: () => true, fault: { kind: 'refuse', status: 403, reason: 'Forbidden' }, times: 1 });
    await client.live.list(Secret).catch(() => {});
    const target = '/api/v1/secrets';
    assert.equal((await env.transportFor('somebody')({ method: 'GET', target })).status, 403);
    const metadata = { name: 'ending', finalizers: ['example.com/stays'] };
    await env.client.create(Namespace, { metadata });
    await env.client.delete(Namespace, metadata);
    await assert.rejects(client.create(ConfigMap, { metadata: { name: 'a', namespace: 'ending' } }), isForbidden);
    await env.settle();
  });

  it('runtime/T1: a manager whose kind is not installed is told so', async () => {
    await using env = await start({ kinds: [] });
    await assert.rejects(
      env.startManager({ add: [applying('create', 'patch')] }),
      /the server does not serve boxes\.crash\.example\.com: give the kind to TestEnv\.start in kinds/,
    );
  });

  it('runtime/T1: errors of managers go to stderr unless told otherwise', async (t) => {
    const write = t.mock.method(process.stderr, 'write', () => true);
    await using env = await TestEnv.start({ kinds: [Box] });
    await env.startManager({ add: [boxController({ reconcile: () => Promise.reject(new TypeError('a bug')) })] });
    await env.client.create(Box, box);
    await env.settle();
    const lines = write.mock.calls.map(({ arguments: [line] }) => String(line));
    write.mock.restore();
    assert.match(lines.join(''), /"level":"error".*a bug/);
  });
});
