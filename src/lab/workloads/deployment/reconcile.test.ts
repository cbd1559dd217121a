import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { reconcileContext } from '../../../../test/support/reconcile-context.ts';
import { deployment } from '../../../../test/support/workload-objects.ts';
import type { Deployment } from '../../../api/generated/apps-v1.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import { DeploymentReconciler } from './reconcile.ts';

/** A client that can write the status of the Deployment and nothing else. */
function onlyStatus(web: Deployment) {
  const written: Deployment[] = [];
  const client = {
    live: { find: () => Promise.resolve(web) },
    updateStatus: (_kind: unknown, object: Deployment) => {
      written.push(object);
      return Promise.resolve(object);
    },
  };
  return { ...reconcileContext(client as unknown as KubeClient), written };
}

// The server refuses an empty selector; objects of an older one may have it all the same.
const everything = (observedGeneration: number) =>
  deployment(1, {
    generation: 3,
    spec: { selector: {} },
    status: { observedGeneration, replicas: 2 },
  });

describe('a Deployment that selects everything', () => {
  it('lab/W1: is warned of, and only the generation is said to be seen', async () => {
    const { context, told, written } = onlyStatus(everything(2));
    assert.deepEqual(await new DeploymentReconciler().reconcile(everything(2), context), {});
    assert.deepEqual(told, [
      'Warning SelectingAll This deployment is selecting all pods. A non-empty selector is required.',
    ]);
    assert.deepEqual(
      written.map(({ status }) => status),
      [{ observedGeneration: 3, replicas: 2 }],
    );
  });

  it('lab/W1: is not written again', async () => {
    const { context, written } = onlyStatus(everything(3));
    await new DeploymentReconciler().reconcile(everything(3), context);
    assert.deepEqual(written, []);
  });
});
