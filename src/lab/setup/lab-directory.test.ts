import assert from 'node:assert/strict';
import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { startLab } from '../start-lab.ts';
import { requireSameOctet } from './lab-directory.ts';

describe('a data folder of another network', () => {
  it('lab/X1: is refused with what was found where, what is asked for, and ways on', async () => {
    await using folder = await scratchDirectory();
    writeFileSync(join(folder.path, 'octet'), '41\n');
    await assert.rejects(startLab({ data: folder.path, octet: 42 }), {
      reason: 'InvalidScenario',
      message: `the objects in ${realpathSync(folder.path)} have addresses 10.41.x.y, but octet 42 is asked for. Start with octet 41 or without octet, or choose another --data`,
    });
  });

  it('lab/X1: may be the one that is asked for, or nobody knows', () => {
    requireSameOctet({ path: '/srv/lab', octet: 42 }, 42);
    requireSameOctet({ path: '/srv/lab', octet: undefined }, 42);
  });
});
