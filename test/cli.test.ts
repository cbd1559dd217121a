import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const LAUNCHER = resolve('bin/slipway.cjs');

function slipway(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd = process.cwd(),
): Promise<Ended> {
  return new Promise((done) => {
    execFile(
      process.execPath,
      [LAUNCHER, ...args],
      { cwd, env: { ...process.env, LANG: 'C.UTF-8', LC_ALL: '', ...env } },
      (error, stdout, stderr) => {
        done({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
      },
    );
  });
}

const version: string = JSON.parse(readFileSync('package.json', 'utf8')).version;

describe('slipway', () => {
  it('experience/X12: alone prints at most 25 lines: what to start with, verbs by task, where help is', async () => {
    const { code, stdout } = await slipway([]);
    assert.equal(code, 0);
    assert.ok(stdout.trimEnd().split('\n').length <= 25);
    assert.match(stdout, /slipway up --once/);
    assert.match(stdout, /when something is wrong:\n {2}explain/);
  });

  for (const verb of ['up', 'doctor', 'explain', 'version']) {
    it(`experience/X12: starts the help of ${verb} with two examples`, async () => {
      const { code, stdout } = await slipway([verb, '--help']);
      assert.equal(code, 0);
      assert.match(
        stdout,
        new RegExp(`^examples:\n {2}slipway ${verb}.*\n {2}slipway ${verb}.*\n\nusage: slipway ${verb}`),
      );
    });
  }

  const wrong = [
    { args: ['doctr'], want: 'slipway: unknown verb "doctr". Did you mean doctor?\n' },
    { args: ['up', '--prot', '1'], want: 'slipway: unknown option --prot. Did you mean --port?\n' },
    {
      args: ['up', '--port', '70000'],
      want: 'slipway: --port must be a whole number from 0 to 65535, not "70000"\n',
    },
    { args: ['up', '--output', 'xml'], want: 'slipway: --output must be one of text, json, not "xml"\n' },
    {
      args: ['explain', 'SW9999'],
      want: /^slipway: unknown code "SW9999"\. Nearest: SW9001 \(.*\)\. All codes: npx slipway explain\n$/,
    },
  ];
  for (const { args, want } of wrong) {
    it(`experience/X11: ends "slipway ${args.join(' ')}" with exit code 2 and one line`, async () => {
      const { code, stdout, stderr } = await slipway(args);
      assert.equal(code, 2);
      assert.equal(stdout, '');
      if (typeof want === 'string') assert.equal(stderr, want);
      else assert.match(stderr, want);
      assert.equal(stderr.trimEnd().split('\n').length, 1);
    });
  }

  it('experience/X1: prints the result alone on stdout, as JSON when asked', async () => {
    const { stdout, stderr } = await slipway(['version', '--output=json']);
    assert.equal(stderr, '');
    const facts: Record<string, string> = JSON.parse(stdout);
    assert.equal(facts['version'], version);
    assert.equal(facts['image'], `slipway.dev/slipway:${version}`);
  });

  it('takes the image that workloads name from one setting', async () => {
    const { stdout } = await slipway(['version'], { SLIPWAY_IMAGE: 'registry.example/mirror/slipway:7' });
    assert.match(stdout, /image +registry\.example\/mirror\/slipway:7/);
  });

  it('experience/X6: keeps to ASCII where the locale does, in every verb and in messages', async () => {
    const runs = [['--help'], ['doctor'], ['explain', 'SW1101'], ['up', '--once', '--data', '/proc/nope']];
    for (const args of runs) {
      const { stdout, stderr } = await slipway(args, { LANG: 'C' });
      assert.match(`${stdout}${stderr}`, /^[\x20-\x7e\n]+$/);
    }
  });

  it('style/S26: takes --debug from every place a setting may come from', async () => {
    const broken = ['version', '--config', 'nowhere.yaml'];
    const isTraced = async (args: readonly string[], env: Record<string, string> = {}) =>
      /\n {4}at /.test((await slipway(args, env)).stderr);
    assert.equal(await isTraced(broken), false);
    assert.equal(await isTraced([...broken, '--debug']), true);
    assert.equal(await isTraced(['up', '--data', '/proc/nope', '--debug=true']), true);
    assert.equal(await isTraced(['up', '--data', '/proc/nope'], { SLIPWAY_DEBUG: 'true' }), true);
    assert.equal(await isTraced(['up', '--data', '/proc/nope', '--no-debug'], { SLIPWAY_DEBUG: '1' }), false);
  });

  it('reliability/D0: never obeys what it prints', async () => {
    const { code, stderr } = await slipway(['version', '--config', 'nope\x1b[31m']);
    assert.equal(code, 2);
    assert.ok(!stderr.includes('\x1b'));
  });

  it('explains a code', async () => {
    const { code, stdout } = await slipway(['explain', 'sw1101']);
    assert.equal(code, 0);
    assert.match(stdout, /^SW1101 {2}A port cannot be used\n\ncause .*\ndetected .*\nfix .*\nexample /);
  });

  it('checks the machine and names what is lost without the optional programs', async () => {
    const { code, stdout } = await slipway(['doctor'], { PATH: '/nowhere' });
    assert.equal(code, 0);
    assert.match(stdout, /^node +ok +24\./);
    assert.match(stdout, /go +missing +not on the PATH +optional; without it oracles cannot be built/);
  });

  it('style/S27: reads a config file below flags and environment, and refuses a typo in it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'slipway-cli-'));
    writeFileSync(join(folder, 'good.yaml'), 'output: json\nversion:\n  image: from.file/x:1\n');
    writeFileSync(join(folder, 'bad.yaml'), 'version:\n  imgae: x\n');
    const good = await slipway(['version', '--config', 'good.yaml'], {}, folder);
    const flag = await slipway(['version', '--config', 'good.yaml', '--image', 'from.flag/x:1'], {}, folder);
    const bad = await slipway(['version', '--config', 'bad.yaml'], {}, folder);
    rmSync(folder, { recursive: true });
    assert.equal(JSON.parse(good.stdout).image, 'from.file/x:1');
    assert.equal(JSON.parse(flag.stdout).image, 'from.flag/x:1');
    assert.equal(bad.code, 2);
    assert.equal(bad.stderr, 'slipway: bad.yaml: unknown key "version.imgae". Did you mean version.image?\n');
  });
});
