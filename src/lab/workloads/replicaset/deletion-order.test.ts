import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ago, NOW, type PodFields, pod } from '../../../../test/support/workload-objects.ts';
import { deletionOrder, podsToDelete } from './deletion-order.ts';

const HOUR = 3600;
const MONTH = 31 * 24 * HOUR;
const now = ago(0);
const running = { node: 'node', phase: 'Running' };
const readyNow = { ...running, readySince: now, created: now };

// From upstream's table for ActivePodsWithRanks.
const PODS: Readonly<Record<string, PodFields>> = {
  unscheduled: { phase: 'Pending' },
  pending: { node: 'node', phase: 'Pending' },
  unknown: { node: 'node', phase: 'Unknown' },
  notReady: running,
  readyUnknownSince: { ...running, readySince: null },
  readyNow,
  readyThen: { ...running, readySince: ago(MONTH), created: ago(MONTH) },
  restarted: { ...readyNow, restarts: 9001 },
  sidecarRestarted: { ...readyNow, restarts: 9001, sidecarRestarts: 9001 },
  createdThen: { ...readyNow, created: ago(MONTH) },
  cheap: { ...readyNow, created: ago(MONTH), cost: '10' },
  dear: { ...readyNow, created: ago(MONTH), cost: '100' },
  ready2Hours: { phase: 'Running', readySince: ago(2 * HOUR), created: ago(MONTH) },
  ready5Hours: { phase: 'Running', readySince: ago(5 * HOUR), created: ago(MONTH) },
};

/** `[who goes first, its rank, who goes after it, its rank]`; a rank is the number of pods of the owner on the node. */
const ORDER: readonly [string, number, string, number][] = [
  ['unscheduled', 1, 'pending', 2],
  ['unscheduled', 2, 'pending', 1],
  ['pending', 1, 'unknown', 2],
  ['unknown', 1, 'notReady', 2],
  ['notReady', 1, 'readyUnknownSince', 1],
  ['readyUnknownSince', 1, 'readyNow', 1],
  ['readyNow', 2, 'readyUnknownSince', 1],
  ['readyNow', 1, 'readyThen', 1],
  ['readyNow', 2, 'readyThen', 1],
  ['restarted', 1, 'readyNow', 1],
  ['sidecarRestarted', 1, 'restarted', 1],
  ['readyNow', 2, 'restarted', 1],
  ['readyNow', 1, 'createdThen', 1],
  ['createdThen', 2, 'readyNow', 1],
  ['cheap', 2, 'dear', 1],
  ['ready2Hours', 1, 'ready5Hours', 1],
];

const named = (name: string, node?: string) => {
  const { node: given, ...fields } = PODS[name] ?? {};
  return pod(name, { ...fields, ...(given !== undefined && { node: node ?? given }) });
};

