import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rulesFrom } from '../../kube/rbac/rules.ts';
import { agentNeeds } from './needs.ts';

const verbsOn = (provider: 'bootstrap' | 'control-plane', group: string, resource: string): readonly string[] =>
  [
    ...new Set(
      agentNeeds(provider)
        .filter((need) => need.group === group && need.resource === resource)
        .flatMap(({ verbs }) => verbs),
    ),
  ].toSorted();

describe('what the Agent providers need', () => {
  it('agent/P3: becomes roles, of which one speaks of kinds that nobody can name yet', () => {
    const wild = (['bootstrap', 'control-plane'] as const).map((provider) =>
      rulesFrom(agentNeeds(provider).filter(({ namespace }) => namespace === undefined)).filter(({ resources }) =>
        resources.includes('*'),
      ),
    );
    assert.deepEqual(wild, [
      [],
      [
        {
          apiGroups: ['infrastructure.cluster.x-k8s.io'],
          resources: ['*'],
          verbs: ['get', 'list', 'watch', 'create', 'delete'],
        },
      ],
    ]);
  });

  it('agent/P3: neither provider may change what it only reads', () => {
    const reading = ['get', 'list', 'watch'];
    assert.deepEqual(verbsOn('bootstrap', 'cluster.x-k8s.io', 'machines'), reading);
    assert.deepEqual(verbsOn('bootstrap', 'cluster.x-k8s.io', 'clusters'), reading);
    assert.deepEqual(verbsOn('bootstrap', 'extensions.hive.openshift.io', 'agentclusterinstalls'), reading);
    assert.deepEqual(verbsOn('control-plane', 'cluster.x-k8s.io', 'clusters'), reading);
    assert.deepEqual(verbsOn('control-plane', 'agent-install.openshift.io', 'infraenvs'), []);
  });

  it('agent/P1, agent/P3: has its Lease where it is installed, and only when it stands for election', () => {
    const leases = (...argv: readonly string[]) =>
      agentNeeds('bootstrap', argv).filter(({ resource }) => resource === 'leases');
    assert.deepEqual(
      [...new Set(leases('--leader-elect').map(({ namespace }) => namespace))],
      ['capoa-bootstrap-system'],
    );
    assert.deepEqual(leases(), []);
  });

  it('agent/P4: reads how TLS is wanted where something is served over it', () => {
    const asks = (...argv: readonly string[]) =>
      agentNeeds('control-plane', argv).some(({ group }) => group === 'config.openshift.io');
    assert.deepEqual([asks(), asks('--webhook-port=0')], [true, false]);
  });
});
