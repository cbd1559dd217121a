import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type CloudWorld, cloudWorld } from '../../../../test/support/cloud-world.ts';
import { scratchDirectory, until } from '../../../../test/support/scratch.ts';
import type { Boot } from '../boot.ts';
import { openDirectoryImage } from './directory-image.ts';

/** Nodes with directories of their own, from the moment they have power; `starts` tells which devices each found. */
function nodesIn(directory: string, starts: string[] = []): Boot {
  const powered = new Set<string>();
  let node = 0;
  return {
    takeAddress: () => ({ privateAddress: `10.77.1.${++node}`, publicAddress: `127.77.1.${node}` }),
    powerOn: async ({ id }, _print, onDisk) => {
      mkdirSync(join(directory, id), { recursive: true });
      powered.add(id);
      await onDisk();
      const devices = join(directory, id, 'dev', 'disk', 'by-id');
      starts.push(readdirSync(devices).toSorted().join(' '));
    },
    powerOff: async (id) => void powered.delete(id),
    release: (id) => rmSync(join(directory, id), { recursive: true, force: true }),
    rootOf: (id) => (powered.has(id) ? join(directory, id) : undefined),
  };
}

const act = (world: CloudWorld, id: string, body: object) =>
  world.ask('POST', `/v1/volumes/${id}/actions`, { body });

async function worldWithNodes(directory: string, count = 1) {
  const starts: string[] = [];
  const world = await cloudWorld({ directory, boot: nodesIn(join(directory, 'nodes'), starts) });
  const v = await world.make('volumes', { name: 'v', sizeGiB: 1, zone: 'a' });
  const names = Array.from({ length: count }, (_, n) => `w-${n}`);
  const ids: string[] = [];
  for (const name of names) ids.push(await world.make('instances', { name, type: 'lab.small', zone: 'a' }));
  await world.pass(3000);
  // Files take real time.
  await until(() => starts.length === count, 'the nodes have started', 10_000);
  return { world, v, ids, starts };
}

const linksOf = (directory: string, instanceId: string): readonly string[] => {
  const links = join(directory, 'nodes', instanceId, 'dev', 'disk', 'by-id');
  return existsSync(links) ? readdirSync(links) : [];
};

