import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { asUser } from './as-a-user.ts';

const root = process.cwd();

/** Runs a command and wants it to succeed. */
async function succeeds(program: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await asUser(program, args, { cwd });
  assert.equal(code, 0, `${program} ${args.join(' ')}\n${stdout}\n${stderr}`);
  return stdout;
}

const dependencyOf = (folder: string): string =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).dependencies.slipway;

/** A definition that is wrong: its tests end with what is wrong with it, and with nothing that nobody can read. */
async function showsNoStack(project: string): Promise<void> {
  const file = join(project, 'provider.ts');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace("name: 'my-cloud'", "name: 'My Cloud'"));
  const { code, stdout, stderr } = await asUser('npm', ['test'], { cwd: project });
  assert.equal(code, 1);
  assert.match(stdout, /^provider\.ts:\d+:\d+ +error +SW2114 +name must be/m);
  assert.doesNotMatch(`${stdout}${stderr}`, /^ +at /m);
}

describe('slipway init provider', () => {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-e2e-init-'));
  after(() => rmSync(folder, { recursive: true }));

  it('makes a project outside of a clone that is installed and tested at once', async () => {
    const said = await succeeds('node', [join(root, 'bin/slipway.cjs'), 'init', 'provider', 'my-cloud'], folder);
    assert.match(said, /my-cloud: \d+ files in my-cloud/);
    const project = join(folder, 'my-cloud');
    assert.equal(dependencyOf(project), `file:${root}`);
    assert.ok(existsSync(join(root, 'dist/sdk/index.js')), 'dist is built where it was missing or stale');
    await succeeds('npm', ['install', '--no-audit', '--no-fund'], project);
    const tested = await succeeds('npm', ['test'], project);
    assert.match(tested, /fail 0/);
    assert.match(tested, /contract of loadBalancers/);
    await succeeds('npm', ['run', 'check'], project);
    assert.match(await succeeds('npm', ['run', 'lint'], project), /0 errors/);
    await showsNoStack(project);
  });

  it('depends on the exact version when it is made by an installed package', async () => {
    execFileSync(process.execPath, ['scripts/build.ts'], { stdio: 'ignore' });
    execFileSync('npm', ['pack', '--pack-destination', folder], { stdio: 'ignore' });
    const tarball = join(folder, readdirSync(folder).find((file) => file.endsWith('.tgz')) ?? '');
    const place = join(folder, 'installed');
    await succeeds('npm', ['install', '--prefix', place, '--no-audit', '--no-fund', tarball], folder);
    await succeeds('npx', ['slipway', 'init', 'provider', 'other-cloud'], place);
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const project = join(place, 'other-cloud');
    for (const file of ['.gitignore', '.dockerignore']) assert.ok(existsSync(join(project, file)), file);
    assert.equal(dependencyOf(project), version);
    // Not published: the same package from where it is.
    await succeeds('npm', ['install', '--no-audit', '--no-fund', tarball], project);
    assert.match(await succeeds('npm', ['test'], project), /fail 0/);
  });
});
