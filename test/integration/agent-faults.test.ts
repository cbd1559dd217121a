import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { OpenshiftAssistedConfig } from '../../src/api/agent/bootstrap-v1alpha2.ts';
import { OpenshiftAssistedControlPlane } from '../../src/api/agent/controlplane-v1alpha3.ts';
import { Agent, InfraEnv } from '../../src/api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../src/api/assisted/hive-extensions-v1beta1.ts';
import { Cluster, Machine } from '../../src/api/cluster-api/core-v1beta2.ts';
import { Node, Secret } from '../../src/api/generated/core-v1.ts';
import { ClusterImageSet } from '../../src/api/hive/hive-v1.ts';
import { BareMetalHost } from '../../src/api/metal3/metal3-v1alpha1.ts';
import type { Condition } from '../../src/api/object.ts';
import { NetworkError } from '../../src/kube/client/api-error.ts';
import type { RegistryFault } from '../../src/lab/metal/registry/registry-faults.ts';
import { findCondition, isTrue } from '../../src/object/conditions.ts';
import { type ClusterSetup, clusterManifests, hostManifests } from '../support/agent-manifests.ts';
import { AgentWorld, type AgentWorldOptions } from '../support/agent-world.ts';
import { scratchDirectory } from '../support/scratch.ts';

const namespace = 'test-capi';
const NAME = 'small';
const KEY = { namespace, name: NAME };
/** Faster than real machines: what is waited for is not what is tested. */
const PACE = 0.2;
const isControlPlane = ({ metadata: { labels = {} } }: Machine) =>
  Object.hasOwn(labels, 'cluster.x-k8s.io/control-plane');

/** A hub with a small cluster, and questions to it. */
class SmallWorld implements AsyncDisposable {
  readonly world: AgentWorld;

  private constructor(world: AgentWorld) {
    this.world = world;
  }

  static async start(setup: ClusterSetup = {}, options: AgentWorldOptions = {}): Promise<SmallWorld> {
    const small = new SmallWorld(await AgentWorld.start({ pace: PACE, ...options }));
    await small.begin(setup);
    return small;
  }

  static async empty(options: AgentWorldOptions = {}): Promise<SmallWorld> {
    return new SmallWorld(await AgentWorld.start({ pace: PACE, ...options }));
  }

  async begin(setup: ClusterSetup = {}): Promise<void> {
    await this.world.apply([
      ...hostManifests(3, setup.namespace ?? namespace),
      ...clusterManifests({ name: NAME, controlPlane: 1, workers: 1, ...setup }),
    ]);
    await this.world.env.settle();
  }

  get client() {
    return this.world.client;
  }

  controlPlane() {
    return this.client.live.get(OpenshiftAssistedControlPlane, KEY);
  }

  async said(type: string): Promise<Condition | undefined> {
    return findCondition(await this.controlPlane(), type);
  }

  async configs(): Promise<readonly OpenshiftAssistedConfig[]> {
    return this.world.all(OpenshiftAssistedConfig);
  }

  /** Until a condition of the control plane has this reason; its message. */
  async saidReason(type: string, reason: string): Promise<string> {
    await this.world.until(`${type} says ${reason}`, async () => (await this.said(type))?.reason === reason, 15);
    return (await this.said(type))?.message ?? '';
  }

  /** The same of the configs; the message of the first. */
  async dataReason(reason: string): Promise<string> {
    const found = async () =>
      (await this.configs())
        .map((config) => findCondition(config, 'DataSecretAvailable'))
        .find((condition) => condition?.reason === reason);
    await this.world.until(`a config says ${reason}`, async () => (await found()) !== undefined, 15);
    return (await found())?.message ?? '';
  }

  async installState(): Promise<string> {
    return (await this.client.live.find(AgentClusterInstall, KEY))?.status?.debugInfo?.state ?? '';
  }

  untilState(state: string): Promise<void> {
    return this.world.until(`the installation is ${state}`, async () => (await this.installState()) === state);
  }

