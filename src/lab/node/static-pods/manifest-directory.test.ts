import assert from 'node:assert/strict';
import { mkdir, open, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory, until } from '../../../../test/support/scratch.ts';
import { SystemClock, VirtualClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { printYaml } from '../../../object/yaml.ts';
import { startStaticPods } from './manifest-directory.ts';

const manifest = (name: string, image = 'i') =>
  printYaml({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { containers: [{ name: 'c', image }] } });

async function directoryRig(files: Readonly<Record<string, string>> = {}) {
  const stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  const root = await realpath(scratch.path);
  const directory = join(root, 'etc/kubernetes/manifests');
  await mkdir(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  const clock = new VirtualClock({ start: new Date('2030-01-01T00:00:00Z') });
  const told: string[] = [];
  const warning = (_: unknown, reason: string, note: string) => void told.push(`${reason}: ${note}`);
  const holds = { now: 0, ever: 0 };
  const source = stack.use(
    await startStaticPods({
      root,
      node: 'w-1',
      clock,
      real: new SystemClock(),
      log: SILENT_LOG,
      events: { normal: () => {}, warning },
      hold: () => {
        holds.now++;
        holds.ever++;
        return { [Symbol.dispose]: () => void holds.now-- };
      },
    }),
  );
  const names = () => source.pods().map(({ metadata }) => metadata.name);
  const changes = { count: 0 };
  stack.use(source.subscribe(() => void changes.count++));
  /** The next regular look, to its end. */
  const look = async () => {
    const before = holds.ever;
    await clock.advance(20_000);
    await until(() => holds.ever > before && holds.now === 0, 'the directory was read');
  };
  return {
    directory,
    clock,
    told,
    source,
    names,
    changes,
    look,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

describe('manifest directory', () => {
  it('lab/N37: gives the pods of all files in order, without dot files and directories', async () => {
    await using rig = await directoryRig({
      'b.yaml': manifest('b'),
      'a.json': JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a' },
        spec: { containers: [{ name: 'c', image: 'i' }] },
      }),
      '.hidden.yaml': manifest('hidden'),
    });
    await mkdir(join(rig.directory, 'c.yaml'));
    await rig.look();
    assert.deepEqual(rig.names(), ['a-w-1', 'b-w-1']);
    assert.deepEqual([rig.told, rig.changes.count], [[], 0]);
  });

  it('lab/N37: notices files that come, change and go, at once', async () => {
    await using rig = await directoryRig();
    await writeFile(join(rig.directory, 'a.yaml'), manifest('a'));
    await until(() => rig.names().length === 1, 'the pod is there');
    const [first] = rig.source.pods();
    await writeFile(join(rig.directory, '.new'), manifest('a', 'other'));
    await rename(join(rig.directory, '.new'), join(rig.directory, 'a.yaml'));
    await until(() => rig.source.pods()[0]?.metadata.uid !== first?.metadata.uid, 'the pod is another one');
    await rm(join(rig.directory, 'a.yaml'));
    await until(() => rig.names().length === 0, 'the pod is gone');
    assert.ok(rig.changes.count >= 3);
  });

  it('lab/N37: looks every 20 s, also into a directory that was replaced', async () => {
    await using rig = await directoryRig({ 'a.yaml': manifest('a') });
    await rename(rig.directory, `${rig.directory}-old`);
    await rig.look();
    assert.deepEqual(rig.names(), []);
    await mkdir(rig.directory);
    await writeFile(join(rig.directory, 'b.yaml'), manifest('b'));
    await rig.look();
    assert.deepEqual(rig.names(), ['b-w-1']);
    // And it is watched again.
    await rm(join(rig.directory, 'b.yaml'));
    await until(() => rig.names().length === 0, 'the pod is gone');
  });

  it('keeps a pod, since when it was first seen, while its content is the same', async () => {
    await using rig = await directoryRig({ 'a.yaml': manifest('a') });
    const [first] = rig.source.pods();
    await writeFile(join(rig.directory, 'a.yaml'), `# only a comment\n${manifest('a')}`);
    await rig.look();
    assert.equal(rig.source.pods()[0], first);
    assert.equal(rig.changes.count, 0);
  });

  it('lab/N37: tells once what is wrong with a file, and takes the others', async () => {
    await using rig = await directoryRig({
      'a.yaml': manifest('a'),
      'bad.yaml': 'kind: Secret',
      'same.yaml': manifest('a'),
      'binary.yaml': 'x',
    });
    await writeFile(join(rig.directory, 'binary.yaml'), Buffer.from([0xff, 0xfe, 0x00]));
    await rig.look();
    await rig.look();
    assert.deepEqual(rig.names(), ['a-w-1']);
    const line = (file: string) =>
      `InvalidManifest: Could not process manifest file /etc/kubernetes/manifests/${file}: `;
    const about = (file: string) => rig.told.filter((text) => text.startsWith(line(file)));
    assert.deepEqual(about('bad.yaml'), [
      `${line('bad.yaml')}it holds kind "Secret" of version ""; only Pod of v1 is allowed`,
    ]);
    assert.deepEqual(about('same.yaml'), [`${line('same.yaml')}pod default/a-w-1 is in file a.yaml already`]);
    assert.equal(about('binary.yaml').at(-1), `${line('binary.yaml')}it is not text in UTF-8`);
    await writeFile(join(rig.directory, 'bad.yaml'), manifest('b'));
    await rm(join(rig.directory, 'a.yaml'));
    await rig.look();
    assert.deepEqual(rig.names(), ['b-w-1', 'a-w-1']);
  });

  it('lab/N37: refuses a file of more than 10 MiB without reading it', async () => {
    await using rig = await directoryRig();
    await using file = await open(join(rig.directory, 'large.yaml'), 'w');
    await file.truncate(10 * 1024 * 1024 + 1);
    await rig.look();
    assert.match(rig.told.at(-1) ?? '', /it has 10485761 bytes; 10485760 are allowed/);
  });

  it('keeps a pod whose file is half written, until the next regular look', async () => {
    await using rig = await directoryRig({ 'a.yaml': manifest('a') });
    await writeFile(join(rig.directory, 'a.yaml'), 'apiVersion: v1\nkind: Po');
    await until(() => rig.told.length === 1, 'the change was noticed');
    assert.deepEqual(rig.names(), ['a-w-1']);
    await rig.look();
    assert.deepEqual(rig.names(), []);
  });

  it('is quiet when it has ended', async () => {
    const rig = await directoryRig({ 'a.yaml': manifest('a') });
    await rig[Symbol.asyncDispose]();
    assert.equal(rig.clock.nextDueMs, undefined);
  });
});
