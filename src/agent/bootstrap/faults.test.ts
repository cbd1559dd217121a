import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  answer,
  BootstrapWorld,
  IGNITION,
  NAMESPACE,
  PLAIN_SETTINGS,
} from '../../../test/support/agent-bootstrap-world.ts';
import { authorityPem } from '../../../test/support/config-sync-world.ts';
import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { Agent, InfraEnv } from '../../api/assisted/agent-install-v1beta1.ts';
import { Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { ConfigMap } from '../../api/generated/core-v1.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { expectExactRbac } from '../../testing/exact-rbac.ts';

const SHARED = 'one-workers-x86-64';
const key = (name: string) => ({ namespace: NAMESPACE, name });

/** Machines of both boot methods until their Agents are approved, and away again. */
async function wholeStory(world: BootstrapWorld, waitMs: number): Promise<void> {
  const { outside, env } = world;
  const wait = () => env.advance(waitMs);
  await outside.template('workers');
  await outside.machine('m', { isControlPlane: true, spec: { pullSecretRef: { name: '' } } });
  await outside.machine('w', { isLiveIso: true, template: 'workers' });
  await outside.machine('v', { isLiveIso: true, template: 'workers' });
  await wait();
  await outside.infraEnvReady('m');
  await outside.infraEnvReady(SHARED);
  await wait();
  await outside.host('w', { mac: 'aa:00:00:00:00:01' });
  await outside.agent('host-m', 'm');
  await outside.agent('host-w', SHARED, { mac: 'aa:00:00:00:00:01' });
  await wait();
}

async function away(world: BootstrapWorld, names: readonly string[], waitMs: number): Promise<void> {
  for (const name of names) {
    await world.env.client.delete(Machine, key(name));
    await world.env.client.delete(OpenshiftAssistedConfig, key(name)).catch(() => {});
    await world.env.advance(waitMs);
  }
}

describe('the bootstrap provider in trouble', () => {
  it('ends as it should while 20 % of its calls fail', async () => {
    await using world = await BootstrapWorld.start({ log: SILENT_LOG, seed: 7 });
    await world.outside.cluster();
    await world.outside.installation();
    world.env.faults.arm({
      matches: ({ isStream }) => isStream !== true,
      fault: { kind: 'refuse', status: 503, reason: 'ServiceUnavailable' },
      rate: 0.1,
    });
    world.env.faults.arm({
      matches: ({ isStream }) => isStream !== true,
      fault: { kind: 'lost-response' },
      rate: 0.1,
    });
    await world.run();
    await wholeStory(world, 10 * 60_000);
    assert.deepEqual(await world.secretData('m'), { value: IGNITION, format: 'ignition' });
    for (const name of ['m', 'w', 'v']) assert.equal(await world.dataSecret(name), 'True');
    for (const name of ['host-m', 'host-w'])
      assert.equal((await world.env.client.get(Agent, key(name))).spec.approved, true);
    await away(world, ['m', 'w', 'v'], 10 * 60_000);
    assert.deepEqual((await world.env.client.list(InfraEnv)).items, []);
    assert.deepEqual((await world.env.client.list(OpenshiftAssistedConfig)).items, []);
    assert.ok((world.env.faults.struck.get('refuse') ?? 0) > 5);
  });

  it('uses exactly the rights that it asks for', async () => {
    await using world = await BootstrapWorld.running();
    await world.outside.cluster('two');
    await world.outside.installation('two');
    await world.outside.machine('x', { cluster: 'two', spec: { pullSecretRef: { name: '' } } });
    await wholeStory(world, 0);
    await world.outside.infraEnvStatus(SHARED, { isoDownloadURL: 'https://images.example/new.iso' });
    await world.env.advance(11 * 60_000);
    await away(world, ['w', 'v', 'm'], 0);
    expectExactRbac(world.env);
  });

  it('agent/E7, agent/X16: reads the authorities again when assisted-service has got another one', async () => {
    const settings = {
      ...PLAIN_SETTINGS,
      caBundleName: 'bundle',
      caBundleNamespace: NAMESPACE,
      caBundleResource: 'configmap',
    };
    await using world = await BootstrapWorld.running({ settings, log: SILENT_LOG });
    const [old, present] = [await authorityPem('old'), await authorityPem('present')];
    let trusted = old;
    world.service.reply = ({ caPem }) =>
      caPem === trusted
        ? Promise.resolve(answer(200, IGNITION))
        : Promise.reject(
            Object.assign(new Error('self-signed certificate'), { code: 'SELF_SIGNED_CERT_IN_CHAIN' }),
          );
    const url =
      'https://assisted.example/api/assisted-install/v2/infra-envs/x/downloads/files?file_name=discovery.ign';
    await world.env.client.create(ConfigMap, { metadata: key('bundle'), data: { 'ca.crt': old } });
    const boot = async (name: string) => {
      await world.outside.machine(name);
      await world.env.settle();
      await world.outside.infraEnvStatus(name, {
        bootArtifacts: { discoveryIgnitionURL: url, initrd: '', rootfs: '', kernel: '', ipxeScript: '' },
      });
      await world.env.settle();
    };
    await boot('a');
    assert.equal(await world.dataSecret('a'), 'True');
    trusted = present;
    await world.env.client.patch(ConfigMap, key('bundle'), {
      type: 'merge',
      body: { data: { 'ca.crt': present } },
    });
    await boot('b');
    assert.equal(await world.dataSecret('b'), 'True');
    assert.equal(world.service.requests.length, 3);
  });
});
