import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../object/json.ts';
import type { Strategy } from '../registry/resource.ts';
import { type DeletionOptions, planDeletion } from './deletion.ts';

const NOW = new Date('2026-05-04T03:02:01Z');
const PLAIN: Strategy = { tracksGeneration: true, allowsUnconditionalUpdate: true };
const JOB: Strategy = { ...PLAIN, defaultPropagation: 'Orphan' };
const EVENT: Strategy = { ...PLAIN, isCollected: false };
const POD: Strategy = { ...PLAIN, gracePeriod: (_pod, asked = 30) => asked };
const NAMESPACE: Strategy = {
  ...PLAIN,
  isHeld: ({ spec }) => JSON.stringify(spec) === '{"finalizers":["kubernetes"]}',
  beginDeletion: (namespace) => {
    namespace['status'] = { phase: 'Terminating' };
  },
};

interface Asked {
  readonly strategy?: Strategy;
  readonly options?: Partial<DeletionOptions>;
  readonly now?: Date;
}

const OPTIONS: DeletionOptions = {
  gracePeriodSeconds: undefined,
  propagationPolicy: undefined,
  orphanDependents: undefined,
  uid: undefined,
  resourceVersion: undefined,
  isDryRun: false,
};

const plan = (metadata: JsonObject, { strategy = PLAIN, options = {}, now = NOW }: Asked = {}) => {
  const all: DeletionOptions = { ...OPTIONS, ...options };
  const old: JsonObject = { metadata };
  const before = JSON.stringify(old);
  const { type, object } = planDeletion(old, strategy, all, now);
  assert.equal(JSON.stringify(old), before, 'the stored object is shared and must not change');
  return { type, metadata: object['metadata'], object };
};

describe('planDeletion', () => {
  it('apiserver/DE2: removes an object that nothing holds', () => {
    assert.deepEqual(plan({ name: 'a' }), {
      type: 'remove',
      metadata: { name: 'a' },
      object: { metadata: { name: 'a' } },
    });
  });

  it('apiserver/DE3, M8: marks an object with finalizers and counts a generation', () => {
    assert.deepEqual(plan({ generation: 3, finalizers: ['ex.io/f'] }), {
      type: 'mark',
      metadata: {
        generation: 4,
        finalizers: ['ex.io/f'],
        deletionTimestamp: '2026-05-04T03:02:01Z',
        deletionGracePeriodSeconds: 0,
      },
      object: {
        metadata: {
          generation: 4,
          finalizers: ['ex.io/f'],
          deletionTimestamp: '2026-05-04T03:02:01Z',
          deletionGracePeriodSeconds: 0,
        },
      },
    });
  });

  it('apiserver/DE3: does nothing the second time', () => {
    const marked = { finalizers: ['f'], deletionTimestamp: 'then', deletionGracePeriodSeconds: 0 };
    assert.deepEqual(plan(marked).type, 'wait');
  });

  const policies: readonly [string, readonly string[], Asked, readonly string[] | undefined][] = [
    [
      'Foreground adds its finalizer',
      ['f'],
      { options: { propagationPolicy: 'Foreground' } },
      ['f', 'foregroundDeletion'],
    ],
    ['Orphan adds its finalizer', ['f'], { options: { propagationPolicy: 'Orphan' } }, ['f', 'orphan']],
    [
      'Background removes both',
      ['orphan', 'f', 'foregroundDeletion'],
      { options: { propagationPolicy: 'Background' } },
      ['f'],
    ],
    [
      'Orphan replaces foreground',
      ['foregroundDeletion'],
      { options: { propagationPolicy: 'Orphan' } },
      ['orphan'],
    ],
    ['what is there decides', ['foregroundDeletion', 'f'], {}, ['foregroundDeletion', 'f']],
    ['orphan is kept without a policy', ['orphan'], {}, ['orphan']],
    ['the kind decides when nothing else does', [], { strategy: JOB }, ['orphan']],
    [
      'the kind orphans, but Background was asked',
      ['f'],
      { strategy: JOB, options: { propagationPolicy: 'Background' } },
      ['f'],
    ],
    ['orphanDependents true is Orphan', ['f'], { options: { orphanDependents: true } }, ['f', 'orphan']],
    ['orphanDependents false is Background', ['f', 'orphan'], { options: { orphanDependents: false } }, ['f']],
    ['Events take no part', ['f'], { strategy: EVENT, options: { propagationPolicy: 'Orphan' } }, ['f']],
  ];
  for (const [what, finalizers, asked, expected] of policies) {
    it(`apiserver/DE4: ${what}`, () => {
      const { metadata } = plan({ finalizers: [...finalizers] }, asked);
      assert.partialDeepStrictEqual(metadata, { finalizers: expected });
    });
  }

  it('apiserver/DE4: removes at once when the policy takes the last finalizer away', () => {
    const { type, metadata } = plan({ finalizers: ['orphan'] }, { options: { propagationPolicy: 'Background' } });
    assert.deepEqual([type, metadata], ['remove', {}]);
  });

  const graces: readonly [string, JsonObject, number | undefined, string, JsonObject][] = [
    [
      'waits for the grace of the kind',
      {},
      undefined,
      'mark',
      { deletionTimestamp: '2026-05-04T03:02:31Z', deletionGracePeriodSeconds: 30 },
    ],
    [
      'waits for the grace asked for',
      {},
      5,
      'mark',
      { deletionTimestamp: '2026-05-04T03:02:06Z', deletionGracePeriodSeconds: 5 },
    ],
    [
      'removes at once with 0, yet marked',
      {},
      0,
      'remove',
      { deletionTimestamp: '2026-05-04T03:02:01Z', deletionGracePeriodSeconds: 0 },
    ],
    [
      'shortens from the first delete on',
      { deletionTimestamp: '2026-05-04T03:02:31Z', deletionGracePeriodSeconds: 30 },
      10,
      'mark',
      { deletionTimestamp: '2026-05-04T03:02:11Z', deletionGracePeriodSeconds: 10 },
    ],
    [
      'never lengthens',
      { deletionTimestamp: '2026-05-04T03:02:31Z', deletionGracePeriodSeconds: 30 },
      60,
      'wait',
      { deletionTimestamp: '2026-05-04T03:02:31Z', deletionGracePeriodSeconds: 30 },
    ],
  ];
  for (const [what, before, asked, type, after] of graces) {
    it(`apiserver/DE5: ${what}`, () => {
      const planned = plan(before, {
        strategy: POD,
        options: { gracePeriodSeconds: asked },
        now: new Date(NOW.getTime() + ('deletionTimestamp' in before ? 3000 : 0)),
      });
      assert.deepEqual([planned.type, planned.metadata], [type, after]);
    });
  }

  it('apiserver/G1: gives a namespace no grace period and no generation, and asks it once', () => {
    const old = { metadata: { generation: 1 }, spec: { finalizers: ['kubernetes'] } };
    const options = { ...OPTIONS, propagationPolicy: undefined };
    const first = planDeletion(old, NAMESPACE, options, NOW);
    assert.deepEqual(first, {
      type: 'mark',
      object: {
        metadata: { generation: 1, deletionTimestamp: '2026-05-04T03:02:01Z' },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Terminating' },
      },
    });
    assert.deepEqual(planDeletion(first.object, NAMESPACE, options, NOW), { type: 'wait', object: first.object });
    const freed = { ...first.object, spec: {} };
    assert.equal(planDeletion(freed, NAMESPACE, options, NOW).type, 'remove');
  });
});
