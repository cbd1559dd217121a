import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Agent } from '../../../api/assisted/agent-install-v1beta1.ts';
import type { AgentFacts } from './agent-facts.ts';
import { agentStep } from './agent-state.ts';
import { isBootstrap } from './agent-status.ts';
import { conditionIn } from './assisted-conditions.ts';
import { delaysAt } from './delays.ts';
import { percentageOf, type Stage, stagesOf } from './stages.ts';

const NOW = new Date('2026-01-01T01:00:00Z');
const LONG_AGO = '2026-01-01T00:00:00Z';

interface Given {
  readonly state?: string;
  readonly stage?: Stage;
  readonly since?: string;
  readonly role?: 'master' | 'worker' | '';
  readonly isApproved?: boolean;
  readonly isBootstrap?: boolean;
  readonly kind?: string;
  readonly isUnbound?: boolean;
  readonly ignition?: string;
}

const agent = (given: Given, name = 'a'): Agent => ({
  apiVersion: 'agent-install.openshift.io/v1beta1',
  kind: 'Agent',
  metadata: { namespace: 'n', name, creationTimestamp: LONG_AGO },
  spec: specOf(given),
  status: statusOf(given),
});

const specOf = ({
  role = 'worker',
  isApproved = true,
  isUnbound = false,
  ignition = '',
}: Given): Agent['spec'] => ({
  approved: isApproved,
  role,
  ...(!isUnbound && { clusterDeploymentName: { namespace: 'n', name: 'ocp' } }),
  ignitionConfigOverrides: ignition,
});

function statusOf(given: Given): NonNullable<Agent['status']> {
  const { state = '', stage, since = LONG_AGO, kind = 'Host' } = given;
  return {
    kind,
    ...(given.isBootstrap === true && { bootstrap: true }),
    debugInfo: { state, stateInfo: '' },
    conditions: [{ type: 'Installed', status: 'False', lastProbeTime: since }],
    ...(stage !== undefined && { progress: { currentStage: stage, stageStartTime: since } }),
  };
}

const step = (given: Given, more: Partial<AgentFacts> = {}) => {
  const one = agent(given);
  return agentStep({
    agent: one,
    clusterState: 'insufficient',
    siblings: [one],
    fault: undefined,
    isOn: true,
    delays: delaysAt(),
    now: NOW,
    ...more,
  });
};

const shown = ({ status, isJoining, waitMs }: ReturnType<typeof agentStep>): string =>
  [
    status.debugInfo?.state,
    status.progress?.currentStage,
    isJoining ? 'joins' : undefined,
    waitMs === undefined ? undefined : `waits ${waitMs / 1000} s`,
  ]
    .filter((part) => part !== undefined)
    .join(', ');

const IN_PROGRESS = 'installing-in-progress';
const JUST_NOW = '2026-01-01T00:59:59Z';

