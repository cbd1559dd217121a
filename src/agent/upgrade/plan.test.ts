import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClusterVersion } from '../../api/openshift/config-v1.ts';
import { isDesiredVersion, isRequested, upgradeConditions, upgradeStep, versionProgress } from './plan.ts';

type Status = NonNullable<ClusterVersion['status']>;
const clusterVersion = (status: Status, desiredUpdate?: object): ClusterVersion => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'ClusterVersion',
  metadata: { name: 'version' },
  spec: { ...(desiredUpdate !== undefined && { desiredUpdate }) },
  status,
});
const condition = (type: string, status: string, message: string) =>
  ({ type, status, message, reason: 'R', lastTransitionTime: '2026-01-01T00:00:00Z' }) as NonNullable<
    Status['conditions']
  >[number];
const done = { state: 'Completed', version: '4.15.1', completionTime: '2026-01-01T00:00:00Z' };

describe('what a ClusterVersion tells', () => {
  for (const { name, status, want } of [
    {
      name: 'agent/U1: a partial update without an end is in progress',
      status: { history: [{ state: 'Partial', version: '4.15.2', completionTime: null }, done] },
      want: { isInProgress: true, running: '4.15.1' },
    },
    {
      name: 'agent/U1: one with an end is not',
      status: { history: [{ state: 'Partial', version: '4.15.2', completionTime: 'x' }, done] },
      want: { isInProgress: false, running: '4.15.1' },
    },
    {
      name: 'agent/U1: Progressing is in progress',
      status: { history: [done], conditions: [condition('Progressing', 'True', 'Working')] },
      want: { isInProgress: true, running: '4.15.1' },
    },
    {
      name: 'agent/U2: without a completed update no version runs',
      status: { history: [] },
      want: { isInProgress: false, running: undefined },
    },
  ])
    it(name, () => {
      const { isInProgress, running } = versionProgress(clusterVersion(status), '4.15.1');
      assert.deepEqual({ isInProgress, running }, want);
    });

  it('agent/U1: the first condition that is True has the word, then whatever stands in the way', () => {
    const conditions = [
      condition('Available', 'True', 'Done applying 4.15.1'),
      condition('Failing', 'True', 'etcd is degraded'),
      condition('ReleaseAccepted', 'False', 'no such release'),
      condition('Upgradeable', 'False', 'not now'),
    ];
    const { message } = versionProgress(clusterVersion({ conditions }), '4.15.1');
    assert.equal(message, 'Done applying 4.15.1\netcd is degraded\nno such release');
  });

  for (const [desired, wanted, want] of [
    ['4.15.1', '4.15.1', true],
    ['4.15.1', '4.15.10', false],
    ['4.15.1', '4.15.1-rc.1', true],
    ['4.15.1', '4.15.1+build', true],
    ['', '4.15.1', false],
    ['4.15.10', '4.15.1', false],
  ] as const)
    it(`agent/X31: ${desired === '' ? 'nothing' : desired} is ${want ? '' : 'not '}what ${wanted} asks for`, () =>
      assert.equal(isDesiredVersion(desired, wanted), want));
});

const progress = { isInProgress: false, running: '4.15.1', isDesired: true, isObserved: true, message: 'words' };

describe('what is done about a version', () => {
  for (const { name, given, want } of [
    {
      name: 'agent/U3: nothing while the cluster works on it',
      given: upgradeStep({ ...progress, isInProgress: true }, '4.15.2'),
      want: 'wait',
    },
    { name: 'agent/U4: nothing when it runs', given: upgradeStep(progress, '4.15.1'), want: 'done' },
    {
      name: 'agent/U5: another one is asked for',
      given: upgradeStep({ ...progress, isDesired: false }, '4.15.2'),
      want: 'request',
    },
    {
      name: 'agent/U5: also while the cluster works on a third',
      given: upgradeStep({ ...progress, isDesired: false, isInProgress: true }, '4.15.2'),
      want: 'request',
    },
  ])
    it(name, () => assert.equal(given, want));

  for (const { name, update, wanted, want } of [
    { name: 'the same version', update: { version: '4.15.2' }, wanted: { version: '4.15.2' }, want: true },
    { name: 'another version', update: { version: '4.15.1' }, wanted: { version: '4.15.2' }, want: false },
    {
      name: 'the same image',
      update: { image: 'a@sha256:1', force: true },
      wanted: { image: 'a@sha256:1', force: true },
      want: true,
    },
    { name: 'nothing', update: undefined, wanted: { version: '4.15.2' }, want: false },
  ])
    it(`agent/U5: ${name} is ${want ? '' : 'not '}asked for already`, () =>
      assert.equal(isRequested(clusterVersion({}, update), wanted), want));

  const facts = {
    wanted: '4.15.2',
    progress: { ...progress, running: '4.15.2' },
    isFresh: false,
    before: undefined,
  };
  for (const { name, given, want } of [
    { name: 'nothing before the first time', given: upgradeConditions(facts), want: [] },
    {
      name: 'True after it was False',
      given: upgradeConditions({ ...facts, before: 'False' }),
      want: ['True UpgradeCompleted '],
    },
    {
      name: 'in progress',
      given: upgradeConditions({ ...facts, progress: { ...progress, isInProgress: true } }),
      want: ['False UpgradeInProgress upgrade to version 4.15.2 in progress\nwords'],
    },
    {
      name: 'in progress when it was just asked for',
      given: upgradeConditions({ ...facts, progress, isFresh: true }),
      want: ['False UpgradeInProgress upgrade to version 4.15.2 in progress\nwords'],
    },
    {
      name: 'in progress until the operator has seen it',
      given: upgradeConditions({ ...facts, progress: { ...progress, isObserved: false } }),
      want: ['False UpgradeInProgress upgrade to version 4.15.2 in progress\nwords'],
    },
    {
      name: 'failed',
      given: upgradeConditions({ ...facts, progress }),
      want: ['False UpgradeFailed upgrade to version 4.15.2 has failed\nwords'],
    },
  ])
    it(`agent/U6: UpgradeCompleted says ${name}`, () =>
      assert.deepEqual(
        given.map(({ status, reason, message }) => `${status} ${reason} ${message}`),
        want,
      ));
});
