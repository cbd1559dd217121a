import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Lease } from '../../../api/generated/coordination-v1.ts';
import { Node } from '../../../api/generated/core-v1.ts';
import { ClusterRoleBinding } from '../../../api/generated/rbac-v1.ts';
import { createLog, SILENT_LOG } from '../../../base/log.ts';
import { TestEnv } from '../../../testing/index.ts';
import { type Heartbeat, startHeartbeat } from './heartbeat.ts';
import { basicFacts, type FactsAddition, factsWith } from './node-facts.ts';
import { type RegisteredNode, registerNode } from './register-node.ts';

const SYSTEM = {
  architecture: 'amd64',
  operatingSystem: 'linux',
  kernelVersion: '6.1.0',
  bootID: 'boot',
  machineID: 'machine',
  systemUUID: 'uuid',
};
const HOUR_MS = 3_600_000;
const LEASE = { namespace: 'kube-node-lease', name: 'w-1' };
const SETTINGS = { name: 'w-1', address: { api: '10.16.1.1', wire: '127.16.1.1' } };

/** Nodes have the rights that Kubernetes gives them, and no more (A5). */
const nodesMayBeNodes = {
  metadata: { name: 'nodes' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:nodes' }],
};

interface Beating extends AsyncDisposable {
  readonly env: TestEnv;
  readonly registered: RegisteredNode;
  readonly heartbeat: Heartbeat;
  /** What devices and volumes add; may be changed while it runs. */
  readonly added: { facts: FactsAddition };
  readonly lines: string[];
  node(): Promise<Node>;
  writes(): readonly string[];
}

async function beating(setup?: (env: TestEnv) => Promise<unknown>): Promise<Beating> {
  const env = await TestEnv.start();
  await env.client.create(ClusterRoleBinding, nodesMayBeNodes);
  await setup?.(env);
  const user = env.server.client('system:node:w-1', ['system:nodes']);
  const transport = env.faults.around(env.activity.around(env.recorder.around(user)));
  const added: { facts: FactsAddition } = { facts: {} };
  const facts = () => factsWith(basicFacts({ system: SYSTEM }), [added.facts]);
  const common = { settings: SETTINGS, facts, clock: env.clock, real: env.clock };
  const registered = await registerNode({ ...common, way: { mode: 'direct', transport }, log: SILENT_LOG });
  const lines: string[] = [];
  const log = createLog({ level: 'info', write: (line) => lines.push(line), now: () => env.clock.now() });
  const { client, version, wasAdopted } = registered;
  const heartbeat = startHeartbeat({ ...common, client, version, log, isReported: !wasAdopted });
  await env.settle();
  return {
    env,
    registered,
    heartbeat,
    added,
    lines,
    node: () => env.client.get(Node, { name: 'w-1' }),
    writes: () => env.recorder.writes.map(({ method, target }) => `${method} ${target.replace(/\?.*/, '')}`),
    async [Symbol.asyncDispose]() {
      await env.throughTime(heartbeat.stopHeartbeat());
      await registered[Symbol.asyncDispose]();
      await env[Symbol.asyncDispose]();
    },
  };
}

const countOf = (lines: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(Object.groupBy(lines, (line) => line)).map(([line, all]) => [line, all?.length ?? 0]),
  );

const NODE_STATUS = 'PATCH /api/v1/nodes/w-1/status';
const RENEWAL = 'PATCH /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/w-1';
const CREATION = 'POST /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

describe('startHeartbeat', () => {
  it('lab/N4: writes in an hour 360 renewals and 12 statuses, and nothing else', async () => {
    await using lab = await beating();
    assert.deepEqual(countOf(lab.writes()), { 'POST /api/v1/nodes': 1, [CREATION]: 1 });
    lab.env.recorder.clear();
    await lab.env.advance(HOUR_MS);
    assert.deepEqual(countOf(lab.writes()), { [RENEWAL]: 360, [NODE_STATUS]: 12 });
    const { spec } = await lab.env.client.get(Lease, LEASE);
    assert.deepEqual(
      [spec?.holderIdentity, spec?.leaseDurationSeconds, spec?.renewTime],
      ['w-1', 40, '2026-01-01T01:00:00.000000Z'],
    );
  });

  it('lab/N4: does not ask for a Node that a watch has seen, and finds what is new in it', async () => {
    await using lab = await beating();
    await lab.env.throughTime(lab.heartbeat.stopHeartbeat());
    const { client, version } = lab.registered;
    let seen: Node | undefined = await lab.node();
    let asked = 0;
    const find: typeof client.live.find = async (kind, key, options) => {
      asked += 1;
      return await client.live.find(kind, key, options);
    };
    const { clock } = lab.env;
    const facts = () => factsWith(basicFacts({ system: SYSTEM }), [lab.added.facts]);
    const watched = { ...client, live: { ...client.live, find } };
    await using heartbeat = startHeartbeat({
      settings: SETTINGS,
      facts,
      version,
      client: watched,
      clock,
      log: SILENT_LOG,
      isReported: true,
      seen: () => seen,
    });
    await lab.env.settle();
    // For the Lease, which it does not know yet.
    asked = 0;
    lab.added.facts = { capacity: { 'acme.example/npu': '2' } };
    await lab.env.advance(10_000);
    assert.equal((await lab.node()).status?.allocatable?.['acme.example/npu'], '2');
    assert.equal(asked, 0);
    seen = undefined;
    await lab.env.advance(10_000);
    assert.equal(asked, 1);
    await lab.env.throughTime(heartbeat.stopHeartbeat());
  });

  it('lab/N4: the Lease belongs to the Node', async () => {
    await using lab = await beating();
    const { metadata } = await lab.env.client.get(Lease, LEASE);
    const { uid } = (await lab.node()).metadata;
    assert.deepEqual(metadata.ownerReferences, [{ apiVersion: 'v1', kind: 'Node', name: 'w-1', uid }]);
  });

  it('lab/N4: a status without change is written every 5 min, with the time of the heartbeat', async () => {
    await using lab = await beating();
    await lab.env.advance(299_000);
    const ready = async () => (await lab.node()).status?.conditions?.find(({ type }) => type === 'Ready');
    assert.equal((await ready())?.lastHeartbeatTime, '2026-01-01T00:00:00Z');
    await lab.env.advance(1000);
    const { lastHeartbeatTime, lastTransitionTime } = (await ready()) ?? {};
    assert.deepEqual([lastHeartbeatTime, lastTransitionTime], ['2026-01-01T00:05:00Z', '2026-01-01T00:00:00Z']);
  });

  it('lab/N4: a change is written at the next beat, once', async () => {
    await using lab = await beating();
    lab.env.recorder.clear();
    lab.added.facts = { capacity: { 'acme.example/npu': '2' }, volumesInUse: ['csi/v'] };
    await lab.env.advance(60_000);
    assert.equal(countOf(lab.writes())[NODE_STATUS], 1);
    const { status } = await lab.node();
    assert.equal(status?.allocatable?.['acme.example/npu'], '2');
    assert.deepEqual(status?.volumesInUse, ['csi/v']);
    lab.added.facts = { removedResources: ['acme.example/npu'] };
    await lab.env.advance(10_000);
    const after = (await lab.node()).status;
    assert.equal(after?.capacity?.['acme.example/npu'], undefined);
    assert.equal(after?.volumesInUse, undefined);
  });

  it('lab/N3: takes back at the next beat what a controller assumed, and leaves what others wrote', async () => {
    await using lab = await beating();
    const conditions = [
      {
        type: 'Ready',
        status: 'Unknown',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
      },
      { type: 'NetworkUnavailable', status: 'False', reason: 'RouteCreated', message: '' },
    ];
    const body = { status: { conditions, capacity: { 'foreign.example/x': '3' } } };
    await lab.env.client.patch(Node, { name: 'w-1' }, { type: 'strategic', body }, { subresource: 'status' });
    await lab.env.advance(10_000);
    const { status } = await lab.node();
    const found = status?.conditions?.map(({ type, status: is }) => `${type} ${is}`).toSorted();
    assert.deepEqual(found, [
      'DiskPressure False',
      'MemoryPressure False',
      'NetworkUnavailable False',
      'PIDPressure False',
      'Ready True',
    ]);
    assert.equal(status?.allocatable?.['foreign.example/x'], '3');
  });

  it('lab/N3: replaces addresses that are not its own', async () => {
    await using lab = await beating();
    const addresses = [
      { type: 'InternalIP', address: '10.9.9.9' },
      { type: 'InternalDNS', address: 'old' },
      { $patch: 'replace' },
    ];
    const body = { status: { addresses } };
    await lab.env.client.patch(Node, { name: 'w-1' }, { type: 'strategic', body }, { subresource: 'status' });
    await lab.env.advance(10_000);
    assert.deepEqual((await lab.node()).status?.addresses, [
      { type: 'InternalIP', address: '10.16.1.1' },
      { type: 'ExternalIP', address: '127.16.1.1' },
      { type: 'Hostname', address: 'w-1' },
    ]);
  });

  it('lab/N5: a Node that is deleted is not created again, nor its Lease', async () => {
    await using lab = await beating();
    await lab.env.advance(30_000);
    await lab.env.client.delete(Node, { name: 'w-1' });
    await lab.env.settle();
    await lab.env.advance(20_000);
    lab.env.recorder.clear();
    await lab.env.advance(600_000);
    assert.equal(await lab.env.client.find(Node, { name: 'w-1' }), undefined);
    assert.equal(await lab.env.client.find(Lease, LEASE), undefined);
    assert.deepEqual(lab.writes(), []);
    assert.deepEqual(lab.lines, []);
  });

  it('lab/N5: a Node that somebody else creates again is kept alive', async () => {
    await using lab = await beating();
    await lab.env.client.delete(Node, { name: 'w-1' });
    await lab.env.settle();
    const { metadata } = await lab.env.client.create(Node, { metadata: { name: 'w-1' } });
    await lab.env.advance(20_000);
    assert.equal((await lab.node()).status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
    const lease = await lab.env.client.get(Lease, LEASE);
    assert.equal(lease.metadata.ownerReferences?.[0]?.uid, metadata.uid);
  });

  it('lab/N6: is silent while it is stopped, and back at once when it is resumed', async () => {
    await using lab = await beating();
    await lab.heartbeat.stopHeartbeat();
    await lab.heartbeat.stopHeartbeat();
    lab.env.recorder.clear();
    await lab.env.advance(600_000);
    assert.deepEqual(lab.env.recorder.requests, []);
    lab.heartbeat.resume();
    lab.heartbeat.resume();
    await lab.env.settle();
    assert.deepEqual(countOf(lab.writes()), { [RENEWAL]: 1, [NODE_STATUS]: 1 });
    await lab.env.advance(10_000);
    assert.equal(countOf(lab.writes())[RENEWAL], 2);
  });

  it('lab/N6: nothing arrives from a node that is cut off, which says so once, and it recovers', async () => {
    await using lab = await beating();
    lab.registered.partition(true);
    lab.env.recorder.clear();
    await lab.env.advance(60_000);
    assert.deepEqual(lab.env.recorder.requests, []);
    assert.equal(lab.lines.filter((line) => line.includes('Heartbeat failed')).length, 2);
    lab.registered.partition(false);
    await lab.env.advance(10_000);
    assert.equal(countOf(lab.writes())[RENEWAL], 1);
    assert.equal(lab.lines.filter((line) => line.includes('Heartbeat is back')).length, 2);
  });

  for (const fault of [
    { kind: 'refuse', status: 500, reason: 'InternalError' },
    { kind: 'reset' },
    { kind: 'lost-response' },
    { kind: 'duplicate' },
  ] as const) {
    it(`lab/N4: goes on after two writes that meet the fault ${fault.kind}`, async () => {
      await using lab = await beating();
      lab.added.facts = { capacity: { 'acme.example/npu': '2' } };
      lab.env.faults.arm({ matches: ({ method }) => method === 'PATCH', fault, times: 2 });
      await lab.env.advance(30_000);
      const { spec } = await lab.env.client.get(Lease, LEASE);
      assert.equal(spec?.renewTime, '2026-01-01T00:00:30.000000Z');
      assert.equal((await lab.node()).status?.capacity?.['acme.example/npu'], '2');
    });
  }

  it('lab/N5: after a restart, what the new life finds is reported once', async () => {
    await using lab = await beating((env) => env.client.create(Node, { metadata: { name: 'w-1' } }));
    assert.equal(lab.registered.wasAdopted, true);
    assert.equal(countOf(lab.writes())[NODE_STATUS], 1);
    assert.equal((await lab.node()).status?.nodeInfo?.kubeletVersion, 'v1.36.0+slipway');
    lab.env.recorder.clear();
    await lab.env.advance(290_000);
    assert.equal(countOf(lab.writes())[NODE_STATUS], undefined);
  });
});
