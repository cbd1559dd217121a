import assert from 'node:assert/strict';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SystemClock } from '../../base/clock.ts';
import type { VerbContext } from '../verb.ts';
import { exampleFiles, initProvider } from './init-provider.ts';
import { dependencyOn, isBuildStale, slipwayPackage } from './slipway-package.ts';
import { DIGEST_FILE, sourceDigest } from './source-digest.ts';

/** A folder of somebody, and what they are told. */
function user() {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-init-'));
  const results: string[] = [];
  const context: VerbContext = {
    output: {
      result: (text) => void results.push(text),
      hint: () => undefined,
      show: () => ({ [Symbol.dispose]: () => undefined }),
    },
    clock: new SystemClock(),
    signal: new AbortController().signal,
    folder,
    env: {},
  };
  return { folder, context, results, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

const clone = slipwayPackage();
/** The build itself takes long, and is done in test/e2e. */
const built: string[] = [];
const origin = {
  slipway: clone,
  isStale: () => true,
  build: async ({ root }: { root: string }) => void built.push(root),
};

describe('slipway init provider', () => {
  it('writes examples/acme-cloud byte for byte, except for the line with the dependency', async () => {
    using me = user();
    assert.equal(await initProvider(me.context, { name: 'acme-cloud' }, origin), 0);
    const made = join(me.folder, 'acme-cloud');
    const paths = globSync(['**/*', '.*'], { cwd: made, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(made.length + 1));
    const example = exampleFiles(clone);
    const written = (path: string) => (path === '_gitignore' ? '.gitignore' : path);
    assert.deepEqual(paths.toSorted(), example.map(({ path }) => written(path)).toSorted());
    assert.ok(paths.length >= 10, 'the example has been emptied');
    for (const { path, text } of example) {
      const found = readFileSync(join(made, written(path)), 'utf8');
      const dependency = (line: string) => path === 'package.json' && line.includes('"slipway": ');
      const lines = (whole: string) => whole.split('\n').map((line) => (dependency(line) ? '' : line));
      assert.deepEqual(lines(found), lines(text), path);
    }
    const { dependencies } = JSON.parse(readFileSync(join(made, 'package.json'), 'utf8'));
    assert.deepEqual(dependencies, { slipway: `file:${clone.root}` });
    assert.deepEqual(built, [clone.root], 'a stale build is made again');
    assert.match(me.results.join(''), /cd acme-cloud\n {2}npm install\n {2}npm test/);
  });

  it('refuses a folder that is not empty, and leaves it as it is', async () => {
    using me = user();
    const target = join(me.folder, 'mine');
    mkdirSync(target);
    writeFileSync(join(target, 'notes.txt'), 'mine');
    await assert.rejects(initProvider(me.context, { name: 'mine' }, origin), {
      code: 'SW1303',
      message: 'mine is not empty (it holds notes.txt): choose another place with --dir, or empty it',
    });
    assert.deepEqual(globSync('**', { cwd: target }).toSorted(), ['.', 'notes.txt']);
    writeFileSync(join(me.folder, 'file'), '');
    for (const dir of ['file', 'file/deep/er'])
      await assert.rejects(initProvider(me.context, { name: 'mine', dir }, origin), {
        code: 'SW1303',
        exitCode: 2,
        message: 'file is no folder: choose another place with --dir',
      });
  });

  it('leaves out of repositories and images what does not belong there', async () => {
    using me = user();
    await initProvider(me.context, { name: 'my-cloud' }, origin);
    const lines = (file: string) =>
      readFileSync(join(me.folder, 'my-cloud', file), 'utf8')
        .trimEnd()
        .split('\n');
    for (const secret of ['node_modules/', '.slipway/', '*kubeconfig'])
      assert.ok(lines('.gitignore').includes(secret));
    const copied = lines('Containerfile')
      .flatMap((line) => /^COPY (?<sources>.+) \S+$/.exec(line)?.groups?.['sources']?.split(' ') ?? [])
      .map((source) => source.replace(/\/$/, ''));
    const patterns = lines('.dockerignore').filter((line) => !line.startsWith('#'));
    assert.deepEqual(patterns.toSorted(), ['*', ...copied.map((source) => `!${source}`)].toSorted());
  });

  it('says in one place how the IDs of machines begin', () => {
    const sources = exampleFiles(clone).filter(
      ({ path, text }) => path.endsWith('.ts') && text.includes('acme-cloud'),
    );
    assert.deepEqual(
      sources.map(({ path }) => path),
      ['provider.ts', 'src/provider-id.ts'],
    );
    const provider = sources[0]?.text.matchAll(/.*acme-cloud.*/g) ?? [];
    assert.deepEqual([...provider].flat(), ["  name: 'acme-cloud',"]);
  });

  it('takes an empty folder, and leaves nothing beside it', async () => {
    using me = user();
    mkdirSync(join(me.folder, 'deep'));
    await initProvider(me.context, { name: 'my-cloud', dir: 'deep' }, origin);
    assert.ok(existsSync(join(me.folder, 'deep', 'provider.ts')));
    assert.deepEqual(globSync('*', { cwd: me.folder }), ['deep']);
    assert.doesNotMatch(readFileSync(join(me.folder, 'deep', 'provider.ts'), 'utf8'), /acme/i);
  });

  it('refuses a name that nothing can be made of, before it does anything', async () => {
    using me = user();
    await assert.rejects(initProvider(me.context, { name: 'My Cloud' }, origin), { code: 'SW1302' });
    assert.deepEqual(globSync('*', { cwd: me.folder }), []);
  });
});

describe('the package a project depends on', () => {
  it('is the exact version when it is installed', () => {
    const { version } = JSON.parse(readFileSync(join(clone.root, 'package.json'), 'utf8'));
    assert.equal(dependencyOn({ root: '/somewhere', isClone: false }), version);
    assert.equal(isBuildStale({ root: '/somewhere', isClone: false }), false);
  });

  it('is stale when dist is missing or was built from other sources', () => {
    using me = user();
    const root = me.folder;
    mkdirSync(join(root, 'src'));
    for (const file of ['src/a.ts', 'tsconfig.json', 'tsconfig.build.json']) writeFileSync(join(root, file), '1');
    const here = { root, isClone: true };
    assert.equal(isBuildStale(here), true);
    mkdirSync(join(root, 'dist'));
    writeFileSync(join(root, 'dist', DIGEST_FILE), `${sourceDigest(root)}\n`);
    assert.equal(isBuildStale(here), false);
    writeFileSync(join(root, 'src/a.test.ts'), 'a test is no part of it');
    assert.equal(isBuildStale(here), false);
    writeFileSync(join(root, 'src/a.ts'), '2');
    assert.equal(isBuildStale(here), true);
  });
});
