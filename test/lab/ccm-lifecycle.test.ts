// Machines that are stopped, started and deleted in the cloud, and a cloud that does not tell the truth about them.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CcmLab, hasTaint } from '../support/ccm-lab.ts';

const SHUTDOWN = 'node.cloudprovider.kubernetes.io/shutdown';
const MACHINES = ['m-1', 'm-2', 'm-3'];
/** Questions for one machine. */
const SINGLE = { method: 'GET', path: '/v1/instances/*' };

describe('machines of the cloud behind nodes', () => {
  let world: CcmLab;
  before(async () => {
    world = await CcmLab.start({ scaled: 10, hosts: 1 });
    await world.boot(MACHINES);
    await world.deploy();
    await world.untilInitialised(...MACHINES);
  });
  after(() => world[Symbol.asyncDispose]());

  const act = (name: string, action: string) =>
    world.ask('POST', `/v1/instances/${world.instanceId(name)}/actions`, { action });
  const isOff = async (name: string) => hasTaint((await world.node(name)) ?? assert.fail(name), SHUTDOWN);

  it('ccm/L6, ccm/L3: a node whose machine is stopped is tainted until it is ready again', async () => {
    await act('m-1', 'stop');
    await world.until('m-1 is tainted', () => isOff('m-1'));
    await world.untilReadiness('m-1', false);
    for (const name of ['m-2', 'm-3']) assert.equal(await isOff(name), false);
    await act('m-1', 'start');
    await world.untilReadiness('m-1', true);
    await world.until('m-1 is not tainted any more', async () => !(await isOff('m-1')));
  });

  it('ccm/B2, ccm/L4: nodes stay when the cloud claims for a while that no machine exists', async () => {
    for (const name of MACHINES) world.cluster.node(name).partition(true);
    for (const name of MACHINES) await world.untilReadiness(name, false);
    // Lists show none of them. Too few of the single questions are answered wrongly to be three for any machine.
    await untagged(world, async () => {
      const times = MACHINES.length + 1;
      using fault = world.lab.cloud.fault({ match: SINGLE, effect: { status: 404 }, times });
      await world.until('somebody is warned', async () => (await outageWarnings(world)).length > 0);
      await world.until('the cloud tells the truth again', () => firedTimes(world, fault.name) === times);
    });
    const before = world.lab.cloud.journal().length;
    await world.until(
      'the cloud is asked again',
      () => world.lab.cloud.journal().length > before + MACHINES.length,
    );
    for (const name of MACHINES) world.cluster.node(name).partition(false);
    for (const name of MACHINES) await world.untilReadiness(name, true);
    assert.deepEqual(deletedNodes(world), []);
  });

  it('ccm/L5: a node whose machine is deleted goes, and the event says what the cloud said', async () => {
    const id = world.instanceId('m-2');
    await world.ask('DELETE', `/v1/instances/${id}`);
    await world.until('m-2 is gone', async () => (await world.node('m-2')) === undefined);
    await world.untilEvent('Node', 'm-2', new RegExp(`^Normal DeletingNode Deleting node m-2 because .*${id}`));
    assert.deepEqual(deletedNodes(world), ['m-2']);
    assert.ok((await world.node('m-1')) !== undefined && (await world.node('m-3')) !== undefined);
  });
});

/** Takes the tag of the cluster off the machines, and gives it back. */
async function untagged(world: CcmLab, work: () => Promise<void>): Promise<void> {
  const tagged = world.inCloud('instances').map(({ id, tags }) => ({ id, tags }));
  for (const { id, tags } of tagged) {
    const none = Object.fromEntries(Object.keys(tags).map((key) => [key, null]));
    await world.ask('PATCH', `/v1/instances/${id}`, { tags: none });
  }
  await work();
  for (const { id, tags } of tagged) await world.ask('PATCH', `/v1/instances/${id}`, { tags });
}

async function outageWarnings(world: CcmLab): Promise<readonly string[]> {
  const events = await Promise.all(MACHINES.map((name) => world.events('Node', name)));
  return events.flat().filter((text) => text.startsWith('Warning SuspectedCloudOutage Not deleting node '));
}

const firedTimes = ({ lab }: CcmLab, name: string): number =>
  lab.cloud.faults.find((fault) => fault.name === name)?.fired ?? 0;

const deletedNodes = ({ lab }: CcmLab): readonly string[] =>
  lab
    .writes()
    .filter(({ method }) => method === 'DELETE')
    .flatMap(({ path }) => /^\/api\/v1\/nodes\/([^/]+)$/.exec(path)?.[1] ?? []);
