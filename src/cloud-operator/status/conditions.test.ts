import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClusterOperator } from '../../api/openshift/config-v1.ts';
import { available, degraded, isVersionReported, overridden, progressing, stillAvailable } from './conditions.ts';
import type { OperatorCondition } from './operator-status.ts';

const lines = (conditions: readonly OperatorCondition[]): readonly string[] =>
  conditions.map(({ type, status, reason, message }) => `${type}=${status}/${reason} ${message}`.trim());

const reporting = (...versions: readonly string[]): ClusterOperator => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'ClusterOperator',
  metadata: { name: 'ccm' },
  status: { versions: versions.map((version) => ({ name: 'operator', version })) },
});

describe('conditions of the cloud operator', () => {
  it('operator/R50: available, with the version', () => {
    const { conditions, versions } = available({ version: '4.21.0' });
    assert.deepEqual(lines(conditions), [
      'Available=True/AsExpected Cluster Cloud Controller Manager Operator is available at 4.21.0',
      'Progressing=False/AsExpected',
      'Degraded=False/AsExpected',
      'Upgradeable=True/AsExpected',
    ]);
    assert.deepEqual(versions, [{ name: 'operator', version: '4.21.0' }]);
  });

  it('operator/R51: progressing towards a version that is not reported yet, or in place', () => {
    assert.deepEqual(lines(progressing({ version: '4.21.0', isVersionReported: false })), [
      'Progressing=True/SyncingResources Progressing towards operator: 4.21.0',
      'Upgradeable=True/AsExpected',
    ]);
    assert.deepEqual(lines(progressing({ version: '4.21.0', isVersionReported: true })), [
      'Progressing=True/AsExpected',
      'Upgradeable=True/AsExpected',
    ]);
  });

  it('operator/R53: degraded in plain words, and not to be upgraded for the same reason', () => {
    const message = (isVersionReported_: boolean) =>
      lines(degraded({ version: '1', isVersionReported: isVersionReported_, problem: 'it rains' }));
    assert.deepEqual(message(false), [
      'Degraded=True/SyncingFailed Failed when progressing towards operator: 1 because it rains',
      'Upgradeable=False/OperandSyncFailed Failed when progressing towards operator: 1 because it rains',
    ]);
    assert.deepEqual(
      message(true)[0],
      'Degraded=True/SyncingFailed Failed to resync for operator: 1 because it rains',
    );
  });

  it('operator/R54: what a provider says wins, also where the operator says nothing', () => {
    const preview = {
      type: 'Upgradeable',
      status: 'False',
      reason: 'PlatformTechPreview',
      message: 'try',
    } as const;
    const more = { type: 'More', status: 'True', reason: 'Because', message: '' } as const;
    const all = lines(overridden(available({ version: '1' }).conditions, [preview, more]));
    assert.equal(
      all.filter((line) => line.startsWith('Upgradeable')).join(),
      'Upgradeable=False/PlatformTechPreview try',
    );
    assert.ok(all.includes('More=True/Because'));
  });

  it('operator/R51, operator/D3: words of a state that is over are replaced, the status stays', () => {
    const saying = (status: 'True' | 'False', reason: string): ClusterOperator => ({
      ...reporting('1'),
      status: { conditions: [{ type: 'Available', status, reason, message: 'gone', lastTransitionTime: '' }] },
    });
    const told = (object: ClusterOperator | undefined) => lines(stillAvailable(object, '2'));
    const text = 'SyncingResources Progressing towards operator: 2';
    assert.deepEqual(told(saying('True', 'Removed')), [`Available=True/${text}`]);
    assert.deepEqual(told(saying('False', 'KubeletNotExternal')), [`Available=False/${text}`]);
    for (const object of [undefined, reporting('1'), saying('True', 'AsExpected')])
      assert.deepEqual(told(object), []);
  });

  it('operator/R51: a version counts as reported when it is the only one', () => {
    assert.equal(isVersionReported(reporting('1'), '1'), true);
    assert.equal(isVersionReported(reporting('1', '2'), '1'), false);
    assert.equal(isVersionReported(reporting(), '1'), false);
    assert.equal(isVersionReported(undefined, '1'), false);
  });
});
