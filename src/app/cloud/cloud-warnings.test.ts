import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Event } from '../../api/generated/core-v1.ts';
import { isLasting } from './cloud-warnings.ts';

const NOW = new Date('2030-01-01T00:01:00Z');

const warning = (reason: string, agoSeconds?: number, name = 'n-1'): Event => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { namespace: 'default', name: `${name}.${agoSeconds}` },
  type: 'Warning',
  reason,
  involvedObject: { kind: 'Node', name },
  ...(agoSeconds !== undefined && { firstTimestamp: new Date(NOW.getTime() - agoSeconds * 1000).toISOString() }),
});

describe('isLasting', () => {
  const cases = [
    { name: 'nothing', warnings: [], want: false },
    { name: 'credentials that are refused for long', warnings: [warning('CloudUnauthenticated', 10)], want: true },
    { name: 'a provider that throws for long', warnings: [warning('CloudUnknown', 30)], want: true },
    { name: 'one that has just begun to throw', warnings: [warning('CloudUnknown', 9)], want: false },
    { name: 'a cloud that may come back', warnings: [warning('CloudUnavailable', 60)], want: false },
    { name: 'a machine that may appear', warnings: [warning('CloudNotFound', 60)], want: false },
    {
      name: 'a refusal after which the cloud went down',
      warnings: [warning('CloudUnavailable', 1), warning('CloudDenied', 60)],
      want: false,
    },
    {
      name: 'the same refusal in other words',
      warnings: [warning('CloudDenied', 1), warning('CloudDenied', 20)],
      want: true,
    },
    {
      name: 'a refusal that another node met before',
      warnings: [warning('CloudDenied', 1), warning('CloudDenied', 20, 'n-2')],
      want: false,
    },
    {
      name: 'a load balancer, whose warnings do not say of which kind they are',
      warnings: [warning('SyncLoadBalancerFailed', 60)],
      want: false,
    },
    { name: 'a warning without a time', warnings: [warning('CloudDenied')], want: false },
  ];
  for (const { name, warnings, want } of cases)
    it(`experience/X31: says ${want} of ${name}`, () => {
      assert.equal(isLasting(warnings, NOW), want);
    });
});
