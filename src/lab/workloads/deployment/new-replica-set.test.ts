import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deployment, replicaSet, template } from '../../../../test/support/workload-objects.ts';
import { templateHash } from '../pods/template-hash.ts';
import { newReplicaSet, replicaSetName } from './new-replica-set.ts';

describe('a ReplicaSet of a Deployment', () => {
  // From upstream's table for generateReplicaSetName, without a hash of 252 letters: a hash has ten at most.
  const names: [deployment: string, want: string][] = [
    ['my-deployment', 'my-deployment-abcde12345'],
    ['a'.repeat(242), `${'a'.repeat(242)}-abcde12345`],
    ['b'.repeat(250), `${'b'.repeat(242)}-abcde12345`],
  ];
  for (const [name, want] of names) {
    it(`lab/W3: of a name with ${name.length} characters has one with ${want.length}`, () => {
      assert.equal(replicaSetName(name, 'abcde12345'), want);
    });
  }

  const web = deployment(4, {
    maxSurge: '25%',
    maxUnavailable: '25%',
    annotations: { team: 'a', 'deployment.kubernetes.io/revision': '7' },
    spec: {
      minReadySeconds: 5,
      template: { ...template(), metadata: { labels: { app: 'web' }, annotations: { a: 'b' } } },
    },
  });
  const hash = templateHash(web.spec.template);

  it('lab/W3: has the hash in its name, its labels, its selector and its template', () => {
    const { metadata, spec } = newReplicaSet(web, []);
    const labels = { app: 'web', 'pod-template-hash': hash };
    assert.equal(metadata.name, `web-${hash}`);
    assert.equal(metadata.namespace, 'default');
    assert.deepEqual(metadata.labels, labels);
    assert.deepEqual(spec?.selector, { matchLabels: labels });
    assert.deepEqual(spec?.template, { ...web.spec.template, metadata: { labels, annotations: { a: 'b' } } });
    assert.equal(spec?.minReadySeconds, 5);
  });

  it('lab/W3: belongs to the Deployment', () => {
    assert.deepEqual(newReplicaSet(web, []).metadata.ownerReferences, [
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        name: 'web',
        uid: 'deployment-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
  });

  it('lab/W3: keeps expressions of the selector', () => {
    const matchExpressions = [{ key: 'app', operator: 'Exists' as const }];
    const { spec } = newReplicaSet(deployment(1, { spec: { selector: { matchExpressions } } }), []);
    assert.deepEqual(spec?.selector.matchExpressions, matchExpressions);
    assert.deepEqual(Object.keys(spec?.selector.matchLabels ?? {}), ['pod-template-hash']);
  });

  it('lab/W6: has the next revision, and says what the Deployment wants', () => {
    const old = replicaSet('old', 4, { annotations: { 'deployment.kubernetes.io/revision': '2' } });
    const { metadata, spec } = newReplicaSet(web, [old]);
    assert.deepEqual(metadata.annotations, {
      team: 'a',
      'deployment.kubernetes.io/revision': '3',
      'deployment.kubernetes.io/desired-replicas': '4',
      'deployment.kubernetes.io/max-replicas': '5',
    });
    assert.equal(spec?.replicas, 1);
  });

  it('lab/W5: has another name after a collision', () => {
    const collided = deployment(1, { status: { collisionCount: 1 } });
    assert.notEqual(newReplicaSet(collided, []).metadata.name, newReplicaSet(deployment(1), []).metadata.name);
  });
});
