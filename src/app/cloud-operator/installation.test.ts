import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { acmeDefinition } from '../../../test/support/acme-definition.ts';
import { assertGoldenFile } from '../../../test/support/golden-file.ts';
import { objectNamed, replaceInstallation, titleOf } from '../../../test/support/operator-installation.ts';
import {
  installationFindings,
  providerReport,
  referenceFindings,
  specimenOf,
} from '../../../test/support/operator-lint.ts';
import type { Infrastructure } from '../../api/openshift/config-v1.ts';
import {
  builtInRegistry,
  cloudOperator,
  defineCloudProvider,
  installationFiles,
  type OperatorMode,
} from '../../cloud-operator/index.ts';
import { printYaml } from '../../object/yaml.ts';
import { releaseVersion } from '../release.ts';
import type { ChosenProvider } from './chosen-provider.ts';
import { externalProvider } from './external-provider.ts';
import { installationOf } from './installation.ts';

const IMAGE = 'example.com/operator:1';
const WHERE = { image: IMAGE };

/** As `--provider` with the file of a definition. */
function acme(): ChosenProvider & { readonly id: string } {
  const definition = acmeDefinition();
  const registry = builtInRegistry();
  registry.register(defineCloudProvider(externalProvider(definition, WHERE)));
  return { registry, id: definition.name, external: { definition, where: WHERE } };
}

const wish = (mode?: OperatorMode) => ({ image: IMAGE, mode, providerFile: '/provider/provider.ts' });
const filesFor = (chosen: ChosenProvider, mode?: OperatorMode) =>
  installationFiles(installationOf(chosen, wish(mode)));
const external: Infrastructure = {
  apiVersion: 'config.openshift.io/v1',
  kind: 'Infrastructure',
  metadata: { name: 'cluster' },
  status: { platformStatus: { type: 'External', external: { cloudControllerManager: { state: 'External' } } } },
};

describe('what installs the operator', () => {
  it('is for the platforms what the component has it to be', () => {
    assert.deepEqual(installationOf({ registry: builtInRegistry() }, wish()), replaceInstallation());
  });

  it('operator/D1: is for a definition what it was', () => {
    const text = filesFor(acme())
      .flatMap(({ name, objects }) => [`# ${name}\n`, ...objects.map((object) => `---\n${printYaml(object)}`)])
      .join('')
      // Of this very version of ours.
      .replaceAll(releaseVersion(), 'VERSION');
    assertGoldenFile(join(import.meta.dirname, 'testdata', 'acme.golden.yaml'), text);
  });

  it('operator/D1: has nothing of the names of the payload', () => {
    const files = filesFor(acme());
    const text = JSON.stringify(files.flatMap(({ objects }) => objects));
    assert.doesNotMatch(text, /openshift-cloud-controller-manager/);
    assert.doesNotMatch(text, /cluster-cloud-(?:controller-manager|config-sync)-leader/);
    objectNamed(
      files.flatMap(({ objects }) => objects),
      'ClusterOperator/acme-cloud-controller-manager',
    );
    for (const { name } of files) assert.match(name, /^0000_(?:26|90)_acme-cloud-controller-manager-operator_/);
  });

  for (const mode of ['replace', 'sidecar'] as const) {
    it(`operator/CCM-M01, operator/CCM-M02, operator/CCM-M03: is without a finding for a definition in mode ${mode}`, () => {
      const { names } = installationOf(acme(), wish(mode));
      const namespaces = [names.operatorNamespace, names.managedNamespace];
      assert.deepEqual(installationFindings(filesFor(acme(), mode), namespaces), []);
    });
  }

  it('operator/R92: lets the operator hold nothing for a definition, whose Deployment grants nothing', () => {
    assert.deepEqual(installationOf(acme(), wish()).held, []);
    const operands = acme()
      .registry.providers()
      .at(-1)
      ?.getResources(specimenOf(externalProvider(acmeDefinition(), WHERE)));
    assert.ok(!operands?.some(({ kind }) => kind.endsWith('Role')));
  });
});

describe('operator/R96: case 22: a definition beside the nine', () => {
  const before = builtInRegistry();
  const { registry: after, id } = acme();
  const provider = after.providers().at(-1) ?? assert.fail('not registered');

  it('adds its key to images.json, and nothing else', () => {
    assert.deepEqual(after.imageKeys(), [...before.imageKeys(), 'cloudControllerManagerAcme']);
    const { cloudControllerManagerAcme: image, ...others } = after.imagesJson();
    assert.match(image ?? '', /\/acme-cloud-controller-manager$/);
    assert.deepEqual(others, before.imagesJson());
  });

  it('adds its tag to image-references, which fit the keys', () => {
    const tags = after.imageReferences().spec.tags;
    assert.deepEqual(tags.slice(0, -1), before.imageReferences().spec.tags);
    assert.equal(tags.at(-1)?.name, 'acme-cloud-controller-manager');
    assert.deepEqual(referenceFindings(after), []);
  });

  it('adds its request for credentials', () => {
    const requests = after.credentialsRequests('managed');
    assert.deepEqual(requests.slice(0, -1), before.credentialsRequests('managed'));
    assert.equal(requests.at(-1)?.spec.secretRef.name, 'cloud-credentials');
  });

  it('asks for the same roles, since it grants nothing, and for those of its own names beside the payload', () => {
    assert.deepEqual(after.operatorRules(), before.operatorRules());
    const needs = cloudOperator.needs(after, [`--provider=${id}`]);
    const namespaces = new Set(needs.flatMap(({ namespace }) => namespace ?? []));
    assert.ok(namespaces.has('openshift-acme-cloud-controller-manager'));
  });

  it('is synced on platform External', () => {
    assert.deepEqual(after.syncedPlatforms(), [...before.syncedPlatforms(), 'External']);
    assert.equal(before.cloudConfigOf(external), undefined);
    assert.deepEqual(after.cloudConfigOf(external, { provider: id })?.sources, ['user']);
  });

  it('is what such a cluster runs, and linted as the nine are', () => {
    assert.equal(before.resolve(external), undefined);
    assert.equal(after.resolve(external)?.definition.id, id);
    assert.deepEqual(providerReport(provider).findings, []);
  });

  it('has a row in the table of the documentation', () => {
    const table = after.platformTable();
    assert.deepEqual(table.slice(0, -1), before.platformTable());
    assert.partialDeepStrictEqual(table.at(-1), {
      id: 'acme',
      platform: 'External',
      images: ['cloudControllerManagerAcme'],
      isConfigSynced: true,
      secrets: ['cloud-credentials'],
    });
  });

  it('changes nothing in what installs the operator for the nine but those keys and that request', () => {
    const titles = (chosen: ChosenProvider) => filesFor(chosen).flatMap(({ objects }) => objects.map(titleOf));
    const known = new Set(titles({ registry: before }));
    const added = titles({ registry: after }).filter((title) => !known.has(title));
    assert.deepEqual(added, [
      'CredentialsRequest/openshift-acme-cloud-controller-manager in openshift-cloud-credential-operator',
    ]);
  });
});