describe('the life of a host', () => {
  const CASES: readonly (readonly [name: string, given: Given, more: Partial<AgentFacts>, want: string])[] = [
    ['S17: is discovered when it has registered', {}, {}, 'discovering'],
    ['S17: is discovered without a cluster', { isUnbound: true }, {}, 'discovering-unbound'],
    ['S17: is known after a while', { state: 'discovering' }, {}, 'known'],
    ['S17: is not known at once', { state: 'discovering', since: JUST_NOW }, {}, 'discovering, waits 29 s'],
    ['S17: is known without a cluster', { state: 'discovering-unbound' }, {}, 'known-unbound'],
    ['S19: waits for its cluster', { state: 'known' }, { clusterState: 'ready' }, 'known'],
    [
      'S19: is prepared with its cluster',
      { state: 'known' },
      { clusterState: 'preparing-for-installation' },
      'preparing-for-installation',
    ],
    [
      'S19: is left out when nobody approved it',
      { state: 'known', isApproved: false },
      { clusterState: 'preparing-for-installation' },
      'known',
    ],
    [
      'S19: is left out when its ignition is none',
      { state: 'known', ignition: '{' },
      { clusterState: 'preparing-for-installation' },
      'known',
    ],
    ['S19: is prepared', { state: 'preparing-for-installation' }, {}, 'preparing-successful'],
    [
      'S19: waits for the others',
      { state: 'preparing-successful' },
      { clusterState: 'preparing-for-installation' },
      'preparing-successful',
    ],
    [
      'S19: is installed with the others',
      { state: 'preparing-successful' },
      { clusterState: 'installing' },
      'installing',
    ],
    ['S19: begins', { state: 'installing' }, {}, 'installing-in-progress, Starting installation'],
    [
      'S19: goes on',
      { state: IN_PROGRESS, stage: 'Starting installation' },
      {},
      'installing-in-progress, Installing',
    ],
    [
      'S19: takes its time',
      { state: IN_PROGRESS, stage: 'Writing image to disk', since: JUST_NOW },
      {},
      'installing-in-progress, Writing image to disk, waits 119 s',
    ],
    [
      'S21: a worker waits for the control plane',
      { state: IN_PROGRESS, stage: 'Waiting for control plane' },
      { clusterState: 'installing' },
      'installing-in-progress, Waiting for control plane, waits 10 s',
    ],
    [
      'S21: a worker goes on when the control plane is there',
      { state: IN_PROGRESS, stage: 'Waiting for control plane' },
      { clusterState: 'finalizing' },
      'installing-in-progress, Rebooting',
    ],
    [
      'S22: a host that is added finds the control plane there',
      { state: IN_PROGRESS, stage: 'Waiting for control plane', kind: 'AddToExistingClusterHost' },
      { clusterState: 'adding-hosts' },
      'installing-in-progress, Rebooting',
    ],
    [
      'S19: does not come back from a reboot when it is off',
      { state: IN_PROGRESS, stage: 'Rebooting' },
      { isOn: false },
      'installing-in-progress, Rebooting, waits 10 s',
    ],
    [
      'S21: becomes a node',
      { state: IN_PROGRESS, stage: 'Configuring' },
      {},
      'installing-in-progress, Joined, joins',
    ],
    ['S21: is installed', { state: IN_PROGRESS, stage: 'Joined' }, {}, 'installed, Done'],
    [
      'S22: is added',
      { state: IN_PROGRESS, stage: 'Joined', kind: 'AddToExistingClusterHost' },
      { clusterState: 'adding-hosts' },
      'added-to-existing-cluster, Done',
    ],
    ['S22: is installed when it is added', { state: 'known' }, { clusterState: 'adding-hosts' }, 'installing'],
    [
      'S22: is not added when nobody approved it',
      { state: 'known', isApproved: false },
      { clusterState: 'adding-hosts' },
      'known',
    ],
    [
      'stays what it is',
      { state: 'installed', stage: 'Done' },
      { clusterState: 'adding-hosts' },
      'installed, Done',
    ],
    [
      'F: fails when it is to',
      { state: IN_PROGRESS, stage: 'Installing' },
      { fault: { kind: 'error', message: 'disk' } },
      'error, Installing',
    ],
    [
      'F: fails not before its stage',
      { state: IN_PROGRESS, stage: 'Installing' },
      { fault: { kind: 'error', message: 'disk', at: 'Rebooting' } },
      'installing-in-progress, Writing image to disk',
    ],
    [
      'F: does not fail before it begins',
      { state: 'known' },
      { fault: { kind: 'error', message: 'disk' } },
      'known',
    ],
    [
      'F: waits for somebody',
      { state: IN_PROGRESS, stage: 'Rebooting' },
      { fault: { kind: 'pending-user-action', message: 'wrong boot order' } },
      'installing-pending-user-action, Rebooting',
    ],
    [
      'F: waits as long as it takes',
      { state: 'installing-pending-user-action', stage: 'Rebooting' },
      { fault: { kind: 'pending-user-action', message: 'wrong boot order' } },
      'installing-pending-user-action, Rebooting, waits 0 s',
    ],
    [
      'F: goes on after somebody did something',
      { state: 'installing-pending-user-action', stage: 'Rebooting' },
      {},
      'installing-in-progress, Rebooting',
    ],
    [
      'F: is cancelled with its cluster',
      { state: IN_PROGRESS, stage: 'Rebooting' },
      { clusterState: 'cancelled' },
      'cancelled, Rebooting',
    ],
  ];
  for (const [name, given, more, want] of CASES) {
    it(`agent/${name}`, () => assert.equal(shown(step(given, more)), want));
  }

  it('agent/S21: the host that bootstraps waits until all other masters are nodes', () => {
    const bootstrap = agent({
      state: IN_PROGRESS,
      stage: 'Waiting for control plane',
      role: 'master',
      isBootstrap: true,
    });
    const other = (stage: Stage, state = IN_PROGRESS) => agent({ state, stage, role: 'master' }, 'b');
    const after = (...others: readonly Agent[]) =>
      shown(step({}, { agent: bootstrap, siblings: [bootstrap, ...others], clusterState: 'installing' }));
    const waits = 'installing-in-progress, Waiting for control plane, waits 10 s';
    assert.equal(after(other('Configuring')), waits);
    assert.equal(after(other('Joined'), other('Rebooting')), waits);
    assert.equal(
      after(other('Joined'), other('Done', 'installed')),
      'installing-in-progress, Waiting for bootkube',
    );
    assert.equal(after(), 'installing-in-progress, Waiting for bootkube');
    // One that nobody approved is no part of it.
    assert.equal(
      after(agent({ state: 'known', role: 'master' }, 'c')),
      'installing-in-progress, Waiting for bootkube',
    );
  });

  it('agent/S21: one master bootstraps, and stays the one', () => {
    const [a, b, c] = [agent({ role: 'master' }, 'a'), agent({ role: 'master' }, 'b'), agent({}, '0')];
    assert.deepEqual(
      [a, b, c].map((one) => isBootstrap(one, [c, b, a])),
      [true, false, false],
    );
    const chosen = agent({ role: 'master', isBootstrap: true }, 'b');
    assert.deepEqual(
      [a, chosen].map((one) => isBootstrap(one, [a, chosen])),
      [false, true],
    );
    const { status } = step({ state: 'known', role: 'master' }, { clusterState: 'preparing-for-installation' });
    assert.equal(status.bootstrap, true);
  });
});

