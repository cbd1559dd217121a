import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { releaseVersion } from '../../src/app/release.ts';
import { clusterctl } from '../support/clusterctl.ts';
import { needsOracle } from '../support/needs-oracle.ts';
import { render } from '../support/render-verb.ts';
import { type Outcome, scratchDirectory } from '../support/scratch.ts';

const VERSION = `v${releaseVersion()}`;
const PROVIDERS = [
  { flag: '--bootstrap', label: 'bootstrap-openshift-assisted', namespace: 'capoa-bootstrap-system' },
  { flag: '--control-plane', label: 'control-plane-openshift-assisted', namespace: 'capoa-controlplane-system' },
] as const;

describe('a folder of slipway render agent, read by clusterctl', needsOracle('clusterctl'), () => {
  const parts = new AsyncDisposableStack();
  let folder = '';
  before(async () => {
    folder = parts.use(await scratchDirectory()).path;
    const { hints } = await render(folder, 'agent', '--out=providers', '--image=example.com/slipway:1');
    const [, snippet = ''] = /:\n(providers:\n[\s\S]*?)and install with/.exec(hints.join('\n')) ?? [];
    await writeFile(join(folder, 'clusterctl.yaml'), snippet);
  });
  after(() => parts.disposeAsync());

  /** With nothing but the folder, and without a cluster. */
  const ask = (...words: readonly string[]): Promise<Outcome> =>
    clusterctl(folder, ...words, '--config', join(folder, 'clusterctl.yaml'));

  it('agent/P6: is known by the snippet that the render prints', async () => {
    const { code, stdout, stderr } = await ask('config', 'repositories');
    assert.equal(code, 0, stderr);
    const lines = stdout.split('\n').filter((line) => line.startsWith('openshift-assisted'));
    assert.equal(lines.length, 2, stdout);
    assert.match(lines.join('\n'), /BootstrapProvider[\s\S]*ControlPlaneProvider/);
  });

  for (const { flag, label, namespace } of PROVIDERS) {
    it(`agent/P6: has the components of ${label}`, async () => {
      const { code, stdout, stderr } = await ask('generate', 'provider', flag, `openshift-assisted:${VERSION}`);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /image: example\.com\/slipway:1/);
      assert.match(stdout, new RegExp(`cluster\\.x-k8s\\.io/provider: ${label}`));
      assert.match(stdout, new RegExp(`kind: Namespace\\n[\\s\\S]*name: ${namespace}\\n`));
      assert.equal(stdout.match(/^kind: Namespace$/gm)?.length, 1);
    });

    it(`agent/P6: ${label} can be installed into another namespace, and asks for no variables`, async () => {
      const moved = await ask(
        'generate',
        'provider',
        flag,
        `openshift-assisted:${VERSION}`,
        '--target-namespace',
        'elsewhere',
      );
      assert.equal(moved.code, 0, moved.stderr);
      assert.doesNotMatch(moved.stdout, new RegExp(`namespace: ${namespace}\\n`));
      const asked = await ask('generate', 'provider', flag, `openshift-assisted:${VERSION}`, '--describe');
      assert.equal(asked.code, 0, asked.stderr);
      assert.doesNotMatch(asked.stdout, /Variables:\n\s+-/);
    });
  }

  it('agent/P6: the newest version is found without naming it', async () => {
    const { code, stdout, stderr } = await ask(
      'generate',
      'provider',
      '--bootstrap',
      'openshift-assisted',
      '--describe',
    );
    assert.equal(code, 0, stderr);
    assert.ok(stdout.includes(VERSION), stdout);
  });
});
