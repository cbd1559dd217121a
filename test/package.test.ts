import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { assetFiles } from '../scripts/assets.ts';
import { exampleFiles } from '../src/app/init/init-provider.ts';
import { slipwayPackage } from '../src/app/init/slipway-package.ts';
import { DIGEST_FILE } from '../src/app/init/source-digest.ts';

interface LockEntry {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
}

interface LockFile {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, LockEntry>>;
}

const lock: LockFile = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const manifest: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
  readFileSync('package.json', 'utf8'),
);

/** Every broken rule of a lock file, one sentence each. */
function lockProblems({ lockfileVersion, packages }: LockFile): readonly string[] {
  const entries = Object.entries(packages).filter(([at]) => at !== '');
  return [
    ...(lockfileVersion === 3 ? [] : [`lockfileVersion is ${lockfileVersion}, not 3`]),
    ...entries.flatMap(([at, entry]) => [
      ...(entry.integrity?.startsWith('sha512-') === true ? [] : [`${at}: no sha512 integrity`]),
      ...(entry.resolved === undefined ? [] : [`${at}: names a host (${new URL(entry.resolved).protocol})`]),
      ...(entry.hasInstallScript === true ? [`${at}: has an install script`] : []),
    ]),
  ];
}

describe('the lock file', () => {
  it('reliability/T13: pins every package by digest, names no host, and allows no install script', () => {
    assert.ok(Object.keys(lock.packages).length > 50);
    assert.deepEqual(lockProblems(lock), []);
  });

  const good = { version: '1.0.0', integrity: 'sha512-AAAA' };
  const mutants: readonly { name: string; entry: LockEntry; want: string }[] = [
    { name: 'a missing digest', entry: { version: '1.0.0' }, want: 'node_modules/x: no sha512 integrity' },
    {
      name: 'a host',
      entry: { ...good, resolved: 'https://evil.example/x.tgz' },
      want: 'node_modules/x: names a host (https:)',
    },
    {
      name: 'an install script',
      entry: { ...good, hasInstallScript: true },
      want: 'node_modules/x: has an install script',
    },
  ];
  for (const { name, entry, want } of mutants) {
    it(`reliability/T13: would be refused with ${name}`, () => {
      assert.deepEqual(lockProblems({ lockfileVersion: 3, packages: { '': {}, 'node_modules/x': entry } }), [
        want,
      ]);
    });
  }

  it('locks the Node of both kinds of machine that bring their own', () => {
    const versions = ['x64', 'arm64'].map((arch) => lock.packages[`node_modules/node-linux-${arch}`]?.version);
    assert.match(versions[0] ?? '', /^24\./);
    assert.equal(versions[0], versions[1]);
  });
});

describe('package.json', () => {
  for (const kind of ['dependencies', 'optionalDependencies', 'devDependencies']) {
    it(`names exact versions in ${kind}`, () => {
      const loose = Object.entries(manifest[kind] ?? {}).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
      assert.deepEqual(loose, []);
    });
  }

  it('has no script that npm would start by itself', () => {
    const names = Object.keys(manifest['scripts'] ?? {});
    const automatic = /^(pre|post)|^(install|prepare|publish|dependencies)$/;
    assert.deepEqual(
      names.filter((name) => automatic.test(name)),
      [],
    );
  });
});

describe('the packed package', () => {
  it('holds the launcher, the built code and every file that is not TypeScript, and nothing else', () => {
    execFileSync(process.execPath, ['scripts/build.ts']);
    const [packed] = JSON.parse(execFileSync('npm', ['pack', '--dry-run', '--json'], { encoding: 'utf8' }));
    const files: readonly string[] = packed.files.map(({ path }: { path: string }) => path);
    const travelling = files.filter((file) => file.startsWith('dist/') && !/\.(js|d\.ts|js\.map)$/.test(file));
    assert.deepEqual(
      travelling.toSorted(),
      [...assetFiles('src'), DIGEST_FILE].map((file) => `dist/${file}`).toSorted(),
    );
    const example = files.filter((file) => file.startsWith('examples/')).toSorted();
    assert.deepEqual(
      example,
      exampleFiles(slipwayPackage()).map(({ path }) => `examples/acme-cloud/${path}`),
    );
    const top = files.filter((file) => !/^(dist|examples)\//.test(file)).toSorted();
    assert.deepEqual(top, [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'bin/own-node.cjs',
      'bin/slipway.cjs',
      'bin/start.cjs',
      'package.json',
    ]);
    assert.deepEqual(
      files.filter((file) => /\.test\.|testdata/.test(file) && !file.startsWith('examples/')),
      [],
    );
    assert.ok(existsSync('dist/cli/main.js'));
  });
});
