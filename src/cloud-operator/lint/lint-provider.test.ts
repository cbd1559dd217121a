import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ACME_MANIFESTS } from '../../../test/support/acme-manifests.ts';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import type { KubeObject } from '../../api/object.ts';
import type { CloudProvider, CloudProviderDefinition } from '../definition.ts';
import { PLATFORMS } from '../platforms/index.ts';
import { defineCloudProvider } from '../render/cloud-provider.ts';
import { specimenContext } from '../render/specimen.ts';
import { lintCloudProvider } from './lint-provider.ts';

const folderOf = (name: string) => pathToFileURL(join(ACME_MANIFESTS, name));

const acme = (changes: Partial<CloudProviderDefinition> = {}): CloudProviderDefinition => ({
  id: 'acme',
  match: { type: 'External', platformName: 'acme' },
  images: {
    manager: {
      container: 'cloud-controller-manager',
      field: 'CloudControllerManager',
      payloadTag: 'acme-manager',
    },
    nodes: { field: 'CloudNodeManager', payloadTag: 'acme-nodes' },
  },
  assets: { folder: folderOf('assets'), files: ['deployment.yaml', 'node-manager.yaml', 'role.yaml'] },
  bootstrapAssets: { folder: folderOf('bootstrap'), files: ['pod.yaml'] },
  cloudConfig: { sources: ['user'] },
  credentials: [{ name: 'acme', secretName: 'acme-credentials', providerSpec: {} }],
  ...changes,
});

const lines = (definition: CloudProviderDefinition, context = specimenContext(definition)): readonly string[] =>
  lintCloudProvider(defineCloudProvider(definition), context).findings.map(
    ({ severity, rule, file, message }) => `${severity} ${rule} ${file} | ${message}`,
  );

const EXTRA: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'extra', namespace: 'openshift-cloud-controller-manager' },
};

