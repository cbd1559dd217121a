import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClusterVersion, FeatureGate } from '../../api/openshift/config-v1.ts';
import {
  ClusterGates,
  changesGatesVersion,
  cloudFeatureGates,
  featureGates,
  observedGates,
} from './feature-gates.ts';

const STUB = '0.0.1-snapshot';
const named = (...names: readonly string[]) => names.map((name) => ({ name }));
const meta = { apiVersion: 'config.openshift.io/v1', metadata: { name: 'cluster' } };

const gate = (status?: NonNullable<FeatureGate['status']>): FeatureGate => ({
  ...meta,
  kind: 'FeatureGate',
  ...(status !== undefined && { status }),
});
const TWO_VERSIONS = gate({
  featureGates: [
    { version: '4.19.0', enabled: named('Old'), disabled: named('New') },
    { version: '4.20.0', enabled: named('New', 'Other'), disabled: named('Old') },
  ],
});
const clusterVersion = (status: NonNullable<ClusterVersion['status']>): ClusterVersion => ({
  ...meta,
  kind: 'ClusterVersion',
  status,
});

describe('observedGates', () => {
  it('operator/R14: takes the entry of the release, in the order of the cluster', () => {
    assert.deepEqual(observedGates(TWO_VERSIONS, '4.19.0', undefined)?.enabled, ['Old']);
    assert.deepEqual(observedGates(TWO_VERSIONS, '4.20.0', undefined)?.enabled, ['New', 'Other']);
  });

  const unobserved = [
    { name: 'has no status', given: gate() },
    { name: 'has an empty status', given: gate({}) },
    { name: 'says nothing about the version', given: TWO_VERSIONS, version: '4.21.0' },
    { name: 'is asked for no version at all', given: TWO_VERSIONS, version: STUB },
  ];
  for (const { name, given, version = '4.20.0' } of unobserved) {
    it(`operator/R14: has not observed anything while the FeatureGate ${name}`, () => {
      assert.equal(observedGates(given, version, undefined), undefined);
    });
  }

  const stubbed = [
    {
      name: 'the version that the cluster wants',
      status: { desired: { version: '4.20.0' } },
      want: ['New', 'Other'],
    },
    {
      name: 'the wanted version rather than the history',
      status: { desired: { version: '4.20.0' }, history: [{ version: '4.19.0' }] },
      want: ['New', 'Other'],
    },
    {
      name: 'the latest of the history where nothing is wanted',
      status: { history: [{ version: '4.19.0' }, { version: '4.20.0' }] },
      want: ['Old'],
    },
    {
      name: 'the last version that was installed while the wanted one is not known',
      status: {
        desired: { version: '4.21.0' },
        history: [
          { version: '4.21.0', state: 'Partial' },
          { version: '4.20.0', state: 'Completed' },
          { version: '4.19.0', state: 'Completed' },
        ],
      },
      want: ['New', 'Other'],
    },
    { name: 'nothing for a cluster without a version', status: {}, want: undefined },
  ];
  for (const { name, status, want } of stubbed) {
    it(`operator/R14: a release that was not stamped takes ${name}`, () => {
      assert.deepEqual(observedGates(TWO_VERSIONS, STUB, clusterVersion(status))?.enabled, want);
    });
  }

  const upgrading = clusterVersion({ desired: { version: '4.21.0' } });

  it('operator/R14: a release that was not stamped takes what held last rather than nothing', () => {
    const gates = new ClusterGates(STUB);
    assert.throws(() => gates.observed(TWO_VERSIONS, upgrading), /nothing about version 4\.21\.0 yet/);
    const installed = clusterVersion({ desired: { version: '4.20.0' } });
    assert.deepEqual(gates.observed(TWO_VERSIONS, installed).enabled, ['New', 'Other']);
    assert.deepEqual(gates.observed(TWO_VERSIONS, upgrading).enabled, ['New', 'Other']);
  });

  it('operator/R14: a stamped release takes nothing of another version', () => {
    const gates = new ClusterGates('4.20.0');
    assert.deepEqual(gates.observed(TWO_VERSIONS, undefined).enabled, ['New', 'Other']);
    assert.throws(() => gates.observed(gate({}), undefined), /nothing about version 4\.20\.0 yet/);
  });

  it('operator/R14: a change of the ClusterVersion matters when another version is meant', () => {
    const completed = clusterVersion({
      desired: { version: '4.21.0' },
      history: [{ version: '4.20.0', state: 'Completed' }],
    });
    assert.equal(changesGatesVersion({ old: upgrading, object: completed }), true);
    assert.equal(
      changesGatesVersion({ old: completed, object: { ...completed, metadata: { name: 'v' } } }),
      false,
    );
  });

  it('operator/R14: a stamped release does not look at the version of the cluster', () => {
    const other = clusterVersion({ desired: { version: '4.20.0' } });
    assert.deepEqual(observedGates(TWO_VERSIONS, '4.19.0', other)?.enabled, ['Old']);
  });

  it('operator/R15: a gate that nobody knows is off', () => {
    const gates = observedGates(TWO_VERSIONS, '4.20.0', undefined);
    assert.ok(gates);
    const answers = ['New', 'Old', 'Never'].map((name) => [gates.isKnown(name), gates.isEnabled(name)]);
    assert.deepEqual(answers, [
      [true, true],
      [true, false],
      [false, false],
    ]);
  });

  it('operator/R14: takes lists that are not there for empty ones', () => {
    const gates = observedGates(gate({ featureGates: [{ version: '4.20.0' }] }), '4.20.0', undefined);
    assert.deepEqual(gates?.enabled, []);
  });
});

describe('cloudFeatureGates', () => {
  const cases = [
    { name: 'nothing where nothing is on', on: [], off: ['CloudControllerManagerWebhook'], want: '' },
    { name: 'nothing of gates that only OpenShift has', on: ['VSphereMixedNodeEnv'], off: [], want: '' },
    {
      name: 'what is on, in the order of the cluster, and never what is off',
      on: [
        'ControllerManagerReleaseLeaderElectionLockOnExit',
        'VSphereMixedNodeEnv',
        'CloudControllerManagerWebhook',
      ],
      off: ['CloudControllerManagerWatchBasedRoutesReconciliation'],
      want: 'ControllerManagerReleaseLeaderElectionLockOnExit=true,CloudControllerManagerWebhook=true',
    },
    {
      name: 'the third gate',
      on: ['CloudControllerManagerWatchBasedRoutesReconciliation'],
      off: [],
      want: 'CloudControllerManagerWatchBasedRoutesReconciliation=true',
    },
  ];
  for (const { name, on, off, want } of cases) {
    it(`operator/R13: says ${name}`, () => {
      assert.equal(cloudFeatureGates(featureGates(on, off)), want);
    });
  }
});
