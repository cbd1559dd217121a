import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ECHO_MS } from '../src/app/host.ts';
import type { DemoOptions } from './support/demo-journey.ts';
import { needsOracle } from './support/needs-oracle.ts';

const ROOT = join(import.meta.dirname, '..');
const SLIPWAY = `${process.execPath} ${join(ROOT, 'bin', 'slipway.cjs')}`;
const DEMO = `${process.execPath} ${join(ROOT, 'test', 'support', 'demo-journey.ts')}`;
/** Of util-linux: runs a command in a pseudo-terminal. */
const SCRIPT = 'script';
const needsScript = {
  skip: spawnSync(SCRIPT, ['--version']).error !== undefined && 'script (util-linux) is not installed',
};
/** A terminal multiplexer that reflows in its own way. */
const needsTmux = needsOracle('tmux');
const needsFull = { skip: !existsSync('/dev/full') && 'needs /dev/full' };
const needsBash = {
  skip:
    needsScript.skip || (spawnSync('bash', ['--version']).error !== undefined && 'bash is not installed') || false,
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
  readonly until: (text: Sought) => Promise<void>;
}

type Sought = string | RegExp | (() => boolean);

function isIn(sought: Sought, output: string): boolean {
  if (typeof sought === 'function') return sought();
  return typeof sought === 'string' ? output.includes(sought) : sought.test(output);
}

async function eventually(isTrue: () => boolean, otherwise: () => string): Promise<void> {
  for (let waited = 0; !isTrue(); waited += 20) {
    assert.ok(waited < TIMEOUT_MS, otherwise());
    await sleep(20);
  }
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
    until: (text) =>
      eventually(
        () => isIn(text, output),
        () => `waited for ${String(text)}:\n${output}${errors}`,
      ),
  };
}

const inShell = (command: string, folder: string, env = {}): Running =>
  run('/bin/sh', ['-c', command], folder, env);

/** In a pseudo-terminal of 100 × 40. */
const inTerminal = (command: string, folder: string, env = {}): Running =>
  run(SCRIPT, ['-qec', `stty cols 100 rows 40 && exec ${command}`, '/dev/null'], folder, env);

const demo = (options: DemoOptions, words = ''): string => `${DEMO} '${JSON.stringify(options)}' up ${words}`;

const isCursorVisible = (output: string): boolean =>
  output.lastIndexOf('\u001b[?25h') > output.lastIndexOf('\u001b[?25l');

const isRunning = (pid: number): boolean => {
  // A zombie that its new parent has not yet reaped is gone as far as anybody cares.
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ') Z';
  return !/\) [ZX]/.test(stat);
};

/** With the smallest lab, for what does not depend on what the phases do. */
const SMALL = `${SLIPWAY} up --scenario small.yaml`;

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-terminal-'));
  writeFileSync(join(folder, 'small.yaml'), 'nodes: 1\n');
  return folder;
}

