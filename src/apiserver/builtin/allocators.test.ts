import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../object/json.ts';
import { StatusError } from '../status.ts';
import { AllocationError, ClusterIpAllocator, NodePortAllocator } from './allocators.ts';
import { allocateService, releaseService, settleService } from './service-addresses.ts';

describe('ClusterIpAllocator', () => {
  it('leaves the lower part of the range to those who choose, and the first address to kubernetes', () => {
    const addresses = new ClusterIpAllocator();
    assert.equal(addresses.kubernetesAddress, '10.0.0.1');
    assert.equal(addresses.allocate(), '10.0.0.16');
    assert.equal(addresses.allocate('10.0.0.2'), '10.0.0.2');
  });

  for (const { address, why } of [
    { address: '10.0.0.0', why: /not in the valid range. The range of valid IPs is 10.0.0.0\/24/ },
    { address: '10.0.0.255', why: /not in the valid range/ },
    { address: '10.0.1.1', why: /not in the valid range/ },
    { address: 'nope', why: /not in the valid range/ },
  ]) {
    it(`refuses ${address}`, () => {
      assert.throws(() => new ClusterIpAllocator().allocate(address), { name: 'AllocationError', message: why });
    });
  }

  it('refuses a range that is none', () => {
    assert.throws(() => new ClusterIpAllocator('nope/24'), { message: 'nope/24 is no IPv4 range' });
  });

  it('gives every address once, until the range is full', () => {
    fc.assert(
      fc.property(fc.nat(250), (start) => {
        const addresses = new ClusterIpAllocator('10.1.0.0/27', { pick: (count) => start % count });
        const given = Array.from({ length: 29 }, () => addresses.allocate());
        assert.equal(new Set(given).size, 29);
        assert.throws(() => addresses.allocate(), { message: 'range is full' });
        const [first = ''] = given;
        addresses.release(first);
        assert.equal(addresses.allocate(), first);
      }),
      { numRuns: 20 },
    );
  });
});

describe('NodePortAllocator', () => {
  it('refuses a port twice and one outside the range', () => {
    const ports = new NodePortAllocator();
    assert.equal(ports.allocate(30_001), 30_001);
    assert.throws(() => ports.allocate(30_001), { message: 'provided port is already allocated' });
    assert.throws(() => ports.allocate(80), { message: /The range of valid ports is 30000-32767/ });
  });

  it('ends with a full range', () => {
    const ports = new NodePortAllocator(30_000, 30_001);
    assert.deepEqual([ports.allocate(), ports.allocate()], [30_000, 30_001]);
    assert.throws(() => ports.allocate(), AllocationError);
  });
});

type Spec = JsonObject & { clusterIP: string };

describe('allocateService', () => {
  const service = (spec: JsonObject): JsonObject => ({ metadata: { name: 's' }, spec });

  it('gives back what it took when a later value cannot be had', () => {
    const pools = { clusterIps: new ClusterIpAllocator(), nodePorts: new NodePortAllocator() };
    const bad = service({ type: 'NodePort', clusterIPs: ['10.0.0.9'], ports: [{ port: 80, nodePort: 80 }] });
    assert.throws(() => allocateService(bad, undefined, pools), StatusError);
    assert.equal(pools.clusterIps.allocate('10.0.0.9'), '10.0.0.9');
  });

  it('keeps what the old service had until the change is stored, then releases what is not needed', () => {
    const pools = { clusterIps: new ClusterIpAllocator(), nodePorts: new NodePortAllocator() };
    const old = service({ type: 'NodePort', ports: [{ port: 80 }] });
    allocateService(old, undefined, pools);
    const { clusterIP = '', clusterIPs = [] } = old['spec'] as JsonObject;
    const changed = service({ type: 'ClusterIP', clusterIP, clusterIPs, ports: [{ port: 80 }] });
    allocateService(changed, old, pools);
    assert.equal((changed['spec'] as JsonObject)['clusterIP'], clusterIP);
    assert.throws(() => pools.nodePorts.allocate(30_000));
    settleService(changed, old, pools);
    assert.equal(pools.nodePorts.allocate(), 30_000);
    releaseService(changed, pools);
    assert.equal(pools.clusterIps.allocate(), clusterIP);
  });

  it('gives back only what a failed change took itself', () => {
    const pools = { clusterIps: new ClusterIpAllocator(), nodePorts: new NodePortAllocator() };
    const old = service({ type: 'ClusterIP', ports: [{ port: 80 }] });
    allocateService(old, undefined, pools);
    const { clusterIP, clusterIPs = [] } = old['spec'] as Spec;
    const changed = service({ type: 'NodePort', clusterIP, clusterIPs, ports: [{ port: 80 }] });
    allocateService(changed, old, pools);
    releaseService(changed, pools);
    assert.equal(pools.nodePorts.allocate(), 30_000);
    assert.throws(() => pools.clusterIps.allocate(clusterIP), AllocationError);
  });

  it('apiserver/W5: consumes nothing on a dry run', () => {
    const pools = { clusterIps: new ClusterIpAllocator(), nodePorts: new NodePortAllocator() };
    const tried = service({ type: 'ClusterIP', ports: [{ port: 80 }] });
    allocateService(tried, undefined, pools, true);
    const { clusterIP } = tried['spec'] as Spec;
    assert.equal(pools.clusterIps.allocate(), clusterIP);
    releaseService(tried, pools);
    assert.throws(() => pools.clusterIps.allocate(clusterIP), AllocationError);
  });

  it('lets one node port serve two protocols of a service', () => {
    const pools = { clusterIps: new ClusterIpAllocator(), nodePorts: new NodePortAllocator() };
    const ports = [
      { port: 53, protocol: 'TCP', nodePort: 30_053 },
      { port: 53, protocol: 'UDP', nodePort: 30_053 },
    ];
    allocateService(service({ type: 'NodePort', ports }), undefined, pools);
    assert.throws(() => pools.nodePorts.allocate(30_053));
  });
});
