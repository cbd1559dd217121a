import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dependsOnTopology, electionTiming } from './election.ts';

const seconds = (lease: number, renew: number, retry: number) => ({
  leaseMs: lease * 1000,
  renewMs: renew * 1000,
  retryMs: retry * 1000,
});
const NONE = { isEnabled: true, ...seconds(0, 0, 0) };

describe('electionTiming', () => {
  const cases = [
    { name: 'several control-plane nodes', flags: NONE, topology: 'HighlyAvailable', want: seconds(137, 107, 26) },
    { name: 'one control-plane node', flags: NONE, topology: 'SingleReplica', want: seconds(270, 240, 60) },
    { name: 'two nodes', flags: NONE, topology: 'DualReplica', want: seconds(137, 107, 26) },
    { name: 'a hosted control plane', flags: NONE, topology: 'External', want: seconds(137, 107, 26) },
    { name: 'a topology that nobody could read', flags: NONE, topology: undefined, want: seconds(137, 107, 26) },
    {
      name: 'no election on one node',
      flags: { ...NONE, isEnabled: false },
      topology: 'SingleReplica',
      want: seconds(137, 107, 26),
    },
    {
      name: 'a lease of its own on one node',
      flags: { ...NONE, leaseMs: 300_000 },
      topology: 'SingleReplica',
      want: seconds(300, 107, 26),
    },
    {
      name: 'a deadline of its own',
      flags: { ...NONE, renewMs: 90_000 },
      topology: 'SingleReplica',
      want: seconds(137, 90, 26),
    },
    {
      name: 'a period of its own',
      flags: { ...NONE, retryMs: 5000 },
      topology: 'HighlyAvailable',
      want: seconds(137, 107, 5),
    },
    {
      name: 'everything of its own',
      flags: { isEnabled: true, ...seconds(15, 10, 2) },
      topology: 'SingleReplica',
      want: seconds(15, 10, 2),
    },
  ] as const;
  for (const { name, flags, topology, want } of cases) {
    it(`operator/R9: ${name}`, () => {
      assert.deepEqual(electionTiming(flags, topology), want);
    });
  }

  it('operator/R9: asks for the topology only where it decides', () => {
    assert.equal(dependsOnTopology(NONE), true);
    assert.equal(dependsOnTopology({ ...NONE, isEnabled: false }), false);
    for (const key of ['leaseMs', 'renewMs', 'retryMs']) {
      assert.equal(dependsOnTopology({ ...NONE, [key]: 1 }), false, key);
    }
  });
});
