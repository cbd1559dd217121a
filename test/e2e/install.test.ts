import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { needsOracle, oracleFile } from '../support/needs-oracle.ts';
import { asUser, hostPath } from './as-a-user.ts';

describe('the packed package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-e2e-'));
  const tarball = () => join(folder, readdirSync(folder).find((file) => file.endsWith('.tgz')) ?? 'missing');

  before(() => {
    execFileSync(process.execPath, ['scripts/build.ts']);
    execFileSync('npm', ['pack', '--pack-destination', folder], { stdio: 'ignore' });
  });
  after(() => rmSync(folder, { recursive: true }));

  const place = (name: string) => join(folder, name);

  it('works in an empty folder, without TypeScript there', async () => {
    const cwd = place('empty');
    const installed = await asUser('npm', ['install', '--prefix', cwd, '--no-audit', '--no-fund', tarball()], {
      cwd: folder,
    });
    assert.equal(installed.code, 0, installed.stderr);
    assert.equal(existsSync(join(cwd, 'node_modules/typescript')), false);
    const help = await asUser('npx', ['slipway', '--help'], { cwd });
    assert.equal(help.code, 0, help.stderr);
    assert.match(help.stdout, /^slipway \d+\.\d+\.\d+ · brings new infrastructure/);
    const typo = await asUser('npx', ['slipway', 'doctr'], { cwd });
    assert.equal(typo.code, 2);
    assert.match(typo.stderr, /^slipway: unknown verb "doctr"\. Did you mean doctor\?$/m);
    const journey = await asUser('npx', ['slipway', 'up', '--once'], { cwd });
    assert.equal(journey.code, 0, journey.stderr);
    assert.doesNotMatch(journey.stdout, /npm run/);
  });

  describe('installed globally on Node 20', needsOracle('node-20'), () => {
    /** npm of the host, but every `node` is a real Node 20. */
    const path = () => [dirname(oracleFile('node-20')), hostPath()].join(delimiter);

    it('re-executes with the Node of its own optional dependency', async () => {
      const prefix = place('global');
      await asUser('npm', ['install', '--global', '--prefix', prefix, tarball()], { cwd: folder, path: path() });
      const version = await asUser(join(prefix, 'bin/slipway'), ['version', '--output', 'json'], {
        cwd: folder,
        path: path(),
      });
      assert.equal(version.code, 0, version.stderr);
      assert.match(JSON.parse(version.stdout).node, /^24\./);
    });

    it('passes on the exit code', async () => {
      const typo = await asUser(join(place('global'), 'bin/slipway'), ['doctr'], { cwd: folder, path: path() });
      assert.equal(typo.code, 2);
    });

    it('reliability/D32: prints one message and exits 3 where its own Node is missing', async () => {
      removeOwnNode(place('global'));
      const version = await asUser(join(place('global'), 'bin/slipway'), ['version'], {
        cwd: folder,
        path: path(),
      });
      assert.equal(version.code, 3);
      assert.match(
        version.stderr,
        /^slipway: Slipway needs Node 24 or later; this is 20\.\S+ \(PATH\)\. Install /,
      );
      assert.equal(version.stderr.trimEnd().split('\n').length, 1);
    });
  });

  describe('on Node 16', needsOracle('node-16'), () => {
    it('reliability/D32: gets a sentence, not a syntax error', async () => {
      const bin = join(place('global'), 'lib/node_modules/slipway/bin/slipway.cjs');
      const version = await asUser(oracleFile('node-16'), [bin, 'version'], { cwd: folder });
      assert.equal(version.code, 3);
      assert.match(version.stderr, /^slipway: Slipway needs Node 24 or later; this is 16\./);
    });
  });
});

/** As on a machine for which none is published, or after an install without optional packages. */
function removeOwnNode(prefix: string): void {
  const packages = join(prefix, 'lib/node_modules/slipway/node_modules');
  for (const name of readdirSync(packages)) {
    if (name.startsWith('node-linux-')) rmSync(join(packages, name), { recursive: true });
  }
}
