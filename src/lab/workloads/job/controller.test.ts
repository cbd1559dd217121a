import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventTexts } from '../../../../test/support/event-texts.ts';
import { INDEX, TRACKING, WORK, work } from '../../../../test/support/lab-jobs.ts';
import { addNodes, type Fate, PretendNodes } from '../../../../test/support/pretend-nodes.ts';
import { Job, type JobStatus } from '../../../api/generated/batch-v1.ts';
import { Pod } from '../../../api/generated/core-v1.ts';
import { keyOf } from '../../../api/object.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { TestEnv } from '../../../testing/test-env.ts';
import { jobController } from './controller.ts';
import { finishedJobController } from './finished-jobs.ts';
import { orphanedPodController } from './orphaned-pods.ts';

const START = '2026-01-01T00:00:00Z';

async function started(): Promise<TestEnv> {
  const env = await TestEnv.start();
  await env.startManager({ add: [jobController(), orphanedPodController(), finishedJobController()] });
  await addNodes(env.client, 'n1');
  return env;
}

const podsOf = async ({ client }: TestEnv): Promise<readonly Pod[]> => (await client.live.list(Pod)).items;
const activeOf = async (env: TestEnv): Promise<readonly Pod[]> =>
  (await podsOf(env)).filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending');
const statusOf = async ({ client }: TestEnv): Promise<JobStatus> =>
  (await client.live.get(Job, WORK)).status ?? {};
