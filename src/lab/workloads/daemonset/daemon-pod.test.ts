import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonPodOn, daemonSet, HASH } from '../../../../test/support/lab-daemons.ts';
import { daemonPod, isUpdated } from './daemon-pod.ts';

const GENERATION = 'deprecated.daemonset.template.generation';

describe('a daemon pod', () => {
  it('lab/W21: is bound to its node by name, whatever else the template required', () => {
    const preferred = [
      { weight: 1, preference: { matchExpressions: [{ key: 'a', operator: 'Exists' }] } },
    ] as const;
    const set = daemonSet({
      spec: {
        affinity: {
          podAntiAffinity: {},
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: preferred,
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: 'b', operator: 'Exists' }] }],
            },
          },
        },
      },
    });
    assert.deepEqual(daemonPod(set, HASH, 'n1').spec.affinity, {
      podAntiAffinity: {},
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: preferred,
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }],
        },
      },
    });
  });

  it('lab/W21: is named after its daemon set, owned by it and labelled with its template', () => {
    const { metadata } = daemonPod(daemonSet({ annotations: { [GENERATION]: '007' } }), HASH, 'n1');
    assert.equal(metadata.generateName, 'agent-');
    assert.deepEqual(metadata.labels, {
      app: 'agent',
      'controller-revision-hash': HASH,
      'pod-template-generation': '7',
    });
    assert.deepEqual(
      metadata.ownerReferences?.map(({ kind, uid, controller }) => [kind, uid, controller]),
      [['DaemonSet', 'uid-agent', true]],
    );
  });

  it('lab/W20: tolerates what daemon pods tolerate', () => {
    const { tolerations = [] } = daemonPod(daemonSet(), HASH, 'n1').spec;
    assert.equal(tolerations.length, 6);
  });

  const UPDATED: readonly (readonly [
    name: string,
    labels: Record<string, string>,
    annotation: string,
    is: boolean,
  ])[] = [
    ['of the newest hash', { 'controller-revision-hash': HASH }, 'x', true],
    ['of another hash', { 'controller-revision-hash': 'other' }, '1', false],
    ['of another hash and the newest count', { 'pod-template-generation': '2' }, '2', true],
    ['without count, where the set has none either', {}, 'x', false],
  ];
  for (const [name, labels, annotation, is] of UPDATED) {
    it(`lab/W24: ${name} is ${is ? 'updated' : 'outdated'}`, () => {
      const pod = daemonPodOn('n1');
      const relabelled = { ...pod, metadata: { ...pod.metadata, labels } };
      assert.equal(isUpdated(relabelled, daemonSet({ annotations: { [GENERATION]: annotation } }), HASH), is);
    });
  }
});
