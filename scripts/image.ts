// Builds the image: pack the package, install the tarball into a folder, and let podman or buildah copy it.
//   image.ts [--base REF] [--tag REF]
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { releaseImage, releaseVersion } from '../src/app/release.ts';

const { values } = parseArgs({ options: { base: { type: 'string' }, tag: { type: 'string' } } });
const tool = ['podman', 'buildah'].find(isInstalled);
if (tool === undefined) {
  process.stderr.write('neither podman nor buildah is on the PATH; install one of them to build the image\n');
  process.exit(3);
}
const folder = mkdtempSync(join(tmpdir(), 'slipway-image-'));
try {
  preparePackage(folder);
  // With their modes: they have to be executable.
  cpSync('deploy/programs', join(folder, 'programs'), { recursive: true });
  const tag = values.tag ?? releaseImage();
  const base = values.base === undefined ? [] : ['--build-arg', `BASE=${values.base}`];
  const version = ['--build-arg', `VERSION=${releaseVersion()}`];
  run(tool, [
    'build',
    '--pull=missing',
    ...base,
    ...version,
    '--tag',
    tag,
    '--file',
    'deploy/Containerfile',
    folder,
  ]);
  process.stdout.write(`built ${tag} with ${tool}\n`);
} finally {
  rmSync(folder, { recursive: true });
}

/** Leaves in `folder/package` what `npm install slipway` leaves on a user's machine. */
function preparePackage(target: string): void {
  run(process.execPath, ['scripts/build.ts']);
  run('npm', ['pack', '--pack-destination', target]);
  const place = join(target, 'package');
  mkdirSync(place);
  cpSync('.npmrc', join(place, '.npmrc'));
  const tarball = join(target, `slipway-${releaseVersion()}.tgz`);
  run('npm', ['install', '--prefix', place, '--no-audit', '--no-fund', '--ignore-scripts', tarball]);
}

function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { stdio: 'inherit' });
}

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
