import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { VirtualClock } from '../../base/clock.ts';
import { parseYaml } from '../../object/yaml.ts';
import type { ExitCode, VerbContext } from '../verb.ts';
import { apiserverVerb } from './apiserver.ts';

interface Said {
  readonly text: string;
  readonly json: unknown;
  readonly shape: string | undefined;
}

/** Runs the verb as the command line would; `ready` is its result. */
function run(folder: string, flags: Readonly<Record<string, string>> = {}, ...positionals: readonly string[]) {
  const stop = new AbortController();
  const said = Promise.withResolvers<Said>();
  const hints: string[] = [];
  const context: VerbContext = {
    output: {
      result: (text, json, shape) => said.resolve({ text, json, shape }),
      hint: (text) => void hints.push(text),
      show: () => ({ [Symbol.dispose]: () => undefined }),
    },
    clock: new VirtualClock({ start: new Date() }),
    signal: stop.signal,
    folder,
    env: {},
  };
  const exit: Promise<ExitCode> = apiserverVerb.run(
    context,
    { flags: new Map(Object.entries(flags)), env: {} },
    positionals,
  );
  return {
    stop: () => stop.abort(),
    ready: () => Promise.race([said.promise, exit.then(() => said.promise)]),
    exit,
    hints,
  };
}