const conditionsOf = ({ conditions = [] }: JobStatus): readonly string[] =>
  conditions.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`);
const change = (env: TestEnv, spec: Record<string, number | boolean>) =>
  env.client.patch(Job, WORK, { type: 'merge', body: { spec } });

/** Decides by name, once and for all. */
const oneAfterTheOther = (...fates: readonly Fate[]): ((pod: Pod) => Fate) => {
  const left = [...fates];
  const decided = new Map<string, Fate>();
  return ({ metadata: { name } }) => {
    const fate = decided.get(name) ?? left.shift() ?? 'ready';
    decided.set(name, fate);
    return fate;
  };
};

const BACKOFF = 'BackoffLimitExceeded: Job has reached the specified backoff limit';
const DEADLINE = 'DeadlineExceeded: Job was active longer than specified deadline';
const REACHED = 'CompletionsReached: Reached expected number of succeeded pods';

describe('a job that succeeds', () => {
  it('lab/W29: is complete when its pod is, and says so twice', async () => {
    await using env = await started();
    const nodes = new PretendNodes({ fate: () => 'succeeded' });
    await env.client.create(Job, work());
    await env.settle();
    assert.deepEqual(await statusOf(env), {
      active: 1,
      ready: 0,
      terminating: 0,
      startTime: START,
      uncountedTerminatedPods: {},
    });
    await env.advance(5_000);
    await nodes.settle(env);
    const status = await statusOf(env);
    const { conditions, ...rest } = status;
    assert.deepEqual(rest, {
      completionTime: '2026-01-01T00:00:05Z',
      ready: 0,
      startTime: START,
      succeeded: 1,
      terminating: 0,
      uncountedTerminatedPods: {},
    });
    assert.deepEqual(conditionsOf(status), [`SuccessCriteriaMet=True ${REACHED}`, `Complete=True ${REACHED}`]);
    assert.equal(conditions?.[1]?.lastProbeTime, '2026-01-01T00:00:05Z');
    const events = await eventTexts(env.client, 'Job');
    assert.match(
      events.join('\n'),
      /^Normal Completed Job completed\nNormal SuccessfulCreate Created pod: work-\w{5}$/,
    );
    await expectNoWrites(env.recorder, () => env.advance(3_600_000));
  });

  it('lab/W26: runs no more pods at once than it may, and as many as it needs', async () => {
    await using env = await started();
    const fates = oneAfterTheOther('ready', 'ready', 'succeeded', 'succeeded', 'succeeded');
    const nodes = new PretendNodes({ fate: fates });
    await env.client.create(Job, work({ parallelism: 2, completions: 4 }));
    await nodes.settle(env);
    const { active, ready, succeeded } = await statusOf(env);
    assert.deepEqual([active, ready, succeeded], [2, 2, undefined]);
    await change(env, { parallelism: 3 });
    await nodes.settle(env);
    const later = await statusOf(env);
    assert.deepEqual([later.active, later.succeeded], [1 + 1, 2]);
    assert.deepEqual(conditionsOf(later), []);
  });

  it('lab/W26: deletes pods without counting them when fewer may run', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await env.client.create(Job, work({ parallelism: 3, completions: 5 }));
    await nodes.settle(env);
    await change(env, { parallelism: 1 });
    await nodes.settle(env);
    const { active, failed, terminating, ready } = await statusOf(env);
    assert.deepEqual([active, failed, terminating, ready], [1, undefined, 0, 1]);
  });

  it('lab/W26: without completions is complete when one has succeeded and the others have ended', async () => {
    await using env = await started();
    let isLate = false;
    const fates = oneAfterTheOther('succeeded', 'ready');
    const nodes = new PretendNodes({
      fate: (pod) => (isLate && fates(pod) === 'ready' ? 'succeeded' : fates(pod)),
    });
    await env.client.create(Job, work({ parallelism: 2 }));
    await nodes.settle(env);
    const { active, succeeded } = await statusOf(env);
    assert.deepEqual([active, succeeded], [1, 1]);
    assert.deepEqual(conditionsOf(await statusOf(env)), []);
    isLate = true;
    await nodes.settle(env);
    const done = await statusOf(env);
    assert.deepEqual([done.succeeded, conditionsOf(done).length], [2, 2]);
  });

  it('lab/W26: Indexed runs one pod for each index', async () => {
    await using env = await started();
    const fates = oneAfterTheOther('succeeded', 'failed', 'succeeded', 'succeeded');
    const nodes = new PretendNodes({ fate: fates });
    await env.client.create(Job, work({ parallelism: 3, completions: 3, completionMode: 'Indexed' }));
    await nodes.settle(env);
    // The failure is no younger than the successes beside it: nobody waits.
    const { completedIndexes, succeeded, failed } = await statusOf(env);
    assert.deepEqual([completedIndexes, succeeded, failed], ['0-2', 3, 1]);
    const pods = await podsOf(env);
    const indexes = pods.map(({ metadata, spec }) => `${metadata.labels?.[INDEX]} ${spec.hostname}`);
    assert.deepEqual(indexes.toSorted(), ['0 work-0', '1 work-1', '1 work-1', '2 work-2']);
  });

  it('lab/W26: is deleted some time after it ended, if so asked', async () => {
    await using env = await started();
    const nodes = new PretendNodes({ fate: () => 'succeeded' });
    await env.client.create(Job, work({ ttlSecondsAfterFinished: 60 }));
    await nodes.settle(env);
    await env.advance(59_000);
    assert.equal(conditionsOf(await statusOf(env)).length, 2);
    await env.advance(2_000);
    await nodes.settle(env);
    assert.equal(await env.client.live.find(Job, WORK), undefined);
    assert.deepEqual(await podsOf(env), []);
  });

  it('lab/W26: lives longer when it is told to before its time', async () => {
    await using env = await started();
    const nodes = new PretendNodes({ fate: () => 'succeeded' });
    await env.client.create(Job, work({ ttlSecondsAfterFinished: 60 }));
    await nodes.settle(env);
    await env.advance(30_000);
    await change(env, { ttlSecondsAfterFinished: 120 });
    await env.advance(60_000);
    assert.ok(await env.client.live.find(Job, WORK));
    await env.advance(31_000);
    await nodes.settle(env);
    assert.equal(await env.client.live.find(Job, WORK), undefined);
  });
});

describe('a job whose pods fail', () => {
  it('lab/W28: makes them again later and later, and gives up at its limit', async () => {
    await using env = await started();
    const nodes = new PretendNodes({ fate: () => 'failed' });
    const seen = new Map<string, number>();
    await env.client.create(Job, work({ backoffLimit: 3 }));
    for (let second = 0; second <= 75; second += 5) {
      await nodes.settle(env);
      for (const { metadata } of await podsOf(env)) {
        if (!seen.has(metadata.name)) seen.set(metadata.name, second);
      }
      await env.advance(5_000);
    }
    assert.deepEqual([...seen.values()], [0, 10, 30, 70]);
    const status = await statusOf(env);
    assert.deepEqual([status.failed, status.active, status.completionTime], [4, undefined, undefined]);
    assert.deepEqual(conditionsOf(status), [`FailureTarget=True ${BACKOFF}`, `Failed=True ${BACKOFF}`]);
    const events = await eventTexts(env.client, 'Job');
    assert.ok(events.includes(`Warning ${BACKOFF.replace(':', '')}`), events.join('\n'));
    await expectNoWrites(env.recorder, () => env.advance(3_600_000));
  });

  it('lab/W28: begins again with the shortest delay after a success', async () => {
    await using env = await started();
    const nodes = new PretendNodes({
      fate: oneAfterTheOther('failed', 'failed', 'succeeded', 'failed', 'succeeded'),
    });
    await env.client.create(Job, work({ completions: 2 }));
    for (let second = 0; second < 40; second += 5) {
      await nodes.settle(env);
      await env.advance(5_000);
    }
    // 10 s and 20 s after the first two, none after the success, 10 s after the next failure.
    await nodes.settle(env);
    const { succeeded, failed } = await statusOf(env);
    assert.deepEqual([succeeded, failed], [2, 3]);
  });

  it('lab/W28: keeps the delay over a restart of the controller', async () => {
    await using env = await TestEnv.start();
    await addNodes(env.client, 'n1');
    const first = await env.startManager({ add: [jobController()] });
    const nodes = new PretendNodes({ fate: () => 'failed' });
    await env.client.create(Job, work());
    await nodes.settle(env);
    await env.stopManager(first);
    await env.startManager({ add: [jobController()] });
    await env.advance(8_000);
    assert.equal((await podsOf(env)).length, 1);
    await env.advance(2_000);
    assert.equal((await podsOf(env)).length, 2);
  });

  it('lab/W28: counts a pod that somebody deletes, and replaces it after the delay', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await env.client.create(Job, work());
    await nodes.settle(env);
    const [pod] = await podsOf(env);
    assert.ok(pod);
    await env.client.delete(Pod, keyOf(pod));
    await nodes.settle(env);
    const { failed, active } = await statusOf(env);
    assert.deepEqual([failed, active], [1, undefined]);
    await env.advance(10_000);
    await nodes.settle(env);
    assert.equal((await statusOf(env)).active, 1);
  });

  it('lab/W28: counts restarts of containers where pods are not made again', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await env.client.create(Job, work({ backoffLimit: 2 }, { restartPolicy: 'OnFailure' }));
    await nodes.settle(env);
    for (const restartCount of [1, 2]) {
      const [pod] = await activeOf(env);
      assert.ok(pod, `after ${restartCount - 1} restarts`);
      const containerStatuses = [{ name: 'work', image: '', imageID: '', ready: true, restartCount }];
      const body = { status: { containerStatuses } };
      await env.client.patch(Pod, keyOf(pod), { type: 'merge', body }, { subresource: 'status' });
      await nodes.settle(env);
    }
    const status = await statusOf(env);
    assert.deepEqual(conditionsOf(status), [`FailureTarget=True ${BACKOFF}`, `Failed=True ${BACKOFF}`]);
    assert.deepEqual(await podsOf(env), []);
  });

  it('lab/W29: has failed only when its last pod is gone', async () => {
    await using env = await started();
    let isStopped = false;
    const nodes = new PretendNodes({ isStopped: () => isStopped });
    await env.client.create(Job, work({ activeDeadlineSeconds: 30, parallelism: 2, completions: 2 }));
    await nodes.settle(env);
    await env.advance(29_000);
    assert.deepEqual(conditionsOf(await statusOf(env)), []);
    await env.advance(1_000);
    await nodes.settle(env);
    const stopping = await statusOf(env);
    assert.deepEqual(conditionsOf(stopping), [`FailureTarget=True ${DEADLINE}`]);
    assert.deepEqual([stopping.active, stopping.terminating, stopping.failed], [undefined, 2, 2]);
    isStopped = true;
    await nodes.settle(env);
    const status = await statusOf(env);
    assert.deepEqual(conditionsOf(status), [`FailureTarget=True ${DEADLINE}`, `Failed=True ${DEADLINE}`]);
    assert.deepEqual([status.terminating, status.failed], [0, 2]);
  });
});

describe('a job that is suspended', () => {
  it('lab/W26: has no pods, counts none as failed, and goes on when it is resumed', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await env.client.create(Job, work({ suspend: true }));
    await nodes.settle(env);
    assert.deepEqual(conditionsOf(await statusOf(env)), ['Suspended=True JobSuspended: Job suspended']);
    assert.deepEqual([await podsOf(env), (await statusOf(env)).startTime], [[], undefined]);
    await env.advance(60_000);
    await change(env, { suspend: false });
    await nodes.settle(env);
    const resumed = await statusOf(env);
    assert.deepEqual(conditionsOf(resumed), ['Suspended=False JobResumed: Job resumed']);
    assert.deepEqual([resumed.active, resumed.startTime], [1, '2026-01-01T00:01:00Z']);
    await change(env, { suspend: true });
    await nodes.settle(env);
    const again = await statusOf(env);
    assert.deepEqual(
      [again.active, again.failed, again.startTime, again.terminating],
      [undefined, undefined, undefined, 0],
    );
    assert.deepEqual(await podsOf(env), []);
    const events = await eventTexts(env.client, 'Job');
    assert.ok(events.includes('Normal Suspended Job suspended'));
    assert.ok(events.includes('Normal Resumed Job resumed'));
  });

  it('lab/W26: does not use up its deadline', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await env.client.create(Job, work({ activeDeadlineSeconds: 30 }));
    await nodes.settle(env);
    await env.advance(20_000);
    await change(env, { suspend: true });
    await nodes.settle(env);
    await env.advance(100_000);
    await change(env, { suspend: false });
    await nodes.settle(env);
    await env.advance(29_000);
    assert.equal((await statusOf(env)).active, 1);
    await env.advance(1_000);
    await nodes.settle(env);
    assert.equal(conditionsOf(await statusOf(env)).at(-1), `Failed=True ${DEADLINE}`);
  });
});

describe('what a job says about its pods', () => {
  it('lab/W27: labels old and new, and a finalizer', async () => {
    await using env = await started();
    const { metadata } = await env.client.create(Job, work());
    await env.settle();
    const [pod] = await podsOf(env);
    assert.deepEqual(pod?.metadata.labels, {
      'batch.kubernetes.io/controller-uid': metadata.uid,
      'batch.kubernetes.io/job-name': 'work',
      'controller-uid': metadata.uid,
      'job-name': 'work',
    });
    assert.deepEqual(pod?.metadata.finalizers, [TRACKING]);
  });

  it('lab/W27: takes the finalizer only after the status knows the pod', async () => {
    await using env = await started();
    const nodes = new PretendNodes({ fate: () => 'succeeded' });
    const { uid = '' } = await env.client.create(Job, work({ completions: 2 })).then(({ metadata }) => metadata);
    await env.settle();
    env.recorder.clear();
    const [pod] = await podsOf(env);
    await nodes.step(env);
    await nodes.settle(env);
    const { uid: podUid = '', name = '' } = pod?.metadata ?? {};
    const writes = env.recorder.writes.filter(({ target }) => !target.includes('/events'));
    const listed = writes.findIndex(({ target, body }) => target.includes('/status') && body.includes(podUid));
    const released = writes.findIndex(
      ({ method, target }) => method === 'PATCH' && target.includes(`/pods/${name}?`),
    );
    assert.ok(listed >= 0 && listed < released, `${uid}: listed at ${listed}, released at ${released}`);
    const after = writes.findIndex(({ body }, at) => at > released && body.includes('"succeeded":1'));
    assert.ok(after > released, 'counted after the finalizer is gone');
    assert.equal(
      (await podsOf(env)).every((one) => one.metadata.finalizers === undefined),
      true,
    );
  });
});
