import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Widget } from '../../../test/support/widget-kind.ts';
import { ConfigMap } from '../../api/generated/core-v1.ts';
import { controllerFor } from '../controller/controller.ts';
import { DONE } from '../controller/reconcile.ts';
import { needs } from '../rbac/need.ts';
import { addWebhooks } from '../webhook/add-webhooks.ts';
import type { Manager } from './create-manager.ts';
import { programManifests } from './program-manifests.ts';
import type { Program } from './run-program.ts';

const controller = () =>
  controllerFor(ConfigMap, { name: 'copies' })
    .needs(needs(ConfigMap, ['create', 'patch']))
    .reconcile({ reconcile: () => Promise.resolve(DONE) });

const program = (argv: readonly string[], setup = (manager: Manager) => manager.add(controller())): Program => ({
  name: 'copier',
  argv: ['manifests', ...argv],
  env: {},
  homeDir: '/nowhere',
  host: { on: () => {}, off: () => {}, exit: () => {} },
  stdout: () => {},
  stderr: () => {},
  setup,
  kinds: [Widget],
});

describe('programManifests', () => {
  it('runtime/B2: prints definitions, roles from what the controllers need, and the Deployment', async () => {
    const text = await programManifests(program(['--image', 'example.com/copier:1', '--namespace=here']));
    const kinds = [...text.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind);
    assert.deepEqual(kinds, [
      'Namespace',
      'CustomResourceDefinition',
      'ServiceAccount',
      'ClusterRole',
      'ClusterRoleBinding',
      'Role',
      'RoleBinding',
      'Deployment',
    ]);
    assert.match(text, /image: example\.com\/copier:1/);
    assert.match(text, /namespace: here/);
    assert.match(text, /--metrics-bind-address=0$/m);
    assert.doesNotMatch(text.slice(text.indexOf('kind: Deployment')), /ports:/);
    assert.equal(text, await programManifests(program(['--namespace=here', '--image=example.com/copier:1'])));
  });

  it('runs where its name says unless told otherwise', async () => {
    assert.match(await programManifests(program(['--image=x'])), /kind: Namespace\nmetadata:\n {2}name: copier/);
  });

  it('runtime/C8: names what is missing or unknown, and lists the flags when asked', async () => {
    await assert.rejects(programManifests(program(['--imag=x'])), { reason: 'InvalidFlags', message: /--imag\b/ });
    await assert.rejects(programManifests(program([])), /--image is missing/);
    const help = await programManifests(program(['--help']));
    assert.match(help, /Usage: copier manifests/);
    assert.match(help, /--image is SLIPWAY_IMAGE\.\n$/);
    assert.doesNotMatch(help, /leader-elect/);
  });

  it('prints for programs with webhooks too', async () => {
    const setup = (manager: Manager) =>
      void addWebhooks(manager, {
        namespace: 'here',
        register: (webhooks) => webhooks.mutating(ConfigMap, () => {}),
      });
    assert.match(await programManifests(program(['--image=x'], setup)), /kind: Deployment/);
  });
});
