import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Lease } from '../../../api/generated/coordination-v1-types.ts';
import type { Node, NodeCondition } from '../../../api/generated/core-v1-types.ts';
import { lostInMs, type Sign, signOf, unknownConditions } from './node-health.ts';

const MADE = '2026-01-01T00:00:00Z';
const at = (seconds: number) => new Date(Date.parse(MADE) + seconds * 1000);
const text = (seconds: number) => at(seconds).toISOString().replace('.000Z', 'Z');

const node = (conditions: readonly NodeCondition[] = [], uid = 'u'): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', uid, creationTimestamp: MADE },
  spec: {},
  status: { conditions },
});
const ready = (seconds: number, fields: Partial<NodeCondition> = {}): NodeCondition => ({
  type: 'Ready',
  status: 'True',
  lastHeartbeatTime: text(seconds),
  lastTransitionTime: text(0),
  ...fields,
});
const lease = (renewTime: string): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'n' },
  spec: { renewTime },
});

const reported = (seconds: number): Sign => signOf(undefined, node([ready(seconds)]), undefined, at(seconds));

describe('signs of life', () => {
  it('lab/W35: a node that was never heard of counts from when it was made, for 60 s', () => {
    const sign = signOf(undefined, node(), undefined, at(20));
    assert.equal(lostInMs(sign, at(20)), 40_000);
    assert.equal(lostInMs(signOf(sign, node(), undefined, at(60)), at(60)), 0);
  });

  it('lab/W35: whoever is seen first is alive now, whatever its own clock says, for 50 s', () => {
    assert.equal(lostInMs(reported(100), at(100)), 50_000);
    const skewed = signOf(undefined, node([ready(-9999)]), undefined, at(100));
    assert.equal(lostInMs(skewed, at(149)), 1000);
  });

  it('lab/W35: a new heartbeat is a sign, and so is a renewed Lease', () => {
    const first = reported(0);
    const beaten = signOf(first, node([ready(10)]), undefined, at(11));
    const renewed = signOf(first, node([ready(0)]), lease('a'), at(12));
    const again = signOf(renewed, node([ready(0)]), lease('b'), at(22));
    const silent = signOf(again, node([ready(0)]), lease('b'), at(50));
    assert.deepEqual(
      [beaten, renewed, again, silent].map(({ atMs }) => (atMs - Date.parse(MADE)) / 1000),
      [11, 12, 22, 22],
    );
  });

  it('lab/W35: nothing else is: a Lease that is taken away, what we wrote, other changes', () => {
    const before = signOf(reported(0), node([ready(0)]), lease('a'), at(10));
    for (const changed of [
      signOf(before, node([ready(0)]), undefined, at(30)),
      signOf(before, node([ready(0, { status: 'Unknown', reason: 'NodeStatusUnknown' })]), lease('a'), at(30)),
      signOf(before, { ...node([ready(0)]), spec: { unschedulable: true } }, lease('a'), at(30)),
    ])
      assert.equal(changed.atMs, before.atMs);
    const silent = signOf(undefined, node(), undefined, at(60));
    const said = unknownConditions(node(), at(60)) ?? [];
    assert.equal(signOf(silent, node(said), undefined, at(61)).atMs, silent.atMs);
  });

  it('lab/W35: another node of the same name is another node', () => {
    assert.equal(signOf(reported(0), node([ready(0)], 'other'), undefined, at(45)).atMs, at(45).getTime());
  });
});

describe('unknownConditions', () => {
  it('lab/W35: says of each condition that it is not known any more, and since when', () => {
    const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) =>
      ready(3, { type, status: 'False' }),
    );
    const network = ready(3, { type: 'NetworkUnavailable', status: 'False' });
    const said = unknownConditions(node([...pressures, ready(3), network]), at(60)) ?? [];
    for (const condition of said.slice(0, 4))
      assert.deepEqual(
        [
          condition.status,
          condition.reason,
          condition.message,
          condition.lastTransitionTime,
          condition.lastHeartbeatTime,
        ],
        ['Unknown', 'NodeStatusUnknown', 'Kubelet stopped posting node status.', text(60), text(3)],
      );
    assert.deepEqual(said.slice(4), [network]);
  });

  it('lab/W35: says of conditions that are not there that they never were', () => {
    const said = unknownConditions(node(), at(60)) ?? [];
    assert.deepEqual(
      said.map(({ type, status, reason }) => [type, status, reason]),
      [
        ['Ready', 'Unknown', 'NodeStatusNeverUpdated'],
        ['MemoryPressure', 'Unknown', 'NodeStatusNeverUpdated'],
        ['DiskPressure', 'Unknown', 'NodeStatusNeverUpdated'],
        ['PIDPressure', 'Unknown', 'NodeStatusNeverUpdated'],
      ],
    );
    assert.deepEqual([said[0]?.lastHeartbeatTime, said[0]?.lastTransitionTime], [MADE, text(60)]);
  });

  it('lab/W35: has nothing to say twice', () => {
    const said = unknownConditions(node([ready(3)]), at(60)) ?? [];
    assert.equal(unknownConditions(node(said), at(90)), undefined);
  });
});
