import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ControlPlaneTopology, Infrastructure, Proxy } from '../../api/openshift/config-v1.ts';
import { composeContext, type OperatorConfig } from './compose.ts';
import { featureGates } from './feature-gates.ts';

const apiVersion = 'config.openshift.io/v1';
const metadata = { name: 'cluster' };
const infrastructure = (rest: Pick<Infrastructure, 'spec' | 'status'>): Infrastructure => ({
  apiVersion,
  kind: 'Infrastructure',
  metadata,
  ...rest,
});
const AWS = infrastructure({ status: { platformStatus: { type: 'AWS' } } });

const config = (rest: Partial<OperatorConfig> = {}): OperatorConfig => ({
  infra: AWS,
  proxy: undefined,
  images: new Map([['cloudControllerManagerAWS', 'registry.example/aws:1']]),
  gates: featureGates(['CloudControllerManagerWebhook', 'Other']),
  tls: { minVersion: 'VersionTLS12', cipherSuites: 'TLS_AES_128_GCM_SHA256' },
  managedNamespace: 'here',
  ...rest,
});

describe('composeContext', () => {
  it('holds all that decides what is rendered', () => {
    const given = config();
    assert.deepEqual(composeContext(given), {
      infra: AWS,
      platformType: 'AWS',
      platformName: 'Unknown',
      managedNamespace: 'here',
      singleReplica: false,
      images: given.images,
      gates: given.gates,
      ccmFeatureGates: 'CloudControllerManagerWebhook=true',
      tls: given.tls,
    });
  });

  const unknown = [
    { name: 'there is no Infrastructure', infra: undefined },
    { name: 'there is no status', infra: infrastructure({ spec: {} }) },
    { name: 'there is no platform status', infra: infrastructure({ status: {} }) },
    // From JSON anything can come.
    {
      name: 'the platform status is null',
      infra: infrastructure({ status: JSON.parse('{"platformStatus":null}') }),
    },
  ];
  for (const { name, infra } of unknown) {
    it(`operator/R11: ends for good while ${name}`, () => {
      assert.throws(() => composeContext(config({ infra })), {
        disposition: 'terminal',
        reason: 'PlatformUnknown',
        message: 'platform status is not populated on infrastructure',
      });
    });
  }

  const typeless = [
    { name: 'empty', platformStatus: { type: '' } },
    { name: 'not there', platformStatus: {} },
  ] as const;
  for (const { name, platformStatus } of typeless) {
    it(`operator/R11: ends for good while the type of the platform is ${name}`, () => {
      assert.throws(() => composeContext(config({ infra: infrastructure({ status: { platformStatus } }) })), {
        disposition: 'terminal',
        reason: 'PlatformUnknown',
        message: 'no platform provider found on infrastructure',
      });
    });
  }

  const topologies: readonly (readonly [ControlPlaneTopology | undefined, boolean])[] = [
    ['SingleReplica', true],
    ['HighlyAvailable', false],
    ['HighlyAvailableArbiter', false],
    ['DualReplica', false],
    ['External', false],
    [undefined, false],
  ];
  for (const [controlPlaneTopology, want] of topologies) {
    it(`operator/R12: takes ${controlPlaneTopology ?? 'no topology'} for ${want ? 'one replica' : 'several'}`, () => {
      const infra = infrastructure({
        status: {
          platformStatus: { type: 'AWS' },
          // Only the control plane counts.
          infrastructureTopology: 'SingleReplica',
          ...(controlPlaneTopology !== undefined && { controlPlaneTopology }),
        },
      });
      assert.equal(composeContext(config({ infra })).singleReplica, want);
    });
  }

  it('takes the name of an External platform from the spec', () => {
    const status = { platformStatus: { type: 'External' } } as const;
    const infra = infrastructure({ spec: { platformSpec: { external: { platformName: 'acme' } } }, status });
    const { platformType, platformName } = composeContext(config({ infra }));
    assert.deepEqual([platformType, platformName], ['External', 'acme']);
    assert.equal(composeContext(config({ infra: infrastructure({ status }) })).platformName, 'Unknown');
  });

  it('operator/R16: has the proxy of a cluster that has one, and no such field otherwise', () => {
    const proxy: Proxy = { apiVersion, kind: 'Proxy', metadata, status: { httpProxy: 'http://p:1' } };
    assert.equal(composeContext(config({ proxy })).proxy, proxy);
    assert.equal(Object.hasOwn(composeContext(config()), 'proxy'), false);
  });

  it('operator/R13: may have no gates for the cloud controller manager', () => {
    assert.equal(composeContext(config({ gates: featureGates([]) })).ccmFeatureGates, '');
  });
});