describe('what an Agent says', () => {
  const CASES: readonly (readonly [
    given: Given,
    more: Partial<AgentFacts>,
    want: Readonly<Record<string, string>>,
  ])[] = [
    [
      { state: '' },
      {},
      {
        RequirementsMet: 'False AgentNotReady',
        Validated: 'Unknown ValidationsUnknown',
        Installed: 'False InstallationNotStarted',
        Bound: 'True Bound',
      },
    ],
    [
      { state: 'known' },
      {},
      { RequirementsMet: 'True AgentIsReady', SpecSynced: 'True SyncOK', Connected: 'True AgentIsConnected' },
    ],
    [{ state: 'known', isApproved: false }, {}, { RequirementsMet: 'False AgentIsNotApproved' }],
    [{ state: 'known', ignition: '{}' }, {}, { SpecSynced: 'False InputError' }],
    [
      { state: 'installing' },
      {},
      { RequirementsMet: 'True AgentAlreadyInstalling', Installed: 'False InstallationInProgress' },
    ],
    [
      { state: 'installed' },
      {},
      { RequirementsMet: 'True AgentInstallationStopped', Installed: 'True InstallationCompleted' },
    ],
    [{ state: 'error' }, {}, { Installed: 'False InstallationFailed' }],
    [{ state: 'known-unbound', isUnbound: true }, {}, { Bound: 'False Unbound' }],
  ];
  for (const [given, more, want] of CASES) {
    it(`agent/S17: ${given.state || 'a new one'}: ${Object.values(want).join(', ')}`, () => {
      const { conditions } = step(given, more).status;
      const said = Object.keys(want).map((type) => {
        const { status, reason } = conditionIn(conditions, type) ?? {};
        return [type, `${status} ${reason}`];
      });
      assert.deepEqual(Object.fromEntries(said), want);
      assert.equal(conditions?.length, 6);
    });
  }

  it('agent/S17: the same facts give the same words', () => {
    const first = step({ state: 'known' }).status;
    const one = { ...agent({ state: 'known' }), status: first };
    assert.deepEqual(
      step({}, { agent: one, siblings: [one], now: new Date('2026-02-01T00:00:00Z') }).status,
      first,
    );
  });
});

describe('stages', () => {
  it('agent/S19: differ by what a host becomes', () => {
    assert.deepEqual(stagesOf('worker').length, 9);
    assert.ok(!stagesOf('worker').includes('Copying registry data to disk'));
    assert.ok(stagesOf('master').includes('Copying registry data to disk'));
    for (const stage of ['Waiting for control plane', 'Waiting for bootkube', 'Waiting for controller'] as const)
      assert.deepEqual([stagesOf('bootstrap').includes(stage), stagesOf('master').includes(stage)], [true, false]);
    assert.deepEqual([percentageOf('worker', 'Done'), percentageOf('master', 'Starting installation')], [100, 13]);
  });

  it('agent/S19: everything is faster at another pace', () => {
    assert.deepEqual([delaysAt(0.02).stageMs('Rebooting'), delaysAt(0.02).finalizingMs], [3600, 6000]);
  });
});
