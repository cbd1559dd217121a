import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ago, deployment, replicaSet } from '../../../../test/support/workload-objects.ts';
import {
  countAnnotation,
  DESIRED_REPLICAS,
  expiredSets,
  MAX_REPLICAS,
  newSetAnnotations,
  nextRevision,
  REVISION,
  REVISION_HISTORY,
  replicasAnnotations,
} from './revision.ts';

const web = deployment(4, { maxSurge: '25%' });
const revised = (name: string, revision: string) => replicaSet(name, 0, { annotations: { [REVISION]: revision } });

describe('revisions', () => {
  const next = [
    { name: 'begin with one', sets: [], want: 1 },
    { name: 'go on behind the highest old one', sets: [revised('a', '2'), revised('b', '7')], want: 8 },
    { name: 'do not count what is none', sets: [revised('a', 'x'), revised('b', '2')], want: 3 },
    { name: 'do not count sets without one', sets: [replicaSet('a', 0)], want: 1 },
  ];
  for (const { name, sets, want } of next) {
    it(`lab/W6: ${name}`, () => assert.equal(nextRevision(sets), want));
  }

  it('lab/W6: copies the annotations of the Deployment, but for those about one object alone', () => {
    const kept = { team: 'a', 'kubernetes.io/change-cause': 'b' };
    const own = [REVISION, REVISION_HISTORY, DESIRED_REPLICAS, MAX_REPLICAS];
    const left = [...own, 'kubectl.kubernetes.io/last-applied-configuration', 'deprecated.deployment.rollback.to'];
    const annotations = { ...kept, ...Object.fromEntries(left.map((key) => [key, 'x'])) };
    assert.deepEqual(newSetAnnotations(deployment(1, { annotations }), {}, 3), { ...kept, [REVISION]: '3' });
  });

  it('lab/W6: keeps what others wrote on the set, and never takes an annotation away', () => {
    const before = { mine: '1', team: 'old', [REVISION]: '3' };
    const annotations = newSetAnnotations(deployment(1, { annotations: { team: 'new' } }), before, 3);
    assert.deepEqual(annotations, { mine: '1', team: 'new', [REVISION]: '3' });
  });

  it('lab/W6: is the very same when nothing changes, so that nothing is written', () => {
    const before = { team: 'a', [REVISION]: '3' };
    assert.equal(newSetAnnotations(deployment(1, { annotations: { team: 'a' } }), before, 3), before);
    assert.equal(newSetAnnotations(deployment(1), before, 2), before);
  });

  it('lab/W6: leaves a set alone whose revision is none', () => {
    const before = { [REVISION]: 'x' };
    assert.equal(newSetAnnotations(deployment(1, { annotations: { team: 'a' } }), before, 2), before);
  });

  const histories = [
    { name: 'begins with the former revision', before: { [REVISION]: '1' }, want: '1' },
    { name: 'goes on', before: { [REVISION]: '4', [REVISION_HISTORY]: '1,2' }, want: '1,2,4' },
    { name: 'is not begun by a set that was never new', before: {}, want: undefined },
  ];
  for (const { name, before, want } of histories) {
    it(`lab/W6: the history ${name}`, () => {
      const annotations = newSetAnnotations(web, before, 9);
      assert.deepEqual([annotations[REVISION], annotations[REVISION_HISTORY]], ['9', want]);
    });
  }

  it('lab/W6: the history forgets the oldest revisions, and is never longer than 2000 characters', () => {
    fc.assert(
      fc.property(fc.integer({ min: 300, max: 1200 }), (count) => {
        let annotations: Readonly<Record<string, string>> = {};
        for (let revision = 1; revision <= count; revision++)
          annotations = newSetAnnotations(web, annotations, revision);
        const text = annotations[REVISION_HISTORY] ?? '';
        const revisions = text.split(',').map(Number);
        assert.ok(text.length <= 2000);
        assert.equal(revisions.at(-1), count - 1);
        assert.ok(revisions.every((revision, at) => at === 0 || revision === (revisions[at - 1] ?? 0) + 1));
      }),
      { numRuns: 5 },
    );
  });

  it('lab/W6: a revision that is too long for any history is left out of it', () => {
    const before = { [REVISION]: '0'.repeat(2001), [REVISION_HISTORY]: '1' };
    assert.equal(newSetAnnotations(web, before, 9)[REVISION_HISTORY], '1');
  });

  it('lab/W6: says how many replicas are wanted and allowed', () => {
    assert.deepEqual(replicasAnnotations(web), { [DESIRED_REPLICAS]: '4', [MAX_REPLICAS]: '5' });
  });

  // From upstream's table for getNonNegativeInt32FromAnnotation.
  const counts: [text: string | undefined, want: number | undefined][] = [
    [undefined, undefined],
    ['invalid', undefined],
    ['-1', undefined],
    ['0', 0],
    ['13', 13],
    ['2147483647', 2147483647],
    ['2147483648', undefined],
    ['4294967296', undefined],
  ];
  for (const [text, want] of counts) {
    it(`lab/W8: reads ${text} as ${want}`, () => {
      const annotations = { foo: '2', ...(text !== undefined && { test: text }) };
      assert.equal(countAnnotation(replicaSet('a', 1, { annotations }), 'test'), want);
    });
  }
});

