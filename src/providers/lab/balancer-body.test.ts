import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BalancerPlan } from '../../sdk/capabilities/load-balancers.ts';
import { isProviderError } from '../../sdk/provider/provider-error.ts';
import { balancerBody, balancerChange, orderKey, targetsOf } from './balancer-body.ts';

const plan: BalancerPlan = {
  name: 'a1',
  cluster: 'c1',
  service: { namespace: 'default', name: 'web', uid: 'u' },
  logicalName: 'a1',
  idempotencyToken: 'default/web u',
  tags: { 'kubernetes.io/cluster/c1': 'owned' },
  annotations: {},
  ports: [{ protocol: 'TCP', port: 80, nodePort: 30_080 }],
  sourceRanges: ['10.0.0.0/8'],
  scope: 'public',
  externalTrafficPolicy: 'Cluster',
  ipFamilies: ['IPv4'],
  backends: [],
};

describe('load balancers as the lab wants them', () => {
  it('ask the node ports whether backends work, unless there is a better place', () => {
    assert.deepEqual(balancerBody(plan), {
      listeners: [{ port: 80, targetPort: 30_080, protocol: 'tcp' }],
      targets: [],
      healthCheck: { protocol: 'tcp', path: '/' },
      sourceRanges: ['10.0.0.0/8'],
      tags: { 'kubernetes.io/cluster/c1': 'owned' },
    });
    const local = balancerBody({ ...plan, healthCheck: { path: '/healthz', port: 31_000 } });
    assert.deepEqual(local.healthCheck, { protocol: 'http', path: '/healthz', port: 31_000 });
  });

  it('take the port of the health check away when there is none any more', () => {
    assert.deepEqual(Reflect.get(balancerChange(balancerBody(plan)), 'healthCheck'), {
      protocol: 'tcp',
      path: '/',
      port: null,
    });
  });

  it('have each machine once, by itself or by its address, and nothing that cannot be reached', () => {
    const addresses = [
      { type: 'Hostname', address: 'w-1' },
      { type: 'InternalIP', address: '10.9.1.1' },
    ] as const;
    const targets = targetsOf([
      { nodeName: 'a', providerID: 'lab://a/i-0123456789ab', addresses },
      { nodeName: 'b', providerID: 'lab://a/i-0123456789ab', addresses: [] },
      { nodeName: 'c', addresses },
      { nodeName: 'd', providerID: 'other://1', addresses },
      { nodeName: 'e', addresses: [] },
    ]);
    assert.deepEqual(targets, [{ instanceId: 'i-0123456789ab' }, { address: '10.9.1.1' }]);
  });

  it('lab/C4: are ordered with a key that is the same only for the same order', () => {
    const body = balancerBody(plan);
    const key = orderKey(plan, body);
    assert.match(key, /^default-web-u\.[0-9a-f]{32}$/);
    assert.equal(orderKey({ ...plan }, balancerBody({ ...plan })), key);
    const others = [
      orderKey(plan, { ...body, sourceRanges: [] }),
      orderKey({ ...plan, idempotencyToken: 'x' }, body),
      orderKey(plan, body, 'lb-1'),
    ];
    assert.equal(new Set([key, ...others]).size, 4);
    assert.ok(orderKey({ ...plan, idempotencyToken: 'é'.repeat(500) }, body).length <= 128);
  });

  const impossible: readonly { readonly says: RegExp; readonly change: Partial<BalancerPlan> }[] = [
    {
      says: /port 53: the lab balances TCP, not UDP/,
      change: { ports: [{ protocol: 'UDP', port: 53, nodePort: 1 }] },
    },
    { says: /port 80 has no node port/, change: { ports: [{ protocol: 'TCP', port: 80, nodePort: 0 }] } },
    { says: /sessionAffinity None/, change: { affinitySeconds: 10 } },
    { says: /IPv4 only/, change: { ipFamilies: ['IPv6'] } },
  ];
  for (const { says, change } of impossible) {
    it(`refuse ${JSON.stringify(change)}`, () => {
      assert.throws(
        () => balancerBody({ ...plan, ...change }),
        (thrown) => isProviderError(thrown) && thrown.kind === 'unsupported' && says.test(thrown.message),
      );
    });
  }
});
