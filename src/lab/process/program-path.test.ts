import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { StartFailure } from './process-host.ts';
import { programPath } from './program-path.ts';

/** A machine with a few programs below `/app`. */
async function machine() {
  const scratch = await scratchDirectory();
  const add = async (path: string, text: string, mode: number) => {
    const file = join(scratch.path, path);
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, text);
    await chmod(file, mode);
  };
  await add('app/bin/run', '#!/bin/sh\n', 0o755);
  await add('app/first/run', '#!/bin/sh\n', 0o644);
  await add('app/bin/plain', 'echo hello\n', 0o755);
  await add('app/bin/empty', '', 0o755);
  await mkdir(join(scratch.path, 'app/bin/folder'));
  const locate = (path: string) => join(scratch.path, path);
  const find = (name: string, path = '/app/first:/app/bin', workdir = '/app') =>
    programPath(name, { path, workdir, locate });
  return { find, [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose]() };
}

describe('the search for a program', () => {
  const found = [
    { name: 'run', want: '/app/bin/run' },
    { name: '/app/bin/run', want: '/app/bin/run' },
    { name: './bin/run', want: '/app/bin/run' },
    { name: 'bin/run', want: '/app/bin/run' },
  ];
  for (const { name, want } of found) {
    it(`lab/P2: finds ${name} as the container sees it`, async () => {
      await using world = await machine();
      assert.equal(await world.find(name), want);
    });
  }

  const failures = [
    { name: 'other', exitCode: 127, message: 'cannot run "other": no such program in PATH (/app/first:/app/bin)' },
    { name: '/app/none', exitCode: 127, message: 'cannot run /app/none: no such file' },
    {
      name: '/app/first/run',
      exitCode: 126,
      message: 'cannot run /app/first/run: it is not executable (mode 0644)',
    },
    { name: 'folder', exitCode: 126, message: 'cannot run /app/bin/folder: it is not a file' },
    { name: '', exitCode: 127, message: 'cannot run "": the command is empty' },
    {
      name: 'plain',
      exitCode: 126,
      message:
        'cannot run /app/bin/plain: exec format error: it is neither a program of this machine nor a script that begins with #!',
    },
    {
      name: './bin/empty',
      exitCode: 126,
      message:
        'cannot run /app/bin/empty: exec format error: it is neither a program of this machine nor a script that begins with #!',
    },
  ];
  for (const { name, exitCode, message } of failures) {
    it(`lab/P2: says why "${name}" cannot run`, async () => {
      await using world = await machine();
      await assert.rejects(world.find(name), new StartFailure('RunContainerError', message, exitCode));
    });
  }

  it('lab/P2: says rather that a program cannot be executed than that others are not there', async () => {
    await using world = await machine();
    await assert.rejects(world.find('run', '/app/none:/app/first'), { exitCode: 126 });
  });
});
