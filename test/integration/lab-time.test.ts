import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Job } from '../../src/api/generated/batch-v1.ts';
import { Lease } from '../../src/api/generated/coordination-v1.ts';
import { ConfigMap, Node, Pod } from '../../src/api/generated/core-v1.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { createManager } from '../../src/kube/manager/create-manager.ts';
import { type Lab, startLab } from '../../src/lab/index.ts';
import { CHILD_RIGHTS, CHILDREN, childPod, writer } from '../support/lab-children.ts';

const real = new SystemClock();
const inDefault = (name: string) => ({ namespace: 'default', name });
const podOf = (lab: Lab, name: string) => lab.cluster().client.find(Pod, inDefault(name));
const containerOf = async (lab: Lab, name: string) => (await podOf(lab, name))?.status?.containerStatuses?.[0];
const isReady = async (lab: Lab, name: string) => (await containerOf(lab, name))?.ready === true;

describe('children and the time of their lab', () => {
  it('lab/T7: one of ours follows a lab that is faster', async () => {
    await using lab = await startLab({ nodes: 1, images: CHILDREN, clock: { scaled: 20 }, maxGraceMs: 1000 });
    const cluster = lab.cluster();
    await cluster.apply(CHILD_RIGHTS);
    await cluster.apply(childPod('child', writer()));
    const ticks = async () =>
      (await cluster.client.list(ConfigMap, { namespace: 'default' })).items.filter(({ data }) => data?.['pid']);
    await lab.until(async () => (await ticks()).length >= 6, { within: '5m' });
    for (const { data, metadata } of await ticks()) {
      const [child, server] = [Date.parse(data?.['at'] ?? ''), Date.parse(metadata.creationTimestamp ?? '')];
      // What the server notes has no fractions, and a second of a slow machine is twenty here.
      assert.ok(Math.abs(child - server) <= 21_000, `${data?.['at']} in the child, ${metadata.creationTimestamp}`);
    }
    const times = (await ticks()).map(({ data }) => Date.parse(data?.['at'] ?? '')).toSorted((a, b) => a - b);
    const passedMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
    assert.ok(passedMs >= 49_000, `${passedMs} ms of lab time for five waits of 10 s`);
  });

  it('lab/T7: foreign ones are refused before anything starts, unless time is real', async () => {
    const images = { 'acme/go': { argv: ['/bin/true'], foreign: true } };
    await assert.rejects(startLab({ images, clock: 'auto' }), { reason: 'ForeignImageNeedsRealTime' });
    await assert.rejects(startLab({ images, clock: { scaled: 2 } }), { reason: 'ForeignImageNeedsRealTime' });
    await using lab = await startLab({ images, clock: { scaled: 1 } });
    assert.equal(lab.clock.mode, 'real');
  });

  it('lab/T10: automatic time elects nobody outside of the process, and says why', async () => {
    await using lab = await startLab({ nodes: 1, images: CHILDREN, clock: 'auto', maxGraceMs: 1000 });
    const cluster = lab.cluster();
    await cluster.apply(CHILD_RIGHTS);
    await cluster.apply(childPod('child', writer(['--leader-elect', '--leader-election-namespace=default'])));
    const refusal = /leases\.coordination\.k8s\.io.* is forbidden: the time of this lab jumps \(clock auto\)/;
    await lab.until(async () => refusal.test(await cluster.logs(inDefault('child')).catch(() => '')), {
      within: '5m',
    });
    assert.deepEqual((await cluster.client.list(Lease, { namespace: 'default' })).items, []);
  });

  it('lab/T10: real time elects a child', async () => {
    await using lab = await startLab({ nodes: 1, images: CHILDREN, maxGraceMs: 1000 });
    const cluster = lab.cluster();
    await cluster.apply(CHILD_RIGHTS);
    await cluster.apply(childPod('child', writer(['--leader-elect', '--leader-election-namespace=default'])));
    await lab.until(async () => /tick 1/.test(await cluster.logs(inDefault('child')).catch(() => '')), {
      within: '1m',
    });
    assert.equal((await cluster.client.list(Lease, { namespace: 'default' })).items.length, 1);
  });

  it('lab/T10: automatic time elects one of those inside of the process, and another when it goes', async () => {
    await using lab = await startLab({ clock: 'auto' });
    const cluster = lab.cluster();
    const candidate = (hostname: string) => {
      const stop = new AbortController();
      const manager = createManager({
        name: 'demo',
        hostname,
        kube: cluster.as('demo', ['system:masters']),
        clock: lab.clock,
        leaderElection: { id: 'demo', namespace: 'default' },
        log: SILENT_LOG,
        metrics: { bind: '0' },
        selfCheck: false,
      });
      const ended = manager.start(stop.signal);
      return { manager, stop: () => stop.abort(), ended };
    };
    const [first, second] = [candidate('a'), candidate('b')];
    await lab.clock.through(first.manager.whenLeading(), 60_000);
    await lab.clock.advance('10m');
    assert.deepEqual([first.manager.isLeader, second.manager.isLeader], [true, false]);
    first.stop();
    await lab.clock.through(first.ended, 60_000);
    await lab.clock.through(second.manager.whenLeading(), 60_000);
    second.stop();
    await lab.clock.through(second.ended, 60_000);
  });
});

