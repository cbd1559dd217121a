import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { devicesOf, healthyIds, isExtendedResource, unhealthy } from './device.ts';

describe('isExtendedResource', () => {
  for (const { name, want } of [
    { name: 'acme.example/npu', want: true },
    { name: 'acme.example/Big_NPU.v2', want: true },
    { name: 'npu', want: false },
    { name: 'kubernetes.io/npu', want: false },
    { name: 'node.kubernetes.io/npu', want: false },
    { name: 'requests.acme.example/npu', want: false },
    { name: 'acme.example/', want: false },
    { name: 'acme.example/a/b', want: false },
    { name: 'ACME/npu', want: false },
    { name: `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(52)}/npu`, want: true },
    { name: `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(53)}/npu`, want: false },
    { name: `acme.example/${'n'.repeat(63)}`, want: true },
    { name: `acme.example/${'n'.repeat(64)}`, want: false },
    { name: '', want: false },
  ]) {
    it(`hardware/D8: ${want ? 'takes' : 'refuses'} ${JSON.stringify(name)}`, () =>
      assert.equal(isExtendedResource(name), want));
  }
});

describe('devicesOf', () => {
  it('hardware/D4: knows a device by its id, and no NUMA node below zero', () => {
    const devices = devicesOf([
      { ID: 'a', health: 'Unhealthy' },
      { ID: 'b', health: 'Healthy', topology: { nodes: [{ ID: -1n }, { ID: 0n }, { ID: 2n }] } },
      { ID: 'a', health: 'Healthy' },
      { ID: 'c', health: 'healthy' },
    ]);
    assert.deepEqual([...devices.keys()], ['a', 'b', 'c']);
    assert.deepEqual(devices.get('b')?.numaNodes, [0n, 2n]);
    assert.deepEqual([...healthyIds(devices)], ['a', 'b']);
    assert.deepEqual([...healthyIds(unhealthy(devices))], []);
    assert.equal(unhealthy(devices).size, 3);
  });
});
