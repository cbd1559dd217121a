import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { balancerNetwork } from '../../../../test/support/balancer-world.ts';
import { type Body, cloudWorld, pretendAddresses } from '../../../../test/support/cloud-world.ts';
import { loadBalancers } from './load-balancers.ts';

const network = { ...balancerNetwork, owns: (address: string) => /^(10|127)\.9\./.test(address) };
const hold = () => ({ [Symbol.dispose]: () => undefined });

interface Row {
  readonly rule: string;
  readonly it: string;
  readonly body: Body;
  readonly want: string;
  readonly target: string;
}

const listeners = [{ port: 80, targetPort: 30080 }];
const target = { address: '10.9.20.1' };
const refusals: readonly Row[] = [
  {
    rule: 'C18',
    it: 'a port twice',
    body: { listeners: [...listeners, ...listeners] },
    want: '409 InUse',
    target: 'listeners.1.port',
  },
  {
    rule: 'C18',
    it: 'UDP',
    body: { listeners: [{ ...listeners[0], protocol: 'udp' }] },
    want: '400 InvalidArgument',
    target: 'listeners.0.protocol',
  },
  { rule: 'C18', it: 'no listeners', body: { listeners: [] }, want: '400 InvalidArgument', target: 'listeners' },
  {
    rule: 'C18',
    it: 'a port that is none',
    body: { listeners: [{ port: 0, targetPort: 1 }] },
    want: '400 InvalidArgument',
    target: 'listeners.0.port',
  },
  {
    rule: 'C15',
    it: 'a target without a name',
    body: { targets: [{}] },
    want: '400 InvalidArgument',
    target: 'targets.0',
  },
  {
    rule: 'C15',
    it: 'a target with two names',
    body: { targets: [{ instanceId: 'i-1', ...target }] },
    want: '400 InvalidArgument',
    target: 'targets.0',
  },
  {
    rule: 'C15',
    it: 'a target twice',
    body: { targets: [target, target] },
    want: '400 InvalidArgument',
    target: 'targets.1',
  },
  {
    rule: 'C15',
    it: 'an unknown instance',
    body: { targets: [{ instanceId: 'i-1' }] },
    want: '404 NotFound',
    target: 'targets.0.instanceId',
  },
  {
    rule: 'C15',
    it: 'a target outside the lab',
    body: { targets: [{ address: '192.168.1.1' }] },
    want: '400 InvalidArgument',
    target: 'targets.0.address',
  },
  {
    rule: 'C15',
    it: 'a path that is none',
    body: { healthCheck: { path: 'healthz' } },
    want: '400 InvalidArgument',
    target: 'healthCheck.path',
  },
  {
    rule: 'C15',
    it: 'a misspelled health check',
    body: { healthCheck: { intervalSecond: 5 } },
    want: '400 UnknownField',
    target: 'healthCheck.intervalSecond',
  },
  {
    rule: 'C16',
    it: 'a range that is none',
    body: { sourceRanges: ['10.0.0.0/8', '10.0.0.1'] },
    want: '400 InvalidArgument',
    target: 'sourceRanges.1',
  },
  {
    rule: 'C17',
    it: 'an unknown version',
    body: { listeners: [{ ...listeners[0], proxyProtocol: 'v3' }] },
    want: '400 InvalidArgument',
    target: 'listeners.0.proxyProtocol',
  },
];

describe('wishes for load balancers', () => {
  for (const { rule, it: sentence, body, want, target: at } of refusals)
    it(`lab/${rule}: are refused with ${sentence}`, async () => {
      const kinds = [loadBalancers({ network, hold })];
      await using world = await cloudWorld({ addresses: pretendAddresses(9), kinds });
      const answer = await world.ask('POST', '/v1/load-balancers', {
        body: { name: 'web', listeners, ...body },
      });
      assert.deepEqual([`${answer.status} ${String(answer.error['code'])}`, answer.error['target']], [want, at]);
    });
});
