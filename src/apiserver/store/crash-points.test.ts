import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { CONFIG_MAPS, openTestStore, PODS, rendered } from '../../../test/support/store.ts';
import type { StorePoint } from './journal.ts';
import { layoutOf } from './layout.ts';
import type { Store } from './store.ts';

interface Image {
  readonly directory: string;
  readonly point: StorePoint;
  readonly acknowledged: readonly string[];
  readonly published: number;
}

const textOf = ({ key, revision }: { key: string; revision: number }) => `${revision} ${key}`;

/** A scenario on a store of which a copy is taken at every point: each is what a kill leaves there. */
async function imagesOf(
  directory: string,
  scenario: (
    store: Store,
    write: (written: Promise<{ key: string; revision: number }>) => Promise<void>,
  ) => Promise<void>,
): Promise<readonly Image[]> {
  const images: Image[] = [];
  const acknowledged: string[] = [];
  let published = 1;
  const running = layoutOf(join(directory, 'running'));
  const onPoint = (point: StorePoint) => {
    const image = layoutOf(join(directory, `${images.length}-${point}`));
    mkdirSync(image.directory);
    for (const name of ['database', 'wal', 'mark'] as const) {
      if (existsSync(running[name])) copyFileSync(running[name], image[name]);
    }
    images.push({ directory: image.directory, point, acknowledged: [...acknowledged], published });
  };
  await using store = await openTestStore(running.directory, { onPoint });
  using _ = store.subscribe('', ({ revision }) => void (published = revision));
  await scenario(store, async (written) => void acknowledged.push(textOf(await written)));
  return images;
}

async function check({ directory, point, acknowledged, published }: Image): Promise<void> {
  await using store = await openTestStore(directory);
  const place = `killed at ${point} in ${directory}`;
  assert.ok(store.revision >= published, `${place}: an event was seen that is gone`);
  const events = [...store.history('', store.compactRevision)];
  const kept = [...store.listAt('', store.compactRevision), ...events].map(textOf);
  const superseded = (line: string) => Number(line.split(' ')[0]) <= store.compactRevision;
  const lost = acknowledged.filter((line) => !kept.includes(line) && !superseded(line));
  assert.deepEqual(lost, [], `${place}: acknowledged writes are gone`);
  assert.deepEqual(
    events.map(({ revision }) => revision),
    events.map((_, at) => Math.max(store.compactRevision, 1) + at + 1),
    place,
  );
}

describe('a kill at every named point', () => {
  it('reliability/T3: loses nothing that was acknowledged or seen', async () => {
    await using directory = await scratchDirectory();
    const images = await imagesOf(directory.path, async (store, write) => {
      const [a, p] = [`${CONFIG_MAPS}ns/a`, `${PODS}ns/p`];
      await write(store.put(a, 0, rendered('one')));
      await Promise.all([write(store.put(a, 2, rendered('two'))), write(store.put(p, 0, rendered('p')))]);
      await write(store.remove(p, 4, rendered('p')));
      await store.compact(4);
      await write(store.put(p, 0, rendered('x'.repeat(4_200_000))));
      await write(store.remove(a, 3, rendered('last')));
      await store.compact(store.revision);
      await write(store.put(a, 0, rendered('again')));
    });
    for (const image of images) await check(image);
    const points = new Set(images.map(({ point }) => point));
    assert.equal(points.size, 15, [...points].join(' '));
  });
});
