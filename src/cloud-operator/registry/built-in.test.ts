import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlatformStatus, PlatformType } from '../../api/openshift/config-v1.ts';
import { builtInRegistry } from './built-in.ts';

const WAITING: readonly PlatformType[] = [
  'AWS',
  'Azure',
  'GCP',
  'IBMCloud',
  'Nutanix',
  'OpenStack',
  'PowerVS',
  'VSphere',
];
const BRING_THEIR_OWN: readonly PlatformType[] = ['AlibabaCloud', 'KubeVirt'];
const OTHERS: readonly PlatformType[] = ['None', 'BareMetal', 'Libvirt', 'oVirt', 'EquinixMetal', ''];

describe('the platforms that are shipped', () => {
  const registry = builtInRegistry();
  const isExternal = (status: PlatformStatus): boolean => registry.isCloudProviderExternal(status);

  it('operator/case 19: are those whose kubelets wait for a cloud controller manager, and no others', () => {
    assert.deepEqual(
      [...WAITING, ...BRING_THEIR_OWN].filter((type) => !isExternal({ type })),
      [],
    );
    assert.deepEqual(
      OTHERS.filter((type) => isExternal({ type })),
      [],
    );
    assert.ok(isExternal({ type: 'External', external: { cloudControllerManager: { state: 'External' } } }));
    assert.ok(!isExternal({ type: 'External', external: { cloudControllerManager: { state: 'None' } } }));
    assert.throws(() => registry.isCloudProviderExternal(undefined), { message: 'platformStatus is required' });
  });

  it('operator/R63: sync the cloud config of all that have a cloud controller manager', () => {
    assert.deepEqual(registry.syncedPlatforms().toSorted(), WAITING);
  });

  it('operator/R10: know the keys of images.json', () => {
    assert.deepEqual(registry.imageKeys().toSorted(), [
      'cloudControllerManagerAWS',
      'cloudControllerManagerAzure',
      'cloudControllerManagerGCP',
      'cloudControllerManagerIBM',
      'cloudControllerManagerNutanix',
      'cloudControllerManagerOpenStack',
      'cloudControllerManagerOperator',
      'cloudControllerManagerPowerVS',
      'cloudControllerManagerVSphere',
      'cloudNodeManagerAzure',
    ]);
  });

  it('operator/R98: have as many objects as the table of section 4.2 says', () => {
    const counts = registry.platformTable().map(({ id, objects }) => [id, objects.length]);
    assert.deepEqual(Object.fromEntries(counts), {
      aws: 5,
      azure: 12,
      azurestack: 6,
      gcp: 7,
      ibm: 3,
      powervs: 3,
      openstack: 3,
      vsphere: 9,
      nutanix: 7,
      alibabacloud: 0,
      kubevirt: 0,
    });
  });

  it('operator/R92: grant what the operator must hold, each in the namespaces where it is granted', () => {
    assert.deepEqual(
      registry.operatorRules().map(({ namespace, rules }) => [namespace, rules.length > 0]),
      [
        [undefined, true],
        ['kube-system', true],
        ['openshift-cloud-controller-manager', true],
      ],
    );
  });
});
