import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  bootstrapKinds,
  FakeService,
  NAMESPACE,
  Outside,
  PLAIN_SETTINGS,
} from '../../../test/support/agent-bootstrap-world.ts';
import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { enumerateCrashPoints } from '../../testing/crash-points.ts';
import type { CrashScenario, ScenarioWorld } from '../../testing/crash-scenario.ts';
import { bootstrapControllers } from './controllers.ts';

const SHARED = 'one-workers-x86-64';
const key = (name: string) => ({ namespace: NAMESPACE, name });

async function begun({ client }: ScenarioWorld): Promise<Outside> {
  const outside = new Outside(client);
  await outside.namespace();
  await outside.cluster();
  await outside.installation();
  return outside;
}

async function removed({ client, converge }: ScenarioWorld, name: string): Promise<void> {
  await client.delete(Machine, key(name));
  await client.delete(OpenshiftAssistedConfig, key(name));
  await converge();
}

/** One Machine from nothing to its approved Agent, and away again. */
async function ignitionStory(world: ScenarioWorld): Promise<void> {
  const outside = await begun(world);
  await outside.machine('m', { isControlPlane: true, spec: { pullSecretRef: { name: '' } } });
  await world.converge();
  await outside.infraEnvReady('m');
  await outside.agent('host-m', 'm');
  await world.converge();
  await removed(world, 'm');
}

/** Two Machines that share an ISO, a host that nobody asked for, and both go. */
async function liveIsoStory(world: ScenarioWorld): Promise<void> {
  const outside = await begun(world);
  await outside.template('workers');
  await outside.machine('a', { isLiveIso: true, template: 'workers' });
  await world.converge();
  await outside.infraEnvReady(SHARED);
  await outside.machine('b', { isLiveIso: true, template: 'workers' });
  await outside.host('a', { mac: 'aa:00:00:00:00:01' });
  await outside.agent('host-a', SHARED, { mac: 'aa:00:00:00:00:01' });
  await outside.agent('stray', SHARED, { mac: 'aa:00:00:00:00:09' });
  await world.converge();
  await removed(world, 'a');
  await removed(world, 'b');
}

const scenario = (name: string, act: (world: ScenarioWorld) => Promise<void>): CrashScenario => ({
  name,
  kinds: bootstrapKinds(),
  start: () => {
    const service = new FakeService();
    return {
      controllers: (life) =>
        bootstrapControllers({
          http: (request) => life.look(() => service.call(request)),
          settings: PLAIN_SETTINGS,
        }),
      act,
    };
  },
});

describe('the bootstrap provider, killed anywhere', () => {
  for (const { name, act, least } of [
    { name: 'ignition', act: ignitionStory, least: 9 },
    { name: 'live-iso', act: liveIsoStory, least: 16 },
  ])
    it(`agent/B4, agent/B14: with boot method ${name} ends the same, whatever a crash or a lost answer left`, async () => {
      const { failures, points } = await enumerateCrashPoints(scenario(name, act), {
        faults: ['kill-after', 'lost-and-stale'],
      });
      assert.deepEqual(failures, []);
      assert.ok(points.length >= least, points.join('\n'));
    });
});
