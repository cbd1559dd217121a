import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { outcomeOf, scratchDirectory } from '../support/scratch.ts';

const PROGRAM = fileURLToPath(new URL('../torture/store/full-disk.ts', import.meta.url));
const UNSHARE = 'unshare';
const NAMESPACE = ['--user', '--map-root-user', '--mount', '--'];

/** Runs a program on a file system of its own, mounted at the directory. */
const mounted = (options: string) => [
  ...NAMESPACE,
  'sh',
  '-c',
  `mount -t tmpfs -o ${options} tmpfs "$0" && exec "$@"`,
];

function canMount(): { skip: false | string } {
  try {
    execFileSync(UNSHARE, [...mounted('size=1m'), '/mnt', 'true'], { stdio: 'ignore' });
    return { skip: false };
  } catch {
    return { skip: 'this machine does not allow mounts in a namespace (unshare --user --mount)' };
  }
}

const variables = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => name !== 'NODE_TEST_CONTEXT'));

describe('a full disk', canMount(), () => {
  it('reliability/P7: refuses writes with the reason, lets objects be removed, and recovers without a restart', async () => {
    await using directory = await scratchDirectory();
    const command = [...mounted('size=1m'), directory.path, process.execPath, PROGRAM, directory.path];
    const { code, stdout, stderr } = await outcomeOf(UNSHARE, command, variables());
    assert.equal(code, 0, stderr);
    const report = JSON.parse(stdout);
    const { path } = directory;
    const message = new RegExp(
      `^the object was not stored: no space left on the data disk \\(${path}, (0|[\\d.]+ K?i?B) of 1\\.0 MiB free\\)\\. Free space and retry; reads still work$`,
    );
    assert.match(report.full.message, message);
    assert.ok(report.full.stored > 50, `${report.full.stored} stored`);
    assert.match(report.again, message);
    assert.match(report.problem, message);
    assert.equal(report.readable, report.full.stored);
    assert.deepEqual([report.removals, report.problemAfter, report.after], [10, 'none', 'stored']);
    assert.match(report.more.message, message);
    assert.equal(report.isSame, true);
  });
});
