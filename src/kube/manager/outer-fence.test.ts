import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigMap, Event as CoreEvent } from '../../api/generated/core-v1.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { TestEnv } from '../../testing/test-env.ts';
import { isLeadershipLost } from '../client/api-error.ts';
import { needs } from '../rbac/need.ts';

const WRITING = [needs(ConfigMap, ['create'])];
const configMap = (name: string) => ({ metadata: { name, namespace: 'default' } });

describe('a manager inside of another one', () => {
  it('runtime/E7: writes nothing once the outer fence is down', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG });
    const fence = { isValid: true, token: '7' };
    const manager = await env.startManager({ add: [], name: 'inner', fence, needs: WRITING });
    await manager.client.create(ConfigMap, configMap('before'));
    assert.equal(manager.isLeader, true);
    fence.isValid = false;
    await assert.rejects(manager.client.create(ConfigMap, configMap('after')), isLeadershipLost);
    assert.equal(manager.isLeader, false);
  });

  it('runtime/V5, ccm/S17: writes events in the core group, with the source that others look for', async () => {
    await using env = await TestEnv.start();
    const manager = await env.startManager({
      add: [],
      name: 'inner',
      eventSource: 'service-controller',
      needs: WRITING,
    });
    const object = await manager.client.create(ConfigMap, configMap('one'));
    manager.events.warning(object, 'SyncLoadBalancerFailed', 'Error syncing load balancer: no');
    await manager.events.flush();
    const { items } = await env.client.list(CoreEvent, { namespace: 'default' });
    const told = items.map(({ source, reason, type, message, count }) => ({
      source,
      reason,
      type,
      message,
      count,
    }));
    assert.deepEqual(told, [
      {
        source: { component: 'service-controller' },
        reason: 'SyncLoadBalancerFailed',
        type: 'Warning',
        message: 'Error syncing load balancer: no',
        count: 1,
      },
    ]);
    assert.ok(manager.needs.some(({ group, resource }) => group === '' && resource === 'events'));
    assert.ok(!manager.needs.some(({ group }) => group === 'events.k8s.io'));
  });
});
