import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { whenMissing } from '../node/volumes/missing-file.ts';
import { pathInRoot } from '../node/volumes/node-root.ts';
import type { Ignition } from './ignition.ts';

/** Where Ignition notes that it has run: it does so at the first start of a machine only. */
const DONE = 'etc/.ignition-result.json';

/**
 * Writes what user data says to a disk, once in the life of its instance. What another one left there goes first: a lab
 * that was killed may not have come to it, and its certificate would make the new machine the old one.
 */
export async function ignite(root: string, instanceId: string, { files }: Ignition): Promise<void> {
  const done = join(root, DONE);
  const mark = `${JSON.stringify({ instanceId })}\n`;
  if ((await readFile(done, 'utf8').catch(whenMissing)) === mark) return;
  await rm(root, { recursive: true, force: true });
  await mkdir(root, { recursive: true });
  for (const { path, content, mode } of files) {
    const place = await pathInRoot(root, path);
    await mkdir(dirname(place), { recursive: true });
    await writeFile(place, content, { mode });
  }
  await mkdir(dirname(done), { recursive: true });
  await writeFile(done, mark);
}
