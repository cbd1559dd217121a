import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventTexts } from '../../../../test/support/event-texts.ts';
import { TRACKING, WORK, work } from '../../../../test/support/lab-jobs.ts';
import { addNodes, PretendNodes } from '../../../../test/support/pretend-nodes.ts';
import { Job } from '../../../api/generated/batch-v1.ts';
import { Pod } from '../../../api/generated/core-v1.ts';
import { keyOf } from '../../../api/object.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import { TestEnv, type TestEnvOptions } from '../../../testing/test-env.ts';
import { jobController } from './controller.ts';
import { finishedJobController } from './finished-jobs.ts';
import { orphanedPodController } from './orphaned-pods.ts';

async function started(options: TestEnvOptions = {}): Promise<TestEnv> {
  const env = await TestEnv.start(options);
  await env.startManager({ add: [jobController(), orphanedPodController()] });
  await addNodes(env.client, 'n1');
  return env;
}

const podsOf = async ({ client }: TestEnv): Promise<readonly Pod[]> => (await client.live.list(Pod)).items;

async function onlyPod(env: TestEnv): Promise<Pod> {
  const [pod, ...others] = await podsOf(env);
  assert.ok(pod);
  assert.equal(others.length, 0);
  return pod;
}

const manual = (app: string) => {
  const { metadata, spec } = work({ manualSelector: true, selector: { matchLabels: { app } } });
  return { metadata, spec: { ...spec, template: { ...spec.template, metadata: { labels: { app } } } } };
};

describe('the pods of a job', () => {
  for (const propagationPolicy of ['Background', 'Foreground'] as const) {
    it(`lab/W27: go with the job that is deleted in the ${propagationPolicy.toLowerCase()}`, async () => {
      await using env = await started();
      const nodes = new PretendNodes();
      await env.client.create(Job, work({ parallelism: 2, completions: 2 }));
      await nodes.settle(env);
      await env.client.delete(Job, WORK, { propagationPolicy });
      await nodes.settle(env);
      assert.deepEqual(await podsOf(env), []);
      assert.equal(await env.client.live.find(Job, WORK), undefined);
    });
  }

  it('lab/W27: lose the finalizer when the job leaves them behind', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await env.client.create(Job, work());
    await nodes.settle(env);
    await env.client.delete(Job, WORK, { propagationPolicy: 'Orphan' });
    await nodes.settle(env);
    const { finalizers, ownerReferences } = (await onlyPod(env)).metadata;
    assert.deepEqual([finalizers, ownerReferences], [undefined, undefined]);
  });

  it('lab/W27: keep the finalizer while somebody else manages the job, or owns them', async () => {
    await using env = await started();
    const job = await env.client.create(Job, work({ managedBy: 'example.com/other' }));
    await env.settle();
    assert.deepEqual([await podsOf(env), job.status ?? {}], [[], {}]);
    const owners = [
      { apiVersion: 'batch/v1', kind: 'Job', name: 'work', uid: job.metadata.uid ?? '', controller: true },
      { apiVersion: 'example.com/v1', kind: 'Job', name: 'x', uid: 'x', controller: true },
    ];
    for (const [at, owner] of owners.entries()) {
      const metadata = { name: `p${at}`, namespace: 'default', finalizers: [TRACKING], ownerReferences: [owner] };
      await env.client.create(Pod, { metadata, spec: { containers: [{ name: 'a', image: 'a' }] } });
    }
    await env.settle();
    const found = await podsOf(env);
    assert.ok(
      found.every((pod) => pod.metadata.finalizers?.includes(TRACKING)),
      'both keep it',
    );
  });

  it('lab/W27: lose the finalizer when they come after the end of the job', async () => {
    await using env = await started();
    const nodes = new PretendNodes({ fate: () => 'succeeded' });
    await env.client.create(Job, work());
    await nodes.settle(env);
    const { ownerReferences = [], labels = {} } = (await onlyPod(env)).metadata;
    const metadata = { name: 'late', namespace: 'default', finalizers: [TRACKING], ownerReferences, labels };
    await env.client.create(Pod, { metadata, spec: { containers: [{ name: 'a', image: 'a' }] } });
    await env.settle();
    const late = await env.client.live.get(Pod, { namespace: 'default', name: 'late' });
    assert.equal(late.metadata.finalizers, undefined);
  });

  it('lab/W27: are adopted with a finalizer, so that they are counted', async () => {
    await using env = await started();
    const nodes = new PretendNodes({ fate: () => 'succeeded' });
    const metadata = { name: 'orphan', namespace: 'default', labels: { app: 'a' } };
    await env.client.create(Pod, {
      metadata,
      spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] },
    });
    const job = await env.client.create(Job, manual('a'));
    await env.settle();
    const adopted = await onlyPod(env);
    assert.equal(adopted.metadata.ownerReferences?.[0]?.uid, job.metadata.uid);
    assert.deepEqual(adopted.metadata.finalizers, [TRACKING]);
    await nodes.settle(env);
    assert.equal((await env.client.live.get(Job, WORK)).status?.succeeded, 1);
  });

  it('lab/W27: are let go without finalizer when they are not selected any more', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await env.client.create(Job, manual('a'));
    await nodes.settle(env);
    const pod = await onlyPod(env);
    await env.client.patch(Pod, keyOf(pod), { type: 'merge', body: { metadata: { labels: { app: 'b' } } } });
    await nodes.settle(env);
    const { finalizers, ownerReferences } = (await env.client.live.get(Pod, keyOf(pod))).metadata;
    assert.deepEqual([finalizers, ownerReferences], [undefined, undefined]);
    assert.equal((await podsOf(env)).length, 2);
  });
});

