import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contractVersion, pluralOf } from './contract-kind.ts';

const [NEW, OLD] = ['cluster.x-k8s.io/v1beta2', 'cluster.x-k8s.io/v1beta1'];

describe('versions of infrastructure kinds', () => {
  for (const { name, labels, want } of [
    { name: 'the newer contract counts', labels: { [NEW]: 'v1beta2', [OLD]: 'v1beta1' }, want: 'v1beta2' },
    { name: 'the older one where there is no newer', labels: { [OLD]: 'v1beta1' }, want: 'v1beta1' },
    { name: 'the most mature of several', labels: { [NEW]: 'v1alpha3_v1beta1_v1alpha10' }, want: 'v1beta1' },
    { name: 'a stable one before all others', labels: { [NEW]: 'v1_v2beta1' }, want: 'v1' },
    { name: 'the higher number of two', labels: { [NEW]: 'v1beta2_v1beta10' }, want: 'v1beta10' },
    { name: 'nothing where nobody said anything', labels: {}, want: undefined },
  ])
    it(`agent/C15: ${name}`, () => assert.equal(contractVersion(labels), want));

  for (const [kind, plural] of [
    ['Metal3MachineTemplate', 'metal3machinetemplates'],
    ['Metal3Machine', 'metal3machines'],
    ['BoxProxy', 'boxproxies'],
    ['DevBox', 'devboxes'],
    ['Relay', 'relays'],
  ])
    it(`agent/C15: definitions of ${kind} are named by ${plural}`, () =>
      assert.equal(pluralOf(kind ?? ''), plural));
});
