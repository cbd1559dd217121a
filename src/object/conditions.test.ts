import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Condition, KubeObject } from '../api/object.ts';
import {
  mirrorCondition,
  orderV1beta2,
  setOperatorConditions,
  setV1beta1Condition,
  summarizeConditions,
  summarizeOperator,
} from './condition-dialects.ts';
import { mergeConditions } from './condition-merge.ts';
import {
  conditionProblems,
  findCondition,
  isReady,
  isTrue,
  readyFalse,
  readyTrue,
  readyUnknown,
  removeCondition,
  setCondition,
  stamp,
} from './conditions.ts';

const FIRST = new Date('2026-05-04T03:02:01.500Z');
const LATER = new Date('2026-05-04T04:00:00Z');
const SINCE = '2026-05-04T03:02:01Z';

const condition = (
  type: string,
  status: Condition['status'] = 'True',
  more: Partial<Condition> = {},
): Condition => ({
  type,
  status,
  reason: 'Because',
  message: '',
  lastTransitionTime: SINCE,
  ...more,
});

const owner = (generation: number, conditions: readonly Condition[] = []) => ({
  apiVersion: 'ex.io/v1',
  kind: 'Widget',
  metadata: { name: 'w', generation },
  status: { conditions },
});

describe('conditions', () => {
  it('runtime/H3: move their time only with the status, and say whether anything changed', () => {
    const first = setCondition([condition('Other')], readyFalse('Starting', 'wait'), FIRST);
    assert.ok(first.isChanged);
    assert.deepEqual(
      first.conditions.map(({ type }) => type),
      ['Other', 'Ready'],
    );
    const same = setCondition(first.conditions, readyFalse('Starting', 'wait'), LATER);
    assert.deepEqual([same.isChanged, same.conditions], [false, first.conditions]);
    const reason = setCondition(first.conditions, readyFalse('Importing', 'wait'), LATER);
    assert.equal(findCondition(reason.conditions, 'Ready')?.lastTransitionTime, SINCE);
    const status = setCondition(reason.conditions, readyTrue('Done'), LATER);
    assert.equal(findCondition(status.conditions, 'Ready')?.lastTransitionTime, '2026-05-04T04:00:00Z');
    assert.ok(setCondition(status.conditions, { ...readyTrue('Done'), observedGeneration: 2 }, LATER).isChanged);
  });

  it('are stamped for the generation of their owner', () => {
    const stamped = stamp(readyTrue('Done', 'it works'), owner(3), FIRST);
    assert.deepEqual(stamped, {
      type: 'Ready',
      status: 'True',
      reason: 'Done',
      message: 'it works',
      observedGeneration: 3,
      lastTransitionTime: SINCE,
    });
    assert.equal(stamp(readyTrue('Done'), owner(4, [stamped]), LATER).lastTransitionTime, SINCE);
    assert.equal(
      stamp(readyUnknown('Lost', 'x'), owner(4, [stamped]), LATER).lastTransitionTime,
      '2026-05-04T04:00:00Z',
    );
  });

  it('are found in objects, in a status, in lists and in nothing', () => {
    const ready = condition('Ready', 'True', { observedGeneration: 2 });
    assert.ok(
      isTrue(owner(1, [ready]), 'Ready') && isTrue({ conditions: [ready] }, 'Ready') && isTrue([ready], 'Ready'),
    );
    assert.ok(!isTrue(undefined, 'Ready') && !isTrue(owner(1), 'Ready'));
    const { status: _none, ...bare } = owner(1);
    assert.equal(findCondition(bare, 'Ready'), undefined);
    const odd: KubeObject & { status: unknown } = { ...bare, status: { conditions: 'none' } };
    assert.equal(findCondition(odd, 'Ready'), undefined);
    assert.deepEqual(
      [isReady(owner(2, [ready])), isReady(owner(3, [ready])), isReady(owner(2))],
      [true, false, false],
    );
    assert.ok(isReady(owner(5, [condition('Ready')])));
  });

  it('runtime/H3: are removed by type', () => {
    const list = [condition('A'), condition('B')];
    assert.deepEqual(removeCondition(list, 'A'), { conditions: [list[1]], isChanged: true });
    assert.equal(removeCondition(list, 'C').conditions, list);
  });

  for (const [fields, expected] of [
    [condition('Ready'), undefined],
    [condition('ex.io/Ready'), undefined],
    [condition('Not Ready'), /^type must be/],
    [condition('Ready', 'Maybe' as Condition['status']), /^status must be True, False or Unknown, not "Maybe"/],
    [condition('Ready', 'True', { reason: '' }), /^reason must be/],
    [condition('Ready', 'True', { reason: 'not camel' }), /^reason must be/],
    [condition('Ready', 'True', { reason: 'A'.repeat(1025) }), /^reason must be/],
    [condition('Ready', 'True', { message: 'x'.repeat(32_769) }), /^message must have at most 32768 characters/],
  ] as const) {
    it(`runtime/H3: checks ${fields.type} ${fields.status} ${fields.reason.slice(0, 9)} ${fields.message.length}`, () => {
      const problems = conditionProblems(fields);
      if (expected === undefined) assert.deepEqual(problems, []);
      else assert.match(problems.join(), expected);
    });
  }
});