describe('lintCloudProvider', () => {
  for (const definition of PLATFORMS) {
    it(`operator/R98: finds nothing in ${definition.id} that is not waived, and no waiver too many`, () => {
      const report = lintCloudProvider(defineCloudProvider(definition), specimenContext(definition));
      assert.deepEqual([report.findings, report.unusedWaivers], [[], []]);
    });
  }

  it('operator/R98: looks at the platforms at all', () => {
    const waived = PLATFORMS.flatMap(
      (definition) => lintCloudProvider(defineCloudProvider(definition), specimenContext(definition)).waived,
    );
    const rules = new Set(waived.map(({ rule }) => rule));
    assert.deepEqual(
      [...rules].toSorted(),
      ['W03', 'W10', 'W13', 'W20', 'W33'].map((id) => `CCM-${id}`),
    );
  });

  it('operator/CCM-I01: finds nothing in a definition that is right', () => {
    assert.deepEqual(lines(acme()), []);
  });

  it('operator/CCM-I01: finds a key that images.json has not, and checks all the rest', () => {
    const context = { ...specimenContext(acme()), images: new Map([['manager', 'payload.invalid/acme']]) };
    assert.deepEqual(lines(acme(), context), ['error CCM-I01 definition | images.json has no key nodes']);
  });

  it('operator/CCM-I01: does not miss an image that is optional', () => {
    const { images } = acme();
    const extra = { field: 'Extra', payloadTag: 'extra', optional: true };
    const context = specimenContext(acme());
    assert.deepEqual(lines(acme({ images: { ...images, extra } }), context), []);
  });

  it('operator/CCM-I02: finds a payload tag of two keys, once', () => {
    const { images } = acme();
    const second = { field: 'Second', payloadTag: 'acme-nodes' };
    assert.deepEqual(lines(acme({ images: { ...images, second } })), [
      'error CCM-I02 definition | payload tag acme-nodes is that of more than one image key',
    ]);
  });

  it('operator/CCM-I03: warns of a tag of the payload that is not published', () => {
    const images = {
      manager: { ...acme().images['manager'], payloadTag: 'acme-manager', isPublished: true },
      nodes: { field: 'CloudNodeManager', payloadTag: 'acme-nodes' },
    };
    const definition = acme({ match: { type: 'AWS' }, images });
    assert.deepEqual(lines(definition), [
      'warning CCM-I03 definition | payload tag acme-nodes is not marked published',
    ]);
  });

  it('operator/CCM-T06: finds manifests that are not listed, in folders below, too, and nothing else', async () => {
    await using folder = await scratchDirectory();
    await mkdir(join(folder.path, 'more'));
    const text = JSON.stringify(EXTRA);
    for (const name of ['a.yaml', 'b.yml', 'more/c.yaml', 'more/d.yaml', 'README.md']) {
      await writeFile(join(folder.path, name), text);
    }
    const assets = { folder: pathToFileURL(folder.path), files: ['a.yaml', 'more/c.yaml'] };
    assert.deepEqual(lines(acme({ assets })).toSorted(), [
      'error CCM-T06 assets/b.yml | assets/b.yml: is in the folder and not in the list',
      'error CCM-T06 assets/more/d.yaml | assets/more/d.yaml: is in the folder and not in the list',
    ]);
  });

  it('operator/CCM-T06: finds a provider that renders something else each time', () => {
    const objects = [EXTRA, { ...EXTRA, metadata: { ...EXTRA.metadata, name: 'more' } }];
    const provider: CloudProvider = {
      definition: acme({ assets: { objects: [] }, bootstrapAssets: { objects: [] } }),
      getResources: () => structuredClone(objects.splice(1)),
      getBootstrapResources: () => [],
    };
    const { findings } = lintCloudProvider(provider, specimenContext(provider.definition));
    assert.deepEqual(
      findings.map(({ rule, message }) => [rule, message]),
      [['CCM-T06', 'getResources: renders something else at the second call']],
    );
  });

  for (const [what, copy] of [
    ['the same objects', (object: KubeObject) => object],
    ['copies that share their insides', (object: KubeObject) => ({ ...object })],
  ] as const) {
    it(`operator/CCM-P01: finds a provider that returns ${what}`, () => {
      const provider: CloudProvider = {
        definition: acme({ assets: { objects: [] }, bootstrapAssets: { objects: [] } }),
        getResources: () => [],
        getBootstrapResources: () => [copy(EXTRA)],
      };
      const { findings } = lintCloudProvider(provider, specimenContext(provider.definition));
      assert.deepEqual(
        findings.map(({ rule, message }) => [rule, message]),
        [['CCM-P01', 'getBootstrapResources: returns shared references']],
      );
    });
  }

  it('operator/CCM-T05: looks at objects of a definition as at files', () => {
    const object = { ...EXTRA, apiVersion: 'core/v1', metadata: { ...EXTRA.metadata, namespace: 'default' } };
    assert.deepEqual(lines(acme({ assets: { objects: [object] } })), [
      'warning CCM-T05 assets/objects[0] | ConfigMap/extra: apiVersion: core/v1 is out of use; ConfigMap is sent as v1',
      'error CCM-W31 assets/objects[0] | ConfigMap/extra: namespace must be openshift-cloud-controller-manager (found default)',
    ]);
  });

  it('operator/CCM-W31: tells what is waived, and which waivers nothing needs', () => {
    const object = { ...EXTRA, metadata: { ...EXTRA.metadata, namespace: 'default' } };
    const ignore = ['extra', 'gone'].map((name) => ({
      rule: 'CCM-W31',
      object: `ConfigMap/${name}`,
      reason: 'why',
    }));
    const definition = acme({
      assets: { objects: [object] },
      lint: { ignore: [...ignore, { rule: 'CCM-W13', reason: 'why' }] },
    });
    const report = lintCloudProvider(defineCloudProvider(definition), specimenContext(definition));
    assert.deepEqual(report.findings, []);
    assert.deepEqual(
      report.waived.map(({ rule, object: name }) => [rule, name]),
      [['CCM-W31', 'ConfigMap/extra']],
    );
    assert.deepEqual(report.unusedWaivers, ['CCM-W31 on ConfigMap/gone', 'CCM-W13']);
  });
});
