import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { isPodNews } from './pod-news.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default', uid: 'u', labels: { app: 'web' }, resourceVersion: '1' },
  spec: { containers: [], schedulingGates: [{ name: 'example.com/a' }] },
  status: { phase: 'Pending' },
};

const changes: readonly { readonly it: string; readonly now: Pod; readonly isNews: boolean }[] = [
  { it: 'nothing', now: { ...pod, metadata: { ...pod.metadata, resourceVersion: '2' } }, isNews: false },
  { it: 'its status', now: { ...pod, status: { phase: 'Pending', podIP: '10.16.32.1' } }, isNews: false },
  { it: 'its phase', now: { ...pod, status: { phase: 'Failed' } }, isNews: true },
  { it: 'its labels', now: { ...pod, metadata: { ...pod.metadata, labels: {} } }, isNews: true },
  { it: 'its node', now: { ...pod, spec: { ...pod.spec, nodeName: 'n1' } }, isNews: true },
  { it: 'what it asks for', now: { ...pod, spec: { ...pod.spec, schedulingGates: [] } }, isNews: true },
];

describe('news of pods', () => {
  for (const { it: what, now, isNews } of changes)
    it(`lab/K7: ${what} is ${isNews ? '' : 'not '}news, also where the server counts no generations`, () => {
      assert.equal(
        isPodNews({ type: 'update', old: pod, object: now, isInInitialList: false, isFinalStateUnknown: false }),
        isNews,
      );
    });

  it('lab/K7: every pod that comes or goes is news', () => {
    assert.ok(isPodNews({ type: 'create', object: pod, isInInitialList: true, isFinalStateUnknown: false }));
    assert.ok(isPodNews({ type: 'delete', object: pod, isInInitialList: false, isFinalStateUnknown: false }));
  });
});
