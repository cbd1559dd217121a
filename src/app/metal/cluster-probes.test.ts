import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { phaseContext } from '../../../test/support/phase-context.ts';
import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { agentDefinitions } from '../../api/agent/definitions.schema.ts';
import { Agent } from '../../api/assisted/agent-install-v1beta1.ts';
import { assistedDefinitions } from '../../api/assisted/definitions.schema.ts';
import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import { Namespace } from '../../api/generated/core-v1.ts';
import type { JsonObject } from '../../api/json.ts';
import { metal3Definitions } from '../../api/metal3/definitions.schema.ts';
import { BareMetalHost } from '../../api/metal3/metal3-v1alpha1.ts';
import type { Kind, KubeObject } from '../../api/object.ts';
import type { ApiServer } from '../../apiserver/options.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { until } from '../../kube/apply/until.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { isTrue } from '../../object/conditions.ts';
import { HUB } from '../apiserver/hub-handover.ts';
import { hubAdmin } from './agent-providers.ts';
import { clusterProbes } from './cluster-probes.ts';
import { JOURNEY_CLUSTER } from './journey-cluster.ts';

const { namespace } = JOURNEY_CLUSTER;
const AT = '2030-01-01T00:00:00Z';

/** The tests stand in for everything: each makes one more thing true, in the order of the probes. */
describe('the probes of the cluster on bare metal', () => {
  const { context } = phaseContext('/nowhere');
  let server: ApiServer;
  let client: KubeClient;
  before(async () => {
    server = await startApiServer({ listen: false });
    HUB.put(context, { server, webhooks: new Map(), kubeconfigFile: '/nowhere/.slipway/kubeconfig' });
    client = hubAdmin(HUB.get(context), context.clock);
    const definitions: readonly KubeObject[] = [
      ...agentDefinitions(),
      ...assistedDefinitions(),
      ...metal3Definitions(),
    ];
    for (const definition of definitions) {
      // What a definition says of its versions is checked by the server.
      await client.apply(CustomResourceDefinition, definition as never);
      await until(
        { client, kind: CustomResourceDefinition, key: definition.metadata },
        (crd) => isTrue(crd, 'Established'),
        { clock: context.clock, timeoutMs: 30_000 },
      );
    }
    await client.create(Namespace, { metadata: { name: namespace } });
  });
  after(() => server.stop());

  /** The first that is false, as the journey asks them. */
  const cause = async () => {
    for (const probe of clusterProbes) {
      const answer = await probe.ask(context);
      if (!answer.isTrue)
        return { predicate: probe.predicate, evidence: answer.evidence, next: answer.next ?? [] };
    }
    return undefined;
  };
  const say = async (kind: Kind, name: string, status: JsonObject): Promise<void> => {
    await client.patch(kind, { namespace, name }, { type: 'merge', body: { status } }, { subresource: 'status' });
  };

  it('experience/X31: repeat what is wrong with the control plane, not what it waits for', async () => {
    const pullSecretRef = { name: 'pull-secret' };
    await client.apply(OpenshiftAssistedControlPlane, {
      metadata: JOURNEY_CLUSTER,
      spec: {
        distributionVersion: '4.20.4',
        replicas: 3,
        config: { baseDomain: 'lab.test', pullSecretRef },
        machineTemplate: {
          infrastructureRef: {
            apiGroup: 'infrastructure.cluster.x-k8s.io',
            kind: 'Metal3MachineTemplate',
            name: 'cp',
          },
        },
        openshiftAssistedConfigSpec: { pullSecretRef },
      },
    });
    const condition = (reason: string, message: string) => ({
      conditions: [{ type: 'MachinesCreated', status: 'False', reason, message, lastTransitionTime: AT }],
    });
    const kind = OpenshiftAssistedControlPlane;
    await say(kind, JOURNEY_CLUSTER.name, condition('ReleaseImageNotFound', 'there is no release 4.20.4'));
    assert.deepEqual(await cause(), {
      predicate: 'the control plane is configured',
      evidence: 'MachinesCreated: there is no release 4.20.4',
      next: [
        'while the lab runs, so without --once:',
        'npx slipway describe cluster acme-lab --kubeconfig .slipway/kubeconfig',
      ],
    });
    await say(kind, JOURNEY_CLUSTER.name, condition('WaitingForMachines', '1 of 3 machines exist'));
    assert.equal(await cause(), undefined);
  });

  it('experience/X31: repeat what is wrong with a host', async () => {
    await client.create(BareMetalHost, { metadata: { namespace, name: 'w-0' }, spec: { online: false } });
    await say(BareMetalHost, 'w-0', hostStatus('no such image'));
    assert.equal((await cause())?.evidence, 'host w-0: no such image');
    await say(BareMetalHost, 'w-0', hostStatus(''));
    assert.notEqual((await cause())?.predicate, 'no host has failed');
  });

  it('experience/X31: say that hosts have not registered, and which one is not approved', async () => {
    assert.equal((await cause())?.evidence, '1 of 1 hosts have not registered with assisted-service');
    const agent = { namespace, name: 'a' };
    await client.apply(Agent, { metadata: agent, spec: { approved: false, role: 'worker' } });
    assert.equal((await cause())?.evidence, 'Agent a (no name) is not approved');
    await client.patch(Agent, agent, { type: 'merge', body: { spec: { approved: true } } });
    assert.equal(await cause(), undefined);
  });

  it('experience/X31: repeat why the installation ended', async () => {
    await client.create(AgentClusterInstall, {
      metadata: JOURNEY_CLUSTER,
      spec: {
        clusterDeploymentRef: { name: 'acme-lab' },
        networking: {},
        provisionRequirements: { controlPlaneAgents: 3 },
      },
    });
    const debugInfo = (state: string) => ({ debugInfo: { state, stateInfo: 'the disks are too slow' } });
    for (const state of ['error', 'cancelled']) {
      await say(AgentClusterInstall, JOURNEY_CLUSTER.name, debugInfo(state));
      assert.equal((await cause())?.evidence, `the installation is ${state}: the disks are too slow`);
    }
    await say(AgentClusterInstall, JOURNEY_CLUSTER.name, debugInfo('installing'));
    assert.equal(await cause(), undefined);
  });
});

const hostStatus = (errorMessage: string): JsonObject => ({
  errorCount: 0,
  errorMessage,
  hardwareProfile: '',
  operationalStatus: 'OK',
  poweredOn: false,
  provisioning: { ID: '', state: 'available', image: { url: '' } },
});
