import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  authorityPem,
  openshiftKinds,
  prepareCluster,
  putGates,
  putInfra,
  RELEASE,
  registryOf,
} from '../../../test/support/config-sync-world.ts';
import { ConfigMap } from '../../api/generated/core-v1.ts';
import { Proxy, SINGLETON } from '../../api/openshift/config-v1.ts';
import type { Controller } from '../../kube/controller/controller.ts';
import { enumerateCrashPoints } from '../../testing/crash-points.ts';
import type { CrashScenario, ScenarioWorld } from '../../testing/crash-scenario.ts';
import { operatorNames } from '../names.ts';
import { configSyncCache, configSyncControllers } from './controllers.ts';

const names = operatorNames('replace', '');
const user = (name: string) => ({ namespace: 'openshift-config', name });

/** Creation, update, repair and replacement of what cannot be changed. */
async function act({ client, converge }: ScenarioWorld): Promise<void> {
  await prepareCluster(client, names);
  await putGates(client, ['Day2']);
  await client.create(ConfigMap, { metadata: user('one'), data: { k: '1' } });
  await client.create(ConfigMap, { metadata: user('two'), data: { k: '2' }, immutable: true });
  const proxy = { apiVersion: 'config.openshift.io/v1', kind: 'Proxy', metadata: { ...SINGLETON } };
  await client.create(Proxy, { ...proxy, spec: { trustedCA: { name: 'absent' } } });
  await putInfra(client, { type: 'VSphere' }, { cloudConfig: { name: 'one', key: 'k' } });
  await converge();
  await client.delete(ConfigMap, { namespace: names.managedNamespace, name: 'ccm-trusted-ca' });
  await putInfra(client, { type: 'AWS' }, { cloudConfig: { name: 'two', key: 'k' } });
  await converge();
  await putInfra(client, { type: 'AWS' }, { cloudConfig: { name: 'one', key: 'k' } });
  await converge();
  await putInfra(client, { type: 'AWS' }, { cloudConfig: { name: 'one', key: 'wrong' } });
  await converge();
}

/** Roles are granted before the scenario makes the namespaces that they would be in. */
const inEveryNamespace = (controller: Controller): Controller => ({
  ...controller,
  needs: controller.needs.map(({ namespace: _namespace, ...need }) => need),
});

/** One controller at a time: conditions are kept in the order in which they were first said. */
const scenario = (name: string, system: string): CrashScenario => ({
  name,
  kinds: openshiftKinds(),
  manager: { cache: configSyncCache(names, { usesShared: true }) },
  start: () => ({
    controllers: ({ clock }) =>
      configSyncControllers({
        registry: registryOf({
          AWS: { sources: ['user'] },
          VSphere: { sources: ['user'], publishManaged: (gates) => gates.isEnabled('Day2') },
        }),
        names,
        gatesVersion: RELEASE,
        settings: { systemTrustBundle: 'system' },
        clock,
        readText: () => Promise.resolve(system),
      })
        .filter((controller) => controller.name === name)
        .map(inEveryNamespace),
    act,
  }),
});

describe('config-sync, killed anywhere', () => {
  for (const { controller, least } of [
    { controller: 'cloud-config', least: 9 },
    { controller: 'trusted-ca', least: 4 },
  ])
    it(`operator/R68, operator/R69: ${controller} ends with the same ConfigMaps and conditions, whatever a crash or a lost answer left`, async () => {
      const { failures, points } = await enumerateCrashPoints(scenario(controller, await authorityPem('system')), {
        faults: ['kill-after', 'lost-and-stale'],
      });
      assert.deepEqual(failures, []);
      assert.ok(points.length >= least, points.join('\n'));
    });
});
