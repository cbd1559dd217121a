import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { INDEX, jobWith, podOfJob, TRACKING } from '../../../../test/support/lab-jobs.ts';
import { completionIndex, isFailed, jobPod } from './job-pod.ts';

describe('a pod of a job', () => {
  it('lab/W27: has the labels of the template, the finalizer, and the job as its owner', () => {
    const { metadata, spec } = jobPod(jobWith());
    assert.equal(metadata.generateName, 'work-');
    assert.deepEqual(metadata.labels, { job: 'work' });
    assert.deepEqual(metadata.finalizers, [TRACKING]);
    assert.deepEqual(
      metadata.ownerReferences?.map(({ kind, uid, controller }) => [kind, uid, controller]),
      [['Job', 'uid-work', true]],
    );
    assert.equal(spec?.hostname, undefined);
  });

  it('lab/W27: keeps the finalizers of the template, and has the one of the job once', () => {
    const template = (finalizers: readonly string[]) => ({ metadata: { finalizers }, spec: { containers: [] } });
    const finalizersOf = (...given: readonly string[]) =>
      jobPod(jobWith({ template: template(given) })).metadata.finalizers;
    assert.deepEqual(finalizersOf('example.com/x'), ['example.com/x', TRACKING]);
    assert.deepEqual(finalizersOf(TRACKING), [TRACKING]);
  });

  it('lab/W26: of an indexed job knows its index', () => {
    const template = {
      spec: {
        containers: [{ name: 'a' }, { name: 'b', env: [{ name: 'JOB_COMPLETION_INDEX', value: 'own' }] }],
        initContainers: [{ name: 'c' }],
      },
    };
    const { metadata, spec } = jobPod(jobWith({ template }), 3);
    const variable = {
      name: 'JOB_COMPLETION_INDEX',
      valueFrom: { fieldRef: { fieldPath: `metadata.labels['${INDEX}']` } },
    };
    assert.deepEqual([metadata.generateName, spec?.hostname], ['work-3-', 'work-3']);
    assert.deepEqual([metadata.labels?.[INDEX], metadata.annotations?.[INDEX]], ['3', '3']);
    assert.deepEqual(
      [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ env }) => env),
      [[variable], [{ name: 'JOB_COMPLETION_INDEX', value: 'own' }], [variable]],
    );
  });

  it('lab/W26: of an indexed job with a long name leaves room for the index and the end that the server makes', () => {
    const job = jobWith();
    const { generateName } = jobPod({ ...job, metadata: { ...job.metadata, name: 'a'.repeat(63) } }, 12).metadata;
    assert.equal(generateName, `${'a'.repeat(54)}-12-`);
  });

  const INDEXES: readonly (readonly [text: number | string | undefined, index: number | undefined])[] = [
    [0, 0],
    [4, 4],
    [5, undefined],
    [-1, undefined],
    ['x', undefined],
    [undefined, undefined],
  ];
  for (const [text, index] of INDEXES) {
    it(`lab/W26: annotated with ${text} works on ${index ?? 'no index'} of five`, () => {
      const pod = podOfJob('a', text === undefined ? {} : { index: text });
      assert.equal(completionIndex(pod, jobWith({ completions: 5 })), index);
    });
  }

  it('lab/W28: has failed when it failed, or is deleted before it succeeded', () => {
    const job = jobWith();
    assert.equal(isFailed(podOfJob('a', { phase: 'Failed' }), job), true);
    assert.equal(isFailed(podOfJob('a'), job), false);
    assert.equal(isFailed(podOfJob('a', { isLeaving: true }), job), true);
    assert.equal(isFailed(podOfJob('a', { isLeaving: true, phase: 'Succeeded' }), job), false);
    assert.equal(isFailed(podOfJob('a', { isLeaving: true }), jobWith({ podReplacementPolicy: 'Failed' })), false);
  });
});
