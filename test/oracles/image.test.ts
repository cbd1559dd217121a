import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';

const BASE = process.env['SLIPWAY_BASE_IMAGE'] ?? 'registry.access.redhat.com/ubi9/ubi-minimal:latest';
const TAG = 'localhost/slipway-test:latest';

/** podman or buildah with the base image already there; pulling one is not a test's business. */
function imageTool(): { readonly tool: string } | { readonly skip: string } {
  const tool = ['podman', 'buildah'].find((name) => succeeds(name, ['--version']));
  if (tool === undefined) return { skip: 'neither podman nor buildah is on the PATH, so the image is not built' };
  const hasBase = succeeds(tool, ['inspect', '--type', 'image', BASE]);
  return hasBase
    ? { tool }
    : { skip: `the base image ${BASE} is not on this machine (set SLIPWAY_BASE_IMAGE to another)` };
}

function succeeds(program: string, args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const found = imageTool();

describe('the image', 'skip' in found ? { skip: found.skip } : {}, () => {
  const tool = 'tool' in found ? found.tool : '';

  it('is built from the packed package and runs slipway as a numeric user', () => {
    execFileSync(process.execPath, ['scripts/image.ts', '--base', BASE, '--tag', TAG], { stdio: 'ignore' });
    assert.match(inImage(tool, ['slipway', 'version']), /^slipway \d+\.\d+\.\d+\nnode {4}24\./);
    assert.equal(inImage(tool, ['id', '-u']).trim(), '65532');
  });

  for (const path of ['cluster-controller-manager-operator', 'config-sync-controllers']) {
    it(`operator/R1: has /${path}, by which manifests of OpenShift start it`, () => {
      assert.match(inImage(tool, [`/${path}`, '--help']), /--leader-elect-resource-namespace/);
    });
  }

  it('operator/R84: has /azure-config-credentials-injector, by which operands of Azure start it', () => {
    assert.match(inImage(tool, ['/azure-config-credentials-injector', '--help']), /--creds-path/);
  });
});

function inImage(tool: string, command: readonly [string, ...string[]]): string {
  if (tool === 'podman') {
    const [entrypoint, ...args] = command;
    return execFileSync('podman', ['run', '--rm', '--network=none', '--entrypoint', entrypoint, TAG, ...args], {
      encoding: 'utf8',
    });
  }
  const container = execFileSync('buildah', ['from', '--pull-never', TAG], { encoding: 'utf8' }).trim();
  try {
    return execFileSync('buildah', ['run', '--isolation=chroot', container, '--', ...command], {
      encoding: 'utf8',
    });
  } finally {
    execFileSync('buildah', ['rm', container], { stdio: 'ignore' });
  }
}
