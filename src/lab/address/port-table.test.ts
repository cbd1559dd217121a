import assert from 'node:assert/strict';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { PortTable, type PortTableOptions } from './port-table.ts';

/** Draws these numbers, then always the same. */
const drawing = (numbers: readonly number[]) => {
  const left = [...numbers];
  return () => left.shift() ?? 0.75;
};

async function started(directory: string, options: Partial<PortTableOptions> = {}) {
  const file = join(directory, 'ports.tsv');
  const table = new PortTable({ file, random: drawing([]), isFree: async () => true, ...options });
  await table.start();
  return { table, file };
}

describe('port table', () => {
  const place = { host: '10.16.0.1', port: 443 };

  it('lab/X10: claims no port that another place has, or that somebody listens on', async () => {
    await using directory = await scratchDirectory();
    const tried: number[] = [];
    const isFree = async (port: number) => {
      tried.push(port);
      return port !== 23_000;
    };
    const { table, file } = await started(directory.path, { random: drawing([0, 0.25, 0.5]), isFree });
    await appendFile(file, 'elsewhere\t80\t20000\n');
    assert.equal(await table.claim(place), 26_000);
    assert.deepEqual(tried, [23_000, 26_000]);
    assert.equal(table.find(place), 26_000);
  });

  it('lab/X5: gives a place the same port again', async () => {
    await using directory = await scratchDirectory();
    const { table } = await started(directory.path, { random: drawing([0, 0.5]) });
    assert.deepEqual([await table.claim(place), await table.claim(place)], [20_000, 20_000]);
  });

  it('lab/X10: takes what others claimed first while it looked for a port', async () => {
    await using directory = await scratchDirectory();
    const others = ['10.16.0.1\t443\t31000\n', '10.16.0.2\t443\t20000\n'];
    const isFree = async () => {
      await appendFile(join(directory.path, 'ports.tsv'), others.shift() ?? '');
      return true;
    };
    const { table } = await started(directory.path, { random: drawing([0, 0, 0.5]), isFree });
    assert.equal(await table.claim(place), 31_000);
    assert.equal(await table.claim({ ...place, host: '10.16.0.3' }), 26_000);
  });

  it('says so when no port is free', async () => {
    await using directory = await scratchDirectory();
    const { table } = await started(directory.path, { isFree: async () => false });
    await assert.rejects(table.claim(place), /no port of 127\.0\.0\.1 is free for 10\.16\.0\.1:443/);
  });
});
