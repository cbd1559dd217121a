import { describe, it } from 'node:test';
import { killDurableLabs, killEphemeralLabs } from '../support/lab-deaths.ts';
import { shortDirectory } from '../support/short-directory.ts';

const SKIP = process.platform !== 'linux' && 'processes are looked up in /proc';

describe('a lab that is killed at a hundred moments', { skip: SKIP, concurrency: true }, () => {
  it('lab/P14: leaves no process, no socket and no directory', async () => {
    await using scratch = await shortDirectory();
    await killEphemeralLabs(scratch.path, 60);
  });

  it('lab/N18: is taken up where it was by the next one', async () => {
    await using scratch = await shortDirectory();
    await killDurableLabs(scratch.path, 40);
  });
});
