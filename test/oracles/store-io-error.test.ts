import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { StoreBug } from '../../src/apiserver/store/journal.ts';
import { needsOracle, oracleFile } from '../support/needs-oracle.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { openTestStore } from '../support/store.ts';
import { Victim } from '../torture/store/victim.ts';

const WRITES = 400;
const CALLS = 'trace=fdatasync,fsync,pwrite64,write,rename,unlink,ftruncate';

interface Run {
  readonly data: string;
  readonly lines: readonly string[];
  readonly trace: readonly string[];
}

/** A store whose disk fails once, and works again as if nothing had been. */
async function withFault(directory: string, fault: string, bugs: readonly StoreBug[] = []): Promise<Run> {
  const [data, file] = [join(directory, 'data'), join(directory, 'trace')];
  const lines: string[] = [];
  const strace = [oracleFile('strace'), '-f', '-y', '-s', '16', '-e', CALLS, '-e', `inject=${fault}`, '-o', file];
  const options = { directory: data, seed: 1, clients: 3, writes: WRITES, bugs };
  await using victim = new Victim(options, (line) => lines.push(line), strace);
  await victim.said('waiting');
  victim.go();
  assert.equal(await victim.ended(), 0, victim.errors);
  return { data, lines, trace: readFileSync(file, 'utf8').split('\n') };
}

const faults: readonly { name: string; fault: string; message: RegExp }[] = [
  { name: 'a sync fails', fault: 'fdatasync:error=EIO:when=60', message: /EIO/ },
  // Two in a row: the store needs no mark, the one write between two of the log (high-water-mark.ts), and goes on without it.
  { name: 'a write fails', fault: 'pwrite64:error=EIO:when=300..301', message: /disk I\/O error/ },
];

describe('a store on a disk that fails once', needsOracle('strace'), () => {
  for (const { name, fault, message } of faults) {
    it(`reliability/P7: writes nothing more to its files when ${name}, and has every acknowledged write later`, async () => {
      await using directory = await scratchDirectory();
      const { data, lines, trace } = await withFault(directory.path, fault);
      const firstFailure = lines.findIndex((line) => line.startsWith('failed '));
      assert.ok(firstFailure > 0, 'the fault hit a write');
      assert.match(lines[firstFailure] ?? '', message);
      assert.match(
        lines[firstFailure] ?? '',
        /writes are refused until the server is started again; reads still work/,
      );
      const later = lines.slice(firstFailure).filter((line) => line.startsWith('acknowledged'));
      assert.deepEqual(later, [], 'nothing is acknowledged afterwards');
      const failedAt = trace.findLastIndex((line) => line.includes('(INJECTED)'));
      const touched = trace
        .slice(failedAt + 1)
        .filter((line) => /(sync|write\d*)\(\d+<[^>]*store\.(db|mark)(-wal)?>/.test(line));
      assert.deepEqual(touched, [], 'nothing is written or synced afterwards');

      await using store = await openTestStore(data);
      const acknowledged = lines
        .filter((line) => line.startsWith('acknowledged'))
        .map((line) => Number(line.split(' ')[2]));
      assert.ok(acknowledged.length > 20 && store.revision >= Math.max(...acknowledged));
    });
  }

  it('would go on as if nothing had been with the planted mistake of a second sync', async () => {
    await using directory = await scratchDirectory();
    const { lines } = await withFault(directory.path, 'fdatasync:error=EIO:when=60', ['retried-sync']);
    assert.ok(!lines.some((line) => line.startsWith('failed ')));
  });
});
