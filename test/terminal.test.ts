import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DemoOptions } from './support/demo-journey.ts';

const ROOT = join(import.meta.dirname, '..');
const SLIPWAY = `${process.execPath} ${join(ROOT, 'bin', 'slipway.cjs')}`;
const DEMO = `${process.execPath} ${join(ROOT, 'test', 'support', 'demo-journey.ts')}`;
/** Of util-linux: runs a command in a pseudo-terminal. */
const SCRIPT = 'script';
const needsScript = {
  skip: spawnSync(SCRIPT, ['--version']).error !== undefined && 'script (util-linux) is not installed',
};
const TIMEOUT_MS = 30_000;

/** Of this process's own environment only what a program needs to run; what decides the look is given by each test. */
const environment = (extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  LANG: 'C.UTF-8',
  TERM: 'xterm-256color',
  ...extra,
});

/** A program that runs, and what it has written so far. */
interface Running {
  readonly child: ChildProcess;
  readonly exit: Promise<number>;
  readonly output: () => string;
  readonly errors: () => string;
  readonly type: (keys: string) => void;
  /** Resolves as soon as the text was written. */
  readonly until: (text: string | RegExp) => Promise<string>;
}

const started = new Set<ChildProcess>();
after(() => {
  for (const child of started) child.kill('SIGKILL');
});

function run(
  program: string,
  args: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>>,
): Running {
  const child = spawn(program, args, { cwd: folder, env: environment(env), stdio: ['pipe', 'pipe', 'pipe'] });
  started.add(child);
  let [output, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const exit = once(child, 'close').then(([code]) => Number(code));
  return {
    child,
    exit,
    output: () => output,
    errors: () => errors,
    type: (keys) => void child.stdin.write(keys),
    until: async (text) => {
      const isThere = () => (typeof text === 'string' ? output.includes(text) : text.test(output));
      for (let waited = 0; !isThere(); waited += 20) {
        assert.ok(
          waited < TIMEOUT_MS,
          `"${text}" did not come within ${TIMEOUT_MS / 1000} s:\n${output}${errors}`,
        );
        await sleep(20);
      }
      return output;
    },
  };
}

const inShell = (command: string, folder: string, env = {}): Running =>
  run('/bin/sh', ['-c', command], folder, env);

/** In a pseudo-terminal of 100 × 40. */
const inTerminal = (command: string, folder: string, env = {}): Running =>
  run(SCRIPT, ['-qec', `stty cols 100 rows 40 && exec ${command}`, '/dev/null'], folder, env);

const demo = (options: DemoOptions, up: object = {}): string =>
  `${DEMO} '${JSON.stringify({ demo: options, up })}'`;

const isCursorVisible = (output: string): boolean =>
  output.lastIndexOf('\u001b[?25h') > output.lastIndexOf('\u001b[?25l');

const isRunning = (pid: number): boolean => {
  // A zombie that its new parent has not yet reaped is gone as far as anybody cares.
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ') Z';
  return !/\) [ZX]/.test(stat);
};

const freshFolder = (): string => mkdtempSync(join(tmpdir(), 'slipway-terminal-'));

