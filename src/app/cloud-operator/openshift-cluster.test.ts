import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { acmeDefinition } from '../../../test/support/acme-definition.ts';
import { ConfigMap, Namespace } from '../../api/generated/core-v1.ts';
import {
  ClusterOperator,
  ClusterVersion,
  FeatureGate,
  Infrastructure,
  SINGLETON,
} from '../../api/openshift/config-v1.ts';
import { builtInRegistry, defineCloudProvider, installationFiles } from '../../cloud-operator/index.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { type OpenShiftFacts, startLab } from '../../lab/index.ts';
import { printYaml } from '../../object/yaml.ts';
import { externalProvider } from './external-provider.ts';
import { installationOf } from './installation.ts';
import { becomeOpenShift } from './openshift-cluster.ts';

const AWS: OpenShiftFacts = {
  infrastructureName: 'east',
  platformStatus: { type: 'AWS' },
  version: '4.22.0',
  enabledGates: ['A'],
};
const EXTERNAL: OpenShiftFacts = {
  infrastructureName: 'east',
  platformSpec: { type: 'External', external: { platformName: 'acme' } },
  platformStatus: { type: 'External', external: { cloudControllerManager: { state: 'External' } } },
  topology: 'SingleReplica',
  cloudConfig: 'zone = a\n',
  version: '4.23.0',
};

describe('a cluster of a lab that passes for OpenShift', () => {
  it('says what it runs on, and can say it again, with other facts', async () => {
    await using lab = await startLab({ nodes: 0, cloud: false });
    const cluster = lab.cluster();
    const { client } = cluster;
    const said = () => factsSaid(client);
    const onAws = {
      type: 'AWS',
      topology: ['HighlyAvailable', 'HighlyAvailable'],
      config: undefined,
      gates: [['4.22.0', ['A']]],
      version: '4.22.0',
    };
    for (let time = 1; time <= 2; time++) {
      await becomeOpenShift(cluster, AWS);
      assert.deepEqual(await said(), onAws);
    }
    await client.get(Namespace, { name: 'openshift-config-managed' });
    await becomeOpenShift(cluster, EXTERNAL);
    assert.deepEqual(await said(), {
      type: 'External',
      topology: ['SingleReplica', 'SingleReplica'],
      config: 'cloud-provider-config',
      gates: [['4.23.0', []]],
      version: '4.23.0',
    });
    const config = { name: 'cloud-provider-config', namespace: 'openshift-config' };
    assert.equal((await client.get(ConfigMap, config)).data?.['cloud.conf'], 'zone = a\n');
    await becomeOpenShift(cluster, AWS);
    assert.deepEqual(await said(), onAws);
  });

  it('takes everything that installs the operator, but for what needs monitoring', async () => {
    await using lab = await startLab({ nodes: 0, cloud: false });
    const cluster = lab.cluster();
    await becomeOpenShift(cluster, EXTERNAL);
    const definition = acmeDefinition();
    const where = { image: 'example.com/acme:1' };
    const registry = builtInRegistry();
    registry.register(defineCloudProvider(externalProvider(definition, where)));
    const wish = { ...where, providerFile: '/provider/provider.ts' };
    for (const chosen of [{ registry, id: 'acme', external: { definition, where } }, { registry }]) {
      const files = installationFiles(installationOf(chosen, wish));
      const objects = files.flatMap((file) => (file.needsMonitoring === true ? [] : file.objects));
      await cluster.apply(objects.map((object) => `---\n${printYaml(object)}`).join(''));
    }
    const { items } = await cluster.client.list(ClusterOperator);
    // What they say comes from the operators.
    assert.deepEqual(
      items.map(({ metadata, status }) => [metadata.name, status?.versions]),
      [
        ['acme-cloud-controller-manager', undefined],
        ['cloud-controller-manager', undefined],
      ],
    );
  });
});

/** What operators find out. */
async function factsSaid(client: KubeClient) {
  const { spec = {}, status = {} } = await client.get(Infrastructure, SINGLETON);
  const { status: release } = await client.get(ClusterVersion, { name: 'version' });
  return {
    type: status.platformStatus?.type,
    topology: [status.controlPlaneTopology, status.infrastructureTopology],
    config: spec.cloudConfig?.name,
    gates: await gatesSaid(client),
    version: release?.desired?.version,
  };
}

async function gatesSaid(client: KubeClient) {
  const { status } = await client.get(FeatureGate, SINGLETON);
  return status?.featureGates?.map(({ version, enabled = [] }) => [version, enabled.map(({ name }) => name)]);
}
