import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SlipwayError } from '../../base/errors.ts';
import { checkLabels, doubtfulLabels, refusedLabels } from './label-check.ts';

const specWith = (...kubeletExtraLabels: readonly string[]) => ({ nodeRegistration: { kubeletExtraLabels } });
const refused = (...labels: readonly string[]) => refusedLabels(specWith(...labels), 'spec');

describe('labels of a node before it is one', () => {
  for (const label of [
    'a=b',
    'a=',
    ' a = b ',
    'a=b,c=d',
    'a,b=c',
    'metal3.io/uuid=$METADATA_UUID',
    'a="${METADATA_UUID}"',
    'a=b c-${METADATA_NAME}',
    'a=b,$METADATA_KEY=c',
    'node.kubernetes.io/a=$METADATA_NAME',
    'node-role.kubernetes.io/infra=',
    'no label',
  ])
    it(`lets ${JSON.stringify(label)} pass: a kubelet may take it`, () => assert.deepEqual(refused(label), []));

  for (const [label, want] of [
    ['a b=c', /name part must consist of alphanumeric/],
    ['a=b c', /a valid label must be an empty string or consist of/],
    ['a=b,c=-', /a valid label must be/],
    ['a=b\nc', /a valid label must be/],
    ['a="b"', /a valid label must be/],
    ['$METADATA_KEY=b', /name part must consist of alphanumeric/],
    ['kubernetes.io/role=infra', /begin with kubelet\.kubernetes\.io\/ or node\.kubernetes\.io\//],
    ['app.kubernetes.io/name=$METADATA_NAME', /begin with kubelet/],
    ['a=b,k8s.io/c=$METADATA_NAME', /begin with kubelet/],
  ] as const)
    it(`refuses ${JSON.stringify(label)}: no kubelet starts with it`, () => {
      const [problem = '', ...others] = refused('x=y', label);
      assert.deepEqual(others, []);
      const found = `spec.nodeRegistration.kubeletExtraLabels[1] is ${JSON.stringify(label)}, and a kubelet that is`;
      assert.ok(problem.startsWith(found), problem);
      assert.match(problem, want);
      assert.match(problem, /; correct it, or remove it$/);
    });

  it('judges the last of those with one key, which is the one that counts', () => {
    assert.deepEqual(refused('a=b c', 'a=b'), []);
    assert.match(refused('a=b', 'a=b c').join(), /kubeletExtraLabels\[1\]/);
  });

  it('throws what is refused, as what a user has to correct', () => {
    checkLabels({});
    checkLabels(specWith('a=b'));
    assert.throws(
      () => checkLabels(specWith('a=b c', 'd=e f')),
      (error) =>
        error instanceof SlipwayError &&
        error.disposition === 'user' &&
        error.reason === 'InvalidNodeLabel' &&
        error.message.includes('[0]'),
    );
  });

  it('doubts what is no label, and roles that OpenShift does not give by itself', () => {
    const spec = specWith('alone', 'node-role.kubernetes.io/infra=', 'node-role.kubernetes.io/worker=', 'a=b');
    const [ignored, role, ...others] = doubtfulLabels(spec, 'spec.template.spec');
    assert.match(ignored ?? '', /^spec\.template\.spec\.node.*\[0\] is "alone", which has no "=" and is ignored/);
    assert.match(role ?? '', /\[1\] is .*may refuse to give itself a role.*label the node when it is there$/);
    assert.deepEqual(others, []);
  });
});
