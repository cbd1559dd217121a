import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { documentsOf, filesIn, render, renderWith } from '../../../test/support/render-verb.ts';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import type { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import type { Deployment } from '../../api/generated/apps-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { releaseImage, releaseVersion } from '../release.ts';

const IMAGE = 'example.com/team/slipway:7';
const VERSION = `v${releaseVersion()}`;

const imagesIn = (text: string): readonly (string | undefined)[] =>
  documentsOf(text)
    .filter((one): one is Deployment => one.kind === 'Deployment')
    .flatMap(({ spec }) => spec.template.spec?.containers.map(({ image }) => image) ?? []);

describe('slipway render agent', () => {
  it('agent/P2: is one stream for a cluster, of both providers, with the released image', async () => {
    await using folder = await scratchDirectory();
    const { code, text, hints, json } = await render(folder.path, 'agent');
    assert.equal(code, 0);
    assert.deepEqual(imagesIn(text), [releaseImage(), releaseImage()]);
    const kinds = documentsOf(text).map(({ kind }) => kind);
    assert.ok(!kinds.includes('Metadata'), 'clusterctl alone reads it');
    assert.equal(kinds.filter((kind) => kind === 'Namespace').length, 2);
    assert.equal((json as { readonly items: readonly unknown[] }).items.length, kinds.length);
    assert.deepEqual(hints, ['clusterctl reads folders only: for it, name one with --out']);
  });

  it('agent/P6: is a repository of clusterctl in a folder, and says how to use it', async () => {
    await using folder = await scratchDirectory();
    const words = ['agent', '--out=my providers', `--image=${IMAGE}`];
    const { hints } = await render(folder.path, ...words);
    assert.deepEqual(await filesIn(join(folder.path, 'my providers')), [
      `bootstrap-openshift-assisted/${VERSION}/bootstrap-components.yaml`,
      `bootstrap-openshift-assisted/${VERSION}/metadata.yaml`,
      `control-plane-openshift-assisted/${VERSION}/control-plane-components.yaml`,
      `control-plane-openshift-assisted/${VERSION}/metadata.yaml`,
    ]);
    const file = join(
      folder.path,
      `my providers/bootstrap-openshift-assisted/${VERSION}/bootstrap-components.yaml`,
    );
    assert.match(await readFile(file, 'utf8'), new RegExp(`image: ${IMAGE}`));
    assert.match(
      hints.join(),
      /^providers:\n {2}- name: openshift-assisted\n {4}type: BootstrapProvider\n {4}url: file:\/\/\/\S+my%20providers\/bootstrap-openshift-assisted\/v/m,
    );
    const command = hints.join().split('and install with:\n')[1] ?? '';
    assert.match(command, /^clusterctl init .* --core cluster-api --infrastructure metal3 /);
    const page = await readFile('docs/how-to/install-on-bare-metal.md', 'utf8');
    assert.ok(page.includes(`\n${command}\n`), 'the page has the same command');
  });

  it('tells clusterctl of nothing that was not written', async () => {
    await using folder = await scratchDirectory();
    const words = ['agent', '--out=providers', `--image=${IMAGE}`];
    await render(folder.path, ...words);
    const same = await render(folder.path, ...words, '--check');
    const other = await render(folder.path, ...words, '--check', '--tls=service-ca');
    assert.deepEqual([same.code, same.hints, other.code, other.hints], [0, [], 1, []]);
    await writeFile(join(folder.path, 'file'), '');
    const hints: string[] = [];
    await assert.rejects(renderWith({}, folder.path, ['agent', '--out=file'], hints), { exitCode: 3 });
    assert.deepEqual(hints, []);
  });

  it('agent/P2: certificates are signed by whom it is told', async () => {
    await using folder = await scratchDirectory();
    const usual = await render(folder.path, 'agent');
    const openshift = await render(folder.path, 'agent', '--tls=service-ca');
    assert.match(usual.text, /kind: Certificate\n/);
    assert.doesNotMatch(openshift.text, /cert-manager/);
    assert.match(openshift.text, /service\.beta\.openshift\.io\/inject-cabundle/);
  });

  it('is the same for the same input', async () => {
    await using folder = await scratchDirectory();
    assert.deepEqual(await render(folder.path, 'agent'), await render(folder.path, 'agent'));
  });

  const wrong = [
    { words: ['agent-crds', '--tls=service-ca'], want: /^--tls is of agent, not of agent-crds$/ },
    { words: ['agent', '--tls=self'], want: /tls/ },
    { words: ['agent', '--image=bad image'], want: /is no name of an image/ },
    {
      words: ['agent', '--provider=aws'],
      want: /^--provider is of deploy, rbac, bootstrap and cloud-operator, not of agent$/,
    },
    { words: ['agent', '--namespace=mine'], want: /^--namespace is of .*, not of agent$/ },
    { words: ['agent', '--check'], want: /^--check compares with a folder/ },
    { words: ['cloud-operator', '--tls=service-ca'], want: /^--tls is of agent, not of cloud-operator$/ },
    { words: ['agnt'], want: /Did you mean agent\?/ },
  ];
  for (const { words, want } of wrong) {
    it(`refuses "${words.join(' ')}" with exit code 2`, async () => {
      await using folder = await scratchDirectory();
      await assert.rejects(render(folder.path, ...words), { exitCode: 2, message: want });
    });
  }
});

describe('slipway render agent-crds', () => {
  it('is the kinds of both providers, with nothing that has to be asked', async () => {
    await using folder = await scratchDirectory();
    const { code, text, hints } = await render(folder.path, 'agent-crds');
    assert.deepEqual([code, hints], [0, []]);
    const definitions = documentsOf(text) as readonly CustomResourceDefinition[];
    const served = definitions.map(({ kind, metadata, spec }) => [
      kind,
      metadata.name.split('.')[0],
      spec.conversion?.strategy ?? 'None',
      spec.versions.filter((version) => version.served).map(({ name, storage }) => [name, storage]),
    ]);
    assert.deepEqual(served, [
      ['CustomResourceDefinition', 'openshiftassistedconfigs', 'None', [['v1alpha2', true]]],
      ['CustomResourceDefinition', 'openshiftassistedconfigtemplates', 'None', [['v1alpha2', true]]],
      ['CustomResourceDefinition', 'openshiftassistedcontrolplanes', 'None', [['v1alpha3', true]]],
      ['CustomResourceDefinition', 'openshiftassistedcontrolplanetemplates', 'None', [['v1alpha3', true]]],
    ]);
  });

  it('has the labels by which clusterctl and Cluster API find what a provider brings', async () => {
    await using folder = await scratchDirectory();
    const inAgent = documentsOf((await render(folder.path, 'agent')).text).filter(
      ({ kind }) => kind === 'CustomResourceDefinition',
    );
    const alone = documentsOf((await render(folder.path, 'agent-crds')).text);
    const labels = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.labels);
    assert.deepEqual(labels(alone), labels(inAgent));
  });

  it('is one file in a folder', async () => {
    await using folder = await scratchDirectory();
    await render(folder.path, 'agent-crds', '--out=crds');
    assert.deepEqual(await filesIn(join(folder.path, 'crds')), ['definitions.yaml']);
    assert.equal((await render(folder.path, 'agent-crds', '--out=crds', '--check')).code, 0);
  });
});
