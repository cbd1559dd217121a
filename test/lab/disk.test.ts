import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { outcomeOf } from '../support/scratch.ts';
import { shortDirectory } from '../support/short-directory.ts';

const PROGRAM = fileURLToPath(new URL('../support/lab-full-disk.ts', import.meta.url));
const UNSHARE = 'unshare';
/** Runs a program on a small file system of its own, mounted at the directory. */
const MOUNTED = [
  '--user',
  '--map-root-user',
  '--mount',
  '--',
  'sh',
  '-c',
  'mount -t tmpfs -o size=24m tmpfs "$0" && exec "$@"',
];

function canMount(): { skip: false | string } {
  try {
    execFileSync(UNSHARE, [...MOUNTED, '/mnt', 'true'], { stdio: 'ignore' });
    return { skip: false };
  } catch {
    return { skip: 'this machine does not allow mounts in a namespace (unshare --user --mount)' };
  }
}

async function reportOf(kind: 'ephemeral' | 'durable') {
  await using directory = await shortDirectory();
  const { path } = directory;
  const program = [process.execPath, '--conditions=slipway-source', PROGRAM, path, kind];
  const variables = { PATH: process.env['PATH'], TMPDIR: path };
  const { code, stdout, stderr } = await outcomeOf(UNSHARE, [...MOUNTED, path, ...program], variables);
  assert.equal(code, 0, stderr);
  return { path, report: JSON.parse(stdout) };
}

const RUNNING = { phase: 'Running', state: 'running', lastState: '', restarts: 0, ready: 'True' };
const UNREADY = 'False ContainersNotReady: containers with unready status: [c]';

describe('a lab on a full disk', canMount(), () => {
  it('lab/N27: says why a pod does not start, and starts it when there is room', async () => {
    const { path, report } = await reportOf('ephemeral');
    const { start, full, recovered, pods, isLogging, ended } = report;
    assert.match(
      start,
      new RegExp(`^the temporary folder ${path}/sw-\\w+ cannot be written: the disk is full\\. Choose another`),
    );
    // The API server keeps its objects in memory.
    assert.deepEqual([full.write, full.read, full.pod], ['done', 3, 'done']);
    assert.deepEqual([full.pods.chatty, full.pods.quiet], [RUNNING, RUNNING]);
    assert.deepEqual(full.pods.late, {
      phase: 'Pending',
      state: 'waiting ContainerCreating',
      lastState: '',
      restarts: 0,
      ready: UNREADY,
    });
    assert.equal(full.events.length, 1);
    assert.match(
      full.events[0],
      /^Warning FailedMount MountVolume\.SetUp failed for volume "v" : .*no space left on device/,
    );
    assert.match(full.pods.brief.state, /^waiting CreateContainerError: .*no space left on device/);
    assert.equal(full.pods.brief.lastState, 'terminated Error 1');
    assert.deepEqual([recovered, isLogging, ended], ['done', true, 'done']);
    assert.deepEqual([pods.chatty, pods.quiet, pods.late], [RUNNING, RUNNING, RUNNING]);
  });

  it('reliability/P7: with a data directory refuses writes with the reason, and pods run on', async () => {
    const { path, report } = await reportOf('durable');
    const { start, full, recovered, pods, isLogging, ended } = report;
    assert.match(start, new RegExp(`^the data folder ${path}/d cannot be written: the disk is full\\. `));
    const refused = new RegExp(
      `^Internal error occurred: the object was not stored: no space left on the data disk \\(${path}/d/1/api, `,
    );
    assert.match(full.write, refused);
    assert.match(full.pod, refused);
    assert.equal(full.read, 3);
    assert.deepEqual([full.pods.chatty, full.pods.quiet], [RUNNING, RUNNING]);
    assert.deepEqual([recovered, isLogging, ended], ['done', true, 'done']);
    assert.deepEqual([pods.chatty, pods.quiet, pods.late], [RUNNING, RUNNING, RUNNING]);
    assert.ok(pods.brief.restarts >= 1);
  });
});