  async remove(): Promise<void> {
    await this.client.delete(Cluster, KEY);
    await this.world.until(
      'the Cluster is gone',
      async () => (await this.client.live.find(Cluster, KEY)) === undefined,
    );
    await this.world.env.advance(60_000);
  }

  /** Nothing is left, no host is on, and no secret was told. */
  async assertGone(): Promise<void> {
    assert.deepEqual(this.world.leftovers(NAME), []);
    assert.deepEqual(await this.world.all(Agent), []);
    assert.deepEqual(this.world.outside.hosts.powered, []);
    assert.deepEqual(this.world.leaks(), []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
  }
}

describe('assisted-service that fails', () => {
  it('agent/B13: answers 500, then not at all: says so, and goes on when it answers', async () => {
    await using small = await SmallWorld.empty();
    const { world } = small;
    const { faults } = world.outside;
    faults.failRest({ status: 500 });
    await small.begin();
    const refused = await small.dataReason('WaitingForAssistedInstaller');
    await world.until('it was asked', async () =>
      (await small.dataReason('WaitingForAssistedInstaller')).includes('500'),
    );
    assert.doesNotMatch(refused, /api_key=\w/);
    assert.match(
      await small.dataReason('WaitingForAssistedInstaller'),
      /^failed retrieving ignition: ignition request to https:\/\/assisted\.example\.com\/.* returned status 500/,
    );
    faults.failRest('timeout');
    await world.until(
      'the timeout is told',
      async () => /within 30 s/.test(await small.dataReason('WaitingForAssistedInstaller')),
      15,
    );
    faults.failRest(undefined);
    await world.untilRunning(2);
    assert.deepEqual(world.leaks(), []);
  });

  it('agent/B12, agent/S16: gives the events URL late', async () => {
    await using small = await SmallWorld.start();
    const { world } = small;
    const infraEnvs = await world.all(InfraEnv);
    assert.equal(infraEnvs.length, 2);
    for (const { metadata } of infraEnvs) world.outside.faults.delayEventsUrl(metadata, true);
    await world.env.advance(5 * 60_000);
    assert.equal(
      await small.dataReason('WaitingForInfraEnvToBeReady'),
      'infraenv not ready: eventsURL not generated yet',
    );
    assert.deepEqual(world.outside.hosts.powered, []);
    for (const { metadata } of infraEnvs) world.outside.faults.delayEventsUrl(metadata, false);
    await world.untilRunning(2);
  });

  it('agent/G4: registers a host twice: one Agent is approved, the other is named', async () => {
    await using small = await SmallWorld.start();
    const { world } = small;
    const { faults } = world.outside;
    const masters = (await world.all(Machine)).filter(isControlPlane);
    const [master] = masters;
    assert.ok(master);
    const key = { namespace, name: master.metadata.name };
    faults.doubleAgents(key, true);
    await world.until('three Agents', async () => (await world.all(Agent)).length === 3, 20);
    await world.env.advance(2 * 60_000);
    const ofMaster = (await world.all(Agent)).filter(({ spec }) => spec.role === 'master');
    assert.deepEqual(ofMaster.filter(({ spec }) => spec.approved).length, 1);
    assert.equal(ofMaster.length, 2);
    const config = await world.client.live.get(OpenshiftAssistedConfig, key);
    const { status, reason, message = '' } = findCondition(config, 'AgentsMatched') ?? {};
    assert.deepEqual([status, reason], ['False', 'DuplicateAgent']);
    const [duplicate] = ofMaster.filter(({ spec }) => spec.approved !== true);
    assert.ok(duplicate);
    assert.ok(message.includes(duplicate.metadata.name) && message.endsWith('delete them'), message);
    faults.doubleAgents(key, false);
    await world.client.delete(Agent, { namespace, name: duplicate.metadata.name });
    await world.untilRunning(2);
    await world.until('all is well', async () =>
      isTrue(await world.client.live.get(OpenshiftAssistedConfig, key), 'AgentsMatched'),
    );
  });

  it('agent/K6: cannot install: says why and what to do, and leaves nothing when the Cluster is deleted', async () => {
    await using small = await SmallWorld.start();
    const { world } = small;
    await small.untilState('installing');
    world.outside.faults.failInstall(KEY, { kind: 'error', message: 'the disk of a host is too slow' });
    const message = await small.saidReason('Available', 'InstallationFailed');
    assert.match(
      message,
      /the installation failed: .*the disk of a host is too slow.*; look at the Agents .* delete the Cluster and make it anew/,
    );
    await world.env.settle();
    const cluster = await world.client.live.get(Cluster, KEY);
    assert.equal(findCondition(cluster, 'ControlPlaneAvailable')?.status, 'False');
    await small.remove();
    await small.assertGone();
  });
});

describe('a registry that fails', () => {
  const IMAGE = /quay\.io\/openshift-release-dev\/ocp-release:4\.20\.1-\w+/;
  const CASES: readonly (readonly [name: string, fault: RegistryFault, reason: string, message: RegExp])[] = [
    ['404', { path: '/manifests/', status: 404 }, 'ReleaseImageNotFound', IMAGE],
    ['401', { status: 401 }, 'RegistryUnauthorized', /quay\.io/],
    ['500', { status: 500 }, 'RegistryUnavailable', /500/],
  ];

  it('agent/C10, agent/D2, agent/X22: says what is wrong with the release image, and installs when it is right', async () => {
    let isAway = false;
    await using small = await SmallWorld.empty({
      around: (http) => (request) => {
        if (isAway && request.url.includes('/v2/'))
          return Promise.reject(new NetworkError('connect ECONNREFUSED', { mayHaveHappened: false }));
        return http(request);
      },
    });
    const { world } = small;
    const first = world.outside.registry.inject({ path: '/manifests/', status: 503 });
    await small.begin();
    assert.match(await small.saidReason('KubernetesVersionAvailable', 'KubernetesVersionUnavailable'), /503/);
    first[Symbol.dispose]();
    for (const [name, fault, reason, message] of CASES) {
      using _fault = world.outside.registry.inject(fault);
      assert.match(await small.saidReason('ClusterInstallConfigured', reason), message, name);
      const version = await small.said('KubernetesVersionAvailable');
      assert.match(version?.message ?? '', /^failed to get k8s version from release image: /);
      assert.deepEqual(await world.all(Machine).then((all) => all.filter(isControlPlane)), []);
      if (name !== '404') continue;
      assert.equal((await small.said('UpgradeAvailable'))?.reason, 'UpgradeImageUnavailable');
    }
    isAway = true;
    await world.until(
      'it is away',
      async () => /ECONNREFUSED/.test((await small.said('ClusterInstallConfigured'))?.message ?? ''),
      15,
    );
    assert.equal((await small.said('ClusterInstallConfigured'))?.reason, 'RegistryUnavailable');
    isAway = false;
    await world.untilRunning(2);
    assert.ok(isTrue(await small.controlPlane(), 'KubernetesVersionAvailable'));
    assert.ok(isTrue(await small.controlPlane(), 'ClusterInstallConfigured'));
    assert.deepEqual(world.leaks(), []);
  });

  it('agent/R3: gives something else than its digest says: nothing is made of it', async () => {
    await using small = await SmallWorld.empty();
    const { world } = small;
    const damaged = world.outside.registry.inject({ path: '/blobs/', isDamaged: true });
    await small.begin();
    const message = await small.saidReason('KubernetesVersionAvailable', 'KubernetesVersionUnavailable');
    assert.match(message, /sha256:|digest/);
    assert.equal((await small.controlPlane()).status?.version, undefined);
    damaged[Symbol.dispose]();
    await world.until('it is read', async () => (await small.controlPlane()).status?.version === '1.33.5', 15);
  });
});

describe('input that is wrong', () => {
  it('agent/R3: a pull secret that is none: says so without telling it, and goes on when it is right', async () => {
    const auth = Buffer.from('hunter2-is-no-login').toString('base64');
    const pullSecret = JSON.stringify({ auths: { 'quay.io': { auth } } });
    await using small = await SmallWorld.start({ pullSecret });
    const { world } = small;
    const message = await small.saidReason('ClusterInstallConfigured', 'InvalidPullSecret');
    assert.match(message, /invalid auth format for quay\.io/);
    assert.deepEqual(world.leaks(), []);
    const good = JSON.stringify({ auths: {} });
    await world.client.patch(
      Secret,
      { namespace, name: 'pull-secret' },
      { type: 'merge', body: { stringData: { '.dockerconfigjson': good } } },
    );
    await world.untilRunning(2);
  });

  it('agent/C3: a version that is too old: says which is old enough', async () => {
    await using small = await SmallWorld.start({ version: '4.12.0' });
    const { world } = small;
    assert.equal(
      await small.saidReason('MachinesCreated', 'MachineGenerationFailed'),
      'version 4.12.0 is not supported, the minimum supported version is 4.14.0',
    );
    await world.env.advance(10 * 60_000);
    assert.deepEqual((await world.all(Machine)).filter(isControlPlane), []);
    const body = { spec: { distributionVersion: '4.20.1' } };
    await world.client.patch(OpenshiftAssistedControlPlane, KEY, { type: 'merge', body });
    await world.until('the Machine is made', async () => (await world.all(Machine)).some(isControlPlane), 5);
  });

  it('agent/X24: text of a shell in a provider ID is text, and nothing of it runs', async () => {
    await using scratch = await scratchDirectory();
    const canary = join(scratch.path, 'canary');
    const providerID = `acme://$(touch ${canary})/\`touch ${canary}\`/';touch ${canary};'/$METADATA_NAME`;
    const kubeletExtraLabels = ['metal3.io/uuid=$METADATA_UUID'];
    const nodeRegistration = { name: '$METADATA_NAME', kubeletExtraLabels, providerID };
    await using small = await SmallWorld.start({ workers: 0, configSpec: { nodeRegistration } });
    await small.untilState('adding-hosts');
    const nodes = await small.world.outside.workloads.find(KEY)?.client.live.list(Node);
    const [node] = nodes?.items ?? [];
    assert.equal(node?.spec.providerID, providerID.replace('$METADATA_NAME', node?.metadata.name ?? ''));
    assert.ok(!existsSync(canary));
  });

  it('agent/X24: text of a shell in a label is no label: says so, and no host is switched on', async () => {
    await using scratch = await scratchDirectory();
    const canary = join(scratch.path, 'canary');
    const label = `example.com/a=b";touch ${canary};"$(touch ${canary})`;
    const nodeRegistration = { name: '$METADATA_NAME', kubeletExtraLabels: [label] };
    await using small = await SmallWorld.start({ workers: 0, configSpec: { nodeRegistration } });
    const message = await small.dataReason('InvalidNodeSettings');
    assert.ok(message.includes(JSON.stringify(label)), message);
    await small.world.env.advance(600_000);
    assert.deepEqual(small.world.outside.hosts.powered, []);
    assert.ok(!existsSync(canary));
    await small.remove();
    await small.assertGone();
  });

  it('agent/I4: a label that only the machine can tell to be none fails the installation, which says so', async () => {
    const nodeRegistration = { name: '$METADATA_NAME', kubeletExtraLabels: ['a=b c-$METADATA_NAME'] };
    await using small = await SmallWorld.start({ workers: 0, configSpec: { nodeRegistration } });
    const { world } = small;
    await world.until(
      'it has failed',
      async () => (await small.said('Available'))?.reason === 'InstallationFailed',
    );
    assert.match((await small.said('Available'))?.message ?? '', /--node-labels has a=b c-/);
    await small.remove();
    await small.assertGone();
  });
});

describe('things that happen meanwhile', () => {
  it('agent/B16, agent/C12, agent/S9: Machines are deleted on their way: others come, and nothing is left of them', async () => {
    await using small = await SmallWorld.start();
    const { world } = small;
    await world.until('hosts are on', () => world.outside.hosts.powered.length === 2, 20);
    const before = await world.all(Machine);
    for (const { metadata } of before) await world.client.delete(Machine, { namespace, name: metadata.name });
    const uids = async () => new Set((await world.all(Machine)).map(({ metadata }) => metadata.uid));
    await world.until('they are gone', async () => {
      const left = await uids();
      return before.every(({ metadata }) => !left.has(metadata.uid));
    });
    await world.untilRunning(2);
    const living = await uids();
    const infraEnvs = await world.all(InfraEnv);
    assert.equal(infraEnvs.length, 2);
    for (const { metadata } of infraEnvs)
      assert.ok(metadata.ownerReferences?.some(({ kind, uid }) => kind === 'Machine' && living.has(uid)));
    assert.equal((await world.all(Agent)).length, 2);
    const used = (await world.all(BareMetalHost)).filter(({ spec }) => spec?.consumerRef !== undefined);
    assert.equal(used.length, 2);
  });

  it('agent/X17: the Cluster is deleted while it is installed: nothing is left', async () => {
    await using small = await SmallWorld.start();
    const { world } = small;
    await small.untilState('installing');
    await world.env.advance(2 * 60_000);
    await small.remove();
    await small.assertGone();
    for (const { status } of await world.all(BareMetalHost))
      assert.equal(status?.provisioning?.state, 'available');
    assert.deepEqual(world.outside.workloads.clusters, []);
  });

  it('agent/X4, agent/X19: another namespace has a cluster of the same name: neither knows of the other', async () => {
    await using small = await SmallWorld.empty({ namespaces: [namespace, 'other'] });
    const { world } = small;
    await small.begin();
    await small.untilState('installing');
    await small.begin({ namespace: 'other', workers: 2 });
    await world.env.advance(3 * 60_000);
    const { spec } = await world.client.live.get(AgentClusterInstall, { namespace: 'other', name: NAME });
    assert.deepEqual(spec?.provisionRequirements, { controlPlaneAgents: 1, workerAgents: 2 });
    assert.deepEqual((await world.all(ClusterImageSet)).map(({ metadata }) => metadata.name).toSorted(), [
      'other-small',
      'small',
    ]);
    // The installation of the first holds no worker of the second.
    const configs = (await small.configs()).filter(({ metadata }) => metadata.namespace === 'other');
    assert.deepEqual(
      configs.map((config) => isTrue(config, 'DataSecretAvailable')),
      [true, true, true],
    );
    await small.remove();
    await world.untilRunning(3, 'other');
    assert.deepEqual(
      (await world.all(ClusterImageSet)).map(({ metadata }) => metadata.name),
      ['other-small'],
    );
    assert.deepEqual(
      world.leftovers(NAME).filter((path) => path.includes(`/${namespace}/`)),
      [],
    );
    assert.deepEqual(world.leaks(), []);
  });

  it('a fifth of all requests fails: it takes longer, and ends the same', async () => {
    await using small = await SmallWorld.empty();
    const { world } = small;
    const isOurs = ({ target }: { readonly target: string }) => !target.includes('/events');
    world.env.faults.arm({
      matches: isOurs,
      rate: 0.2,
      fault: { kind: 'refuse', status: 500, reason: 'InternalError' },
    });
    await small.begin();
    await world.untilRunning(2);
    await world.until('it is ready', async () => isTrue(await small.controlPlane(), 'Ready'));
    assert.ok((world.env.faults.struck.get('refuse') ?? 0) > 50);
    await small.remove();
    await small.assertGone();
  });

  it('every other write meets a conflict: nothing is lost', async () => {
    await using small = await SmallWorld.empty();
    const { world } = small;
    world.env.faults.arm({
      matches: ({ method }) => method === 'PATCH' || method === 'PUT',
      rate: 0.5,
      fault: { kind: 'refuse', status: 409, reason: 'Conflict' },
    });
    await small.begin();
    await world.untilRunning(2);
    await world.until('it is ready', async () => isTrue(await small.controlPlane(), 'Ready'));
    await small.remove();
    await small.assertGone();
  });
});
