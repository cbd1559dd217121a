import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { AssistedWorld, CLUSTER, NAMESPACE } from '../../../../test/support/assisted-world.ts';
import { type Agent, InfraEnv } from '../../../api/assisted/agent-install-v1beta1.ts';
import type { AgentClusterInstall } from '../../../api/assisted/hive-extensions-v1beta1.ts';
import { Node, Secret } from '../../../api/generated/core-v1.ts';
import { ClusterDeployment } from '../../../api/hive/hive-v1.ts';
import { ClusterVersion } from '../../../api/openshift/config-v1.ts';
import { isJsonObject, type JsonObject } from '../../../object/json.ts';
import { parseYaml } from '../../../object/yaml.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import type { WorkloadCluster } from '../workload/workload-clusters.ts';
import { conditionIn } from './assisted-conditions.ts';

const CONDITIONS = [
  'SpecSynced',
  'Validated',
  'RequirementsMet',
  'Completed',
  'Failed',
  'Stopped',
  'LastInstallationPreparationFailed',
];
const reasons = ({ status }: AgentClusterInstall) =>
  Object.fromEntries(
    CONDITIONS.map((type) => {
      const { status: value, reason } = conditionIn(status?.conditions, type) ?? {};
      return [type, `${value} ${reason}`];
    }),
  );
const KEY = { namespace: NAMESPACE, name: CLUSTER };
const HOSTS = ['m1', 'm2', 'm3', 'w1', 'w2'];

const kubeconfigOf = async (world: AssistedWorld): Promise<string | undefined> => {
  const secret = await world.env.client.live.find(Secret, {
    namespace: NAMESPACE,
    name: `${CLUSTER}-admin-kubeconfig`,
  });
  const { kubeconfig } = secret?.data ?? {};
  return kubeconfig === undefined ? undefined : Buffer.from(kubeconfig, 'base64').toString();
};

/** With all its hosts, approved. */
async function begun(definitions?: readonly JsonObject[]): Promise<AssistedWorld> {
  const world = await AssistedWorld.start(definitions === undefined ? {} : { definitions });
  await world.addCluster({ controlPlaneAgents: 3, workerAgents: 2 });
  await world.addHosts(...HOSTS);
  await world.env.advance(180_000);
  await world.approve(...HOSTS);
  return world;
}

const nameOf = ({ status }: Agent): string => status?.inventory?.hostname ?? '';

function clusterOf({ clusters }: AssistedWorld): WorkloadCluster {
  const cluster = clusters.find(KEY);
  assert.ok(cluster);
  return cluster;
}

const nodeNames = async (world: AssistedWorld): Promise<readonly string[]> =>
  (await clusterOf(world).client.live.list(Node)).items.map(({ metadata }) => metadata.name).toSorted();

/** The states of the installation, in order. */
async function timeline(world: AssistedWorld, until: string): Promise<readonly string[]> {
  const seen: string[] = [];
  const look = async () => {
    const state = await world.state();
    if (seen.at(-1) !== state) seen.push(state);
    return state === until;
  };
  for (let step = 0; step < 1000 && !(await look()); step++) await world.env.advance(5000);
  return seen;
}

const CORPUS = join(import.meta.dirname, '../../../../../shared/crds');
const skip = existsSync(CORPUS) ? false : `${CORPUS} is not there`;
const originals = (): readonly JsonObject[] =>
  globSync(['assisted-service/*.yaml', 'hive/*.yaml'], { cwd: CORPUS })
    .map((file) => parseYaml(readFileSync(join(CORPUS, file), 'utf8')))
    .filter(isJsonObject);

