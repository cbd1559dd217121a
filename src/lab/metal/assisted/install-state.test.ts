import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Agent } from '../../../api/assisted/agent-install-v1beta1.ts';
import type { AgentClusterInstall } from '../../../api/assisted/hive-extensions-v1beta1.ts';
import { conditionIn } from './assisted-conditions.ts';
import { delaysAt } from './delays.ts';
import { type InstallFacts, installStep } from './install-state.ts';

const NOW = new Date('2026-01-01T01:00:00Z');

const host = (role: 'master' | 'worker' | '', state = 'known', more: Record<string, unknown> = {}): Agent => ({
  apiVersion: 'agent-install.openshift.io/v1beta1',
  kind: 'Agent',
  metadata: { namespace: 'n', name: `${role}-${state}` },
  spec: { approved: true, role, clusterDeploymentName: { namespace: 'n', name: 'ocp' }, ...more },
  status: { kind: 'Host', debugInfo: { state, stateInfo: 'because' } },
});

const install = (
  state: string,
  spec: Record<string, unknown> = {},
  since = '2026-01-01T00:00:00Z',
): AgentClusterInstall => ({
  apiVersion: 'extensions.hive.openshift.io/v1beta1',
  kind: 'AgentClusterInstall',
  metadata: { namespace: 'n', name: 'ocp' },
  spec: { provisionRequirements: { controlPlaneAgents: 1, workerAgents: 1 }, ...spec },
  status: {
    debugInfo: { state },
    conditions: [{ type: 'Completed', status: 'False', lastProbeTime: since }],
  },
});

const step = (one: AgentClusterInstall, more: Partial<InstallFacts> = {}) =>
  installStep({
    install: one,
    problem: undefined,
    agents: [],
    fault: undefined,
    eventsUrl: 'http://x/events',
    delays: delaysAt(),
    now: NOW,
    ...more,
  });

const BOTH = [host('master'), host('worker')];

describe('the states of an installation', () => {
  const CASES: readonly (readonly [
    name: string,
    install: AgentClusterInstall,
    more: Partial<InstallFacts>,
    want: string,
  ])[] = [
    ['S18: is not registered while something is missing', install(''), { problem: 'no image' }, ''],
    ['S18: is registered when everything is there', install(''), {}, 'insufficient'],
    ['S19: is not ready without masters', install('insufficient'), { agents: [host('worker')] }, 'insufficient'],
    ['S19: is not ready while nobody gave roles', install('insufficient'), { agents: [host('')] }, 'insufficient'],
    [
      'S19: is not ready while a host is unknown',
      install('insufficient'),
      { agents: [host('master'), host('worker', 'discovering')] },
      'insufficient',
    ],
    ['S19: is ready with its masters', install('insufficient'), { agents: [host('master')] }, 'ready'],
    ['S19: is not ready any more', install('ready'), { agents: [host('worker')] }, 'insufficient'],
    ['S19: waits for workers', install('ready'), { agents: [host('master')] }, 'ready'],
    ['S19: waits for the right roles', install('ready'), { agents: [host('master'), host('master')] }, 'ready'],
    [
      'S19: waits for approval',
      install('ready'),
      { agents: [host('master'), host('worker', 'known', { approved: false })] },
      'ready',
    ],
    [
      'S19: waits for what was applied',
      install('ready'),
      { agents: [host('master'), host('worker', 'known', { installerArgs: 'x' })] },
      'ready',
    ],
    ['S19: waits for fewer', install('ready'), { agents: [...BOTH, host('worker')] }, 'ready'],
    ['S19: waits when it is told to', install('ready', { holdInstallation: true }), { agents: BOTH }, 'ready'],
    ['S19: begins', install('ready'), { agents: BOTH }, 'preparing-for-installation'],
    [
      'S19: waits for its hosts',
      install('preparing-for-installation'),
      { agents: [host('master', 'preparing-successful'), host('worker', 'preparing-for-installation')] },
      'preparing-for-installation',
    ],
    [
      'S19: is installing',
      install('preparing-for-installation'),
      { agents: [host('master', 'preparing-successful'), host('worker', 'preparing-successful')] },
      'installing',
    ],
    [
      'S21: waits for its masters',
      install('installing'),
      { agents: [host('master', 'installing-in-progress'), host('worker', 'installed')] },
      'installing',
    ],
    [
      'S21: is being finished',
      install('installing'),
      { agents: [host('master', 'installed'), host('worker', 'installing-in-progress')] },
      'finalizing',
    ],
    [
      'S21: waits for its workers',
      install('finalizing'),
      { agents: [host('master', 'installed'), host('worker', 'installing-in-progress')] },
      'finalizing',
    ],
    [
      'S21: is installed',
      install('finalizing'),
      { agents: [host('master', 'installed'), host('worker', 'installed')] },
      'installed',
    ],
    [
      'S21: is installed though a host waits beside it',
      install('finalizing'),
      { agents: [host('master', 'installed'), host('worker', 'known')] },
      'installed',
    ],
    [
      'S21: takes its time',
      install('finalizing', {}, '2026-01-01T00:59:00Z'),
      { agents: [host('master', 'installed')] },
      'finalizing',
    ],
    ['S21: takes hosts', install('installed'), {}, 'adding-hosts'],
    ['S22: goes on taking hosts', install('adding-hosts'), { agents: [host('worker', 'error')] }, 'adding-hosts'],
    ['F: fails with a host', install('installing'), { agents: [host('master', 'error')] }, 'error'],
    ['F: fails when it is to', install('finalizing'), { fault: { kind: 'error', message: 'x' } }, 'error'],
    [
      'F: does not fail before it begins',
      install('insufficient'),
      { fault: { kind: 'error', message: 'x' } },
      'insufficient',
    ],
    ['F: is cancelled', install('installing'), { fault: { kind: 'cancelled', message: 'x' } }, 'cancelled'],
    [
      'F: waits for somebody',
      install('installing'),
      { agents: [host('master', 'installing-pending-user-action')] },
      'installing-pending-user-action',
    ],
    [
      'F: goes on',
      install('installing-pending-user-action'),
      { agents: [host('master', 'installing-in-progress')] },
      'installing',
    ],
    ['F: stays failed', install('error'), { agents: BOTH }, 'error'],
  ];
  for (const [name, one, more, want] of CASES) {
    it(`agent/${name}`, () => assert.equal(step(one, more).status.debugInfo?.state ?? '', want));
  }

  it('agent/S21: says when to look again', () => {
    const agents = [host('master', 'installed')];
    assert.equal(step(install('finalizing', {}, '2026-01-01T00:59:00Z'), { agents }).waitMs, 240_000);
  });
});

