import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  FAKE_PROVIDERS,
  FakeConfigTemplate,
  metalDefinitions,
  NAMESPACE,
} from '../../../../test/support/metal-world.ts';
import { Cluster, MachineDeployment } from '../../../api/cluster-api/core-v1beta2.ts';
import { Metal3MachineTemplate } from '../../../api/metal3/infrastructure-v1beta2.ts';
import type { Kind, KubeObject } from '../../../api/object.ts';
import { enumerateCrashPoints } from '../../../testing/crash-points.ts';
import type { CrashScenario, ScenarioWorld } from '../../../testing/crash-scenario.ts';
import { coreControllers } from './controllers.ts';

const key = (name: string) => ({ namespace: NAMESPACE, name });
const to = ({ group, kind }: Kind, name: string) => ({ apiGroup: group, kind, name });
const named = ({ group, version, kind }: Kind, name: string) => ({
  apiVersion: `${group}/${version}`,
  kind,
  metadata: key(name),
});

/** Two workers, one of which goes again, and then everything. */
async function act({ client, converge }: ScenarioWorld): Promise<void> {
  await client.create(Cluster, { ...named(Cluster, 'one'), spec: { paused: false } });
  await client.create(FakeConfigTemplate, {
    ...named(FakeConfigTemplate, 'w'),
    spec: { template: { spec: { color: 'red' } } },
  });
  await client.create(Metal3MachineTemplate, {
    ...named(Metal3MachineTemplate, 'w'),
    spec: { template: { spec: { image: { url: 'http://images.example.com/a' } } } },
  });
  await client.create(MachineDeployment, {
    ...named(MachineDeployment, 'w'),
    spec: {
      clusterName: 'one',
      replicas: 2,
      selector: {},
      template: {
        spec: {
          clusterName: 'one',
          bootstrap: { configRef: to(FakeConfigTemplate, 'w') },
          infrastructureRef: to(Metal3MachineTemplate, 'w'),
        },
      },
    },
  });
  await converge();
  await client.patch(MachineDeployment, key('w'), { type: 'merge', body: { spec: { replicas: 1 } } });
  await converge();
}

const scenario: CrashScenario = {
  name: 'workers',
  // A definition is one when it is JSON, too.
  kinds: metalDefinitions().map((crd) => ({ toCRD: () => crd as unknown as KubeObject })),
  start: () => ({
    controllers: () =>
      coreControllers({
        connectWorkload: () => Promise.reject(new Error('there is no workload cluster')),
        providers: FAKE_PROVIDERS,
      }),
    act,
  }),
};

describe('the stand-in of core, killed at any write that makes a Machine', () => {
  it('agent/S4: makes the same Machines, each with its two objects', async () => {
    const { tried, failures } = await enumerateCrashPoints(scenario, {
      points: (point) => /^create\|(?!events)/.test(point),
      faults: ['kill-after', 'lost-response'],
    });
    assert.deepEqual(failures, []);
    assert.ok(tried >= 14, `${tried} runs`);
  });
});
