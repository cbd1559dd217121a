import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AWS_DEPLOYMENT,
  infrastructure,
  NAMES,
  put,
  startOnAws,
} from '../../../test/support/cloud-operator-world.ts';
import { Deployment } from '../../api/generated/apps-v1.ts';
import { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import { ClusterRole } from '../../api/generated/rbac-v1.ts';
import { Infrastructure } from '../../api/openshift/config-v1.ts';
import { MANAGED_BY } from './operands.ts';

describe('two cloud operators in one cluster', () => {
  it('operator/R47, operator/D1: leave each other what they deployed, by the name of their ClusterOperator', async () => {
    const { env } = await startOnAws({ prune: true });
    await using _env = env;
    const { metadata, spec } = await env.client.live.get(Deployment, AWS_DEPLOYMENT);
    assert.equal(metadata.labels?.[MANAGED_BY], NAMES.clusterOperator);
    // On pods it would restart them all when the operator takes over.
    assert.equal(spec.template.metadata?.labels?.[MANAGED_BY], undefined);
    const labels = { [MANAGED_BY]: 'acme-cloud-controller-manager' };
    await env.client.create(ClusterRole, { metadata: { name: 'acme', labels }, rules: [] });
    await env.client.create(ClusterRole, {
      metadata: { name: 'left', labels: { [MANAGED_BY]: NAMES.clusterOperator } },
      rules: [],
    });
    await put(
      env.client,
      Infrastructure,
      infrastructure({ type: 'AWS' }, { controlPlaneTopology: 'SingleReplica' }),
    );
    await env.settle();
    const budget = { namespace: NAMES.managedNamespace, name: 'aws-cloud-controller-manager' };
    assert.equal(await env.client.live.find(PodDisruptionBudget, budget), undefined);
    assert.equal(await env.client.live.find(ClusterRole, { name: 'left' }), undefined);
    assert.ok(await env.client.live.find(ClusterRole, { name: 'acme' }));
  });
});