describe('attached volumes', () => {
  it('lab/C21: are links in the node to their image, as long as they are attached', async () => {
    await using directory = await scratchDirectory();
    const { world, v, ids } = await worldWithNodes(directory.path, 2);
    await using _ = world;
    const [i = '', other = ''] = ids;
    await act(world, v, { action: 'attach', instanceId: i });
    await world.pass(1000);
    assert.deepEqual(linksOf(directory.path, i), [`lab-${v}`]);
    assert.deepEqual(linksOf(directory.path, other), []);
    const link = join(directory.path, 'nodes', i, 'dev', 'disk', 'by-id', `lab-${v}`);
    assert.equal(readlinkSync(link), join(directory.path, 'cloud', 'volumes', `${v}.img`));
    await act(world, v, { action: 'detach' });
    await world.pass(1000);
    assert.deepEqual(linksOf(directory.path, i), []);
  });

  it('lab/C21: take the content of their directory image from node to node', async () => {
    await using directory = await scratchDirectory();
    const { world, v, ids } = await worldWithNodes(directory.path, 2);
    await using _ = world;
    const device = (id: string) => join(directory.path, 'nodes', id, 'dev', 'disk', 'by-id', `lab-${v}`);
    const [first = '', second = ''] = ids;
    await act(world, v, { action: 'attach', instanceId: first });
    await world.pass(1000);
    writeFileSync(join(await openDirectoryImage(device(first)), 'file'), 'content');
    await act(world, v, { action: 'detach' });
    await world.pass(1000);
    await act(world, v, { action: 'attach', instanceId: second });
    await world.pass(1000);
    assert.equal(readFileSync(join(await openDirectoryImage(device(second)), 'file'), 'utf8'), 'content');
  });

  it('lab/C21: vanish from the node of an instance that is terminated', async () => {
    await using directory = await scratchDirectory();
    const { world, v, ids } = await worldWithNodes(directory.path);
    await using _ = world;
    const [i = ''] = ids;
    await act(world, v, { action: 'attach', instanceId: i });
    await world.pass(1000);
    await world.ask('DELETE', `/v1/instances/${i}`);
    await world.pass(2000);
    assert.deepEqual(linksOf(directory.path, i), []);
  });

  it('lab/C21: appear when the node gets power, if they were attached before', async () => {
    await using directory = await scratchDirectory();
    const { world, v, ids } = await worldWithNodes(directory.path);
    await using _ = world;
    const [i = ''] = ids;
    await act(world, v, { action: 'attach', instanceId: i });
    await world.pass(1000);
    await world[Symbol.asyncDispose]();
    const later = join(directory.path, 'later');
    await using again = await cloudWorld({ directory: directory.path, clock: world.clock, boot: nodesIn(later) });
    const link = join(later, i, 'dev', 'disk', 'by-id', `lab-${v}`);
    await until(() => existsSync(link), 'the node has its device');
    assert.equal((await again.look('volumes', v))['state'], 'in-use');
  });

  it('lab/C21: are right before anything runs on a node, whatever was attached and detached while it was off', async () => {
    await using directory = await scratchDirectory();
    const { world, v: kept, ids, starts } = await worldWithNodes(directory.path);
    await using _ = world;
    const [i = ''] = ids;
    const [left, came] = [
      await world.make('volumes', { name: 'left', sizeGiB: 1, zone: 'a' }),
      await world.make('volumes', { name: 'came', sizeGiB: 1, zone: 'a' }),
    ];
    await world.pass(2000);
    for (const volume of [kept, left]) await act(world, volume, { action: 'attach', instanceId: i });
    await world.pass(1000);
    const power = (action: string) => world.ask('POST', `/v1/instances/${i}/actions`, { body: { action } });
    await power('stop');
    await world.pass(2000);
    await act(world, left, { action: 'detach' });
    await act(world, came, { action: 'attach', instanceId: i });
    await world.pass(1000);
    // The lab may have been moved meanwhile.
    const link = join(directory.path, 'nodes', i, 'dev', 'disk', 'by-id', `lab-${kept}`);
    rmSync(link);
    symlinkSync('/nowhere', link);
    await power('start');
    await world.pass(2000);
    const names = [kept, came].map((volume) => `lab-${volume}`).toSorted();
    await until(() => starts.length === 2, 'the node has started again', 10_000);
    assert.deepEqual(starts, ['', names.join(' ')]);
    assert.equal(readlinkSync(link), join(directory.path, 'cloud', 'volumes', `${kept}.img`));
  });

  it('lab/C21: need no node: an instance without one only says that they are attached', async () => {
    await using world = await cloudWorld();
    const v = await world.make('volumes', { name: 'v', sizeGiB: 1, zone: 'a' });
    const i = await world.make('instances', { name: 'w', type: 'lab.small', zone: 'a' });
    await world.pass(3000);
    await act(world, v, { action: 'attach', instanceId: i });
    await world.pass(1000);
    assert.equal((await world.look('volumes', v))['state'], 'in-use');
  });

  it('lab/C21: that cannot be linked are in error, and can be taken back', async () => {
    await using directory = await scratchDirectory();
    const { world, v, ids } = await worldWithNodes(directory.path);
    await using _ = world;
    const [i = ''] = ids;
    const inTheWay = join(directory.path, 'nodes', i, 'dev');
    rmSync(inTheWay, { recursive: true, force: true });
    writeFileSync(inTheWay, 'a file where a directory should be');
    await act(world, v, { action: 'attach', instanceId: i });
    await world.pass(1000);
    assert.equal((await world.look('volumes', v))['state'], 'error');
    rmSync(inTheWay);
    assert.equal((await act(world, v, { action: 'detach' })).status, 202);
    await world.pass(1000);
    assert.equal((await world.look('volumes', v))['state'], 'available');
  });
});
