import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { servicePod } from '../../../../test/support/service-world.ts';
import type { Node, Pod, Taint } from '../../../api/generated/core-v1-types.ts';
import { beginsToEvict, conditionTaints } from './condition-taints.ts';
import { staleReadyPods } from './unready-pods.ts';

const NOW = new Date('2026-01-01T00:00:00Z');
const TAINTS: Readonly<Record<string, Taint>> = {
  notReady: { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' },
  notReadyGo: { key: 'node.kubernetes.io/not-ready', effect: 'NoExecute' },
  unreachable: { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' },
  unreachableGo: { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' },
  memory: { key: 'node.kubernetes.io/memory-pressure', effect: 'NoSchedule' },
  disk: { key: 'node.kubernetes.io/disk-pressure', effect: 'NoSchedule' },
  pid: { key: 'node.kubernetes.io/pid-pressure', effect: 'NoSchedule' },
  network: { key: 'node.kubernetes.io/network-unavailable', effect: 'NoSchedule' },
  cordoned: { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' },
  other: { key: 'example.com/mine', value: 'x', effect: 'NoSchedule' },
  soft: { key: 'node.kubernetes.io/not-ready', effect: 'PreferNoSchedule' },
};
const namesOf = (taints: readonly Taint[] | undefined) =>
  taints?.map(
    ({ key, effect }) =>
      Object.entries(TAINTS).find(([, one]) => one.key === key && one.effect === effect)?.[0] ?? key,
  );
const taintsOf = (names: readonly string[]): readonly Taint[] => names.flatMap((name) => TAINTS[name] ?? []);

type Said = Readonly<Record<string, string>>;
const node = (said: Said, names: readonly string[] = [], unschedulable = false): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1' },
  spec: { taints: taintsOf(names), ...(unschedulable && { unschedulable }) },
  status: { conditions: Object.entries(said).map(([type, status]) => ({ type, status })) },
});

interface Row {
  readonly what: string;
  readonly said: Said;
  readonly has?: readonly string[];
  readonly isCordoned?: boolean;
  readonly mayEvict?: boolean;
  /** Absent: nothing is to be written. */
  readonly want?: readonly string[];
}

const ROWS: readonly Row[] = [
  { what: 'a ready node', said: { Ready: 'True' } },
  { what: 'a ready node that was not', said: { Ready: 'True' }, has: ['notReady', 'unreachableGo'], want: [] },
  { what: 'a node that is not ready', said: { Ready: 'False' }, want: ['notReady', 'notReadyGo'] },
  { what: 'a node that is lost', said: { Ready: 'Unknown' }, want: ['unreachable', 'unreachableGo'] },
  { what: 'a lost node, the second time', said: { Ready: 'Unknown' }, has: ['unreachableGo', 'unreachable'] },
  {
    what: 'a lost node that was not ready before',
    said: { Ready: 'Unknown' },
    has: ['notReady', 'notReadyGo'],
    want: ['unreachable', 'unreachableGo'],
  },
  {
    what: 'a node in trouble',
    said: {
      Ready: 'True',
      MemoryPressure: 'True',
      DiskPressure: 'True',
      PIDPressure: 'True',
      NetworkUnavailable: 'True',
    },
    want: ['memory', 'disk', 'pid', 'network'],
  },
  { what: 'trouble that nobody knows', said: { Ready: 'True', MemoryPressure: 'Unknown' } },
  { what: 'trouble that is over', said: { Ready: 'True', DiskPressure: 'False' }, has: ['disk'], want: [] },
  { what: 'a cordoned node', said: { Ready: 'True' }, isCordoned: true, want: ['cordoned'] },
  { what: 'a node that is cordoned no more', said: { Ready: 'True' }, has: ['cordoned'], want: [] },
  { what: 'taints of others', said: { Ready: 'True' }, has: ['other', 'soft'] },
  {
    what: 'taints of others between ours',
    said: { Ready: 'False' },
    has: ['other', 'unreachable', 'soft'],
    want: ['other', 'soft', 'notReady', 'notReadyGo'],
  },
  { what: 'a new node, which admission tainted', said: {}, has: ['notReady'] },
  {
    what: 'a new node that is cordoned',
    said: {},
    has: ['notReady'],
    isCordoned: true,
    want: ['notReady', 'cordoned'],
  },
  {
    what: 'a lost node whose pods stay for now',
    said: { Ready: 'Unknown' },
    mayEvict: false,
    want: ['unreachable'],
  },
];

describe('conditionTaints', () => {
  for (const { what, said, has = [], isCordoned = false, mayEvict = true, want } of ROWS) {
    it(`lab/W36: ${what}`, () => {
      const taints = conditionTaints(node(said, has, isCordoned), { now: NOW, mayEvict });
      assert.deepEqual(namesOf(taints), want);
    });
  }

  it('lab/W36: says since when, and leaves what is there as it is', () => {
    const [first, , added] =
      conditionTaints(node({ Ready: 'False' }, ['other']), { now: NOW, mayEvict: true }) ?? [];
    assert.deepEqual(first, TAINTS['other']);
    assert.equal(added?.timeAdded, '2026-01-01T00:00:00Z');
  });

  it('lab/W36: knows when pods begin to leave', () => {
    const begins = (said: Said, has: readonly string[] = []) => beginsToEvict(node(said, has));
    assert.deepEqual(
      [
        begins({ Ready: 'True' }),
        begins({}),
        begins({ Ready: 'False' }),
        begins({ Ready: 'Unknown' }, ['notReady']),
      ],
      [false, false, true, true],
    );
    assert.equal(begins({ Ready: 'Unknown' }, ['notReadyGo']), false);
  });
});

describe('staleReadyPods', () => {
  const lost = (status: string): Node => ({
    ...node({}),
    status: { conditions: [{ type: 'Ready', status, lastTransitionTime: '2026-01-01T00:00:50Z' }] },
  });
  const pod = (name: string, seconds: number | undefined, status = 'True', nodeName = 'n1'): Pod => {
    const since = seconds === undefined ? {} : { lastTransitionTime: `2026-01-01T00:00:${seconds}Z` };
    const one = servicePod(name, { node: nodeName });
    return { ...one, status: { ...one.status, conditions: [{ type: 'Ready', status, ...since }] } };
  };
  const pods = [
    pod('before', 49),
    pod('same', 50),
    pod('after', 51),
    pod('unknown', undefined),
    pod('unready', 49, 'False'),
    pod('elsewhere', 49, 'True', 'n2'),
  ];

  it('lab/W36: are those that were ready before their node was lost', () => {
    const names = staleReadyPods(lost('Unknown'), pods).map(({ metadata }) => metadata.name);
    assert.deepEqual(names, ['before', 'unknown']);
  });

  it('lab/W36: are none on a node whose kubelet says itself what is ready', () => {
    for (const status of ['True', 'False']) assert.deepEqual(staleReadyPods(lost(status), pods), []);
  });
});