describe('mergeConditions', () => {
  const old = condition('A', 'False');
  const ours = condition('A', 'True', { reason: 'Ours' });
  const theirs = condition('A', 'True', { reason: 'Theirs', lastTransitionTime: '2026-01-01T00:00:00Z' });
  const unknown = condition('A', 'Unknown');
  const other = condition('B');

  for (const [what, before, after, live, owned, expected] of [
    ['what we left alone is theirs', [old], [old], [theirs], [], [theirs]],
    ['what we left alone and they removed is gone', [old], [old], [], [], []],
    ['what we changed and own is ours', [old], [ours], [unknown], ['A'], [ours]],
    ['what only we changed is ours', [old], [ours], [old], [], [ours]],
    [
      'both said the same status: ours, since they said so',
      [old],
      [ours],
      [theirs],
      [],
      [{ ...ours, lastTransitionTime: '2026-01-01T00:00:00Z' }],
    ],
    ['what we removed is gone', [old], [], [old], [], []],
    ['what we removed and they changed stays', [old], [], [theirs], [], [theirs]],
    ['what we removed and own is gone', [old], [], [theirs], ['A'], []],
    ['new ones come after those that are there', [], [ours], [other], [], [other, ours]],
    ['an order of theirs is kept', [other, old], [other, ours], [old, other], [], [ours, other]],
  ] as const) {
    it(`runtime/10.1: ${what}`, () => {
      assert.deepEqual(mergeConditions({ before, after, live, owned }), expected);
    });
  }

  it('runtime/10.1: two who say different things about a condition that neither owns is a conflict', () => {
    const clash = { reason: 'ConditionConflict', disposition: 'retry' };
    assert.throws(() => mergeConditions({ before: [old], after: [ours], live: [unknown] }), clash);
    assert.throws(() => mergeConditions({ before: [old], after: [ours], live: [] }), clash);
  });
});

describe('dialects of conditions', () => {
  it('runtime/H3: cluster-api v1beta1 has a severity, sorts Ready first, and moves the time with every change', () => {
    const set = setV1beta1Condition;
    const a = set(
      [],
      { type: 'Bootstrapped', status: 'False', severity: 'Info', reason: 'Waiting' },
      FIRST,
    ).conditions;
    const b = set(a, { type: 'Ready', status: 'True', severity: 'Error' }, FIRST).conditions;
    const c = set(b, { type: 'Assigned', status: 'True' }, FIRST);
    assert.deepEqual(
      c.conditions.map(({ type, severity }) => [type, severity]),
      [
        ['Ready', undefined],
        ['Assigned', undefined],
        ['Bootstrapped', 'Info'],
      ],
    );
    assert.equal(set(b, { type: 'Ready', status: 'True' }, LATER).isChanged, false);
    const worse = set(a, { type: 'Bootstrapped', status: 'False', severity: 'Error', reason: 'Waiting' }, LATER);
    assert.equal(worse.conditions[0]?.lastTransitionTime, '2026-05-04T04:00:00Z');
  });

  it('runtime/H3: cluster-api v1beta2 has Available and Ready first, Deleting and Paused last', () => {
    const types = ['Paused', 'Zeta', 'Deleting', 'Ready', 'Alpha', 'Available'].map((type) => condition(type));
    assert.deepEqual(
      orderV1beta2(types).map(({ type }) => type),
      ['Available', 'Ready', 'Alpha', 'Zeta', 'Deleting', 'Paused'],
    );
  });

  it('runtime/H3: a summary is as bad as its worst part', () => {
    const summary = (list: readonly Condition[]) =>
      summarizeConditions(list, { type: 'Ready', of: ['A', 'Degraded'], negative: ['Degraded'] });
    const fine = [condition('A'), condition('Degraded', 'False')];
    assert.deepEqual(summary(fine), { type: 'Ready', status: 'True', reason: 'AsExpected', message: '' });
    const degraded = summary([condition('A', 'Unknown'), condition('Degraded', 'True', { message: 'disk' })]);
    assert.deepEqual([degraded.status, degraded.reason, degraded.message], ['False', 'Because', 'Degraded: disk']);
    const both = summary([condition('A', 'False'), condition('Degraded')]);
    assert.deepEqual([both.status, both.reason], ['False', 'IssuesReported']);
    assert.deepEqual([summary([]).status, summary([]).reason], ['Unknown', 'UnknownReported']);
  });

  it('runtime/H3: a mirror says what the other says, or that it says nothing', () => {
    const source = condition('Ready', 'False', { reason: '', message: 'no' });
    assert.deepEqual(mirrorCondition(source, 'InfrastructureReady', 'the cloud'), {
      type: 'InfrastructureReady',
      status: 'False',
      reason: 'NoReasonReported',
      message: 'no',
    });
    assert.equal(mirrorCondition(undefined, 'InfrastructureReady', 'the cloud').status, 'Unknown');
  });

  it('runtime/H3: a ClusterOperator has four conditions, made from its parts', () => {
    const degraded = { status: 'True', reason: 'Broken', message: 'no disk' } as const;
    const facts = summarizeOperator({
      storage: { degraded, available: { status: 'False', reason: 'Down', message: 'down' } },
      network: { degraded, progressing: { status: 'Unknown', reason: 'Lost', message: 'lost' } },
      dns: {},
    });
    const list = setOperatorConditions([condition('Extra')], facts, FIRST);
    assert.deepEqual(
      list.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
      [
        'Extra True Because',
        'Available False storage_Down',
        'Progressing Unknown network_Lost',
        'Degraded True IssuesReported',
        'Upgradeable True AsExpected',
      ],
    );
    assert.equal(findCondition(list, 'Degraded')?.message, 'storage: no disk\nnetwork: no disk');
    assert.deepEqual(setOperatorConditions(list, facts, LATER), list);
  });
});
