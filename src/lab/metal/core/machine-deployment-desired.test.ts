import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MachineDeployment, type MachineSet } from '../../../api/cluster-api/core-v1beta2.ts';
import { pluralOf } from './contract-kinds.ts';
import { machineSetOf, rolloutOf, templateHash } from './machine-deployment-desired.ts';

const reference = (name: string) => ({ apiGroup: 'example.com', kind: 'AnyTemplate', name });

const deployment = (
  replicas: number,
  rollingUpdate: object = { maxSurge: 1, maxUnavailable: 0 },
): MachineDeployment =>
  ({
    apiVersion: `${MachineDeployment.group}/v1beta2`,
    kind: MachineDeployment.kind,
    metadata: { name: 'workers', namespace: 'default', uid: 'uid' },
    spec: {
      clusterName: 'one',
      replicas,
      selector: { matchLabels: { a: 'b' } },
      template: {
        spec: { clusterName: 'one', bootstrap: { configRef: reference('c') }, infrastructureRef: reference('i') },
      },
      rollout: { strategy: { type: 'RollingUpdate', rollingUpdate } },
    },
  }) as MachineDeployment;

const set = (name: string, replicas: number, available: number): MachineSet => {
  const made = machineSetOf(deployment(replicas), replicas);
  const status = { replicas, availableReplicas: available };
  return { ...made, metadata: { ...made.metadata, name }, status };
};

describe('a rollout of a MachineDeployment', () => {
  const HALF = { maxSurge: 0, maxUnavailable: '50%' };
  const CASES = [
    { name: 'has all at once when there is nothing to replace', wanted: 3, now: 0, old: [], want: [3] },
    { name: 'adds one first', wanted: 3, now: 0, old: [[3, 3]], want: [1, 3] },
    {
      name: 'takes one away when the new one is available',
      wanted: 3,
      now: 1,
      available: 1,
      old: [[3, 3]],
      want: [1, 2],
    },
    {
      name: 'takes those away first that are not available',
      wanted: 2,
      now: 1,
      available: 0,
      old: [[2, 1]],
      want: [1, 1],
    },
    { name: 'may take away before it adds', wanted: 4, now: 0, old: [[4, 4]], limits: HALF, want: [0, 2] },
    { name: 'ends with none of the old ones', wanted: 1, now: 1, available: 1, old: [[1, 1]], want: [1, 0] },
    { name: 'shrinks at once', wanted: 1, now: 3, available: 3, old: [], want: [1] },
  ];
  for (const { name, wanted, now, available = 0, old, limits, want } of CASES)
    it(`agent/S4: ${name}`, () => {
      const current = now === 0 ? undefined : set('new', now, available);
      const older = old.map(([replicas = 0, ready = 0], index) => set(`old-${index}`, replicas, ready));
      const { current: next, older: left } = rolloutOf(deployment(wanted, limits), current, older);
      assert.deepEqual([next, ...left.values()], want);
    });
});

describe('a template of Machines', () => {
  it('agent/S4: is another one when its Machines would be, and not when they can be changed', () => {
    const { template } = deployment(1).spec;
    const { spec } = template;
    const hash = templateHash(template);
    assert.equal(templateHash({ metadata: { labels: { a: 'b' } }, spec: { ...spec, deletion: {} } }), hash);
    assert.notEqual(templateHash({ spec: { ...spec, version: 'v1.33.0' } }), hash);
    assert.notEqual(templateHash({ spec: { ...spec, infrastructureRef: reference('other') } }), hash);
  });
});

describe('the plural of a kind', () => {
  for (const [kind, plural] of [
    ['Metal3Cluster', 'metal3clusters'],
    ['OpenshiftAssistedConfigTemplate', 'openshiftassistedconfigtemplates'],
    ['Policy', 'policies'],
    ['Gateway', 'gateways'],
    ['Class', 'classes'],
  ] as const)
    it(`of ${kind} is ${plural}`, () => {
      assert.equal(pluralOf(kind), plural);
    });
});
