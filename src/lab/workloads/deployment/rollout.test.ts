import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ago, deployment, replicaSet, template } from '../../../../test/support/workload-objects.ts';
import type { PodTemplateSpec } from '../../../api/generated/core-v1.ts';
import { HASH_LABEL, isSameTemplate, rolloutOf } from './rollout.ts';

const hashed = (hash: string, labels: Record<string, string> = { something: 'else' }, image = 'web:1') =>
  template(image, { ...labels, [HASH_LABEL]: hash });
const plain = template('web:1', { something: 'else' });

describe('the new ReplicaSet', () => {
  // From upstream's table for EqualIgnoreHash.
  const pairs: { name: string; one: PodTemplateSpec; other: PodTemplateSpec; same: boolean }[] = [
    { name: 'all is equal', one: hashed('1'), other: hashed('1'), same: true },
    { name: 'only the hash differs', one: hashed('1'), other: hashed('2'), same: true },
    { name: 'one has no hash', one: plain, other: hashed('2'), same: true },
    { name: 'one has only the hash', one: plain, other: hashed('2', {}), same: false },
    { name: 'the hash is equal and a label is missing', one: hashed('1', {}), other: hashed('1'), same: false },
    {
      name: 'the spec differs',
      one: hashed('1'),
      other: hashed('1', { something: 'else' }, 'web:2'),
      same: false,
    },
    { name: 'labels and spec differ', one: plain, other: template('web:2', { nothing: 'else' }), same: false },
    {
      name: 'one says that it has no annotations, and a time that is none',
      one: plain,
      other: { ...plain, metadata: { ...plain.metadata, annotations: {}, creationTimestamp: null } },
      same: true,
    },
    {
      name: 'a quantity is written in another way',
      one: withCpu('1'),
      other: withCpu('1000m'),
      same: true,
    },
    { name: 'a quantity differs', one: withCpu('1'), other: withCpu('2'), same: false },
  ];
  for (const { name, one, other, same } of pairs) {
    it(`lab/W2: is ${same ? 'the same' : 'another'} template when ${name}`, () => {
      assert.equal(isSameTemplate(one, other), same);
      assert.equal(isSameTemplate(other, one), same);
    });
  }

  // From upstream's tables for FindNewReplicaSet and FindOldReplicaSets.
  const fresh = replicaSet('new', 1, { template: hashed('1', { app: 'web' }), created: ago(0) });
  const twin = replicaSet('twin', 1, { template: hashed('2', { app: 'web' }), created: ago(60) });
  const old = replicaSet('old', 1, { template: template('web:0'), created: ago(120) });
  const cases = [
    { name: 'is the one with the template', sets: [fresh, old], newSet: fresh, oldSets: [old] },
    { name: 'is the oldest of several', sets: [fresh, old, twin], newSet: twin, oldSets: [old, fresh] },
    { name: 'is missing', sets: [old], newSet: undefined, oldSets: [old] },
    { name: 'is alone', sets: [fresh], newSet: fresh, oldSets: [] },
  ];
  for (const { name, sets, newSet, oldSets } of cases) {
    it(`lab/W2: ${name}`, () => {
      const web = deployment(1);
      assert.deepEqual(rolloutOf(web, sets), { deployment: web, newSet, oldSets });
    });
  }

  it('lab/W2: sets of the same second are told apart by their names', () => {
    const [a, b] = [replicaSet('a', 1), replicaSet('b', 1)];
    assert.equal(rolloutOf(deployment(1), [b, a]).newSet, a);
  });
});

function withCpu(cpu: string): PodTemplateSpec {
  return { spec: { containers: [{ name: 'web', resources: { requests: { cpu } } }] } };
}