describe('what an installation says', () => {
  const words = (one: AgentClusterInstall, more: Partial<InstallFacts>, types: readonly string[]) => {
    const { conditions } = step(one, more).status;
    assert.equal(conditions?.length, 7);
    return types.map((type) => {
      const { status, reason } = conditionIn(conditions, type) ?? {};
      return `${type} ${status} ${reason}`;
    });
  };
  const CASES: readonly (readonly [
    name: string,
    install: AgentClusterInstall,
    more: Partial<InstallFacts>,
    want: readonly string[],
  ])[] = [
    [
      'before it is registered',
      install(''),
      { problem: 'x' },
      ['SpecSynced False InputError', 'Completed Unknown NotAvailable'],
    ],
    [
      'without enough hosts',
      install('ready'),
      { agents: [host('master')] },
      ['RequirementsMet False InsufficientAgents'],
    ],
    [
      'with hosts that nobody approved',
      install('ready'),
      { agents: [host('master'), host('worker', 'known', { approved: false })] },
      ['RequirementsMet False UnapprovedAgents'],
    ],
    [
      'with hosts that are not in order',
      install('ready'),
      { agents: [host('master'), host('worker', 'known', { installerArgs: '{}' })] },
      ['RequirementsMet False UnsyncedAgents'],
    ],
    [
      'with too many hosts',
      install('ready'),
      { agents: [...BOTH, host('worker')] },
      ['RequirementsMet False AdditionalAgents'],
    ],
    [
      'on hold',
      install('ready', { holdInstallation: true }),
      { agents: BOTH },
      ['RequirementsMet True ClusterIsReady', 'Completed False InstallationOnHold'],
    ],
    [
      'while it is installed',
      install('installing'),
      {},
      [
        'RequirementsMet True ClusterAlreadyInstalling',
        'Completed False InstallationInProgress',
        'Stopped False InstallationNotStopped',
      ],
    ],
    [
      'when it has failed',
      install('error'),
      {},
      [
        'Completed False InstallationFailed',
        'Failed True InstallationFailed',
        'Stopped True InstallationFailed',
        'RequirementsMet True ClusterInstallationStopped',
      ],
    ],
    [
      'when it was cancelled',
      install('cancelled'),
      {},
      ['Failed False InstallationNotFailed', 'Stopped True InstallationCancelled'],
    ],
    [
      'when it takes hosts',
      install('adding-hosts'),
      {},
      ['Completed True InstallationCompleted', 'Stopped True InstallationCompleted'],
    ],
  ];
  for (const [name, one, more, want] of CASES) {
    it(`agent/S19: ${name}: ${want.join(', ')}`, () => {
      assert.deepEqual(
        words(
          one,
          more,
          want.map((text) => text.split(' ')[0] ?? ''),
        ),
        want,
      );
    });
  }
});
