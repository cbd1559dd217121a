import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CloudWorld, cloudWorld } from '../../../../test/support/cloud-world.ts';
import { hardwareId } from '../../machine/hardware-id.ts';
import { HttpInstanceCloud } from '../cloud-machine/http-instance-cloud.ts';
import { CloudHosts } from './cloud-hosts.ts';
import type { BootedHost, HostPower } from './host-power.ts';

/** What was switched, in order. */
class Switches implements HostPower {
  readonly seen: string[] = [];

  async powerOn({ id, name }: BootedHost): Promise<void> {
    this.seen.push(`on ${name} ${id}`);
  }

  async wipe(id: string): Promise<void> {
    this.seen.push(`wiped ${id}`);
  }
}

const hostNamed = (name: string): BootedHost => ({
  id: `hardware-of-${name}`,
  namespace: 'default',
  name,
  macAddresses: [],
  architecture: 'amd64',
  boot: { from: 'disk', userData: 'ignition' },
  metadata: {},
});

/** Machines of a cloud in which time passes whenever somebody waits for it. */
function started(world: CloudWorld, passMs = 5000) {
  const cloud = new HttpInstanceCloud({
    url: world.cloud.url,
    token: () => world.cloud.issueToken(world.cloud.credentials()[0]?.clientId ?? '').token,
    zone: 'a',
  });
  const hosts = new Switches();
  const clock = { sleep: () => world.pass(passMs) };
  return { hosts, machines: new CloudHosts({ hosts, cloud, clock, zones: ['a', 'b'] }) };
}

const instances = async (world: CloudWorld) => {
  const { items } = await world.ask('GET', '/v1/instances');
  return items.filter(({ state }) => state !== 'terminated' && state !== 'shutting-down');
};

describe('hosts that are instances of a cloud', () => {
  it('are on when their instance is, once, however often they are switched on', async () => {
    await using world = await cloudWorld();
    const { hosts, machines } = started(world);
    for (let time = 0; time < 2; time++) await machines.powerOn(hostNamed('cp-0'));
    const [instance, ...others] = await instances(world);
    assert.deepEqual([instance?.['name'], instance?.['state'], others], ['cp-0', 'running', []]);
    const on = `on cp-0 ${hardwareId(String(instance?.['id']))}`;
    assert.deepEqual(hosts.seen, [on, on]);
  });

  it('are spread over the zones by the number in their names', async () => {
    await using world = await cloudWorld();
    const { machines } = started(world);
    for (const name of ['cp-0', 'cp-1', 'cp-2', 'w-0', 'bare']) await machines.powerOn(hostNamed(name));
    const zones = (await instances(world)).map(({ name, zone }) => `${String(name)} ${String(zone)}`);
    assert.deepEqual(zones.toSorted(), ['bare a', 'cp-0 a', 'cp-1 b', 'cp-2 a', 'w-0 a']);
  });

  it('are not on while their instance is not, and whoever asked is told to ask again', async () => {
    await using world = await cloudWorld();
    const { hosts, machines } = started(world, 0);
    await assert.rejects(machines.powerOn(hostNamed('cp-0')), {
      reason: 'InstanceNotRunning',
      disposition: 'retry',
    });
    assert.deepEqual(hosts.seen, []);
  });

  it('are wiped with their instance, by somebody else too, and are others when they come back', async () => {
    await using world = await cloudWorld();
    const { hosts, machines } = started(world);
    await machines.powerOn(hostNamed('cp-0'));
    const [before] = await instances(world);
    const next = started(world);
    await next.machines.wipe('hardware-of-cp-0');
    assert.deepEqual(next.hosts.seen, [`wiped ${hardwareId(String(before?.['id']))}`]);
    assert.deepEqual(await instances(world), []);
    for (const id of ['hardware-of-cp-0', 'unknown']) await machines.wipe(id);
    assert.equal(hosts.seen.length, 1);
    await machines.powerOn(hostNamed('cp-0'));
    const [after] = await instances(world);
    assert.notEqual(after?.['id'], before?.['id']);
  });
});
