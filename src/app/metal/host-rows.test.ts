import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import type { Agent } from '../../api/assisted/agent-install-v1beta1.ts';
import type { Machine } from '../../api/cluster-api/core-v1beta2.ts';
import type { ProgressRow } from '../../api/journey.ts';
import type { BareMetalHost } from '../../api/metal3/metal3-v1alpha1.ts';
import { type HostFacts, hostRows, installedHosts } from './host-rows.ts';

const SINCE = '2030-01-01T00:00:00Z';

// Only what rows are made of: nobody else reads these.
const hostIn = (state: string, errorMessage = ''): BareMetalHost =>
  ({
    metadata: { name: 'w-0' },
    spec: { consumerRef: { name: 'metal-1' } },
    status: { provisioning: { state }, errorMessage },
  }) as BareMetalHost;
const agentWith = (status: object, hostname = 'w-0'): Agent =>
  ({ metadata: { name: 'a' }, spec: {}, status: { inventory: { hostname }, ...status } }) as unknown as Agent;
const machine = {
  metadata: { name: 'm' },
  spec: { infrastructureRef: { name: 'metal-1' }, bootstrap: { configRef: { name: 'config-1' } } },
} as Machine;
const configSaying = (status: 'True' | 'False', reason: string): OpenshiftAssistedConfig =>
  ({
    metadata: { name: 'config-1' },
    status: { conditions: [{ type: 'DataSecretAvailable', status, reason, message: '' }] },
  }) as unknown as OpenshiftAssistedConfig;

const NOTHING: HostFacts = { hosts: [], agents: [], machines: [], configs: [] };
const rowAt = (path: string, facts: Partial<HostFacts>): ProgressRow | undefined =>
  hostRows({ ...NOTHING, ...facts }).find((row) => row.path.join(' ') === path);

describe('the rows of hosts', () => {
  const cases: readonly {
    readonly name: string;
    readonly facts: Partial<HostFacts>;
    readonly want: Omit<ProgressRow, 'path'>;
  }[] = [
    { name: 'that is not there yet', facts: {}, want: { health: 'waiting', word: 'new' } },
    {
      name: 'that is inspected',
      facts: { hosts: [hostIn('inspecting')] },
      want: { health: 'waiting', word: 'inspecting' },
    },
    {
      name: 'that cannot be provisioned',
      facts: { hosts: [hostIn('provisioning', 'no such image')] },
      want: { health: 'failed', word: 'provisioning', note: 'no such image' },
    },
    {
      name: 'whose machine is held',
      facts: {
        hosts: [hostIn('available')],
        machines: [machine],
        configs: [configSaying('False', 'WaitingForInstallation')],
      },
      want: { health: 'waiting', word: 'available', note: 'WaitingForInstallation' },
    },
    {
      name: 'whose machine may go on',
      facts: {
        hosts: [hostIn('provisioning')],
        machines: [machine],
        configs: [configSaying('True', 'DataSecretAvailable')],
      },
      want: { health: 'waiting', word: 'provisioning' },
    },
    {
      name: 'that has just registered',
      facts: { hosts: [hostIn('provisioned')], agents: [agentWith({})] },
      want: { health: 'waiting', word: 'discovering' },
    },
    {
      name: 'that waits for the others',
      facts: { agents: [agentWith({ debugInfo: { state: 'known' }, progress: { installationPercentage: 0 } })] },
      want: { health: 'waiting', word: 'known' },
    },
    {
      name: 'that is installed now',
      facts: {
        agents: [
          agentWith({
            debugInfo: { state: 'installing-in-progress' },
            progress: { currentStage: 'Writing image to disk', installationPercentage: 58, stageStartTime: SINCE },
          }),
        ],
      },
      want: { health: 'working', word: 'Writing image to disk', percent: 58, since: SINCE },
    },
    {
      name: 'that bootstraps',
      facts: { agents: [agentWith({ bootstrap: true, progress: { currentStage: 'Waiting for bootkube' } })] },
      want: { health: 'working', word: 'Waiting for bootkube', note: 'bootstrap' },
    },
    {
      name: 'that is done',
      facts: { agents: [agentWith({ progress: { currentStage: 'Done', installationPercentage: 100 } })] },
      want: { health: 'done', word: 'Done', percent: 100 },
    },
    {
      name: 'that has failed, which says more than that it bootstraps',
      facts: {
        agents: [
          agentWith({
            bootstrap: true,
            debugInfo: { state: 'error', stateInfo: 'the disk is broken' },
            progress: { currentStage: 'Failed' },
          }),
        ],
      },
      want: { health: 'failed', word: 'Failed', note: 'the disk is broken' },
    },
  ];
  for (const { name, facts, want } of cases)
    it(`experience/X22: tell of a host ${name}`, () => {
      assert.deepEqual(rowAt('workers w-0', facts), { path: ['workers', 'w-0'], ...want });
    });

  it('experience/X22: are there for all five from the beginning, below what they are machines of', () => {
    assert.deepEqual(
      hostRows(NOTHING).map(({ path }) => path.join(' ')),
      [
        'control plane',
        'control plane cp-0',
        'control plane cp-1',
        'control plane cp-2',
        'workers',
        'workers w-0',
        'workers w-1',
      ],
    );
  });

  it('count those that are ready', () => {
    const done = agentWith({ progress: { currentStage: 'Done' } });
    const other = agentWith({ progress: { currentStage: 'Done' } }, 'w-1');
    const broken = agentWith({ debugInfo: { state: 'error' } }, 'w-1');
    const word = 'MachineDeployment acme-lab-workers';
    const group = (agents: readonly Agent[]) => rowAt('workers', { agents });
    assert.deepEqual(group([]), { path: ['workers'], health: 'waiting', word, note: '0/2 ready' });
    assert.deepEqual(group([done]), { path: ['workers'], health: 'working', word, note: '1/2 ready' });
    assert.deepEqual(group([done, other]), { path: ['workers'], health: 'done', word, note: '2/2 ready' });
    assert.deepEqual(group([done, broken]), { path: ['workers'], health: 'failed', word, note: '1/2 ready' });
    assert.equal(installedHosts({ agents: [done, other, broken] }), 2);
  });
});