describe('which time counts', () => {
  it('lab/T6: a probe may take as much real time as it says, however fast the lab is', async () => {
    await using lab = await startLab({ nodes: 1, images: CHILDREN, clock: { scaled: 100 }, maxGraceMs: 500 });
    const probe = (command: string) => ({
      readinessProbe: { exec: { command: ['/bin/sh', '-c', command] }, timeoutSeconds: 1, periodSeconds: 5 },
    });
    const container = { image: 'test/sh', args: ['exec sleep 1000'] };
    await lab.cluster().apply(childPod('slow', { ...container, ...probe('sleep 0.3') }));
    await lab.cluster().apply(childPod('hanging', { ...container, ...probe('sleep 1000') }));
    // A second of the lab is 10 ms: nobody would ever be ready.
    await lab.until(() => isReady(lab, 'slow'), { within: '10m' });
    await lab.clock.advance('3m');
    assert.equal(await isReady(lab, 'hanging'), false);
  });

  it('lab/T6: a container gets real time to end, at most so much of it', async () => {
    await using lab = await startLab({ nodes: 1, images: CHILDREN, clock: 'auto', maxGraceMs: 700 });
    const stubborn = { image: 'test/sh', args: ['trap "" TERM; echo up; while :; do sleep 0.1; done'] };
    await lab.cluster().apply(childPod('stubborn', stubborn, { terminationGracePeriodSeconds: 3600 }));
    await lab.until(
      async () =>
        (await lab
          .cluster()
          .logs(inDefault('stubborn'))
          .catch(() => '')) !== '',
      {
        within: '1m',
      },
    );
    const [realMs, labMs] = [real.monotonicMs(), lab.clock.monotonicMs()];
    await lab.cluster().client.delete(Pod, inDefault('stubborn'));
    await lab.until(async () => (await podOf(lab, 'stubborn')) === undefined, { within: '2h' });
    const [realPassed, labPassed] = [real.monotonicMs() - realMs, lab.clock.monotonicMs() - labMs];
    assert.ok(realPassed >= 690, `killed after ${realPassed} ms`);
    assert.ok(labPassed < 600_000, `${labPassed} ms of lab time passed`);
  });

  it('lab/T6: back-off is lab time', async () => {
    await using lab = await startLab({ nodes: 1, images: CHILDREN, clock: 'auto' });
    await lab.cluster().apply(childPod('crashing', { image: 'test/sh', args: ['exit 1'] }));
    const [realMs, labMs] = [real.monotonicMs(), lab.clock.monotonicMs()];
    await lab.until(async () => (await containerOf(lab, 'crashing'))?.restartCount === 4, { within: '10m' });
    const [realPassed, labPassed] = [real.monotonicMs() - realMs, lab.clock.monotonicMs() - labMs];
    // 10, 20 and 40 s after the first restart, which is made after 10 s.
    assert.ok(labPassed >= 70_000, `${labPassed} ms of lab time`);
    assert.ok(realPassed < labPassed / 2, `${realPassed} ms of real time for ${labPassed}`);
  });

  it('lab/T6: eviction and times to live are lab time', async () => {
    await using lab = await startLab({ nodes: 2, clock: 'auto' });
    const cluster = lab.cluster();
    await cluster.client.create(Job, {
      metadata: inDefault('brief'),
      spec: {
        ttlSecondsAfterFinished: 600,
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x' }] } },
      },
    });
    await cluster.apply(childPod('lost', { image: 'nginx' }, { nodeName: 'w-1' }));
    await lab.until(() => isReady(lab, 'lost'), { within: '1m' });
    const realMs = real.monotonicMs();
    await cluster.node('w-1').stopHeartbeat();
    const silentAtMs = lab.clock.monotonicMs();
    const isUnknown = async () =>
      (await cluster.client.get(Node, { name: 'w-1' })).status?.conditions?.some(
        ({ type, status }) => type === 'Ready' && status === 'Unknown',
      ) === true;
    await lab.until(isUnknown, { within: '2m' });
    assert.ok(lab.clock.monotonicMs() - silentAtMs >= 30_000);
    const isLeaving = async () => (await podOf(lab, 'lost'))?.metadata.deletionTimestamp !== undefined;
    await lab.until(isLeaving, { within: '10m' });
    assert.ok(lab.clock.monotonicMs() - silentAtMs >= 330_000);
    const isGone = async () => (await cluster.client.find(Job, inDefault('brief'))) === undefined;
    await lab.until(isGone, { within: '30m' });
    assert.ok(lab.clock.monotonicMs() >= 600_000);
    assert.ok(real.monotonicMs() - realMs < lab.clock.monotonicMs() / 2);
  });
});