describe('slipway up, as users start it', () => {
  let folder = '';
  beforeEach(() => {
    folder = freshFolder();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('experience/X8: shows the journey on a terminal and gives the cursor back', needsScript, async () => {
    const { exit, output } = inTerminal(`${SLIPWAY} up --once`, folder);
    assert.equal(await exit, 0);
    assert.match(output(), /what will come/);
    assert.ok(output().includes('\u001b[?25l'));
    assert.ok(isCursorVisible(output()));
  });

  it('experience/X6: has no colour with NO_COLOR', needsScript, async () => {
    const { exit, output } = inTerminal(`${SLIPWAY} up --once`, folder, { NO_COLOR: '1' });
    assert.equal(await exit, 0);
    // oxlint-disable-next-line no-control-regex -- escape codes are what is looked for
    assert.doesNotMatch(output(), /\u001b\[[0-9;]*m/);
  });

  it('experience/X6: draws with ASCII in a locale that is not UTF-8', needsScript, async () => {
    const { exit, output } = inTerminal(`${SLIPWAY} up --once`, folder, { LANG: 'C' });
    assert.equal(await exit, 0);
    // oxlint-disable-next-line no-control-regex -- escape codes are what is looked for
    assert.match(output(), /^[\u001b\r\n\x20-\x7e]*$/);
  });

  it('experience/X2: is a log on a dumb terminal and in a build', needsScript, async () => {
    for (const env of [{ TERM: 'dumb' }, { CI: 'true' }]) {
      const { exit, output } = inTerminal(`${SLIPWAY} up --once`, folder, env);
      assert.equal(await exit, 0);
      assert.ok(!output().includes('\u001b'));
    }
  });

  it('experience/X4: writes neither escape codes nor carriage returns into a pipe', async () => {
    const { exit, output, errors } = inShell(`${SLIPWAY} up --once`, folder);
    assert.equal(await exit, 0);
    assert.equal(errors(), '');
    assert.ok(!output().includes('\u001b') && !output().includes('\r'));
    assert.match(output(), /\n\d\d:\d\d:\d\d\.\d{3}Z journey: nothing is left running\n$/);
  });

  it('ends quietly when its reader goes away', async () => {
    const { exit, output, errors } = inShell(`(${SLIPWAY} up --once; echo $? > code) | head -1`, folder);
    assert.equal(await exit, 0);
    assert.match(output(), /^[^\n]*journey: start[^\n]*\n$/);
    assert.equal(errors(), '');
    assert.equal(readFileSync(join(folder, 'code'), 'utf8'), '0\n');
  });

  it('experience/X1: prints nothing but JSON lines with --output json', async () => {
    const { exit, output, errors } = inShell(`${SLIPWAY} up --once --output json`, folder);
    assert.equal(await exit, 0);
    assert.equal(errors(), '');
    const events = output()
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    assert.ok(events.length >= 9);
  });

  it('ends with code 2 and the nearest match for an unknown phase', async () => {
    const { exit, errors } = inShell(`${SLIPWAY} up --once --from clod`, folder);
    assert.equal(await exit, 2);
    assert.match(errors(), /--from must name a phase, not "clod"\. Did you mean cloud\?/);
  });

  it('experience/X27: ends with code 3 when the port is in use', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const { exit, errors } = inShell(`${SLIPWAY} up --once --port ${port}`, folder);
    assert.equal(await exit, 3);
    server.close();
    assert.match(errors(), new RegExp(`port ${port} is in use by another program`));
  });

  it('ends with code 3 where it may not write', async () => {
    const { exit, errors } = inShell(`touch file && ${SLIPWAY} up --once --data file`, folder);
    assert.equal(await exit, 3);
    assert.match(errors(), /the data folder file cannot be written/);
  });
});

describe('stopping a journey', needsScript, () => {
  let folder = '';
  beforeEach(() => {
    folder = freshFolder();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const childOf = (output: string): number => Number(/API ready, process (\d+)/.exec(output)?.[1]);

  for (const [phase, text] of [
    ['hub', 'hub'],
    ['cluster', 'Writing image'],
    ['cloud', /4 .*cloud.*working/],
  ] as const) {
    it(`experience/X26: Ctrl-C during ${phase} stops everything and gives the cursor back`, async () => {
      const journey = inTerminal(demo({ speed: 2, hasChild: true }), folder);
      await journey.until(text);
      journey.type('\u0003');
      assert.equal(await journey.exit, 130);
      assert.match(journey.output(), /stopping…[\s\S]*stopped the hub API server[\s\S]*everything is stopped/);
      assert.ok(isCursorVisible(journey.output()));
      const child = childOf(journey.output());
      assert.ok(Number.isNaN(child) || !isRunning(child), 'its process is gone');
      assert.equal(existsSync(join(folder, '.slipway', 'up.lock')), false);
    });
  }

  it('experience/X14: q on a finished journey ends with 0 and stops its process', async () => {
    const journey = inTerminal(demo({ speed: 20, hasChild: true }), folder);
    const child = childOf(await journey.until('Ctrl-C stops everything it started'));
    assert.ok(isRunning(child));
    journey.type('q');
    assert.equal(await journey.exit, 0);
    assert.equal(isRunning(child), false);
  });

  it('experience/X26: a second Ctrl-C does not wait for anything, and still gives the cursor back', async () => {
    const journey = inTerminal(demo({ speed: 2, isStubborn: true }), folder);
    await journey.until('Writing image');
    journey.type('\u0003');
    await journey.until('stopping…');
    journey.type('\u0003');
    assert.equal(await journey.exit, 130);
    assert.doesNotMatch(journey.output(), /everything is stopped/);
    assert.ok(isCursorVisible(journey.output()));
  });

  it('experience/X8: a crash wipes the region and gives the cursor back before its message', async () => {
    const journey = inTerminal(demo({ speed: 2, crashes: true }), folder);
    assert.notEqual(await journey.exit, 0);
    const output = journey.output();
    assert.ok(isCursorVisible(output));
    assert.ok(output.lastIndexOf('\u001b[?25h') < output.indexOf('Error: the demo crashes'));
  });

  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    it(`experience/X26: ${signal} equals one Ctrl-C`, async () => {
      const journey = run('/bin/sh', ['-c', `exec ${demo({ speed: 2, hasChild: true })}`], folder, {});
      const child = childOf(await journey.until('phase 3 cluster on bare metal: start'));
      journey.child.kill(signal);
      assert.equal(await journey.exit, 130);
      assert.match(journey.output(), /journey: stopping…\n[\s\S]*stopped the hub API server\n/);
      assert.equal(isRunning(child), false);
    });
  }

  it('experience/X27: a second start in the same folder is told about the first', async () => {
    const first = inShell(`exec ${demo({ speed: 20 })}`, folder);
    await first.until('journey: running');
    const second = inShell(`${SLIPWAY} up --once`, folder);
    assert.equal(await second.exit, 3);
    assert.match(
      second.errors(),
      new RegExp(`\\.slipway is in use by process ${first.child.pid} \\(slipway up, started`),
    );
    first.child.kill('SIGTERM');
    assert.equal(await first.exit, 0);
  });

  it('a journey that was killed does not block the next one', async () => {
    const first = inShell(`exec ${demo({ speed: 20 })}`, folder);
    await first.until('journey: running');
    first.child.kill('SIGKILL');
    await first.exit;
    const second = inShell(`${SLIPWAY} up --once`, folder);
    assert.equal(await second.exit, 0, second.errors());
  });
});
