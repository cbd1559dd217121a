import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controlPlane } from '../../../test/support/agent-control-plane-world.ts';
import type { ControlPlaneConfig } from '../../api/agent/controlplane-v1alpha3.ts';
import type { Cluster } from '../../api/cluster-api/core-v1beta2.ts';
import { platformFields } from './platform.ts';

const cluster: Cluster = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: { name: 'ocp', uid: 'u' },
};
const prefix = 'controlplane.cluster.x-k8s.io';
const given = (annotations: Record<string, string>, config: Partial<ControlPlaneConfig> = {}) =>
  controlPlane(cluster, { metadata: { annotations }, spec: { config: { baseDomain: 'd', ...config } } });
const vips = { apiVIPs: ['192.0.2.1'], ingressVIPs: ['192.0.2.2'] };

describe('the platform of an installation', () => {
  for (const { name, object, want } of [
    { name: 'is None when nothing is said', object: given({}), want: { platformType: 'None' } },
    {
      name: 'is None with one list of VIPs',
      object: given({}, { apiVIPs: ['192.0.2.1'] }),
      want: { platformType: 'None' },
    },
    { name: 'is BareMetal with both', object: given({}, vips), want: { platformType: 'BareMetal', ...vips } },
    {
      name: 'is External by annotation',
      object: given({ [`${prefix}/platform`]: 'External' }),
      want: { platformType: 'External', external: {} },
    },
    {
      name: 'has a name and a cloud controller manager',
      object: given({
        [`${prefix}/platform`]: 'External',
        [`${prefix}/platform-name`]: 'acme',
        [`${prefix}/cloud-controller-manager`]: 'External',
      }),
      want: { platformType: 'External', external: { platformName: 'acme', cloudControllerManager: 'External' } },
    },
  ])
    it(`agent/D6: ${name}`, () => assert.deepEqual(platformFields(object), want));

  for (const { name, object, message } of [
    {
      name: 'another platform',
      object: given({ [`${prefix}/platform`]: 'AWS' }),
      message: `annotation ${prefix}/platform is "AWS"; allowed is External`,
    },
    {
      name: 'another cloud controller manager',
      object: given({ [`${prefix}/platform`]: 'External', [`${prefix}/cloud-controller-manager`]: 'Internal' }),
      message: `annotation ${prefix}/cloud-controller-manager is "Internal"; allowed is External or nothing`,
    },
    {
      name: 'a name without a platform',
      object: given({ [`${prefix}/platform-name`]: 'acme' }),
      message: `annotation ${prefix}/platform-name is "acme" and annotation ${prefix}/platform is not set; set it to External, or remove this one`,
    },
    {
      name: 'VIPs on an external platform',
      object: given({ [`${prefix}/platform`]: 'External' }, vips),
      message: `annotation ${prefix}/platform is "External" and spec.config has apiVIPs or ingressVIPs; remove the VIPs and give the cluster a load balancer, or remove the annotation`,
    },
  ])
    it(`agent/D6: refuses ${name}, naming it and what is allowed`, () =>
      assert.throws(() => platformFields(object), { reason: 'InvalidPlatform', disposition: 'user', message }));
});
