import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { OpenshiftAssistedConfig } from '../../src/api/agent/bootstrap-v1alpha2.ts';
import { Agent, INFRA_ENV_LABEL, InfraEnv } from '../../src/api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../src/api/assisted/hive-extensions-v1beta1.ts';
import { Cluster, Machine, MachineDeployment } from '../../src/api/cluster-api/core-v1beta2.ts';
import { Node, Secret } from '../../src/api/generated/core-v1.ts';
import {
  diskFormatOf,
  Metal3Machine,
  Metal3MachineTemplate,
} from '../../src/api/metal3/infrastructure-v1beta2.ts';
import { BareMetalHost } from '../../src/api/metal3/metal3-v1alpha1.ts';
import { findCondition, isTrue } from '../../src/object/conditions.ts';
import { expectExactRbac } from '../../src/testing/exact-rbac.ts';
import type { Happening } from '../support/agent-history.ts';
import { clusterManifests, hostManifests } from '../support/agent-manifests.ts';
import { AgentWorld } from '../support/agent-world.ts';

const namespace = 'test-capi';
const NAME = 'test-multinode';
const KEY = { namespace, name: NAME };
const WORKERS = { namespace, name: `${NAME}-worker` };
const STRAY = { namespace, name: 'host-7' };
const MASTER_ISO = `${NAME}-${NAME}-controlplane-x86-64`;
const WORKER_ISO = `${NAME}-${NAME}-workers-x86-64`;
const isControlPlane = ({ metadata: { labels = {} } }: Machine) =>
  Object.hasOwn(labels, 'cluster.x-k8s.io/control-plane');
const byText = (a: string, b: string): number => a.localeCompare(b);
const namesOf = (objects: readonly { readonly metadata: { readonly name: string } }[]): readonly string[] =>
  objects.map(({ metadata }) => metadata.name).toSorted(byText);

const hasMac = ({ status }: Agent, { spec }: BareMetalHost): boolean =>
  (status?.inventory?.interfaces ?? []).some(({ macAddress }) => macAddress === spec?.bootMACAddress);

type WithImage = { readonly spec?: { readonly image?: { readonly url?: string; readonly format?: string } } };
const imageOf = ({ object }: Happening) => (object as WithImage).spec?.image;