describe('the Job controller and its server', () => {
  it('says that a pod cannot be created, and tries again', async () => {
    await using env = await started({ log: SILENT_LOG });
    env.faults.arm({
      matches: ({ method, target }) => method === 'POST' && target.includes('/pods?'),
      times: 1,
      fault: { kind: 'refuse', status: 403, reason: 'Forbidden' },
    });
    await env.client.create(Job, work());
    await env.advance(1_000);
    assert.equal((await podsOf(env)).length, 1);
    const texts = await eventTexts(env.client, 'Job');
    assert.ok(
      texts.some((text) => text.startsWith('Warning FailedCreate Error creating: ')),
      texts.join('\n'),
    );
  });

  it('lab/W29: is not over while a pod cannot be deleted', async () => {
    await using env = await started({ log: SILENT_LOG });
    const nodes = new PretendNodes();
    await env.client.create(Job, work({ activeDeadlineSeconds: 10 }));
    await nodes.settle(env);
    const stuck = env.faults.arm({
      matches: ({ method, target }) => method === 'DELETE' && target.includes('/pods/'),
      fault: { kind: 'refuse', status: 500, reason: 'InternalError' },
    });
    await env.advance(20_000);
    const { conditions = [], active } = (await env.client.live.get(Job, WORK)).status ?? {};
    assert.deepEqual([conditions, active], [[], 1]);
    stuck[Symbol.dispose]();
    await env.advance(60_000);
    await nodes.settle(env);
    const last = (await env.client.live.get(Job, WORK)).status?.conditions?.at(-1);
    assert.equal(last?.type, 'Failed');
    const texts = await eventTexts(env.client, 'Job');
    assert.ok(
      texts.some((text) => text.startsWith('Warning FailedDelete Error deleting: ')),
      texts.join('\n'),
    );
  });

  it('lab/W26: says what of a job it does not act on', async () => {
    await using env = await started();
    await env.client.create(
      Job,
      work({
        completionMode: 'Indexed',
        completions: 1,
        backoffLimitPerIndex: 1,
        successPolicy: { rules: [{ succeededCount: 1 }] },
      }),
    );
    await env.settle();
    const texts = await eventTexts(env.client, 'Job');
    const text =
      'The lab does not act on spec.successPolicy, spec.backoffLimitPerIndex: the job runs as if that were not set';
    assert.ok(texts.includes(`Warning NotSimulated ${text}`), texts.join('\n'));
  });

  it('leaves the annotations of others alone', async () => {
    await using env = await started();
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    await env.client.create(Job, { ...work(), metadata: { ...WORK, annotations } });
    await env.settle();
    const { metadata, status } = await env.client.live.get(Job, WORK);
    assert.equal(status?.active, 1);
    assert.equal(metadata.annotations?.['kubectl.kubernetes.io/last-applied-configuration'], '{}');
  });

  it('uses exactly the rights that its controllers declare', async () => {
    await using env = await TestEnv.start();
    const nodes = new PretendNodes({ fate: () => 'succeeded' });
    await addNodes(env.client, 'n1');
    const parts = [jobController, orphanedPodController, finishedJobController];
    for (const [at, part] of parts.entries()) await env.startManager({ add: [part()], name: `part-${at}` });
    await env.client.create(Job, work({ ttlSecondsAfterFinished: 5 }));
    await nodes.settle(env);
    await env.advance(6_000);
    const running = new PretendNodes();
    await env.client.create(Job, work());
    await running.settle(env);
    await env.client.patch(Job, WORK, { type: 'merge', body: { spec: { suspend: true } } });
    await running.settle(env);
    await env.client.patch(Job, WORK, { type: 'merge', body: { spec: { suspend: false } } });
    await running.settle(env);
    await env.client.delete(Job, WORK, { propagationPolicy: 'Background' });
    await running.settle(env);
    expectExactRbac(env, { manager: 'part-0' });
    const events = ['create events.k8s.io/events', 'patch events.k8s.io/events'];
    for (const manager of ['part-1', 'part-2']) expectExactRbac(env, { manager, unused: events });
  });

  it('lab/A5: needs no more than Kubernetes gives to its controllers of these names', async () => {
    await using env = await TestEnv.start();
    const nodes = new PretendNodes({ fate: () => 'succeeded' });
    const as = (name: string) => {
      const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'];
      const bare = env.server.client(`system:serviceaccount:kube-system:${name}`, groups);
      return { wrap: () => env.activity.around(bare), selfCheck: false, name };
    };
    await env.startManager({ add: [jobController(), orphanedPodController()], ...as('job-controller') });
    await env.startManager({ add: [finishedJobController()], ...as('ttl-after-finished-controller') });
    await addNodes(env.client, 'n1');
    await env.client.create(Job, work({ ttlSecondsAfterFinished: 60 }));
    await nodes.settle(env);
    assert.equal((await env.client.live.get(Job, WORK)).status?.conditions?.at(-1)?.type, 'Complete');
    await env.advance(61_000);
    await nodes.settle(env);
    assert.equal(await env.client.live.find(Job, WORK), undefined);
    await env.client.create(Job, work());
    await env.settle();
    await env.client.delete(Job, WORK, { propagationPolicy: 'Background' });
    await nodes.settle(env);
    assert.deepEqual(await podsOf(env), []);
  });
});