describe('slipway up, as users start it', () => {
  let folder = '';
  beforeEach(() => {
    folder = freshFolder();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('experience/X8: shows the journey on a terminal and gives the cursor back', needsScript, async () => {
    const { exit, output } = inTerminal(`${SLIPWAY} up --once`, folder);
    assert.equal(await exit, 0);
    assert.match(output(), /API server ready in \d+ ms, \d+ kinds served/);
    assert.ok(output().includes('\u001b[?25l'));
    assert.ok(isCursorVisible(output()));
  });

  it('experience/X6: has no colour with NO_COLOR', needsScript, async () => {
    const { exit, output } = inTerminal(`${SMALL} --once`, folder, { NO_COLOR: '1' });
    assert.equal(await exit, 0);
    // oxlint-disable-next-line no-control-regex -- escape codes are what is looked for
    assert.doesNotMatch(output(), /\u001b\[[0-9;]*m/);
  });

  it('experience/X6: draws with ASCII in a locale that is not UTF-8', needsScript, async () => {
    const { exit, output } = inTerminal(`${SMALL} --once`, folder, { LANG: 'C' });
    assert.equal(await exit, 0);
    // oxlint-disable-next-line no-control-regex -- escape codes are what is looked for
    assert.match(output(), /^[\u001b\r\n\x20-\x7e]*$/);
  });

  it('experience/X2: is a log on a dumb terminal and in a build', needsScript, async () => {
    for (const env of [{ TERM: 'dumb' }, { CI: 'true' }]) {
      const { exit, output } = inTerminal(`${SMALL} --once`, folder, env);
      assert.equal(await exit, 0);
      assert.ok(!output().includes('\u001b'));
    }
  });

  it('experience/X4: writes neither escape codes nor carriage returns into a pipe', async () => {
    const { exit, output, errors } = inShell(`${SMALL} --once`, folder);
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

  it('says in one sentence that the disk is full, and ends with code 3', needsFull, async () => {
    for (const command of ['up --once', 'version', '--help']) {
      const { exit, errors } = inShell(`${SLIPWAY} ${command} > /dev/full`, folder);
      assert.equal(await exit, 3, command);
      assert.match(errors(), /^slipway: the output cannot be written: [^\n]*ENOSPC[^\n]*\n$/);
    }
  });

  it('keeps its exit code when nobody hears its errors', needsFull, async () => {
    const { exit } = inShell(`${SLIPWAY} doctr 2> /dev/full`, folder);
    assert.equal(await exit, 2);
  });

  it('experience/X1: prints nothing but JSON lines with --output json', async () => {
    const { exit, output, errors } = inShell(`${SMALL} --once --output json`, folder);
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

describe('the keys of a real terminal', () => {
  let folder = '';
  beforeEach(() => {
    folder = freshFolder();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it(
    'experience/X25: Ctrl-Z stops the job, fg brings it back, and q ends it without Enter',
    needsBash,
    async () => {
      const shell = inTerminal('bash --norc --noprofile -i', folder, { PS1: 'prompt> ' });
      await shell.until('prompt>');
      shell.type(`${demo({ speed: 20, hasChild: true })}\n`);
      await shell.until('Ctrl-C stops everything it started');
      shell.type('\u001a');
      await shell.until(/Stopped/);
      assert.ok(isCursorVisible(shell.output()));
      const before = shell.output().length;
      shell.type('fg\n');
      await shell.until(() => shell.output().lastIndexOf('q quit') > before);
      shell.type('q');
      await shell.until('everything is stopped');
      // The modes of the terminal are as they were: a line is echoed and edited again.
      shell.type('echo $((6 * 7)); stty -a\n');
      await shell.until(/\b42\b[\s\S]* icanon [\s\S]* echo /);
      shell.type('exit\n');
      await shell.exit;
    },
  );

  it(
    'ends quietly when the program that started it is killed and the terminal with it lost',
    needsBash,
    async () => {
      const shell = inTerminal('bash --norc --noprofile -i', folder, { PS1: 'prompt> ' });
      await shell.until('prompt>');
      shell.type(`sh -c 'echo $$ > sh.pid; ${SMALL} 2> errors; true'\n`);
      await shell.until('Ctrl-C stops everything it started');
      process.kill(Number(readFileSync(join(folder, 'sh.pid'), 'utf8')), 'SIGTERM');
      await shell.until('Terminated');
      // While nobody else reads, what is typed reaches the one that may not read any more.
      shell.type('echo $((6 * 7)); sleep 2\n');
      await shell.until(/\b42\b/);
      shell.type('typed\n');
      const lock = join(folder, '.slipway', 'up.lock');
      await eventually(() => !existsSync(lock), shell.output);
      assert.equal(readFileSync(join(folder, 'errors'), 'utf8'), '');
      shell.type('exit\n');
      await shell.exit;
    },
  );

  it('experience/X7: leaves nothing behind in tmux when it gets narrower', needsTmux, async () => {
    const socket = join(folder, 'tmux');
    const tmux = (...words: readonly string[]) =>
      spawnSync('tmux', ['-S', socket, '-f', '/dev/null', ...words], { encoding: 'utf8', env: environment({}) })
        .stdout;
    const screen = () => tmux('capture-pane', '-p', '-S', '-100', '-t', 'demo');
    tmux('new-session', '-d', '-s', 'demo', '-x', '100', '-y', '40', '-c', folder, demo({ speed: 1 }));
    try {
      await eventually(() => screen().includes('Rebooting'), screen);
      tmux('resize-window', '-x', '80', '-y', '40', '-t', 'demo');
      await eventually(() => / {2}now .*q quit$/m.test(screen()), screen);
      await sleep(500);
      assert.equal(screen().match(/cluster on bare metal/g)?.length, 1, screen());
      assert.equal(screen().match(/^ {2}now /gm)?.length, 1, screen());
    } finally {
      tmux('kill-server');
    }
  });
});

describe('stopping a journey', needsScript, () => {
  let folder = '';
  beforeEach(() => {
    folder = freshFolder();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** The process that the hub has started, known as soon as it runs. */
  const childOf = (): number => Number(readFileSync(join(folder, '.slipway', 'hub.pid'), 'utf8'));
  const isLocked = (): boolean => existsSync(join(folder, '.slipway', 'up.lock'));

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
      assert.equal(isRunning(childOf()), false, 'its process is gone');
      assert.equal(isLocked(), false);
    });
  }

  it('experience/X14: q on a finished journey ends with 0 and stops its process', async () => {
    const journey = inTerminal(demo({ speed: 20, hasChild: true }), folder);
    await journey.until('Ctrl-C stops everything it started');
    assert.ok(isRunning(childOf()));
    journey.type('q');
    assert.equal(await journey.exit, 0);
    assert.equal(isRunning(childOf()), false);
  });

  it('experience/X26: a second Ctrl-C does not wait for anything, and still gives the cursor back', async () => {
    const journey = inTerminal(demo({ speed: 2, isStubborn: true, hasChild: true }), folder);
    await journey.until('Writing image');
    assert.ok(isRunning(childOf()));
    journey.type('\u0003');
    await journey.until('stopping…');
    await sleep(2 * ECHO_MS);
    journey.type('\u0003');
    assert.equal(await journey.exit, 130);
    assert.doesNotMatch(journey.output(), /everything is stopped|was killed/);
    assert.ok(isCursorVisible(journey.output()));
    assert.equal(isRunning(childOf()), false, 'its process is killed');
  });

  it('experience/X26: a Ctrl-C that npm passes on is still one', async () => {
    const journey = run('/bin/sh', ['-c', `exec ${demo({ speed: 2, hasChild: true })}`], folder, {});
    await journey.until('phase 3 cluster on bare metal: start');
    journey.child.kill('SIGINT');
    await journey.until('stopping…');
    journey.child.kill('SIGINT');
    assert.equal(await journey.exit, 130);
    assert.match(journey.output(), /stopped the hub API server\n[\s\S]*everything is stopped/);
    assert.equal(isLocked(), false);
  });

  it('experience/X26: ends although something hangs, says so, and kills what it can', async () => {
    const journey = inShell(demo({ speed: 20, isStubborn: true, hasChild: true }, '--once'), folder);
    assert.equal(await journey.exit, 0);
    assert.match(journey.output(), /attention: the hub API server did not stop in time and was killed\n/);
    assert.equal(isRunning(childOf()), false);
  });

  it('experience/X26: ends although a phase ignores the signal, and does not claim that all is stopped', async () => {
    const journey = run('/bin/sh', ['-c', `exec ${demo({ speed: 20, isDeaf: true })}`], folder, {});
    await journey.until('phase 2 definition: start');
    const startMs = performance.now();
    journey.child.kill('SIGINT');
    assert.equal(await journey.exit, 130);
    // It would go on for ever.
    assert.ok(performance.now() - startMs < 20_000);
    assert.match(journey.output(), /journey: not stopped, and perhaps still running: phase definition\n$/);
  });

  it('experience/X8: a crash gives the terminal back, says where the log is, and leaves nothing running', async () => {
    const journey = inTerminal(demo({ speed: 2, crashes: true, hasChild: true }), folder);
    assert.equal(await journey.exit, 1);
    const output = journey.output();
    assert.ok(isCursorVisible(output));
    const message = 'internal error: the demo crashes (SW9001). Please report it; the log is .slipway/journey.log';
    assert.ok(output.lastIndexOf('\u001b[?25h') < output.indexOf(message));
    assert.doesNotMatch(output, /at crash/, 'no stack');
    assert.match(
      readFileSync(join(folder, '.slipway', 'journey.log'), 'utf8'),
      /journey: Error: the demo crashes\n +at crash/,
    );
    assert.equal(isRunning(childOf()), false);
  });

  it('experience/X10: a crash shows its stack to those who ask for it', async () => {
    const journey = inTerminal(demo({ speed: 2, crashes: true }, '--debug'), folder);
    assert.equal(await journey.exit, 1);
    assert.match(journey.output(), /at crash/);
  });

  it('Ctrl-Z where nobody could continue us changes nothing', async () => {
    const journey = inTerminal(demo({ speed: 20, hasChild: true }), folder);
    await journey.until('Ctrl-C stops everything it started');
    journey.type('\u001a');
    await sleep(200);
    // Without Enter: the terminal must still be in raw mode.
    journey.type('q');
    assert.equal(await journey.exit, 0);
  });

  it('stops when its reader goes away', async () => {
    const journey = inShell(`(${demo({ speed: 2, hasChild: true })}; echo $? > code) | head -3`, folder);
    assert.equal(await journey.exit, 0);
    assert.equal(readFileSync(join(folder, 'code'), 'utf8'), '0\n');
    assert.equal(isRunning(childOf()), false);
    assert.equal(journey.errors(), '');
  });

  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    it(`experience/X26: ${signal} equals one Ctrl-C`, async () => {
      const journey = run('/bin/sh', ['-c', `exec ${demo({ speed: 2, hasChild: true })}`], folder, {});
      await journey.until('phase 3 cluster on bare metal: start');
      journey.child.kill(signal);
      assert.equal(await journey.exit, 130);
      assert.match(journey.output(), /journey: stopping…\n[\s\S]*stopped the hub API server\n/);
      assert.equal(isRunning(childOf()), false);
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
    const second = inShell(`${SMALL} --once`, folder);
    assert.equal(await second.exit, 0, second.errors());
  });
});
