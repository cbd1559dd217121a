import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { servicePod } from '../../../../test/support/service-world.ts';
import type { Taint, Toleration } from '../../../api/generated/core-v1-types.ts';
import { type Fate, noExecuteTaints, podFate, waitingOf } from './eviction-decision.ts';

const taint = (key: string, effect: Taint['effect'] = 'NoExecute'): Taint => ({ key, value: 'v', effect });
const tolerating = (key: string, tolerationSeconds?: number): Toleration => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...(tolerationSeconds !== undefined && { tolerationSeconds }),
});

const ROWS: readonly [what: string, taints: readonly Taint[], tolerations: readonly Toleration[], want: Fate][] = [
  ['no taint', [], [], 'stay'],
  ['a taint that is not tolerated', [taint('a')], [], 'now'],
  ['a taint that another toleration is for', [taint('a')], [tolerating('b')], 'now'],
  ['a taint that is tolerated for ever', [taint('a')], [tolerating('a')], 'stay'],
  ['a taint that is tolerated for a while', [taint('a')], [tolerating('a', 100)], { afterMs: 100_000 }],
  ['a taint that is tolerated for no time', [taint('a')], [tolerating('a', 0)], 'now'],
  ['a taint that is tolerated for less', [taint('a')], [tolerating('a', -5)], 'now'],
  ['one of two is not tolerated', [taint('a'), taint('b')], [tolerating('a', 100)], 'now'],
  [
    'two for different times',
    [taint('a'), taint('b')],
    [tolerating('a', 100), tolerating('b', 10)],
    { afterMs: 10_000 },
  ],
  [
    'one for ever, one for a while',
    [taint('a'), taint('b')],
    [tolerating('a'), tolerating('b', 60)],
    { afterMs: 60_000 },
  ],
  [
    'two tolerations for one: the first',
    [taint('a')],
    [tolerating('a', 100), tolerating('a', 10)],
    { afterMs: 100_000 },
  ],
  ['whoever tolerates everything', [taint('a'), taint('b')], [{ operator: 'Exists' }], 'stay'],
  ['another value', [taint('a')], [{ key: 'a', operator: 'Equal', value: 'w', effect: 'NoExecute' }], 'now'],
];

describe('podFate', () => {
  for (const [what, taints, tolerations, want] of ROWS) {
    it(`lab/W37: ${what}`, () => {
      assert.deepEqual(podFate(taints, tolerations), want);
    });
  }

  it('lab/W37: only taints that drive pods away count', () => {
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n' },
      spec: { taints: [taint('a', 'NoSchedule'), taint('b'), taint('c', 'PreferNoSchedule')] },
    } as const;
    assert.deepEqual(noExecuteTaints(node), [taint('b')]);
    assert.deepEqual(noExecuteTaints(undefined), []);
  });

  it('lab/W37: law: a further taint never lets a pod stay longer', () => {
    const key = fc.constantFrom('a', 'b', 'c');
    const tolerations = fc.array(fc.tuple(key, fc.option(fc.nat(500), { nil: undefined })), { maxLength: 5 });
    const lengthOf = (fate: Fate): number =>
      fate === 'now' ? 0 : fate === 'stay' ? Number.POSITIVE_INFINITY : fate.afterMs;
    fc.assert(
      fc.property(fc.uniqueArray(key), key, tolerations, (keys, more, tolerated) => {
        const list = tolerated.map(([name, seconds]) => tolerating(name, seconds));
        const [few, many] = [keys.map((name) => taint(name)), [...keys, more].map((name) => taint(name))];
        assert.ok(lengthOf(podFate(many, list)) <= lengthOf(podFate(few, list)));
      }),
    );
  });
});

describe('waitingOf', () => {
  const at = (seconds: number) => new Date(seconds * 1000);
  const pod = servicePod('p');
  const first = waitingOf(pod, 300_000, undefined, at(10));

  for (const [what, afterMs, now, due] of [
    ['counts from first sight', 300_000, 200, 310],
    ['is not put off by a longer toleration', 900_000, 200, 310],
    ['is brought forward by a shorter one', 100_000, 50, 110],
    ['may be due at once', 30_000, 200, 40],
  ] as const) {
    it(`lab/W37: an eviction ${what}`, () => {
      assert.equal(waitingOf(pod, afterMs, first, at(now)).dueMs, due * 1000);
    });
  }

  it('lab/W37: another pod of the same name is another pod', () => {
    const other = { ...pod, metadata: { ...pod.metadata, uid: 'other' } };
    assert.equal(waitingOf(other, 300_000, first, at(100)).dueMs, 400_000);
  });
});