describe('slipway apiserver', () => {
  it('serves until it is stopped, having written a kubeconfig that only its owner reads', async () => {
    await using folder = await scratchDirectory();
    const { ready, stop, exit, hints } = run(folder.path, { port: '0', 'kubeconfig-out': 'sub/kube.yaml' });
    const { text, json, shape } = await ready();
    const file = join(folder.path, 'sub', 'kube.yaml');
    assert.partialDeepStrictEqual(json, { kubeconfig: file, data: null });
    assert.equal(shape, 'line');
    assert.match(text, /^Kubernetes API ready at https:\/\/127\.0\.0\.1:\d+ after \d+ ms: \d+ resources served\n/);
    assert.match(text, /objects are kept in memory only \(--data FOLDER keeps them\)\ntry: kubectl --kubeconfig /);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.partialDeepStrictEqual(parseYaml(readFileSync(file, 'utf8')), { kind: 'Config', apiVersion: 'v1' });
    assert.deepEqual(readdirSync(join(folder.path, 'sub')), ['kube.yaml']);
    assert.deepEqual(hints, []);
    stop();
    assert.equal(await exit, 0);
    assert.deepEqual(hints, ['everything is stopped']);
  });

  it('keeps its objects where it is told to', async () => {
    await using folder = await scratchDirectory();
    const { ready, stop, exit, hints } = run(folder.path, { port: '0', data: 'api', durability: 'normal' });
    const { text, json } = await ready();
    assert.partialDeepStrictEqual(json, { data: join(folder.path, 'api') });
    assert.match(text, /\nobjects are kept in .*api\n/);
    stop();
    assert.equal(await exit, 0);
    assert.deepEqual(hints, ['everything is stopped; data stays in api, to remove it: rm -r api']);
  });

  it('does not begin to wait when it was stopped already', async () => {
    await using folder = await scratchDirectory();
    const { stop, exit } = run(folder.path, { port: '0' });
    stop();
    assert.equal(await exit, 0);
  });

  it('reliability/P4: exits 3 when the folder is in use or cannot be one', async () => {
    await using folder = await scratchDirectory();
    const dataDir = join(folder.path, 'api');
    await using _other = await startApiServer({ dataDir, listen: false, program: 'slipway up' });
    await assert.rejects(run(folder.path, { port: '0', data: 'api' }).exit, {
      code: 'SW1104',
      exitCode: 3,
      message: /is in use by process \d+ \(slipway up, started \d\d:\d\d\)\. /,
    });
    writeFileSync(join(folder.path, 'file'), '');
    await assert.rejects(run(folder.path, { port: '0', data: 'file' }).exit, {
      code: 'SW1103',
      exitCode: 3,
      message: /^the data folder .*file cannot be written: it is a file\. Choose another folder with --data/,
    });
    mkdirSync(join(folder.path, 'keys'));
    writeFileSync(join(folder.path, 'keys', 'identity.json'), '{');
    await assert.rejects(run(folder.path, { port: '0', data: 'keys' }).exit, {
      code: 'SW1107',
      exitCode: 3,
      message: /identity\.json cannot be used: it is not JSON\. Put the file back/,
    });
  });

  it('exits 3 when the port is taken', async () => {
    await using folder = await scratchDirectory();
    const server = createServer();
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
    });
    await assert.rejects(run(folder.path, { port: String(port) }).exit, { exitCode: 3, code: 'SW1101' });
    server.close();
  });

  const places: readonly [string, string, string][] = [
    ['is a folder', 'folder', 'it is a folder'],
    ['is below a file', 'file/config', 'a part of the path is a file'],
    ['is below a file, and deep', 'file/a/config', 'a part of the path is a file'],
    ['is where no file can be made', '/proc/config', 'a folder cannot be made there'],
    ['is where no folder can be made', '/proc/a/config', 'a folder cannot be made there'],
    ['is no file', '/dev/null', 'it is not an ordinary file'],
  ];
  for (const [what, given, why] of places) {
    it(`exits 3, having started and left nothing, when the place of the kubeconfig ${what}`, async (t) => {
      if (process.platform !== 'linux') return t.skip('there is no /proc here');
      await using folder = await scratchDirectory();
      mkdirSync(join(folder.path, 'folder'));
      writeFileSync(join(folder.path, 'file'), '');
      await assert.rejects(run(folder.path, { port: '0', data: 'api', 'kubeconfig-out': given }).exit, {
        code: 'SW1105',
        exitCode: 3,
        message: `the kubeconfig cannot be written to ${resolve(folder.path, given)}: ${why}. Choose another file with --kubeconfig-out`,
      });
      assert.deepEqual(readdirSync(folder.path).sort(), ['file', 'folder']);
    });
  }

  it('writes the kubeconfig where a link leads, and keeps the link', async () => {
    await using folder = await scratchDirectory();
    const [link, target] = ['link', 'target'].map((name) => join(folder.path, name));
    assert.ok(link && target);
    writeFileSync(target, 'old');
    symlinkSync(target, link);
    const { ready, stop, exit } = run(folder.path, { port: '0', 'kubeconfig-out': 'link' });
    await ready();
    stop();
    await exit;
    assert.match(readFileSync(target, 'utf8'), /^apiVersion: v1\n/m);
    assert.deepEqual(readdirSync(folder.path).sort(), ['link', 'target']);
  });

  const misuse: readonly [string, Readonly<Record<string, string>>, readonly string[], RegExp][] = [
    ['a word it does not know', {}, ['repear'], /unknown word "repear"; allowed: repair/],
    ['repair without a folder', { 'to-revision': '3' }, ['repair'], /repair needs --data FOLDER/],
    ['repair without a revision', { data: 'api' }, ['repair'], /repair needs --to-revision N/],
    [
      'a revision without repair',
      { 'to-revision': '4' },
      [],
      /^--to-revision is for repair only: slipway apiserver repair --data FOLDER --to-revision 4$/,
    ],
    ['an empty folder', { data: '' }, [], /^--data must be the path of a folder, not ""$/],
    ['an empty file', { 'kubeconfig-out': ' ' }, [], /^--kubeconfig-out must be the path of a file, not " "$/],
    ['a port that is none', { port: '70000' }, [], /--port must be a whole number from 0 to 65535/],
    ['a durability it does not have', { durability: 'some' }, [], /--durability must be one of full, normal/],
  ];
  for (const [what, flags, positionals, message] of misuse) {
    it(`exits 2 for ${what}`, async () => {
      await using folder = await scratchDirectory();
      await assert.rejects(run(folder.path, flags, ...positionals).exit, { exitCode: 2, message });
    });
  }

  it('does not cut a store that is not damaged', async () => {
    await using folder = await scratchDirectory();
    const dataDir = join(folder.path, 'api');
    const server = await startApiServer({ dataDir, listen: false, auth: { mode: 'AlwaysAllow' } });
    const { revision } = server.store;
    await server.stop();
    const repairing = run(folder.path, { data: 'api', 'to-revision': String(revision) }, 'repair');
    await assert.rejects(repairing.exit, {
      exitCode: 3,
      code: 'SW1106',
      message: new RegExp(
        `^the store in ${dataDir} is not damaged, and everything up to its last revision ${revision} is`,
      ),
    });
  });

  it('reliability/P8: repairs a damaged store up to a revision and keeps what was there', async () => {
    await using folder = await scratchDirectory();
    const dataDir = join(folder.path, 'api');
    const server = await startApiServer({ dataDir, listen: false, auth: { mode: 'AlwaysAllow' } });
    const { revision } = server.store;
    await server.stop();
    rmSync(join(dataDir, 'store.mark'));
    const repairing = run(folder.path, { data: 'api', 'to-revision': String(revision) }, 'repair');
    const { text, json } = await repairing.ready();
    assert.equal(await repairing.exit, 0);
    assert.match(text, new RegExp(`^kept \\d+ objects up to revision ${revision}; the damaged files are in `));
    assert.partialDeepStrictEqual(json, { directory: dataDir, lostRecords: 0 });
    const missing = run(folder.path, { data: 'none', 'to-revision': '1' }, 'repair');
    await assert.rejects(missing.exit, {
      exitCode: 3,
      code: 'SW1106',
      message: /has no store to repair\. Name the folder of one with --data$/,
    });
  });

  it('has only settings that are explained', () => {
    assert.deepEqual(Object.keys(apiserverVerb.settings), [
      'data',
      'port',
      'kubeconfig-out',
      'durability',
      'to-revision',
    ]);
  });
});
