import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { controlPlane } from '../../../test/support/agent-control-plane-world.ts';
import type { Capabilities } from '../../api/agent/controlplane-v1alpha3.ts';
import type { Cluster } from '../../api/cluster-api/core-v1beta2.ts';
import { installConfigOverride } from './install-config.ts';

const cluster: Cluster = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: { name: 'ocp', uid: 'u' },
};
const ANNOTATION = 'controlplane.cluster.x-k8s.io/install-config-override';

function override(isBareMetal: boolean, capabilities?: Capabilities, given?: string): string | undefined {
  const object = controlPlane(cluster, {
    metadata: given === undefined ? {} : { annotations: { [ANNOTATION]: given } },
    spec: { config: { baseDomain: 'd', ...(capabilities !== undefined && { capabilities }) } },
  });
  return installConfigOverride(object, isBareMetal);
}

const BARE_METAL = [
  'baremetal',
  'Console',
  'Insights',
  'OperatorLifecycleManager',
  'Ingress',
  'marketplace',
  'NodeTuning',
  'DeploymentConfig',
];
const json = (baselineCapabilitySet: string, additional: readonly string[], more: object = {}): string =>
  JSON.stringify({
    ...more,
    capabilities: {
      baselineCapabilitySet,
      ...(additional.length > 0 && { additionalEnabledCapabilities: additional }),
    },
  });

describe('what is merged into the install-config', () => {
  for (const { name, given, want } of [
    { name: 'agent/D8: nothing when nothing is said', given: override(false), want: undefined },
    {
      name: 'agent/D8: what users wrote, to the letter',
      given: override(false, undefined, '{"a": 1}'),
      want: '{"a": 1}',
    },
    {
      name: 'agent/D8: also when it is no JSON and nothing is merged',
      given: override(false, undefined, 'x'),
      want: 'x',
    },
    {
      name: 'agent/D8: both, and capabilities win',
      given: override(false, { baselineCapability: 'None' }, '{"a":1,"capabilities":{"x":1}}'),
      want: '{"a":1,"capabilities":{"baselineCapabilitySet":"None"}}',
    },
    {
      name: 'agent/D9: bare metal has capabilities of its own',
      given: override(true),
      want: json('None', BARE_METAL),
    },
    {
      name: 'agent/D9: users add to them, once each',
      given: override(true, { additionalEnabledCapabilities: ['Build', 'Ingress'] }),
      want: json('None', [...BARE_METAL, 'Build']),
    },
    {
      name: 'agent/D9: bare metal has no machine API, however it is spelled',
      given: override(true, { additionalEnabledCapabilities: ['machineapi'] }),
      want: json('None', BARE_METAL),
    },
    {
      name: 'agent/D9: elsewhere it may',
      given: override(false, { additionalEnabledCapabilities: ['MachineAPI'] }),
      want: json('vCurrent', ['MachineAPI']),
    },
    {
      name: 'agent/D9: a given baseline is kept',
      given: override(true, { baselineCapability: 'v4.18' }),
      want: json('v4.18', BARE_METAL),
    },
    {
      name: 'agent/D9: elsewhere nothing is added',
      given: override(false, { baselineCapability: 'vCurrent' }),
      want: json('vCurrent', []),
    },
  ])
    it(name, () => assert.equal(given, want));

  for (const baselineCapability of ['v4', 'xv4.1', 'v4.1x', 'none', 'v5.1'])
    it(`agent/X27: refuses the baseline ${baselineCapability}`, () =>
      assert.throws(() => override(false, { baselineCapability }), {
        reason: 'InvalidCapabilities',
        message: `invalid baseline capability set, must be one of: None, vCurrent, or v4.x. Got: [${baselineCapability}]`,
      }));

  for (const text of ['{', '[1]', 'null', '"a"'])
    it(`agent/D8: refuses ${text} where it is to be merged`, () =>
      assert.throws(() => override(true, undefined, text), { reason: 'InvalidInstallConfigOverride' }));
});