describe('the history of a Deployment', () => {
  // `[revision, size]`, the oldest first; from upstream's tables for cleanupDeployment.
  const cases: {
    name: string;
    sets: [revision: string, size: number, pods?: number][];
    limit: number;
    gone: number[];
  }[] = [
    {
      name: 'the lowest revision goes',
      sets: [
        ['1', 0],
        ['2', 0],
      ],
      limit: 1,
      gone: [0],
    },
    {
      name: 'a rollback made the first the newer one',
      sets: [
        ['2', 0],
        ['1', 0],
      ],
      limit: 1,
      gone: [1],
    },
    {
      name: 'one without revision is the oldest',
      sets: [
        ['1', 0],
        ['', 0],
      ],
      limit: 1,
      gone: [1],
    },
    {
      name: 'one without revision is the oldest again',
      sets: [
        ['', 0],
        ['2', 0],
      ],
      limit: 1,
      gone: [0],
    },
    {
      name: 'one with pods stays, the next goes',
      sets: [
        ['1', 1],
        ['2', 0],
        ['3', 0],
      ],
      limit: 1,
      gone: [1],
    },
    {
      name: 'nobody goes in place of those with pods',
      sets: [
        ['1', 1],
        ['2', 1],
        ['3', 0],
      ],
      limit: 1,
      gone: [],
    },
    {
      name: 'several go',
      sets: [
        ['3', 0],
        ['1', 0],
        ['4', 0],
        ['2', 0],
      ],
      limit: 2,
      gone: [1, 3],
    },
    {
      name: 'one that still has pods stays',
      sets: [
        ['1', 0, 1],
        ['2', 0],
      ],
      limit: 0,
      gone: [1],
    },
    {
      name: 'there is no limit',
      sets: [
        ['1', 0],
        ['2', 0],
      ],
      limit: 2147483647,
      gone: [],
    },
    {
      name: 'all are within the limit',
      sets: [
        ['1', 0],
        ['2', 0],
      ],
      limit: 2,
      gone: [],
    },
  ];
  for (const { name, sets, limit, gone } of cases) {
    it(`lab/W7: ${name}`, () => {
      const old = sets.map(([revision, size, pods = size], at) =>
        replicaSet(`s${at}`, size, {
          created: ago(100 - at),
          status: { replicas: pods },
          ...(revision !== '' && { annotations: { [REVISION]: revision } }),
        }),
      );
      const expired = expiredSets(deployment(1, { spec: { revisionHistoryLimit: limit } }), old);
      assert.deepEqual(new Set(expired), new Set(gone.map((at) => old[at])));
    });
  }

  it('lab/W7: sets that go already, or that nobody has looked at since they changed, are left alone', () => {
    const leaving = replicaSet('leaving', 0, { isLeaving: true });
    const changed = replicaSet('changed', 0, { generation: 2, status: { observedGeneration: 1 } });
    const seen = replicaSet('seen', 0, { generation: 2, status: { observedGeneration: 2 } });
    const limited = deployment(1, { spec: { revisionHistoryLimit: 0 } });
    assert.deepEqual(expiredSets(limited, [leaving, changed, seen]), [seen]);
    assert.deepEqual(expiredSets(deployment(1), [seen]), []);
  });
});
