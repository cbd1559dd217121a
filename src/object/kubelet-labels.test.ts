import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isRoleLabel, kubeletLabelProblems, nodeLabelsOf } from './kubelet-labels.ts';

describe('labels that a kubelet gives its node', () => {
  for (const key of [
    'rack',
    'metal3.io/uuid',
    'cluster.x-k8s.io/a',
    'node.openshift.io/os_id',
    'kubernetes.io/hostname',
    'topology.kubernetes.io/zone',
    'node.kubernetes.io/instance-type',
    'node.kubernetes.io/anything',
    'a.kubelet.kubernetes.io/b',
    'notkubernetes.io/a',
  ])
    it(`takes ${key}`, () => assert.deepEqual(kubeletLabelProblems(key, 'a'), []));

  for (const key of [
    'kubernetes.io/role',
    'app.kubernetes.io/name',
    'k8s.io/a',
    'x.k8s.io/a',
    'topology.kubernetes.io/rack',
  ])
    it(`refuses ${key}, and says what is taken`, () => {
      const [problem, ...others] = kubeletLabelProblems(key, 'a');
      assert.match(problem ?? '', /begin with kubelet\.kubernetes\.io\/ or node\.kubernetes\.io\/, and beta\./);
      assert.deepEqual(others, []);
    });

  for (const [key, value, want] of [
    ['', 'a', /name part must be non-empty/],
    ['a b', 'c', /must consist of alphanumeric/],
    ['a/b/c', 'd', /a valid label key/],
    ['a', 'b c', /a valid label must be an empty string or/],
    ['a', '-b', /start and end with an alphanumeric/],
    ['a', 'b'.repeat(64), /no more than 63 bytes/],
  ] as const)
    it(`refuses ${key}=${value.slice(0, 8)}`, () => assert.match(kubeletLabelProblems(key, value).join(), want));

  it('does not judge roles: whose kubelet it is decides', () => {
    assert.deepEqual(kubeletLabelProblems('node-role.kubernetes.io/infra', ''), []);
    assert.deepEqual(
      ['node-role.kubernetes.io/infra', 'a.node-role.kubernetes.io/b', 'node-role.kubernetes.io'].map(isRoleLabel),
      [true, false, false],
    );
  });

  it('are read from the flag with blanks around them taken away, and without a value where there is none', () => {
    assert.deepEqual(nodeLabelsOf(' a = b ,c,,d=e=f'), [
      ['a', 'b'],
      ['c', ''],
      ['d', 'e=f'],
    ]);
    assert.deepEqual(nodeLabelsOf(''), []);
  });
});
