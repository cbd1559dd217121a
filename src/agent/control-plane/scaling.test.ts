import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  adoptMachine,
  type ControlPlaneWorld,
  cpKey,
  getControlPlane,
  listMachines,
  NAMESPACE,
  prepare,
  readyAllMachines,
  setMachine,
  shownCondition,
  startWorld,
} from '../../../test/support/agent-control-plane-world.ts';
import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { DELETE_MACHINE_ANNOTATION, Machine } from '../../api/cluster-api/core-v1beta2.ts';
import type { JsonObject } from '../../api/json.ts';
import { Metal3Machine, Metal3MachineTemplate } from '../../api/metal3/infrastructure-v1beta2.ts';
import type { KubeObject } from '../../api/object.ts';
import { expectNoWrites } from '../../testing/recorder.ts';

const change = ({ client }: Pick<ControlPlaneWorld, 'client'>, body: JsonObject) =>
  client.patch(OpenshiftAssistedControlPlane, cpKey, { type: 'merge', body });
const names = async ({ client }: ControlPlaneWorld) =>
  (await listMachines(client)).map(({ metadata: { name } }) => name);

describe('a control plane that gets Machines', () => {
  const LABELS = {
    tier: 'gold',
    'cluster.x-k8s.io/cluster-name': 'ocp',
    'cluster.x-k8s.io/control-plane': '',
    'cluster.x-k8s.io/control-plane-name': 'ocp-cp',
  };
  const ownersOf = ({ metadata: { ownerReferences = [] } }: KubeObject) =>
    ownerReferences.map(({ kind, controller }) => [kind, controller]);

  async function firstOfThree(world: ControlPlaneWorld): Promise<Machine> {
    const annotations = { keep: 'me', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    const metadata = { labels: { tier: 'gold' }, annotations: { note: 'x' } };
    await prepareWith(world, { annotations, metadata });
    await world.env.settle();
    const [machine, ...others] = await listMachines(world.client);
    assert.equal(others.length, 2);
    return machine ?? assert.fail('there is no Machine');
  }

  it('agent/C15: a Machine that was just made is not applied again', async () => {
    await using world = await startWorld();
    await firstOfThree(world);
    const applied = world.env.recorder.writes.filter(
      ({ method, target }) => method === 'PATCH' && /\/machines\/[^/]+\?/.test(target),
    );
    assert.equal(applied.length, 3);
  });

  it('agent/C15: a Machine is made for each replica', async () => {
    await using world = await startWorld();
    const machine = await firstOfThree(world);
    const { name } = machine.metadata;
    assert.match(name, /^ocp-cp-[a-z0-9]{5}$/);
    assert.deepEqual(machine.metadata.labels, LABELS);
    assert.deepEqual(machine.metadata.annotations, {
      note: 'x',
      'bmac.agent-install.openshift.io/role': 'master',
    });
    assert.deepEqual(ownersOf(machine), [['OpenshiftAssistedControlPlane', true]]);
    assert.deepEqual(machine.spec, {
      clusterName: 'ocp',
      bootstrap: {
        configRef: { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'OpenshiftAssistedConfig', name },
      },
      infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'Metal3Machine', name },
      deletion: { nodeDeletionTimeoutSeconds: 10 },
    });
  });

  it('agent/C15: with an infrastructure machine of the same name, cloned from the template', async () => {
    await using world = await startWorld();
    const { name } = (await firstOfThree(world)).metadata;
    const infrastructure = await world.client.live.get(Metal3Machine, { namespace: NAMESPACE, name });
    assert.equal(infrastructure.apiVersion, 'infrastructure.cluster.x-k8s.io/v1beta2');
    assert.deepEqual(infrastructure.metadata.labels, { rack: 'a', ...LABELS });
    assert.deepEqual(infrastructure.metadata.annotations, {
      note: 'x',
      'cluster.x-k8s.io/cloned-from-name': 'masters',
      'cluster.x-k8s.io/cloned-from-groupkind': 'Metal3MachineTemplate.infrastructure.cluster.x-k8s.io',
    });
    assert.deepEqual(ownersOf(infrastructure), [['OpenshiftAssistedControlPlane', undefined]]);
  });

  it('agent/C15, agent/X28: with a config of the same name, and what its control plane is labelled with', async () => {
    await using world = await startWorld();
    const { name } = (await firstOfThree(world)).metadata;
    const config = await world.client.live.get(OpenshiftAssistedConfig, { namespace: NAMESPACE, name });
    assert.deepEqual(config.metadata.labels, { ...LABELS, mine: 'yes' });
    assert.deepEqual(config.metadata.annotations, { note: 'x', keep: 'me' });
    assert.deepEqual(config.spec, { cpuArchitecture: 'x86_64' });
    assert.deepEqual(ownersOf(config), [['OpenshiftAssistedControlPlane', undefined]]);
  });

  it('agent/C12: exactly as many are made, and nothing is written when there is nothing to do', async () => {
    await using world = await startWorld();
    await prepare(world.client);
    await world.env.settle();
    await readyAllMachines(world.client);
    await world.env.settle();
    // Events that were told several times are summed up at last.
    await world.env.advance(900_000);
    await expectNoWrites(world.env.recorder, () => world.env.advance(3_600_000));
    assert.equal((await names(world)).length, 3);
  });

  it('agent/C13, agent/X7: counters and conditions follow the Machines', async () => {
    await using world = await startWorld();
    await prepare(world.client);
    await world.env.settle();
    const [first] = await listMachines(world.client);
    if (first !== undefined) await setMachine(world.client, first, true);
    await world.env.settle();
    const some = await getControlPlane(world.client);
    const { replicas, readyReplicas, availableReplicas, upToDateReplicas, selector } = some.status ?? {};
    assert.deepEqual([replicas, readyReplicas, availableReplicas, upToDateReplicas], [3, 1, 1, 3]);
    assert.equal(
      selector,
      'cluster.x-k8s.io/cluster-name=ocp,cluster.x-k8s.io/control-plane-name=ocp-cp',
      'agent/X7',
    );
    assert.equal(shownCondition(some, 'MachinesReady'), 'False/MachinesNotReady: 1 of 3 machines are ready');
    await readyAllMachines(world.client);
    await world.env.settle();
    const all = await getControlPlane(world.client);
    assert.equal(shownCondition(all, 'MachinesReady'), 'True/MachinesReady');
    assert.equal(shownCondition(all, 'MachinesCreated'), 'True/MachinesCreated');
    assert.equal(all.status?.readyReplicas, 3);
  });

  it('agent/C13: none are wanted: MachinesCreated is True and MachinesReady is not said', async () => {
    await using world = await startWorld();
    await prepare(world.client, { spec: { replicas: 0 } });
    await world.env.settle();
    const object = await getControlPlane(world.client);
    assert.equal(shownCondition(object, 'MachinesCreated'), 'True/MachinesCreated');
    assert.equal(shownCondition(object, 'MachinesReady'), undefined);
  });

  it('agent/C18: three failure domains get one Machine each', async () => {
    await using world = await startWorld();
    const failureDomains = ['z1', 'z2', 'z3', 'other'].map((name) => ({ name, controlPlane: name !== 'other' }));
    await prepare(world.client, {
      clusterStatus: { initialization: { infrastructureProvisioned: true }, failureDomains },
    });
    await world.env.settle();
    const domains = (await listMachines(world.client)).map(({ spec }) => spec.failureDomain);
    assert.deepEqual(new Set(domains), new Set(['z1', 'z2', 'z3']));
  });

  it('agent/C15: a template that does not exist is told, and made up for when it comes', async () => {
    await using world = await startWorld({ server: { log: silent } });
    const key = { namespace: NAMESPACE, name: 'masters' };
    await prepare(world.client, { spec: { replicas: 0 } });
    const template = await world.client.live.get(Metal3MachineTemplate, key);
    await world.client.delete(Metal3MachineTemplate, key);
    await change(world, { spec: { replicas: 1 } });
    await world.env.settle();
    const told = shownCondition(await getControlPlane(world.client), 'MachinesCreated') ?? '';
    assert.match(told, /^False\/InfrastructureTemplateCloningFailed: .*"masters" not found/);
    const { resourceVersion: _v, uid: _u, ...metadata } = template.metadata;
    await world.client.create(Metal3MachineTemplate, { ...template, metadata });
    await world.env.advance(30_000);
    assert.equal((await names(world)).length, 1);
  });

  it('agent/C15: what a crash left half made is completed, and nothing else is made', async () => {
    await using world = await startWorld();
    const object = await prepare(world.client, { spec: { replicas: 0 } });
    await leftOver(world, object, 'ocp-cp-bbbbb');
    await goOn(world, 1);
    assert.deepEqual(await names(world), ['ocp-cp-bbbbb']);
    const { items } = await world.client.live.list(Metal3Machine, { namespace: NAMESPACE });
    assert.equal(items.length, 1);
  });

  it('agent/C15: what a crash left half made is removed when nobody wants it any more', async () => {
    await using world = await startWorld();
    const object = await prepare(world.client, { spec: { replicas: 0 } });
    await leftOver(world, object, 'ocp-cp-bbbbb');
    await goOn(world, 0);
    assert.deepEqual((await world.client.live.list(Metal3Machine, { namespace: NAMESPACE })).items, []);
    assert.deepEqual((await world.client.live.list(OpenshiftAssistedConfig, { namespace: NAMESPACE })).items, []);
  });

  it('agent/C15: what was made from another template is not completed', async () => {
    await using world = await startWorld();
    const object = await prepare(world.client, { spec: { replicas: 0 } });
    await leftOver(world, object, 'ocp-cp-bbbbb', 'another');
    await goOn(world, 1);
    assert.equal((await names(world)).includes('ocp-cp-bbbbb'), false);
    assert.equal((await world.client.live.list(Metal3Machine, { namespace: NAMESPACE })).items.length, 1);
  });
});

