import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { assertGoldenFile } from '../../../test/support/golden-file.ts';
import type { ValidatingWebhookConfiguration } from '../../api/generated/admissionregistration-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { printYaml } from '../../object/yaml.ts';
import type { Provider } from '../provider.ts';
import { repositoryFiles } from './clusterctl.ts';
import { componentObjects, type WebhookSigner } from './component-files.ts';
import { agentNames } from './names.ts';

const PROVIDERS: readonly Provider[] = ['bootstrap', 'control-plane'];
const IMAGE = 'example.com/slipway:1';

const objectsOf = (provider: Provider, signer: WebhookSigner = 'cert-manager') =>
  componentObjects(provider, { image: IMAGE, signer });

const titleOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.name}`;

describe('what installs the Agent providers', () => {
  for (const provider of PROVIDERS) {
    it(`agent/P2, agent/P3: is the same for the same version: ${provider}`, () => {
      const objects = objectsOf(provider).filter(({ kind }) => kind !== 'CustomResourceDefinition');
      const text = objects.map((object) => printYaml(object)).join('---\n');
      assertGoldenFile(join(import.meta.dirname, 'testdata', `${provider}.golden.yaml`), text);
    });

    it(`agent/P6: has one Namespace, and the label of its provider on everything: ${provider}`, () => {
      const objects = objectsOf(provider);
      assert.equal(objects.filter(({ kind }) => kind === 'Namespace').length, 1);
      assert.equal(objects[0]?.kind, 'Namespace');
      const { label, namespace } = agentNames(provider);
      for (const object of objects) {
        assert.equal(object.metadata.labels?.['cluster.x-k8s.io/provider'], label, titleOf(object));
        assert.ok([undefined, namespace].includes(object.metadata.namespace), titleOf(object));
      }
    });

    it(`agent/P6: holds nothing that clusterctl takes for a variable: ${provider}`, () => {
      assert.doesNotMatch(
        objectsOf(provider)
          .map((object) => printYaml(object))
          .join(''),
        /\$\{/,
      );
    });
  }

  it('agent/P2: definitions come with the provider that serves their conversion', () => {
    const definitions = (provider: Provider) =>
      objectsOf(provider)
        .filter(({ kind }) => kind === 'CustomResourceDefinition')
        .map(({ metadata }) => metadata.name);
    assert.deepEqual(definitions('bootstrap'), [
      'openshiftassistedconfigs.bootstrap.cluster.x-k8s.io',
      'openshiftassistedconfigtemplates.bootstrap.cluster.x-k8s.io',
    ]);
    assert.ok(
      definitions('control-plane').includes('openshiftassistedcontrolplanes.controlplane.cluster.x-k8s.io'),
    );
  });

  it('agent/W1: webhooks have the names and paths of upstream', () => {
    const configuration = objectsOf('bootstrap').find(
      (one): one is ValidatingWebhookConfiguration => one.kind === 'ValidatingWebhookConfiguration',
    );
    const strict = configuration?.webhooks?.filter(({ failurePolicy }) => failurePolicy === 'Fail') ?? [];
    const named = strict.map(({ name, clientConfig, sideEffects, rules = [] }) => [
      name,
      clientConfig.service?.path,
      sideEffects,
      rules[0]?.operations,
    ]);
    assert.deepEqual(
      named,
      ['v1alpha1', 'v1alpha2'].map((version) => [
        `${version}.validation.openshiftassistedconfig.bootstrap.cluster.x-k8s.io`,
        `/validate-bootstrap-cluster-x-k8s-io-${version}-openshiftassistedconfig`,
        'None',
        ['CREATE', 'UPDATE', 'DELETE'],
      ]),
    );
  });

  it('agent/P2: OpenShift signs certificates when asked to, and nothing of cert-manager is left', () => {
    for (const provider of PROVIDERS) {
      const objects = objectsOf(provider, 'service-ca');
      const text = JSON.stringify(objects);
      assert.doesNotMatch(text, /cert-manager/);
      const service = objects.find(({ kind }) => kind === 'Service');
      assert.equal(
        service?.metadata.annotations?.['service.beta.openshift.io/serving-cert-secret-name'],
        agentNames(provider).secret,
      );
      const trusting = objects.filter(({ metadata }) =>
        Object.hasOwn(metadata.annotations ?? {}, 'service.beta.openshift.io/inject-cabundle'),
      );
      assert.deepEqual(
        [...new Set(trusting.map(({ kind }) => kind))],
        ['CustomResourceDefinition', 'ValidatingWebhookConfiguration'],
      );
    }
  });

  it('agent/P6: is a repository of clusterctl', () => {
    const files = repositoryFiles({ image: IMAGE, signer: 'cert-manager', version: '1.2.3' });
    assert.deepEqual(
      files.map(({ path }) => path),
      [
        'bootstrap-openshift-assisted/v1.2.3/bootstrap-components.yaml',
        'bootstrap-openshift-assisted/v1.2.3/metadata.yaml',
        'control-plane-openshift-assisted/v1.2.3/control-plane-components.yaml',
        'control-plane-openshift-assisted/v1.2.3/metadata.yaml',
      ],
    );
    const [metadata] = files[1]?.objects ?? [];
    assert.deepEqual(metadata, {
      apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
      kind: 'Metadata',
      releaseSeries: [{ major: 1, minor: 2, contract: 'v1beta2' }],
    });
  });
});
