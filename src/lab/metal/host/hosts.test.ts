import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AssistedWorld, NAMESPACE } from '../../../../test/support/assisted-world.ts';
import { InfraEnv } from '../../../api/assisted/agent-install-v1beta1.ts';

async function started(): Promise<AssistedWorld> {
  const world = await AssistedWorld.start({ pace: 0.1 });
  await world.addCluster({ controlPlaneAgents: 1 });
  return world;
}

describe('hosts', () => {
  it('agent/S17: register some time after they were switched on, with what they are', async () => {
    await using world = await started();
    const [host] = await world.addHosts('m1');
    assert.deepEqual(await world.agents(), []);
    await world.env.advance(10_000);
    const { metadata, status } = await world.agent('m1');
    const { hostname, cpu, boot, interfaces = [] } = status?.inventory ?? {};
    const macAddresses = interfaces.map(({ macAddress }) => macAddress);
    assert.deepEqual([metadata.name, macAddresses], [host?.id, host?.macAddresses]);
    assert.deepEqual([hostname, cpu?.architecture, boot?.deviceType], ['m1', 'x86_64', 'persistent']);
    assert.deepEqual(
      world.hosts.powered.map(({ phase }) => phase),
      ['registered'],
    );
  });

  it('agent/S17: call themselves what their ignition tells them to', async () => {
    await using world = await started();
    await world.addInfraEnv('m1');
    await world.env.advance(6000);
    const ignition = JSON.parse(await world.ignition('m1'));
    const script =
      '#!/bin/bash\nhostnamectl set-hostname "$(grep ^METADATA_UUID= /etc/metadata_env | cut -d= -f2-)"\n';
    ignition.storage.files.push({
      path: '/usr/local/bin/set_hostname',
      contents: { source: `data:,${encodeURIComponent(script)}` },
    });
    const unit = (name: string, contents: string) =>
      ignition.systemd.units.push({ name, enabled: true, contents });
    unit('configdrive-metadata.service', 'ExecStart=/usr/local/bin/configdrive_metadata');
    unit('set-hostname.service', 'ExecStart=/bin/bash /usr/local/bin/set_hostname');
    await world.hosts.powerOn(world.hostFor('m1', { from: 'disk', userData: JSON.stringify(ignition) }));
    await world.env.advance(10_000);
    assert.equal((await world.agent('m1')).status?.inventory?.hostname, 'bmh-m1');
  });

  it('agent/S17: boot an image, several the same one', async () => {
    await using world = await started();
    await world.addInfraEnv('all');
    await world.env.advance(6000);
    const url = (await world.infraEnv('all')).status?.isoDownloadURL ?? '';
    for (const name of ['a', 'b']) await world.hosts.powerOn(world.hostFor(name, { from: 'live-iso', url }));
    await world.env.advance(10_000);
    const agents = await world.agents('all');
    assert.deepEqual(
      agents.map(({ status }) => status?.inventory?.hostname).toSorted((a = '', b = '') => a.localeCompare(b)),
      ['a', 'b'],
    );
    assert.equal(agents[0]?.status?.inventory?.boot?.deviceType, 'ephemeral');
  });

  it('are the same when they are switched on twice, and new with another image', async () => {
    await using world = await started();
    const [host] = await world.addHosts('m1');
    assert.ok(host);
    await world.env.advance(10_000);
    await world.hosts.powerOn(host);
    assert.equal(world.hosts.powered[0]?.phase, 'registered');
    await world.hosts.powerOn({ ...host, boot: { from: 'live-iso', url: 'http://x/none.iso' } });
    assert.equal(world.hosts.powered[0]?.phase, 'booting');
    await world.env.advance(10_000);
    assert.match(world.hosts.powered[0]?.problem ?? '', /the image is not there: the service answers 404/);
    assert.deepEqual(
      world.hosts.record.map(({ event }) => event),
      ['on'],
    );
  });

  it('say why they do not register', async () => {
    await using world = await started();
    for (const userData of ['', '{"ignition":{"version":"3.1.0"}}'])
      await world.hosts.powerOn(world.hostFor('m1', { from: 'disk', userData }));
    await world.env.advance(10_000);
    for (const { problem } of world.hosts.powered) assert.match(problem ?? '', /no agent\.service/);
  });

  it('agent/S17: do not register for an InfraEnv that is gone', async () => {
    await using world = await started();
    await world.addHosts('m1');
    await world.env.client.delete(InfraEnv, { namespace: NAMESPACE, name: 'm1' });
    await world.env.advance(60_000);
    assert.equal(world.hosts.powered[0]?.problem, 'the service answers 404');
    assert.deepEqual(await world.agents(), []);
  });

  it('agent/S15: end with what they do when they are wiped', async () => {
    await using world = await started();
    const [host] = await world.addHosts('m1');
    await world.hosts.wipe(host?.id ?? '');
    await world.env.advance(60_000);
    assert.deepEqual([world.hosts.powered, await world.agents()], [[], []]);
    assert.equal(await world.hosts.identify(host?.id ?? '', undefined), undefined);
  });
});
