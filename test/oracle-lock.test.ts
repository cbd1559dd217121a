import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { scratchDirectory, until, writeScript } from './support/scratch.ts';

const FILE_LOCK = new URL('../src/app/file-lock.ts', import.meta.url).href;
const CONTENDERS = 16;
const ROUNDS = 20;
/** A process that is no more: Linux gives out no such number. */
const DEAD = JSON.stringify({ process: { pid: 2 ** 30 } });

/**
 * Waits for each round, then tries for its lock until it has had it once. Whoever has it leaves a mark that must not be
 * there yet, and rests a moment with it, so that a second holder would be seen.
 */
const contender = (directory: string): string => `
  import { existsSync, rmSync, writeFileSync } from 'node:fs';
  import { tryFileLock } from ${JSON.stringify(FILE_LOCK)};
  process.chdir(${JSON.stringify(directory)});
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const rest = (ms) => void Atomics.wait(cell, 0, 0, ms);
  const giveUpMs = performance.now() + 50_000;
  const until = (isTrue) => {
    for (; !isTrue(); rest(0.2)) if (performance.now() > giveUpMs) { console.log('waited too long'); process.exit(1); }
  };
  writeFileSync('ready-' + process.argv[2], '');
  for (let round = 0; round < ${ROUNDS}; round++) {
    until(() => existsSync('round-' + round));
    let attempt;
    until(() => (attempt = tryFileLock('lock-' + round)).state === 'acquired');
    try {
      writeFileSync('mark-' + round, '', { flag: 'wx' });
      rest(1);
      rmSync('mark-' + round);
    } catch {
      console.log('two holders in round ' + round);
    }
    attempt.lock[Symbol.dispose]();
    writeFileSync('done-' + round + '-' + process.argv[2], '');
  }`;

describe('the lock of a build', () => {
  it('is never held by two, however many processes find the lock of a dead one at the same moment', async () => {
    await using directory = await scratchDirectory();
    const count = (prefix: string): number =>
      readdirSync(directory.path).filter((name) => name.startsWith(prefix)).length;
    const script = await writeScript(directory.path, 'contender.mts', contender(directory.path));
    const contenders = Array.from({ length: CONTENDERS }, (_, index) => {
      const child = spawn(process.execPath, [script, String(index)], { stdio: ['ignore', 'pipe', 'inherit'] });
      return { said: text(child.stdout), ended: once(child, 'exit') };
    });
    await until(() => count('ready-') === CONTENDERS, 'all contenders are ready');
    for (let round = 0; round < ROUNDS; round++) {
      writeFileSync(join(directory.path, `lock-${round}`), DEAD);
      writeFileSync(join(directory.path, `round-${round}`), '');
      await until(() => count(`done-${round}-`) === CONTENDERS, `round ${round} is over`);
    }
    const said = await Promise.all(contenders.map((one) => one.said));
    await Promise.all(contenders.map((one) => one.ended));
    assert.equal(said.join(''), '');
    assert.equal(count('lock-'), 0);
  });
});