describe('a control plane that changes', () => {
  it('labels and annotations of the template reach Machines in place, and leave them again', async () => {
    await using world = await startWorld();
    await prepareWith(world, { metadata: { labels: { tier: 'gold' } } });
    await world.env.settle();
    const before = await names(world);
    await change(world, { spec: { machineTemplate: { metadata: { labels: { tier: null, team: 'b' } } } } });
    await world.env.settle();
    const machines = await listMachines(world.client);
    assert.deepEqual(
      machines.map(({ metadata }) => metadata.name),
      before,
    );
    for (const { metadata } of machines) {
      assert.equal(metadata.labels?.['team'], 'b');
      assert.equal(metadata.labels?.['tier'], undefined);
    }
  });

  it('agent/C17: another drain timeout makes Machines out of date, and replaces none', async () => {
    await using world = await startWorld();
    await prepare(world.client);
    await world.env.settle();
    const before = await names(world);
    await change(world, { spec: { machineTemplate: { deletion: { nodeDrainTimeoutSeconds: 30 } } } });
    await world.env.settle();
    const object = await getControlPlane(world.client);
    assert.deepEqual([object.status?.replicas, object.status?.upToDateReplicas], [3, 0]);
    const machines = await listMachines(world.client);
    for (const machine of machines)
      assert.match(shownCondition(machine, 'UpToDate') ?? '', /^False\/NotUpToDate: \* spec.deletion/);
    assert.deepEqual(await names(world), before);
    assert.match(shownCondition(object, 'RollingOut') ?? '', /^False\/NotRollingOut: not up-to-date: ocp-cp-/);
  });

  it('agent/X18: three become one, one at a time, each when the one before is gone', async () => {
    await using world = await startWorld();
    await prepare(world.client);
    await world.env.settle();
    await readyAllMachines(world.client);
    for (const machine of await listMachines(world.client)) {
      await adoptMachine(world.client, machine);
      await world.client.addFinalizer(Machine, machine, 'machine.cluster.x-k8s.io');
    }
    const isLeaving = ({ metadata }: Machine) => metadata.deletionTimestamp !== undefined;
    await change(world, { spec: { replicas: 1 } });
    await world.env.advance(120_000);
    const [one, ...others] = (await listMachines(world.client)).filter(isLeaving);
    assert.equal(others.length, 0);
    const waiting = shownCondition(await getControlPlane(world.client), 'ScalingDown') ?? '';
    assert.match(
      waiting,
      /^True\/ScalingDown: Scaling down from 3 to 1 replicas; the next Machine is deleted when ocp-cp-\w+ is gone$/,
    );
    if (one !== undefined) await world.client.removeFinalizer(Machine, one, 'machine.cluster.x-k8s.io');
    await world.env.settle();
    const [two] = (await listMachines(world.client)).filter(isLeaving);
    if (two !== undefined) await world.client.removeFinalizer(Machine, two, 'machine.cluster.x-k8s.io');
    await world.env.advance(120_000);
    assert.equal((await names(world)).length, 1);
    assert.equal(shownCondition(await getControlPlane(world.client), 'ScalingDown'), 'False/NotScalingDown');
  });

  it('agent/X18: a Ready Machine stays while another is not, and a marked one that is not Ready goes', async () => {
    await using world = await startWorld();
    await prepare(world.client);
    await world.env.settle();
    await readyAllMachines(world.client);
    const machines = await listMachines(world.client);
    const [marked, sick] = machines;
    if (marked === undefined || sick === undefined) return assert.fail('no Machines');
    const mark = (machine: Machine, value: string | null) =>
      world.client.patch(
        Machine,
        { namespace: NAMESPACE, name: machine.metadata.name },
        { type: 'merge', body: { metadata: { annotations: { [DELETE_MACHINE_ANNOTATION]: value } } } },
      );
    await mark(marked, '');
    await setMachine(world.client, sick, false);
    await change(world, { spec: { replicas: 2 } });
    await world.env.advance(120_000);
    assert.equal((await names(world)).length, 3);
    const told = shownCondition(await getControlPlane(world.client), 'ScalingDown') ?? '';
    assert.ok(
      told.includes(
        `Machine ${marked.metadata.name} is Ready and is not deleted while ${sick.metadata.name} is not`,
      ),
      told,
    );
    await mark(marked, null);
    await mark(sick, '');
    await world.env.settle();
    assert.equal((await names(world)).includes(sick.metadata.name), false);
    assert.equal((await names(world)).length, 2);
  });

  it('a Machine that somebody deletes is made anew at once', async () => {
    await using world = await startWorld();
    await prepare(world.client);
    await world.env.settle();
    const [name = ''] = await names(world);
    const [first] = await listMachines(world.client);
    if (first !== undefined) await adoptMachine(world.client, first);
    await world.client.delete(Machine, { namespace: NAMESPACE, name });
    await world.env.settle();
    const now = await names(world);
    assert.equal(now.length, 3);
    assert.equal(now.includes(name), false);
  });
});