describe('which pods are deleted first', () => {
  for (const [first, rank, second, otherRank] of ORDER) {
    it(`lab/W17: ${first} (${rank} on its node) goes before ${second} (${otherRank} on its node)`, () => {
      const pods = [named(second, 'b'), named(first, 'a')];
      const neighbours = (node: string, count: number) =>
        Array.from({ length: count }, (_, at) => pod(`${node}${at}`, { node }));
      const related = [...neighbours('a', rank), ...neighbours('b', otherRank)];
      assert.deepEqual(
        deletionOrder(pods, { related, now: NOW }).map(({ metadata }) => metadata.name),
        [first, second],
      );
    });
  }

  it('lab/W17: pods of about the same age go in the order of their uids', () => {
    const since = (name: string, seconds: number) =>
      pod(name, { ...running, readySince: ago(seconds), created: ago(MONTH) });
    const pods = [since('b', 5 * HOUR), since('a', 8 * HOUR), since('c', 6 * HOUR)];
    const names = deletionOrder(pods, { related: [], now: NOW }).map(({ metadata }) => metadata.name);
    assert.deepEqual(names, ['a', 'b', 'c']);
  });

  it('lab/W17: pods that differ in nothing go in the order of their uids', () => {
    const pods = ['c', 'a', 'b'].map((name) => pod(name, readyNow));
    const names = deletionOrder(pods, { related: [], now: NOW }).map(({ metadata }) => metadata.name);
    assert.deepEqual(names, ['a', 'b', 'c']);
  });

  const costs = [
    { cost: '-5', isCheap: true },
    { cost: '-05', isCheap: true },
    { cost: '+1', isCheap: false },
    { cost: '01', isCheap: false },
    { cost: 'x', isCheap: false },
    { cost: '', isCheap: false },
    { cost: '-2147483649', isCheap: false },
  ];
  for (const { cost, isCheap } of costs) {
    it(`lab/W17: a cost of "${cost}" ${isCheap ? 'is below' : 'counts as'} none`, () => {
      const pods = [pod('a', readyNow), pod('b', { ...readyNow, cost })];
      const [first] = deletionOrder(pods, { related: [], now: NOW });
      assert.equal(first?.metadata.name, isCheap ? 'b' : 'a');
    });
  }

  it('lab/W17: a pod of the owner that has ended is no neighbour', () => {
    const pods = [pod('a', { ...readyNow, node: 'one' }), pod('b', { ...readyNow, node: 'two' })];
    const related = [
      ...pods,
      pod('c', { node: 'two', phase: 'Failed' }),
      pod('d', { node: 'two', isLeaving: true }),
    ];
    assert.equal(deletionOrder(pods, { related, now: NOW })[0]?.metadata.name, 'a');
  });

  // From upstream's table for getPodsToDelete.
  const ready1 = pod('ready1', { node: 'one', readySince: null });
  const ready2 = pod('ready2', { node: 'two', readySince: null });
  const notReady = pod('notReady', { node: 'zero' });
  const pending = pod('pending', { node: 'zero', phase: 'Pending' });
  const unscheduled = pod('unscheduled', { phase: 'Pending' });
  const choices = [
    { name: 'nothing of nothing', pods: [], want: [] },
    { name: 'all, in the order given', pods: [ready1, notReady], want: [ready1, notReady] },
    { name: 'the one that is not ready', pods: [ready1, notReady], want: [notReady] },
    { name: 'the one without node', pods: [pending, unscheduled], want: [unscheduled] },
    { name: 'the pending one', pods: [notReady, pending], want: [pending] },
    { name: 'the one with company', pods: [ready1, ready2], related: [ready1, ready2, ready2], want: [ready2] },
    {
      name: 'the worst three of five',
      pods: [ready1, ready2, notReady, pending, unscheduled],
      want: [unscheduled, pending, notReady],
    },
  ];
  for (const { name, pods, related = pods, want } of choices) {
    it(`lab/W17: takes ${name}`, () => {
      assert.deepEqual(podsToDelete(pods, want.length, { related, now: NOW }), want);
    });
  }

  it('lab/W17: takes as many as asked for, each once, and never a ready one before one that is not', () => {
    const fields = fc.record({
      node: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
      phase: fc.constantFrom('Pending', 'Running', 'Unknown'),
      isReady: fc.boolean(),
      age: fc.nat(100_000),
    });
    fc.assert(
      fc.property(fc.array(fields, { maxLength: 12 }), fc.nat(12), (all, count) => {
        const pods = all.map(({ node, phase, isReady, age }, at) =>
          pod(`p${at}`, {
            phase,
            created: ago(age),
            ...(node !== undefined && { node }),
            ...(isReady && { readySince: ago(age) }),
          }),
        );
        const chosen = podsToDelete(pods, count, { related: pods, now: NOW });
        assert.equal(new Set(chosen).size, Math.min(count, pods.length));
        const isGood = ({ spec, status }: (typeof pods)[number]) =>
          spec.nodeName !== undefined && status?.phase === 'Running' && status.conditions?.length === 1;
        const isBadLeft = pods.some((one) => !isGood(one) && !chosen.includes(one));
        assert.ok(!isBadLeft || !chosen.some(isGood));
      }),
    );
  });
});
