import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { balancedService, FINALIZER, type ServiceInput } from '../../../test/support/balanced-services.ts';
import type { ServicePort } from '../../api/generated/core-v1.ts';
import { isWorkWhenAdded, isWorkWhenUpdated, needsCleanup, needsUpdate, wantsBalancer } from './triggers.ts';

const GONE = '2026-01-01T00:00:00Z';
const PORT: ServicePort = { name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30080 };
const port = (change: Partial<ServicePort>): ServiceInput => ({ spec: { ports: [{ ...PORT, ...change }] } });
const cluster: ServiceInput = { spec: { type: 'ClusterIP' } };
const classed: ServiceInput = { spec: { loadBalancerClass: 'example.com/x' } };
const held = (input: ServiceInput, deletionTimestamp?: string): ServiceInput => ({
  ...input,
  metadata: { finalizers: [FINALIZER], ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
});

describe('what a Service asks for', () => {
  const cases: readonly {
    readonly name: string;
    readonly given: ServiceInput;
    readonly want: [boolean, boolean];
  }[] = [
    { name: 'a balancer', given: {}, want: [true, false] },
    { name: 'no balancer', given: cluster, want: [false, false] },
    { name: 'a balancer of somebody else', given: classed, want: [false, false] },
    { name: 'a balancer that is there', given: held({}), want: [true, false] },
    { name: 'no balancer any more', given: held(cluster), want: [false, true] },
    { name: 'to be deleted', given: held({}, GONE), want: [true, true] },
    { name: 'to be deleted with a class', given: held(classed, GONE), want: [false, true] },
    {
      name: 'to be deleted without our finalizer',
      given: { metadata: { deletionTimestamp: GONE } },
      want: [true, false],
    },
  ];
  for (const { name, given, want } of cases)
    it(`ccm/S1, ccm/C16: knows a Service that asks for ${name}`, () => {
      const service = balancedService(given);
      assert.deepEqual([wantsBalancer(service), needsCleanup(service)], want);
      assert.equal(isWorkWhenAdded(service), want[0] || want[1]);
    });
});

describe('what makes a balancer be ensured again', () => {
  const changes: readonly { readonly name: string; readonly old?: ServiceInput; readonly now: ServiceInput }[] = [
    { name: 'it asks for a balancer now', old: cluster, now: {} },
    { name: 'it asks for none any more', now: cluster },
    { name: 'loadBalancerSourceRanges', now: { spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } } },
    { name: 'one port more', now: { spec: { ports: [PORT, { ...PORT, name: 'b', port: 81 }] } } },
    {
      name: 'the order of ports',
      old: { spec: { ports: [PORT, { ...PORT, name: 'b', port: 81 }] } },
      now: { spec: { ports: [{ ...PORT, name: 'b', port: 81 }, PORT] } },
    },
    { name: 'the name of a port', now: port({ name: 'other' }) },
    { name: 'the protocol of a port', now: port({ protocol: 'UDP' }) },
    { name: 'the number of a port', now: port({ port: 81 }) },
    { name: 'a nodePort', now: port({ nodePort: 30081 }) },
    { name: 'a targetPort', now: port({ targetPort: 'http' }) },
    { name: 'an appProtocol', now: port({ appProtocol: 'https' }) },
    { name: 'sessionAffinity', now: { spec: { sessionAffinity: 'ClientIP' } } },
    {
      name: 'sessionAffinityConfig',
      now: { spec: { sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } } },
    },
    { name: 'loadBalancerIP', now: { spec: { loadBalancerIP: '203.0.113.9' } } },
    { name: 'one externalIP more', now: { spec: { externalIPs: ['203.0.113.9'] } } },
    {
      name: 'the order of externalIPs',
      old: { spec: { externalIPs: ['203.0.113.8', '203.0.113.9'] } },
      now: { spec: { externalIPs: ['203.0.113.9', '203.0.113.8'] } },
    },
    { name: 'an annotation', now: { metadata: { annotations: { a: 'b' } } } },
    { name: 'the uid', now: { metadata: { uid: 'another' } } },
    { name: 'externalTrafficPolicy', now: { spec: { externalTrafficPolicy: 'Local' } } },
    { name: 'healthCheckNodePort', now: { spec: { healthCheckNodePort: 31000 } } },
    { name: 'the number of ipFamilies', now: { spec: { ipFamilies: ['IPv4', 'IPv6'] } } },
  ];
  for (const { name, old, now } of changes)
    it(`ccm/S3: is a change of ${name}`, () => {
      assert.equal(needsUpdate(balancedService(old), balancedService(now)), true);
      assert.equal(isWorkWhenUpdated(balancedService(old), balancedService(now)), true);
    });

  const others: readonly { readonly name: string; readonly old?: ServiceInput; readonly now: ServiceInput }[] = [
    { name: 'labels', now: { metadata: { labels: { a: 'b' } } } },
    { name: 'finalizers', now: { metadata: { finalizers: [FINALIZER] } } },
    { name: 'the version', now: { metadata: { resourceVersion: '7' } } },
    { name: 'the selector', now: { spec: { selector: { a: 'b' } } } },
    { name: 'internalTrafficPolicy', now: { spec: { internalTrafficPolicy: 'Local' } } },
    { name: 'which ipFamilies', now: { spec: { ipFamilies: ['IPv6'] } } },
    { name: 'the status', now: { status: { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } } } },
    { name: 'a Service that is nobody’s', old: cluster, now: { spec: { type: 'NodePort' } } },
    {
      name: 'a Service of another class',
      old: classed,
      now: { ...classed, metadata: { annotations: { a: 'b' } } },
    },
    {
      name: 'nothing: empty and absent are the same',
      now: { metadata: { annotations: {} }, spec: { externalIPs: [] } },
    },
  ];
  for (const { name, old, now } of others)
    it(`ccm/S3: is not a change of ${name}`, () => {
      assert.equal(needsUpdate(balancedService(old), balancedService(now)), false);
    });

  it('ccm/S4: is not being told again, unless there is something to clean up', () => {
    const same = (input: ServiceInput) => isWorkWhenUpdated(balancedService(input), balancedService(input));
    assert.equal(same({}), false);
    assert.equal(same(held({})), false);
    assert.equal(same(held(cluster)), true);
    assert.equal(same(held({}, GONE)), true);
  });
});