const nothing = () => {};
const silent = {
  error: nothing,
  warn: nothing,
  info: nothing,
  debug: nothing,
  child: () => silent,
};

interface Extras {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly metadata?: OpenshiftAssistedControlPlane['spec']['machineTemplate']['metadata'];
}

function prepareWith({ client }: ControlPlaneWorld, { annotations = {}, metadata = {} }: Extras) {
  const infrastructureRef = {
    apiGroup: 'infrastructure.cluster.x-k8s.io',
    kind: 'Metal3MachineTemplate',
    name: 'masters',
  };
  return prepare(client, {
    metadata: { annotations, labels: { mine: 'yes' } },
    spec: { machineTemplate: { metadata, infrastructureRef } },
  });
}

const pause = (value: string | null) => ({ metadata: { annotations: { 'cluster.x-k8s.io/paused': value } } });

async function goOn(world: ControlPlaneWorld, replicas: number): Promise<void> {
  await change(world, { ...pause(null), spec: { replicas } });
  await world.env.settle();
}

/** The first two of three objects, made while nobody looks. */
async function leftOver(
  { client, env }: ControlPlaneWorld,
  { apiVersion, kind, metadata }: OpenshiftAssistedControlPlane,
  name: string,
  template = 'masters',
): Promise<void> {
  await change({ client }, pause(''));
  await env.settle();
  const common = {
    namespace: NAMESPACE,
    name,
    labels: { 'cluster.x-k8s.io/cluster-name': 'ocp' },
    ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' }],
  };
  await client.create(Metal3Machine, {
    apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
    kind: 'Metal3Machine',
    metadata: { ...common, annotations: { 'cluster.x-k8s.io/cloned-from-name': template } },
    spec: { image: { url: 'http://images.example/rhcos.qcow2', checksum: 'abc', format: 'qcow2' } },
  } as Metal3Machine);
  await client.create(OpenshiftAssistedConfig, {
    apiVersion: 'bootstrap.cluster.x-k8s.io/v1alpha2',
    kind: 'OpenshiftAssistedConfig',
    metadata: common,
    spec: { cpuArchitecture: 'x86_64' },
  });
}
