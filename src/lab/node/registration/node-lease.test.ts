import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Lease } from '../../../api/generated/coordination-v1.ts';
import { Node } from '../../../api/generated/core-v1.ts';
import { TestEnv } from '../../../testing/index.ts';
import { leaseSpec, NodeLease } from './node-lease.ts';

const KEY = { namespace: 'kube-node-lease', name: 'w-1' };
const forEver = new AbortController().signal;

const leaseOf = ({ client, clock }: TestEnv) => new NodeLease({ name: 'w-1', client, clock, timeoutMs: 1000 });

describe('leaseSpec', () => {
  it('lab/N4: is held by the node for 40 s', () => {
    assert.deepEqual(leaseSpec('w-1', new Date('2030-01-01T00:00:00.123Z')), {
      holderIdentity: 'w-1',
      leaseDurationSeconds: 40,
      renewTime: '2030-01-01T00:00:00.123000Z',
    });
  });
});

describe('NodeLease', () => {
  it('lab/N4: makes the Lease, owned by the Node, and renews it', async () => {
    await using env = await TestEnv.start();
    const { metadata } = await env.client.create(Node, { metadata: { name: 'w-1' } });
    const lease = leaseOf(env);
    await lease.renew(forEver);
    await env.advance(10_000);
    await lease.renew(forEver);
    const found = await env.client.get(Lease, KEY);
    assert.equal(found.spec?.renewTime, '2026-01-01T00:00:10.000000Z');
    assert.deepEqual(found.metadata.ownerReferences, [
      { apiVersion: 'v1', kind: 'Node', name: 'w-1', uid: metadata.uid },
    ]);
  });

  it('lab/N5: makes no Lease for a Node that is not there', async () => {
    await using env = await TestEnv.start();
    await leaseOf(env).renew(forEver);
    assert.equal(await env.client.find(Lease, KEY), undefined);
  });

  it('lab/N4: takes over a Lease of an earlier life, and one that another has written meanwhile', async () => {
    await using env = await TestEnv.start();
    await env.client.create(Node, { metadata: { name: 'w-1' } });
    await env.client.create(Lease, { metadata: { ...KEY, labels: { a: 'b' } } });
    const lease = leaseOf(env);
    await lease.renew(forEver);
    await env.client.patch(Lease, KEY, { type: 'merge', body: { metadata: { labels: { c: 'd' } } } });
    await env.advance(10_000);
    await lease.renew(forEver);
    const { metadata, spec } = await env.client.get(Lease, KEY);
    assert.deepEqual(metadata.labels, { a: 'b', c: 'd' });
    assert.equal(metadata.ownerReferences?.[0]?.kind, 'Node');
    assert.equal(spec?.renewTime, '2026-01-01T00:00:10.000000Z');
  });

  it('lab/N4: makes it again when somebody took it away', async () => {
    await using env = await TestEnv.start();
    await env.client.create(Node, { metadata: { name: 'w-1' } });
    const lease = leaseOf(env);
    await lease.renew(forEver);
    await env.client.delete(Lease, KEY);
    await lease.renew(forEver);
    const { metadata } = await env.client.get(Lease, KEY);
    assert.equal(metadata.ownerReferences?.length, 1);
  });
});
