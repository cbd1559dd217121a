import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { acmeDefinition, plainDefinition } from '../../../test/support/acme-definition.ts';
import { objectNamed } from '../../../test/support/operator-installation.ts';
import { providerReport, specimenOf } from '../../../test/support/operator-lint.ts';
import type { Deployment } from '../../api/generated/apps-v1.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import { defineCloudProvider } from '../../cloud-operator/index.ts';
import { externalAccess, externalProvider, imageKey } from './external-provider.ts';

const WHERE = { image: 'example.com/old:1' };
const NAMESPACE = 'openshift-acme-cloud-controller-manager';

const acme = () => defineCloudProvider(externalProvider(acmeDefinition(), WHERE));

/** What the operator applies beside that of the payload. */
function operands(): readonly KubeObject[] {
  const provider = acme();
  const specimen = specimenOf(provider.definition);
  const images = new Map([['cloudControllerManagerAcme', 'example.com/acme:7']]);
  return provider.getResources({ ...specimen, managedNamespace: NAMESPACE, images });
}

const deployment = (): Deployment =>
  objectNamed(operands(), `Deployment/acme-cloud-controller-manager in ${NAMESPACE}`);

describe('a provider of ours for the cloud operator', () => {
  for (const definition of [acmeDefinition(), plainDefinition()]) {
    it(`operator/CCM-W01: lints clean for ${definition.name}, and each waiver is needed`, () => {
      const provider = defineCloudProvider(externalProvider(definition, WHERE));
      const { findings, waived, unusedWaivers } = providerReport(provider);
      assert.deepEqual(findings, []);
      assert.deepEqual(unusedWaivers, []);
      assert.deepEqual([...new Set(waived.map(({ rule }) => rule))], ['CCM-W21', 'CCM-W22', 'CCM-W26', 'CCM-W32']);
    });
  }

  it('operator/R95: comes to its Deployment, a budget and a Service', () => {
    assert.deepEqual(
      operands().map(({ kind, metadata }) => `${kind}/${metadata.name}`),
      [
        'Deployment/acme-cloud-controller-manager',
        'PodDisruptionBudget/acme-cloud-controller-manager',
        'Service/acme-cloud-controller-manager',
      ],
    );
  });

  it('operator/D1: is in the namespace of the mode, and so is its lease', () => {
    const [container] = deployment().spec.template.spec?.containers ?? [];
    assert.ok(container?.args?.includes(`--leader-elect-resource-namespace=${NAMESPACE}`));
    const roles = externalAccess(acmeDefinition(), WHERE, NAMESPACE);
    objectNamed(roles, `ServiceAccount/cloud-controller-manager in ${NAMESPACE}`);
  });

  it('operator/R25: runs the image of images.json, and is called as the cluster is', () => {
    const [container] = deployment().spec.template.spec?.containers ?? [];
    assert.equal(container?.image, 'example.com/acme:7');
    const name = container.env?.find((one) => one.name === 'OCP_INFRASTRUCTURE_NAME');
    assert.equal(name?.value, 'specimen-x7k2p');
  });

  it('operator/CCM-W27, operator/CCM-W29: reads what config sync writes', () => {
    const { volumes = [] } = deployment().spec.template.spec ?? {};
    const maps = volumes.flatMap(({ configMap }) => configMap?.name ?? []);
    assert.deepEqual(maps.toSorted(), ['ccm-trusted-ca', 'cloud-conf']);
  });

  it('has a static pod with its image, and the Secret that it reads there', () => {
    const provider = acme();
    const images = new Map([['cloudControllerManagerAcme', 'example.com/acme:7']]);
    const context = { ...specimenOf(provider.definition), images };
    const pod = objectNamed<Pod>(
      provider.getBootstrapResources(context),
      'Pod/acme-cloud-controller-manager in kube-system',
    );
    assert.equal(pod.spec.containers[0]?.image, 'example.com/acme:7');
    assert.equal(provider.definition.bootstrapSecret, 'cloud-credentials');
    assert.deepEqual(
      provider.definition.credentials?.map(({ name, secretName }) => [name, secretName]),
      [['openshift-acme-cloud-controller-manager', 'cloud-credentials']],
    );
  });

  it('asks for no credentials where the definition has none', () => {
    const { credentials, bootstrapSecret } = externalProvider(plainDefinition(), WHERE);
    assert.deepEqual([credentials, bootstrapSecret], [undefined, undefined]);
  });

  it('has a key for its image that is made of its name', () => {
    assert.equal(imageKey('acme'), 'cloudControllerManagerAcme');
    assert.equal(imageKey('acme-cloud-2'), 'cloudControllerManagerAcmeCloud2');
  });
});
