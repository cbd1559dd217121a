import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { documentsOf, filesIn, projectWith, render } from '../../../test/support/render-verb.ts';
import { parseYaml } from '../../object/yaml.ts';
import { releaseImage } from '../release.ts';

const NAME = 'acme-cloud-controller-manager';
const IMAGE = '--image=example.com/acme:7';

describe('slipway render', () => {
  it('ccm/O4: prints everything that installs a provider as one stream, with its origin on top', async () => {
    await using project = await projectWith();
    const { code, text, json, hints } = await render(project.path, 'deploy', IMAGE);
    assert.equal(code, 0);
    assert.match(text, /^# Written by slipway \S+: render deploy for acme, input sha256:[0-9a-f]{64}\n---\n/);
    const documents = documentsOf(text);
    assert.deepEqual(
      documents.map(({ kind }) => kind),
      [
        'Namespace',
        'ServiceAccount',
        'ClusterRole',
        'ClusterRoleBinding',
        'Role',
        'RoleBinding',
        'RoleBinding',
        'ConfigMap',
        'Deployment',
        'MachineConfig',
        'MachineConfig',
      ],
    );
    assert.deepEqual(json, { apiVersion: 'v1', kind: 'List', items: documents });
    assert.deepEqual(hints, []);
  });

  it('ccm/O13: says why there is no MachineConfig where machines cannot find out who they are', async () => {
    await using project = await projectWith('');
    const { text, hints } = await render(project.path, 'deploy');
    assert.ok(!documentsOf(text).some(({ kind }) => kind === 'MachineConfig'));
    assert.match(
      hints.join('\n'),
      /no MachineConfig with the provider ID: the definition has no metadata capability/,
    );
    await render(project.path, 'deploy', '--out=out');
    assert.match(
      await readFile(join(project.path, 'out/README.md'), 'utf8'),
      /There are no MachineConfigs: the def/,
    );
  });

  it('passes on what it is told', async () => {
    await using project = await projectWith();
    const { text } = await render(
      project.path,
      'deploy',
      IMAGE,
      '--namespace=clouds',
      '--topology=sno',
      '--secure-port=10300',
      '--cloud-config=secret',
      '--cluster-name=east',
    );
    const deployment = JSON.stringify(documentsOf(text).find(({ kind }) => kind === 'Deployment'));
    for (const part of [
      '"image":"example.com/acme:7"',
      '"namespace":"clouds"',
      '"replicas":1',
      '--secure-port=10300',
      '--cloud-config=/etc/cloud/config/cloud.conf',
      '--cluster-name=east',
      '"secretName":"cloud-config"',
    ]) {
      assert.ok(deployment.includes(part), part);
    }
  });

  it('prints roles alone, with those for an account per controller when asked', async () => {
    await using project = await projectWith();
    const kinds = documentsOf((await render(project.path, 'rbac')).text).map(({ kind }) => kind);
    assert.deepEqual(
      new Set(kinds),
      new Set(['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding']),
    );
    const { text } = await render(project.path, 'rbac', '--use-service-account-credentials');
    assert.match(text, /serviceaccounts\/token/);
  });

  it('ccm/O17: prints the static pod, and where its credentials have to be', async () => {
    await using project = await projectWith();
    const { text, hints } = await render(project.path, 'bootstrap', IMAGE);
    assert.deepEqual(
      documentsOf(text).map(({ kind }) => kind),
      ['Pod'],
    );
    assert.match(text, /--credentials-dir=\/etc\/kubernetes\/secrets\/cloud-credentials/);
    assert.deepEqual(hints, [
      'a static pod has no Secrets: put ACME_TOKEN into files of /etc/kubernetes/bootstrap-secrets/cloud-credentials on the bootstrap machine',
    ]);
  });

  it('ccm/O1, ccm/O14: writes files where the installer takes them from, and finds them unchanged', async () => {
    await using project = await projectWith();
    const { code, json } = await render(project.path, 'deploy', '--out=out');
    assert.equal(code, 0);
    const files = [
      'README.md',
      'butane/99_openshift-machineconfig_00-master-kubelet-providerid.bu',
      'butane/99_openshift-machineconfig_00-worker-kubelet-providerid.bu',
      'install-config-platform.yaml',
      `manifests/${NAME}-00-namespace.yaml`,
      `manifests/${NAME}-01-rbac.yaml`,
      `manifests/${NAME}-02-trusted-ca.yaml`,
      `manifests/${NAME}-03-deployment.yaml`,
      'openshift/99_openshift-machineconfig_00-master-kubelet-providerid.yaml',
      'openshift/99_openshift-machineconfig_00-worker-kubelet-providerid.yaml',
    ];
    assert.deepEqual(await filesIn(join(project.path, 'out')), files);
    assert.deepEqual((json as { readonly files: readonly string[] }).files.toSorted(), files);
    const snippet = await readFile(join(project.path, 'out/install-config-platform.yaml'), 'utf8');
    assert.deepEqual(parseYaml(snippet), {
      platform: { external: { platformName: 'acme', cloudControllerManager: 'External' } },
    });
    const again = await render(project.path, 'deploy', '--out=out', '--check');
    assert.deepEqual([again.code, again.json], [0, { folder: join(project.path, 'out'), drift: [] }]);
  });

  it('ends a check with 1 for files that differ, are missing or are not rendered any more, and writes nothing', async () => {
    await using project = await projectWith();
    await render(project.path, 'deploy', '--out=out');
    const place = join(project.path, 'out');
    const deployment = join(place, `manifests/${NAME}-03-deployment.yaml`);
    const edited = (await readFile(deployment, 'utf8')).replace('replicas: 2', 'replicas: 3');
    await writeFile(deployment, edited);
    await rm(join(place, `manifests/${NAME}-02-trusted-ca.yaml`));
    await cp(deployment, join(place, 'manifests/old.yaml'));
    await writeFile(join(place, 'manifests/own.yaml'), 'kind: ConfigMap\n');
    const { code, json, text } = await render(project.path, 'deploy', '--out=out', '--check');
    assert.equal(code, 1);
    assert.deepEqual((json as { readonly drift: unknown }).drift, [
      { path: `manifests/${NAME}-02-trusted-ca.yaml`, problem: 'missing' },
      { path: `manifests/${NAME}-03-deployment.yaml`, problem: 'differs' },
      { path: 'manifests/old.yaml', problem: 'is no longer rendered' },
    ]);
    assert.match(text, /^out differs from what slipway render deploy writes:\n/);
    assert.equal(await readFile(deployment, 'utf8'), edited);
  });

  it('removes what it wrote earlier and writes no longer, and nothing that somebody had a hand in', async () => {
    await using project = await projectWith();
    const place = join(project.path, 'out');
    await render(project.path, 'deploy', IMAGE, '--out=out');
    const master = '99_openshift-machineconfig_00-master-kubelet-providerid';
    const worker = '99_openshift-machineconfig_00-worker-kubelet-providerid';
    await writeFile(join(place, 'openshift/own.yaml'), 'kind: ConfigMap\n');
    await cp(join(place, 'README.md'), join(place, 'NOTES.md'));
    await writeFile(join(place, `butane/${worker}.bu`), '# and more\n', { flag: 'a' });
    const theirs = `manifests/other-01-rbac.yaml`;
    const roles = await readFile(join(place, `manifests/${NAME}-01-rbac.yaml`), 'utf8');
    await writeFile(join(place, theirs), roles.replace('for acme,', 'for other,'));
    // A definition that has lost the metadata service: its machines cannot find out who they are.
    await using poorer = await projectWith('');
    await cp(place, join(poorer.path, 'out'), { recursive: true });
    const { code, json, text, hints } = await render(poorer.path, 'deploy', IMAGE, '--out=out');
    assert.equal(code, 0);
    const removed = [`butane/${master}.bu`, `openshift/${master}.yaml`, `openshift/${worker}.yaml`];
    assert.deepEqual((json as { readonly removed: unknown }).removed, removed);
    assert.match(text, new RegExp(`removed, because they are no longer rendered:\n  ${removed.join('\n  ')}$`));
    const left = await filesIn(join(poorer.path, 'out'));
    const kept = ['NOTES.md', `butane/${worker}.bu`, theirs];
    assert.deepEqual(
      left.filter((path) => !path.includes(NAME)),
      [
        'NOTES.md',
        'README.md',
        `butane/${worker}.bu`,
        'install-config-platform.yaml',
        theirs,
        'openshift/own.yaml',
      ],
    );
    assert.deepEqual(
      hints.filter((hint) => hint.startsWith('out/')),
      kept.map(
        (path) =>
          `out/${path} is no longer rendered; it stays, since it may hold the work of somebody: remove it yourself`,
      ),
    );
  });

  for (const what of ['deploy', 'bootstrap'])
    it(`says which image the pods of ${what} run when none is named`, async () => {
      await using project = await projectWith();
      const { code, hints } = await render(project.path, what, '--cloud-config=secret');
      assert.equal(code, 0);
      assert.deepEqual(hints.slice(0, 1), [
        `the pods run ${releaseImage()}, which has to contain your provider: build an image with it and name it with --image (docs/how-to/real-cluster.md)`,
      ]);
      assert.deepEqual((await render(project.path, 'rbac')).hints, []);
    });

  it('writes nothing over a file that it has not written, and says which', async () => {
    await using project = await projectWith();
    const readme = join(project.path, 'README.md');
    await writeFile(readme, '# Ours\n');
    await assert.rejects(render(project.path, 'deploy', '--out=.'), {
      code: 'SW1304',
      exitCode: 3,
      message: `${readme} cannot be written: it is there, and slipway did not write it`,
    });
    assert.deepEqual(await filesIn(project.path), ['README.md', 'provider.ts']);
    assert.equal(await readFile(readme, 'utf8'), '# Ours\n');
    // What another `render` has written is its own.
    await render(project.path, 'rbac', '--out=out');
    assert.equal((await render(project.path, 'deploy', '--out=out')).code, 0);
  });

  it('says in the first line when anything that it was made from is different', async () => {
    await using project = await projectWith();
    const first = async (...words: readonly string[]) =>
      (await render(project.path, 'deploy', ...words)).text.split('\n', 1)[0];
    assert.equal(await first(), await first());
    assert.notEqual(await first(), await first('--topology=sno'));
    await using other = await projectWith('');
    const { text } = await render(other.path, 'deploy');
    assert.notEqual(text.split('\n', 1)[0], await first());
  });

  const wrong = [
    { words: ['deploi'], want: /makes no "deploi"\. Did you mean deploy\?/ },
    { words: ['nothing'], want: /there are: deploy, rbac, bootstrap, cloud-operator/ },
    { words: ['deploy', '--mode=replace'], want: /^--mode is of cloud-operator, not of deploy$/ },
    { words: ['rbac', '--day1'], want: /^--day1 is of cloud-operator, not of rbac$/ },
    {
      words: ['deploy', '--images-file=a'],
      want: /^--images-file is of bootstrap and cloud-operator, not of deploy$/,
    },
    {
      words: ['cloud-operator', '--namespace=a'],
      want: /^--namespace is of deploy, rbac and bootstrap, not of c/,
    },
    { words: ['deploy', '--component=cloud-controler-manager'], want: /Did you mean cloud-controller-manager\?/ },
    { words: ['deploy', '--image=bad image'], want: /^"bad image" is no name of an image: write registry/ },
    { words: ['deploy', '--check'], want: /--check compares with a folder/ },
    { words: ['deploy', '--namespace=Not_One'], want: /"Not_One" cannot be the name of a namespace/ },
    { words: ['deploy', '--provider=nowhere.ts'], want: /nowhere\.ts/ },
  ];
  for (const { words, want } of wrong) {
    it(`refuses "${words.join(' ')}" with exit code 2`, async () => {
      await using project = await projectWith();
      await assert.rejects(render(project.path, ...words), { exitCode: 2, message: want });
    });
  }

  it('refuses a folder that cannot be written with exit code 3', async () => {
    await using project = await projectWith();
    if (existsSync('/proc/self'))
      await assert.rejects(render(project.path, 'deploy', '--out=/proc/slipway'), {
        code: 'SW1304',
        exitCode: 3,
        message: /cannot be written/,
      });
  });

  const inTheWay = [
    { out: 'provider.ts', file: 'provider.ts' },
    { out: 'provider.ts/deep/er', file: 'provider.ts' },
    { out: 'taken', file: 'taken/manifests' },
  ];
  for (const { out, file } of inTheWay) {
    for (const words of [[], ['--check']]) {
      it(`names the file that is where a folder has to be: ${['--out', out, ...words].join(' ')}`, async () => {
        await using project = await projectWith();
        await mkdir(join(project.path, 'taken'));
        await writeFile(join(project.path, 'taken/manifests'), '');
        await assert.rejects(render(project.path, 'deploy', `--out=${out}`, ...words), {
          code: 'SW1304',
          exitCode: 3,
          message: `${join(project.path, file)} is no folder: choose another place with --out`,
        });
        assert.deepEqual(await filesIn(project.path), ['provider.ts', 'taken/manifests']);
      });
    }
  }
});
