import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Condition } from '../../api/object.ts';
import {
  inOrder,
  OF_CLUSTER_DEPLOYMENT_CONTROLLER,
  OF_CLUSTER_INSTALL_CONTROLLER,
  OF_CONTROL_PLANE_CONTROLLER,
  readySummary,
} from './conditions.ts';

const condition = (
  type: string,
  status: Condition['status'] = 'True',
  message = '',
  reason = type,
): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const good = ['MachinesReady', 'KubeconfigAvailable', 'Available', 'MachinesCreated'].map((type) =>
  condition(type),
);
const without = (type: string) => good.filter((one) => one.type !== type);

describe('conditions of a control plane', () => {
  for (const { name, given, want } of [
    { name: 'everything is well', given: good, want: { status: 'True', reason: 'InfoReported', message: '' } },
    {
      name: 'one is missing',
      given: without('Available'),
      want: { status: 'Unknown', reason: 'UnknownReported', message: '* Available: Condition not yet reported' },
    },
    {
      name: 'one is False and one is missing',
      given: [
        ...without('MachinesReady').filter((one) => one.type !== 'Available'),
        condition('MachinesReady', 'False', '', 'Why'),
      ],
      want: {
        status: 'False',
        reason: 'IssuesReported',
        message: '* MachinesReady: Why\n* Available: Condition not yet reported',
      },
    },
    {
      name: 'a message has lines',
      given: [...without('Available'), condition('Available', 'False', 'one\ntwo')],
      want: { status: 'False', reason: 'IssuesReported', message: '* Available:\n  one\n  two' },
    },
    {
      name: 'nothing is said yet',
      given: [],
      want: {
        status: 'Unknown',
        reason: 'UnknownReported',
        message: ['MachinesReady', 'KubeconfigAvailable', 'Available', 'MachinesCreated']
          .map((type) => `* ${type}: Condition not yet reported`)
          .join('\n'),
      },
    },
  ])
    it(`agent/C1: Ready sums up when ${name}`, () =>
      assert.deepEqual(readySummary(given), { type: 'Ready', ...want }));

  it('agent/C1: they stand in the order of core, unknown ones by name, Paused and Deleting last', () => {
    const types = [
      'Deleting',
      'UpgradeCompleted',
      'Paused',
      'MachinesReady',
      'ScalingUp',
      'ScalingDown',
      'ClusterInstallConfigured',
      'Remediating',
      'Ready',
      'RollingOut',
      'Available',
    ];
    assert.deepEqual(
      inOrder(types.map((type) => condition(type))).map(({ type }) => type),
      [
        'Available',
        'Ready',
        'RollingOut',
        'Remediating',
        'ScalingDown',
        'ScalingUp',
        'MachinesReady',
        'ClusterInstallConfigured',
        'UpgradeCompleted',
        'Paused',
        'Deleting',
      ],
    );
  });

  it('agent/C1: no condition is written by two controllers', () => {
    const all = [
      ...OF_CONTROL_PLANE_CONTROLLER,
      ...OF_CLUSTER_DEPLOYMENT_CONTROLLER,
      ...OF_CLUSTER_INSTALL_CONTROLLER,
    ];
    assert.equal(new Set(all).size, all.length);
  });
});