describe('a cluster of three and two hosts that boot an ISO', () => {
  let world: AgentWorld;
  before(async () => {
    world = await AgentWorld.start();
  });
  after(() => world[Symbol.asyncDispose]());

  const isoOf = async (name: string) =>
    (await world.client.live.get(InfraEnv, { namespace, name })).status?.isoDownloadURL ?? '';
  const configsOf = async (infraEnv: string) =>
    (await world.all(OpenshiftAssistedConfig)).filter(({ metadata }) =>
      Object.values(metadata.labels ?? {}).includes(infraEnv),
    );
  const agentsOf = async (infraEnv: string) =>
    (await world.all(Agent)).filter(({ metadata }) => metadata.labels?.[INFRA_ENV_LABEL] === infraEnv);
  const installState = async () =>
    (await world.client.live.get(AgentClusterInstall, KEY)).status?.debugInfo?.state ?? '';
  const nodes = async () => {
    const cluster = world.outside.workloads.find(KEY);
    return (await cluster?.client.live.list(Node))?.items ?? [];
  };
  const hostOf = ({ metadata: { annotations = {} } }: Metal3Machine) => {
    const [, name = ''] = (annotations['metal3.io/BareMetalHost'] ?? '').split('/');
    return world.client.live.get(BareMetalHost, { namespace, name });
  };
  const changeWorkers = (replicas: number) =>
    world.client.patch(MachineDeployment, WORKERS, { type: 'merge', body: { spec: { replicas } } });
  let [lateWorker, stray] = ['', ''];

  it('has one InfraEnv for each template, and Secrets that are empty', async () => {
    await world.apply([...hostManifests(7), ...clusterManifests({ bootMethod: 'live-iso' })]);
    await world.until('five Secrets', async () => {
      const configs = await world.all(OpenshiftAssistedConfig);
      return configs.length === 5 && configs.every((config) => isTrue(config, 'DataSecretAvailable'));
    });
    assert.deepEqual(namesOf(await world.all(InfraEnv)), [MASTER_ISO, WORKER_ISO]);
    assert.notEqual(await isoOf(MASTER_ISO), await isoOf(WORKER_ISO));
    assert.deepEqual([(await configsOf(MASTER_ISO)).length, (await configsOf(WORKER_ISO)).length], [3, 2]);
    for (const { metadata } of await world.all(OpenshiftAssistedConfig)) {
      const { data = {} } = await world.client.live.get(Secret, { namespace, name: metadata.name });
      assert.equal(data['value'], '');
      const said = world.history.conditions(OpenshiftAssistedConfig, metadata.name, 'DataSecretAvailable');
      assert.ok(said.includes('False/WaitingForLiveISOURL'), said.join());
    }
  });

  it('writes the ISO to every machine before its Secret is there and its host is on', async () => {
    await world.until('five hosts are on', () => world.outside.hosts.powered.length === 5);
    const { all } = world.history;
    for (const machine of await world.all(Machine)) {
      const { name } = machine.metadata;
      const iso = await isoOf(isControlPlane(machine) ? MASTER_ISO : WORKER_ISO);
      const first = (isMeant: (happening: Happening) => boolean): number => {
        const at = all.findIndex(isMeant);
        assert.notEqual(at, -1);
        return at;
      };
      const withIso = first(
        (one) =>
          one.plural === Metal3Machine.plural && one.object.metadata.name === name && imageOf(one)?.url === iso,
      );
      const secret = first(({ plural, object }) => plural === 'secrets' && object.metadata.name === name);
      const claimed = first(
        ({ plural, object }) =>
          plural === BareMetalHost.plural && (object as BareMetalHost).spec?.consumerRef?.name === name,
      );
      assert.ok(withIso < secret && secret < claimed, [withIso, secret, claimed].join(' < '));
    }
    const images = world.history.of(BareMetalHost).flatMap((one) => imageOf(one) ?? []);
    assert.ok(images.length > 0);
    for (const { format, url } of images)
      assert.deepEqual([format, /\.iso\?api_key=/.test(url ?? '')], ['live-iso', true]);
    const booted = world.outside.hosts.powered.map(({ host: { boot } }) =>
      boot.from === 'live-iso' ? boot.url : '',
    );
    const [masters, workers] = [await isoOf(MASTER_ISO), await isoOf(WORKER_ISO)];
    assert.deepEqual(booted.toSorted(byText), [masters, masters, masters, workers, workers].toSorted(byText));
  });

  it('never changes templates of users, and derives its own from them', async () => {
    const user = [`${NAME}-controlplane`, `${NAME}-workers`];
    for (const name of user) {
      const { metadata, spec } = await world.client.live.get(Metal3MachineTemplate, { namespace, name });
      assert.equal(metadata.generation, 1);
      assert.equal(diskFormatOf(spec.template.spec.image ?? {}), 'qcow2');
      const derived = await world.client.live.get(Metal3MachineTemplate, { namespace, name: `${name}-live-iso` });
      const { image } = derived.spec.template.spec;
      assert.deepEqual(
        [diskFormatOf(image ?? {}), image?.url],
        ['live-iso', await isoOf(name.endsWith('workers') ? WORKER_ISO : MASTER_ISO)],
      );
    }
  });

  it('approves each Agent for the Machine whose host has its MAC address', async () => {
    await world.until('it is installing', async () => (await installState()) === 'installing');
    assert.equal((await world.all(Agent)).length, 5);
    for (const machine of await world.all(Metal3Machine)) {
      assert.equal(diskFormatOf(machine.spec?.image ?? {}), 'live-iso');
      const host = await hostOf(machine);
      const [agent, ...others] = (await world.all(Agent)).filter((each) => hasMac(each, host));
      const { name } = machine.metadata;
      const isMaster = isControlPlane(await world.client.live.get(Machine, { namespace, name }));
      assert.deepEqual(others, []);
      assert.partialDeepStrictEqual(agent?.spec, {
        approved: true,
        role: isMaster ? 'master' : 'worker',
        hostname: host.metadata.name,
        nodeLabels: { 'metal3.io/uuid': host.metadata.uid },
      });
    }
  });

  it('does not approve a host that somebody booted by hand, and names it', async () => {
    const known = new Set(namesOf(await world.all(Agent)));
    const image = { url: await isoOf(WORKER_ISO), format: 'live-iso' };
    await world.client.patch(BareMetalHost, STRAY, { type: 'merge', body: { spec: { image, online: true } } });
    await world.until('it has registered', async () => (await world.all(Agent)).length === 6, 10);
    await world.until('it is named', async () => {
      const configs = await configsOf(WORKER_ISO);
      return configs.every((config) => findCondition(config, 'AgentsMatched')?.reason === 'AgentWithoutMachine');
    });
    [stray = ''] = namesOf(await world.all(Agent)).filter((name) => !known.has(name));
    const [config] = await configsOf(WORKER_ISO);
    assert.ok(config);
    const { status, message } = findCondition(config, 'AgentsMatched') ?? {};
    assert.equal(status, 'False');
    assert.match(
      message ?? '',
      new RegExp(`${stray} .*not approved; switch these hosts off, or make Machines for them`),
    );
  });

  it('agent/B9: holds a worker that comes while it installs', async () => {
    const known = new Set(namesOf(await world.all(Machine)));
    assert.equal(await installState(), 'installing');
    await changeWorkers(3);
    await world.env.advance(2 * 60_000);
    [lateWorker = ''] = namesOf(await world.all(Machine)).filter((name) => !known.has(name));
    const config = await world.client.live.get(OpenshiftAssistedConfig, { namespace, name: lateWorker });
    assert.equal(findCondition(config, 'DataSecretAvailable')?.reason, 'WaitingForInstallComplete');
    assert.equal(world.outside.hosts.powered.length, 6);
  });

  it('agent/S22: adds the held worker on day 2, and never the host that was booted by hand', async () => {
    await world.untilRunning(6);
    assert.equal((await nodes()).length, 6);
    const late = await world.client.live.get(Metal3Machine, { namespace, name: lateWorker });
    assert.equal(late.spec?.image?.url, await isoOf(WORKER_ISO));
    const kinds = (await agentsOf(WORKER_ISO))
      .filter(({ spec }) => spec.approved)
      .map(({ status }) => status?.kind ?? '');
    assert.deepEqual(kinds.toSorted(byText), ['AddToExistingClusterHost', 'Host', 'Host']);
    await world.env.advance(15 * 60_000);
    const { spec, status } = await world.client.live.get(Agent, { namespace, name: stray });
    assert.deepEqual([spec.approved, status?.progress], [false, undefined]);
    assert.ok(!(await nodes()).some(({ metadata }) => metadata.name === STRAY.name));
    const on = world.outside.hosts.record.filter(({ event }) => event === 'on').map(({ name }) => name);
    assert.deepEqual([on.length, new Set(on).size], [7, 7]);
  });

  it('derives a template anew when its user changes the one it was made from', async () => {
    const name = `${NAME}-workers`;
    const changed = { spec: { template: { spec: { automatedCleaningMode: 'metadata' } } } };
    await world.client.patch(Metal3MachineTemplate, { namespace, name }, { type: 'merge', body: changed });
    await world.until(
      'the derived one says the same',
      async () => {
        const { spec } = await world.client.live.get(Metal3MachineTemplate, {
          namespace,
          name: `${name}-live-iso`,
        });
        return spec.template.spec.automatedCleaningMode === 'metadata';
      },
      11,
    );
    const writers = world.history
      .of(Metal3MachineTemplate)
      .filter(({ object }) => !object.metadata.name.endsWith('-live-iso'))
      .flatMap(({ object }) => object.metadata.managedFields?.map(({ manager }) => manager) ?? []);
    assert.deepEqual(
      writers.filter((writer) => writer?.startsWith('agent-')),
      [],
    );
  });

  it('agent/B16: takes the Agent of a Machine that goes, and leaves the others alone', async () => {
    const key = { namespace, name: lateWorker };
    const annotations = { 'cluster.x-k8s.io/delete-machine': '' };
    await world.client.patch(Machine, key, { type: 'merge', body: { metadata: { annotations } } });
    await changeWorkers(2);
    await world.untilRunning(5);
    await world.env.advance(60_000);
    assert.deepEqual(world.named(lateWorker), []);
    const left = await agentsOf(WORKER_ISO);
    assert.deepEqual([left.length, left.some(({ metadata }) => metadata.name === stray)], [3, true]);
    assert.ok(await isoOf(WORKER_ISO));
  });

  it('agent/X17: leaves nothing when the Cluster goes, and the host that was booted by hand to its user', async () => {
    await world.client.delete(Cluster, KEY);
    await world.until('it is gone', async () => (await world.client.live.find(Cluster, KEY)) === undefined);
    await world.env.advance(60_000);
    assert.deepEqual(world.leftovers(NAME), []);
    assert.deepEqual(await world.all(Agent), []);
    const hosts = (await world.all(BareMetalHost)).filter(({ metadata }) => metadata.name !== STRAY.name);
    for (const { status } of hosts) assert.equal(status?.provisioning?.state, 'available');
    assert.deepEqual(
      world.outside.hosts.powered.map(({ host }) => host.name),
      [STRAY.name],
    );
  });

  it('used exactly the rights it has, and told no secret', () => {
    expectExactRbac(world.env, { manager: 'agent-bootstrap', unused: ['patch secrets'] });
    assert.deepEqual(world.env.rbacDifference('agent-control-plane').uncovered, []);
    assert.deepEqual(world.leaks(), []);
  });
});
