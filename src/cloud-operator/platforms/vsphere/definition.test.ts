import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { platformContext } from '../../../../test/support/platform-contexts.ts';
import type { Deployment } from '../../../api/generated/apps-v1.ts';
import { featureGates } from '../../config/feature-gates.ts';
import { defineCloudProvider } from '../../render/cloud-provider.ts';
import { PLATFORMS } from '../index.ts';
import { VSPHERE } from './definition.ts';

const DAY_2 = featureGates(['VSphereMultiVCenterDay2']);

function containerWith(enabled: readonly string[], disabled: readonly string[] = []) {
  const context = platformContext({ type: 'VSphere' }, { gates: featureGates(enabled, disabled) });
  const [deployment] = defineCloudProvider(VSPHERE).getResources(context);
  const [container] = (deployment as Deployment).spec?.template.spec?.containers ?? [];
  assert.ok(container?.command !== undefined && container.env !== undefined);
  return {
    command: container.command.join(' '),
    labels: container.env.find(({ name }) => name === 'ADDITIONAL_NODE_LABELS'),
  };
}

describe('vSphere', () => {
  it('operator/R22: labels its nodes where machines of other kinds may join', () => {
    const { command, labels } = containerWith(['VSphereMixedNodeEnv']);
    assert.match(command, /^ {2}--node-labels="\$\(ADDITIONAL_NODE_LABELS\)" \\$/m);
    assert.equal(labels?.value, 'node.openshift.io/platform-type=vsphere');
  });

  for (const { name, disabled } of [
    { name: 'that is off', disabled: ['VSphereMixedNodeEnv'] },
    { name: 'that the cluster does not know', disabled: [] },
  ]) {
    it(`operator/R22: adds no label for a gate ${name}, and names the variable all the same`, () => {
      const { command, labels } = containerWith([], disabled);
      assert.doesNotMatch(command, /--node-labels/);
      assert.deepEqual(labels, { name: 'ADDITIONAL_NODE_LABELS' });
    });
  }

  it('operator/R67: can start without a configuration and publishes it where vCenters may change later', () => {
    assert.equal(VSPHERE.cloudConfig?.minimal?.(DAY_2), 'global: {}\nvcenter: {}\n');
    assert.equal(VSPHERE.cloudConfig?.publishManaged?.(DAY_2), true);
  });

  it('operator/R67: leaves both to others everywhere else', () => {
    const gates = featureGates(['VSphereMixedNodeEnv'], ['VSphereMultiVCenterDay2']);
    assert.equal(VSPHERE.cloudConfig?.minimal?.(gates), undefined);
    assert.equal(VSPHERE.cloudConfig?.publishManaged?.(gates), false);
  });

  it('operator/R67: is the only platform that does so', () => {
    const others = PLATFORMS.filter(({ id }) => id !== 'vsphere').map(({ cloudConfig }) => cloudConfig);
    assert.deepEqual(
      others.filter((policy) => policy?.minimal !== undefined || policy?.publishManaged !== undefined),
      [],
    );
  });

  it('operator/R73: with AWS, Azure and OpenStack, it changes what the user wrote; the others take it as it is', () => {
    const changing = PLATFORMS.filter(({ cloudConfig }) => cloudConfig?.transform !== undefined);
    assert.deepEqual(
      changing.map(({ id }) => id),
      ['aws', 'azure', 'azurestack', 'openstack', 'vsphere'],
    );
  });
});