describe('a cluster on five hosts', () => {
  it('agent/S21: is installed under the definitions of the real service', { skip }, async () => {
    await using world = await begun(originals());
    await world.untilState('adding-hosts');
    assert.deepEqual(await nodeNames(world), HOSTS);
    const { status } = await world.agent('m1');
    // What a definition does not know is not kept.
    assert.equal(status?.inventory?.interfaces?.length, 1);
    assert.equal(status?.progress?.installationPercentage, 100);
  });

  it('agent/S18: is insufficient until hosts come, and says everything about itself', async () => {
    await using world = await AssistedWorld.start();
    await world.addCluster({ controlPlaneAgents: 3, workerAgents: 2 });
    const install = await world.install();
    assert.equal(await world.state(), 'insufficient');
    assert.deepEqual(reasons(install), {
      SpecSynced: 'True SyncOK',
      Validated: 'False ValidationsFailing',
      RequirementsMet: 'False ClusterNotReady',
      Completed: 'False InstallationNotStarted',
      Failed: 'False InstallationNotFailed',
      Stopped: 'False InstallationNotStopped',
      LastInstallationPreparationFailed: 'False NoFailedPreparation',
    });
    assert.deepEqual(
      install.metadata.ownerReferences?.map(({ kind }) => kind),
      ['ClusterDeployment'],
    );
    assert.deepEqual(install.metadata.finalizers, [
      'agentclusterinstall.agent-install.openshift.io/ai-deprovision',
    ]);
    await expectNoWrites(world.env.recorder, () => world.env.advance(3_600_000));
  });

  it('agent/S19: begins when exactly as many hosts as are needed are approved with their roles', async () => {
    await using world = await AssistedWorld.start();
    await world.addCluster({ controlPlaneAgents: 3, workerAgents: 2 });
    await world.addHosts('m1', 'm2', 'm3', 'w1');
    await world.env.advance(180_000);
    const requirement = async () => reasons(await world.install())['RequirementsMet'];
    assert.deepEqual([await world.state(), await requirement()], ['insufficient', 'False ClusterNotReady']);
    await world.approve('m1', 'm2', 'm3');
    assert.deepEqual([await world.state(), await requirement()], ['ready', 'False InsufficientAgents']);
    await world.addHosts('w2');
    await world.env.advance(180_000);
    assert.deepEqual([await world.state(), await requirement()], ['ready', 'False UnapprovedAgents']);
    await world.approve('w1');
    assert.equal(await requirement(), 'False UnapprovedAgents');
    await world.approve('w2');
    assert.equal(await world.state(), 'preparing-for-installation');
    assert.equal(await requirement(), 'True ClusterAlreadyInstalling');
  });

  it('agent/S19: waits when a host too many has registered, and while it is told to', async () => {
    await using world = await AssistedWorld.start();
    await world.addCluster({ controlPlaneAgents: 1 }, { holdInstallation: true });
    await world.addHosts('m1', 'w1');
    await world.env.advance(180_000);
    await world.approve('m1');
    assert.equal(reasons(await world.install())['RequirementsMet'], 'False AdditionalAgents');
    assert.equal(reasons(await world.install())['Completed'], 'False InstallationOnHold');
    await world.env.client.delete(InfraEnv, { namespace: NAMESPACE, name: 'w1' });
    await world.env.advance(60_000);
    assert.equal(reasons(await world.install())['RequirementsMet'], 'True ClusterIsReady');
    await world.env.advance(600_000);
    assert.equal(await world.state(), 'ready');
  });

  it('agent/S20: has an API server and a kubeconfig as soon as it is being installed', async () => {
    await using world = await begun();
    assert.equal(await kubeconfigOf(world), undefined);
    await world.untilState('installing');
    const { clusterMetadata } = (await world.install()).spec ?? {};
    assert.deepEqual(clusterMetadata?.adminKubeconfigSecretRef, { name: `${CLUSTER}-admin-kubeconfig` });
    assert.equal(clusterMetadata?.adminPasswordSecretRef, undefined);
    const kubeconfig = (await kubeconfigOf(world)) ?? '';
    assert.match(kubeconfig, /^# Without/);
    assert.equal(world.clusters.byKubeconfig(kubeconfig), world.clusters.find(KEY));
    assert.deepEqual(await nodeNames(world), []);
  });

  it('agent/S21: goes through its states, and the control plane comes before the workers', async () => {
    await using world = await begun();
    assert.deepEqual(await timeline(world, 'finalizing'), [
      'preparing-for-installation',
      'installing',
      'finalizing',
    ]);
    assert.deepEqual(await nodeNames(world), ['m1', 'm2', 'm3']);
    assert.deepEqual(await timeline(world, 'adding-hosts'), ['finalizing', 'installed', 'adding-hosts']);
    assert.deepEqual(await nodeNames(world), HOSTS);
  });

  it('agent/S21: says everything about itself when it is installed', async () => {
    await using world = await begun();
    await world.untilState('adding-hosts');
    const install = await world.install();
    assert.deepEqual(reasons(install), {
      SpecSynced: 'True SyncOK',
      Validated: 'True ValidationsPassing',
      RequirementsMet: 'True ClusterAlreadyInstalling',
      Completed: 'True InstallationCompleted',
      Failed: 'False InstallationNotFailed',
      Stopped: 'True InstallationCompleted',
      LastInstallationPreparationFailed: 'False NoFailedPreparation',
    });
  });

  it('agent/S21: has a ClusterVersion that says so, and the whole kubeconfig', async () => {
    await using world = await begun();
    await world.untilState('adding-hosts');
    const { clusterMetadata } = (await world.install()).spec ?? {};
    const version = await clusterOf(world).client.live.get(ClusterVersion, { name: 'version' });
    assert.equal(clusterMetadata?.clusterID, version.spec?.clusterID);
    assert.equal(version.status?.history?.[0]?.state, 'Completed');
    assert.doesNotMatch((await kubeconfigOf(world)) ?? '#', /^#/);
    // Events that are told once more when they have come to an end.
    await world.env.advance(900_000);
    await expectNoWrites(world.env.recorder, () => world.env.advance(3_600_000));
  });

  it('agent/S21: every machine is a node with the labels that its scripts wrote, and no machine is left over', async () => {
    await using world = await begun();
    await world.untilState('adding-hosts');
    const nodes = (await clusterOf(world).client.live.list(Node)).items;
    const uuids = Object.fromEntries(
      nodes.map(({ metadata }) => [metadata.name, metadata.labels?.['metal3.io/uuid']]),
    );
    assert.deepEqual(uuids, Object.fromEntries(HOSTS.map((name) => [name, `bmh-${name}`])));
    const states = (await world.agents()).map(({ status }) => [
      status?.debugInfo?.state,
      status?.kind,
      status?.progress?.installationPercentage,
    ]);
    assert.deepEqual(states, Array(HOSTS.length).fill(['installed', 'Host', 100]));
    assert.deepEqual(
      world.hosts.powered.map(({ phase }) => phase),
      Array(HOSTS.length).fill('installed'),
    );
    assert.deepEqual(
      world.hosts.record.map(({ name, event }) => `${name} ${event}`),
      HOSTS.map((name) => `${name} on`),
    );
  });

  it('agent/S-hive: the ClusterDeployment is told', async () => {
    await using world = await begun();
    await world.untilState('adding-hosts');
    const { spec, status, metadata } = await world.env.client.live.get(ClusterDeployment, KEY);
    assert.equal(spec?.installed, true);
    assert.deepEqual(spec?.clusterMetadata, (await world.install()).spec?.clusterMetadata);
    assert.deepEqual(
      status?.conditions?.map(({ type, status: value }) => `${type}=${value}`),
      [
        'ClusterInstallRequirementsMet=True',
        'ClusterInstallCompleted=True',
        'ClusterInstallFailed=False',
        'ClusterInstallStopped=True',
      ],
    );
    assert.deepEqual(metadata.finalizers, ['clusterdeployments.agent-install.openshift.io/ai-deprovision']);
  });

  it('agent/S21: has a password for its administrator', async () => {
    await using world = await begun();
    await world.untilState('adding-hosts');
    const name = `${CLUSTER}-admin-password`;
    const password = await world.env.client.live.get(Secret, { namespace: NAMESPACE, name });
    assert.deepEqual(Object.keys(password.data ?? {}).toSorted(), ['password', 'username']);
    assert.equal(password.metadata.ownerReferences?.[0]?.kind, 'ClusterDeployment');
  });

  it('agent/S21: the host that bootstraps is the last master, and workers come after it', async () => {
    await using world = await begun();
    const order: string[] = [];
    await world.until(async () => {
      const done = (await world.agents()).filter(({ status }) => status?.debugInfo?.state === 'installed');
      order.push(...done.map(nameOf).filter((name) => !order.includes(name)));
      return order.length === HOSTS.length;
    }, 'the last host');
    const bootstraps = (await world.agents()).filter(({ status }) => status?.bootstrap === true).map(nameOf);
    assert.deepEqual(bootstraps, [order[2]]);
    assert.deepEqual(order.slice(3).toSorted(), ['w1', 'w2']);
  });

  it('agent/S21: goes on where it was when the service was away', async () => {
    await using world = await begun();
    for (const state of ['installing', 'finalizing']) {
      await world.untilState(state);
      await world.stopManager();
      await world.env.advance(30_000);
      await world.startManager();
    }
    await world.untilState('adding-hosts');
    assert.deepEqual(await nodeNames(world), HOSTS);
    assert.equal(world.clusters.clusters.length, 1);
  });
});
