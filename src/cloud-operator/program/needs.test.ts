import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { registryOf } from '../../../test/support/cloud-operator-world.ts';
import type { KubeObject } from '../../api/object.ts';
import { APPLIED_KINDS } from '../apply/applier.ts';
import { programNeeds } from './needs.ts';
import { CLOUD_OPERATOR } from './run-operator.ts';

const namespace = 'openshift-acme-cloud-controller-manager';
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'acme-cloud-controller-manager', namespace },
  spec: {
    selector: { matchLabels: { app: 'acme' } },
    template: {
      metadata: { labels: { app: 'acme' } },
      spec: { containers: [{ name: 'cloud-controller-manager', image: 'example.com/acme' }] },
    },
  },
} as KubeObject;

const registry = registryOf({
  id: 'acme',
  match: { type: 'External' },
  images: {},
  assets: { objects: [deployment] },
});

/** `deployments: managed`, of what can be changed. */
function changeable(...argv: readonly string[]): readonly string[] {
  const places = programNeeds(CLOUD_OPERATOR, { argv, registry })
    .filter(({ verbs }) => verbs.includes('delete'))
    .map(({ resource, namespace: where = '' }) => `${resource}: ${where}`);
  return [...new Set(places)].toSorted();
}

describe('what the program of the cloud operator needs', () => {
  it('operator/R92: is to change what the chosen provider deploys, and nothing else', () => {
    const local = ['deployments', 'poddisruptionbudgets', 'services'].map((one) => `${one}: ${namespace}`);
    assert.deepEqual(changeable('--provider=acme', '--prune=false'), local);
  });

  it('operator/R47, operator/R92: is to find and delete whatever an earlier definition may have had, where it prunes', () => {
    const pruning = programNeeds(CLOUD_OPERATOR, { argv: ['--provider=acme'], registry }).filter(
      ({ verbs }) => verbs.join() === 'list,delete',
    );
    const places = pruning.map(({ resource, namespace: where = '' }) => `${resource}: ${where}`);
    const local = APPLIED_KINDS.filter(({ scope }) => scope === 'Namespaced');
    assert.deepEqual(places.toSorted(), local.map(({ plural }) => `${plural}: ${namespace}`).toSorted());
  });

  it('operator/R92: is to change what any platform deploys where the cluster decides', () => {
    const managed = 'openshift-cloud-controller-manager';
    assert.deepEqual(
      changeable().filter((one) => !one.endsWith(namespace)),
      [
        'clusterrolebindings: ',
        'clusterroles: ',
        `daemonsets: ${managed}`,
        `deployments: ${managed}`,
        `poddisruptionbudgets: ${managed}`,
        'rolebindings: kube-system',
        `rolebindings: ${managed}`,
        'roles: kube-system',
        `roles: ${managed}`,
        `services: ${managed}`,
        'validatingadmissionpolicies: ',
        'validatingadmissionpolicybindings: ',
      ],
    );
  });
});
