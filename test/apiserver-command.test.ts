import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { scratchDirectory, until } from './support/scratch.ts';

const MAIN = resolve('src/cli/main.ts');
const isRoot = process.getuid?.() === 0;
/** The user that owns nothing. */
const NOBODY = 65_534;
const needsLinux = { skip: process.platform !== 'linux' && 'needs /proc' };
// A refusal that never comes is what some of these are about.
const LIMIT_MS = 30_000;

interface Program {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly exit: Promise<number | string>;
}

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  /** As a user without rights, also when the tests are run by root. */
  readonly isPoor?: boolean;
}

function slipway(cwd: string, line: string, { env = {}, isPoor = false }: Surroundings = {}): Program {
  const words = line.split(' ').map((word) => (word === "''" ? '' : word));
  const user = isPoor && isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const child = spawn(process.execPath, [MAIN, ...words], {
    cwd,
    env: { PATH: process.env['PATH'], LANG: 'C.UTF-8', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
    ...user,
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exit = once(child, 'close').then(([code, signal]: unknown[]) =>
    typeof code === 'number' ? code : String(signal),
  );
  return { child, exit, stdout: () => stdout, stderr: () => stderr };
}

async function ended(...given: Parameters<typeof slipway>) {
  const { exit, stdout, stderr } = slipway(...given);
  return { code: await exit, stdout: stdout(), stderr: stderr() };
}

const refused = (message: string, code: string) => ({
  code: 3,
  stdout: '',
  stderr: `slipway: ${message}\n${code} · npx slipway explain ${code}\n`,
});
const misused = (message: string) => ({ code: 2, stdout: '', stderr: `slipway: ${message}\n` });

const FOLDER_WAY = 'Choose another folder with --data, or give yourself this one';
const FILE_WAY = 'Choose another file with --kubeconfig-out';

describe('what slipway apiserver refuses, as users see it', needsLinux, () => {
  const cases: readonly (readonly [string, ReturnType<typeof refused>])[] = [
    [
      '--data /proc/x',
      refused(`the data folder /proc/x cannot be written: a folder cannot be made there. ${FOLDER_WAY}`, 'SW1103'),
    ],
    [
      '--kubeconfig-out /proc/kc',
      refused(
        `the kubeconfig cannot be written to /proc/kc: a folder cannot be made there. ${FILE_WAY}`,
        'SW1105',
      ),
    ],
    ["--data ''", misused('--data must be the path of a folder, not ""')],
    ["--kubeconfig-out ''", misused('--kubeconfig-out must be the path of a file, not ""')],
    ["--config ''", misused('--config must be the path of a file, not ""')],
    [
      '--to-revision 4',
      misused('--to-revision is for repair only: slipway apiserver repair --data FOLDER --to-revision 4'),
    ],
    ['--once', misused('unknown option --once: it belongs to slipway up. See: slipway apiserver --help')],
    ['--nonsense', misused('unknown option --nonsense. See: slipway apiserver --help')],
    [
      '--config none.yaml',
      misused(
        'the config file none.yaml cannot be read: there is no such file. Name a YAML file with settings by --config or SLIPWAY_CONFIG, or leave both out',
      ),
    ],
  ];
  for (const [line, want] of cases) {
    it(`reliability/D0: slipway apiserver ${line}`, async () => {
      await using folder = await scratchDirectory();
      assert.deepEqual(await ended(folder.path, `apiserver --port 0 ${line}`), want);
      assert.deepEqual(readdirSync(folder.path), []);
    });
  }

  it('an empty variable for a path', async () => {
    await using folder = await scratchDirectory();
    assert.deepEqual(
      await ended(folder.path, 'apiserver --port 0', { env: { SLIPWAY_DATA: '' } }),
      misused('the variable SLIPWAY_DATA must be the path of a folder, not ""'),
    );
  });

  it('what this user may not write or read', async (t) => {
    await using folder = await scratchDirectory();
    const [poor, open] = [join(folder.path, 'poor'), join(folder.path, 'open')];
    for (const path of [poor, open]) mkdirSync(path);
    for (const path of [folder.path, open]) chmodSync(path, 0o777);
    if ((await ended(open, 'version', { isPoor: true })).code !== 0) return t.skip('nobody may not run node here');
    chmodSync(poor, 0o555);
    const isPoor = true;
    assert.deepEqual(
      await ended(poor, 'apiserver --port 0', { isPoor }),
      refused(
        `the kubeconfig cannot be written to ${poor}/kubeconfig: no write permission. ${FILE_WAY}`,
        'SW1105',
      ),
    );
    assert.deepEqual(
      await ended(open, `apiserver --port 0 --data ${poor}`, { isPoor }),
      refused(`the data folder ${poor} cannot be written: no write permission. ${FOLDER_WAY}`, 'SW1103'),
    );
    const store = join(open, 'store.db');
    writeFileSync(store, '', { mode: 0o000 });
    if (isRoot) chownSync(store, 0, 0);
    assert.deepEqual(
      await ended(open, `apiserver --port 0 --data ${open}`, { isPoor }),
      refused(
        `the store cannot be opened: ${store}: no permission to read and write it. Give yourself the file, or choose another folder with --data`,
        'SW1104',
      ),
    );
    assert.deepEqual(readdirSync(open), ['store.db']);
  });
});

describe('slipway apiserver, while it serves', () => {
  it('says in one line of JSON that it is ready, who has the folder, and at the end that all is stopped', async () => {
    await using folder = await scratchDirectory();
    const line = 'apiserver --port 0 --data api --output json';
    const first = slipway(folder.path, line);
    await until(() => first.stdout().includes('\n') || first.child.exitCode !== null, 'the first is ready');
    const ready: Record<string, unknown> = JSON.parse(first.stdout());
    assert.deepEqual(Object.keys(ready), ['url', 'kubeconfig', 'kinds', 'startMs', 'data']);
    assert.equal(first.stdout().split('\n').length, 2);
    const second = await ended(folder.path, line);
    assert.equal(second.code, 3);
    assert.match(second.stderr, /api is in use by process \d+ \(slipway apiserver, started \d\d:\d\d\)\. Stop it/);
    first.child.kill('SIGTERM');
    assert.equal(await first.exit, 0);
    assert.equal(first.stderr(), 'everything is stopped; data stays in api, to remove it: rm -r api\n');
    const repair = await ended(folder.path, 'apiserver repair --data api --to-revision 5');
    assert.equal(repair.code, 3);
    assert.match(
      repair.stderr,
      /^slipway: the store in \S+api is not damaged, .*\nSW1106 · npx slipway explain SW1106\n$/,
    );
  });
});
