import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { imagesText } from '../../../test/support/bootstrap-input.ts';
import { objectNamed, titleOf } from '../../../test/support/operator-installation.ts';
import { documentsOf, filesIn, projectWith, render } from '../../../test/support/render-verb.ts';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import type { Deployment } from '../../api/generated/apps-v1.ts';
import type { ConfigMap } from '../../api/generated/core-v1.ts';
import { builtInRegistry } from '../../cloud-operator/index.ts';
import { parseYaml } from '../../object/yaml.ts';
import { releaseImage } from '../release.ts';

const IMAGE = 'example.com/team/acme:7';
const PAYLOAD = 'openshift-cloud-controller-manager-operator';
const SIDECAR = 'openshift-acme-cloud-controller-manager-operator';

const imagesIn = (object: ConfigMap): Readonly<Record<string, string>> =>
  JSON.parse(object.data?.['images.json'] ?? '') as Readonly<Record<string, string>>;

describe('slipway render cloud-operator', () => {
  it('operator/D1: without a provider it is for the platforms, in the place of the operator of the payload', async () => {
    await using folder = await scratchDirectory();
    const { code, text, hints } = await render(folder.path, 'cloud-operator');
    assert.equal(code, 0);
    const objects = documentsOf(text);
    const deployment = objectNamed<Deployment>(
      objects,
      `Deployment/cluster-cloud-controller-manager-operator in ${PAYLOAD}`,
    );
    const [operator] = deployment.spec.template.spec?.containers ?? [];
    assert.equal(operator?.image, releaseImage());
    const { args = [] } = operator;
    assert.ok(args.includes('--mode=replace'));
    assert.ok(!args.some((word) => word.startsWith('--provider')));
    assert.ok(objects.some(({ kind }) => kind === 'ServiceMonitor'));
    assert.deepEqual(hints, [
      'images.json has 9 placeholders, which a release build replaces: for a cluster that runs, give its ConfigMap cloud-controller-manager-images with --images-file',
    ]);
  });

  it('operator/D1: with a definition it is beside the operator of the payload, under names of its own', async () => {
    await using project = await projectWith();
    const { text, hints } = await render(project.path, 'cloud-operator', '--provider=.', `--image=${IMAGE}`);
    assert.deepEqual(hints, []);
    const objects = documentsOf(text);
    const operator = objectNamed<Deployment>(
      objects,
      `Deployment/acme-cloud-controller-manager-operator in ${SIDECAR}`,
    );
    for (const { image, args = [] } of operator.spec.template.spec?.containers ?? []) {
      assert.equal(image, IMAGE);
      assert.ok(args.includes('--provider=/provider/provider.ts'));
      assert.ok(args.includes('--namespace=openshift-acme-cloud-controller-manager'));
    }
    const images = objectNamed<ConfigMap>(objects, `ConfigMap/cloud-controller-manager-images in ${SIDECAR}`);
    assert.deepEqual(imagesIn(images), { cloudControllerManagerAcme: IMAGE });
    const namespaces = new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []));
    assert.ok(!namespaces.has(PAYLOAD) && !namespaces.has('openshift-cloud-controller-manager'));
    assert.deepEqual(objects.filter(({ kind }) => kind === 'CredentialsRequest').map(titleOf), [
      'CredentialsRequest/openshift-acme-cloud-controller-manager in openshift-cloud-credential-operator',
    ]);
  });

  it('says which image the pods run when none is named', async () => {
    await using project = await projectWith();
    const { hints } = await render(project.path, 'cloud-operator', '--provider=provider.ts');
    assert.match(hints.join(), /^the pods run \S+, which has to contain your provider/);
  });

  it('operator/D1: a definition can take the place of the payload when asked to', async () => {
    await using project = await projectWith();
    const words = ['cloud-operator', '--provider=.', `--image=${IMAGE}`, '--mode=replace'];
    const objects = documentsOf((await render(project.path, ...words)).text);
    objectNamed(objects, `Deployment/cluster-cloud-controller-manager-operator in ${PAYLOAD}`);
    objectNamed(objects, 'ServiceAccount/cloud-controller-manager in openshift-cloud-controller-manager');
    assert.ok(!objects.some(({ metadata }) => metadata.name === 'openstack-cloud-controller-manager'));
  });

  it('a platform can be named', async () => {
    await using folder = await scratchDirectory();
    const { text } = await render(folder.path, 'cloud-operator', '--provider=aws');
    assert.match(text, /- --provider=aws\n/);
  });

  it('takes the images of a release', async () => {
    await using folder = await scratchDirectory();
    const given = { cloudControllerManagerOperator: 'example.com/payload:1', cloudControllerManagerAWS: 'aws:1' };
    await writeFile(join(folder.path, 'images.yaml'), imagesText(given));
    const { text, hints } = await render(folder.path, 'cloud-operator', '--images-file=images.yaml');
    assert.match(
      hints.join('\n'),
      /^images\.json lacks cloudControllerManagerAzure, .*: the operator cannot deploy/,
    );
    const images = objectNamed<ConfigMap>(
      documentsOf(text),
      `ConfigMap/cloud-controller-manager-images in ${PAYLOAD}`,
    );
    assert.deepEqual(imagesIn(images), given);
    await assert.rejects(render(folder.path, 'cloud-operator', '--images-file=none.yaml'), {
      exitCode: 2,
      message: 'error reading --images-file: no such file: none.yaml',
    });
  });

  it('operator/R20: names images that the chosen platform needs, and keys that nobody reads', async () => {
    await using folder = await scratchDirectory();
    const hintsWith = async (images: Readonly<Record<string, string>>, ...words: readonly string[]) => {
      await writeFile(join(folder.path, 'images.yaml'), imagesText(images));
      return (await render(folder.path, 'cloud-operator', '--images-file=images.yaml', ...words)).hints;
    };
    const aws = { cloudControllerManagerAWS: 'aws:1' };
    assert.deepEqual(await hintsWith(aws, '--provider=aws'), []);
    const lacks = 'images.json lacks cloudControllerManagerAWS: the operator cannot deploy what runs these images';
    assert.deepEqual(await hintsWith({ cloudControllerManagerAWS: '' }, '--provider=aws'), [lacks]);
    assert.deepEqual(await hintsWith({ cloudControllerManagrAWS: 'aws:1' }, '--provider=aws'), [
      'images.yaml: images.json has "cloudControllerManagrAWS", which nobody reads. Did you mean cloudControllerManagerAWS?',
      lacks,
    ]);
    assert.deepEqual(await hintsWith(builtInRegistry().imagesJson('operator:1'), '--provider=aws'), [
      'images.json has 9 placeholders, which a release build replaces: for a cluster that runs, give its ConfigMap cloud-controller-manager-images with --images-file',
    ]);
    await assert.rejects(hintsWith({ cloudControllerManagerAWS: 'a b' }), {
      exitCode: 2,
      message: /^images\.yaml: images\.json: cloudControllerManagerAWS: "a b" is no name of an image/,
    });
  });

  it('writes a file for each part, with the images of the payload beside them, and finds them unchanged', async () => {
    await using folder = await scratchDirectory();
    const words = ['cloud-operator', '--out=out', `--image=${IMAGE}`];
    await render(folder.path, ...words);
    const names = await filesIn(join(folder.path, 'out'));
    assert.equal(names.length, 19);
    const references = await readFile(join(folder.path, 'out/manifests/image-references'), 'utf8');
    const { spec } = parseYaml(references) as { readonly spec: { readonly tags: readonly unknown[] } };
    // A release replaces the image of the Deployment by this name.
    assert.deepEqual(spec.tags[0], {
      name: 'cluster-cloud-controller-manager-operator',
      from: { kind: 'DockerImage', name: IMAGE },
    });
    assert.equal((await render(folder.path, ...words, '--check')).code, 0);
    assert.equal((await render(folder.path, ...words, '--check', '--day1')).code, 1);
  });

  it('operator/R89: writes for an installer what it takes, and removes the rest', async () => {
    await using folder = await scratchDirectory();
    const words = ['cloud-operator', '--out=out', `--image=${IMAGE}`];
    await render(folder.path, ...words);
    const { json } = await render(folder.path, ...words, '--day1');
    assert.deepEqual((json as { readonly removed: unknown }).removed, [
      'manifests/0000_26_cloud-controller-manager-operator_60_clusteroperator.yaml',
      'manifests/0000_90_cloud-controller-manager-operator_00_servicemonitor.yaml',
      'manifests/0000_90_cloud-controller-manager-operator_01_alerts.yaml',
      'manifests/image-references',
    ]);
    const kinds = documentsOf((await render(folder.path, 'cloud-operator', '--day1')).text).map(
      ({ kind }) => kind,
    );
    for (const kind of ['Namespace', 'ConfigMap', 'ClusterRole', 'CredentialsRequest', 'Deployment'])
      assert.ok(kinds.includes(kind), kind);
  });

  it('is the same for the same input', async () => {
    await using folder = await scratchDirectory();
    const first = await render(folder.path, 'cloud-operator');
    assert.deepEqual(await render(folder.path, 'cloud-operator'), first);
  });

  const wrong = [
    { words: ['--mode=sidecar'], want: /--mode sidecar is for a provider of yours: name it with --provider/ },
    { words: ['--provider=aws', '--mode=sidecar'], want: /--mode sidecar is for a provider of yours/ },
    { words: ['--provider=gpc'], want: /^"gpc" is neither a file .* nor a platform\. Did you mean gcp\?/ },
    { words: ['--provider=my-very-own-cloud'], want: /nor a platform; there are: aws, azure, / },
    { words: ['--provider=nowhere.ts'], want: /nowhere\.ts/ },
    { words: ['--topology=sno'], want: /^--topology is of deploy, rbac and bootstrap, not of cloud-operator$/ },
    { words: ['--secure-port=0'], want: /^--secure-port is of .*, not of cloud-operator$/ },
    { words: ['--cloud-config=secret'], want: /^--cloud-config is of .*, not of cloud-operator$/ },
    { words: ['--use-service-account-credentials'], want: /^--use-service-account-credentials is of / },
    { words: ['--image=bad image'], want: /is no name of an image/ },
  ];
  for (const { words, want } of wrong) {
    it(`refuses "${words.join(' ')}" with exit code 2`, async () => {
      await using folder = await scratchDirectory();
      await assert.rejects(render(folder.path, 'cloud-operator', ...words), { exitCode: 2, message: want });
    });
  }

  it('refuses a definition with the name of a platform', async () => {
    await using project = await projectWith('', 'aws');
    await assert.rejects(render(project.path, 'cloud-operator', '--provider=./provider.ts'), {
      exitCode: 2,
      message: '--provider ./provider.ts: cloud provider aws: the id is taken',
    });
  });

  it('refuses a name from which no namespace can be made', async () => {
    await using project = await projectWith('', 'acme-with-quite-a-long-name');
    await assert.rejects(render(project.path, 'cloud-operator', '--provider=.'), {
      exitCode: 2,
      message:
        /the provider acme-with-quite-a-long-name has a name that is too long for mode sidecar: 27 characters, of which there may be 19, /,
    });
  });
});
