import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { phaseContext } from '../../../test/support/phase-context.ts';
import { Lease } from '../../api/generated/coordination-v1.ts';
import { Event, Namespace, Node, Pod, Service } from '../../api/generated/core-v1.ts';
import type { JsonObject } from '../../api/json.ts';
import { ClusterOperator } from '../../api/openshift/config-v1.ts';
import { type Lab, startLab } from '../../lab/index.ts';
import { becomeOpenShift } from '../cloud-operator/openshift-cluster.ts';
import type { ProbeAnswer } from '../journey/phase.ts';
import { LAB } from '../lab/lab-handover.ts';
import { definitionPhase } from '../provider/definition-phase.ts';
import { cloudProbes } from './cloud-probes.ts';

const NAMESPACE = 'openshift-acme-cloud-cloud-controller-manager';
const OPERATOR = { namespace: `${NAMESPACE}-operator`, name: 'operator-1' };
const POD = { namespace: NAMESPACE, name: 'ccm-1' };
const LABELS = {
  'k8s-app': 'acme-cloud-cloud-controller-manager',
  'infrastructure.openshift.io/cloud-controller-manager': 'acme-cloud',
};
const NODES = ['cp-0', 'cp-1', 'cp-2', 'w-0', 'w-1'];
const TAINT = { key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' as const };

/** The tests stand in for everything: each makes one more thing true, in the order of the probes. */
describe('the probes of the cloud phase', () => {
  const { context } = phaseContext('/nowhere');
  let lab: Lab;
  before(async () => {
    await definitionPhase().run(context);
    const replace = { nodeLifecycle: 'off', scheduler: 'off', endpoints: 'off' } as const;
    lab = await startLab({ cloud: true, clock: 'auto', replace });
    LAB.put(context, { lab, isScenario: false, startedAt: lab.clock.now() });
  });
  after(() => lab[Symbol.asyncDispose]());

  /** The first that is false, as the journey asks them. */
  const firstFalse = async (): Promise<
    { readonly predicate: string; readonly answer: ProbeAnswer } | undefined
  > => {
    for (const probe of cloudProbes) {
      const answer = await probe.ask(context);
      if (!answer.isTrue) return { predicate: probe.predicate, answer };
    }
    return undefined;
  };
  const cause = async () => {
    const { predicate = 'none', answer } = (await firstFalse()) ?? {};
    const { evidence = '', look = [], next = [] } = answer === undefined || answer.isTrue ? {} : { ...answer };
    return { predicate, evidence, commands: [...look, ...next].join('\n') };
  };
  const podStatus = async (status: JsonObject, key = POD): Promise<void> => {
    const container = { name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0, ...status };
    const body = { status: { phase: 'Running', containerStatuses: [container] } };
    await lab.cluster().client.patch(Pod, key, { type: 'merge', body }, { subresource: 'status' });
  };

  it('experience/X31: name the machines that are no nodes', async () => {
    const { predicate, evidence } = await cause();
    assert.equal(predicate, 'the machines of the cloud are nodes');
    for (const name of NODES) assert.ok(evidence.includes(`${name} (not in the cloud)`), evidence);
  });

  it('experience/X31: say that nobody has made a pod of the cloud controller manager', async () => {
    const { client } = lab.cluster();
    const status = { conditions: [{ type: 'Ready', status: 'True' as const, reason: 'KubeletReady' }] };
    for (const name of NODES) {
      await client.create(Node, { metadata: { name }, spec: { taints: [TAINT] } });
      await client.patch(Node, { name }, { type: 'merge', body: { status } }, { subresource: 'status' });
    }
    await client.create(Namespace, { metadata: { name: NAMESPACE } });
    const { predicate, evidence } = await cause();
    assert.equal(predicate, 'a pod of the cloud controller manager exists');
    assert.equal(evidence, `namespace ${NAMESPACE} has no pod of it`);
  });

  it('experience/X31, operator/R53: say that the operator ends over and over, or why it cannot deploy', async () => {
    const { client } = lab.cluster();
    await client.create(Namespace, { metadata: { name: OPERATOR.namespace } });
    await client.create(Pod, {
      metadata: { ...OPERATOR, labels: { 'k8s-app': 'cloud-manager-operator' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    const terminated = { exitCode: 2, message: 'no such flag\n' };
    await podStatus({ state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated } }, OPERATOR);
    const ended = await cause();
    assert.equal(ended.predicate, 'the cloud operator stays up');
    assert.equal(ended.evidence, 'pod operator-1 ended once: no such flag');
    assert.match(ended.commands, new RegExp(`logs --previous -n ${OPERATOR.namespace} operator-1 -c c`));
    await podStatus({ state: { running: { startedAt: lab.clock.now().toISOString() } } }, OPERATOR);
    await becomeOpenShift(lab.cluster(), {
      infrastructureName: 'lab',
      platformStatus: { type: 'External' },
      version: '4.22.0',
    });
    const name = 'acme-cloud-cloud-controller-manager';
    await client.apply(ClusterOperator, { metadata: { name }, spec: {} });
    const degraded = (status: 'True' | 'False') => ({
      type: 'Degraded',
      status,
      message: 'no images',
      lastTransitionTime: '2030-01-01T00:00:00Z',
    });
    await client.applyStatus(ClusterOperator, { metadata: { name }, status: { conditions: [degraded('True')] } });
    const { predicate, evidence } = await cause();
    assert.equal(predicate, 'the cloud operator can deploy');
    assert.equal(evidence, `ClusterOperator ${name}: no images`);
    await client.applyStatus(ClusterOperator, { metadata: { name }, status: { conditions: [degraded('False')] } });
    assert.equal((await cause()).predicate, 'a pod of the cloud controller manager exists');
  });

  it('experience/X31: repeat why its pod is on no node', async () => {
    const { client } = lab.cluster();
    await client.create(Pod, {
      metadata: { ...POD, labels: LABELS },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: 'no node has room',
    };
    const body = { status: { conditions: [condition] } };
    await client.patch(Pod, POD, { type: 'merge', body }, { subresource: 'status' });
    assert.equal((await cause()).evidence, 'pod ccm-1 is on no node: no node has room');
  });

  it('experience/X31: tell a pod that does not start from one that ends', async () => {
    const { client } = lab.cluster();
    const target = { kind: 'Node', name: 'cp-0' };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: POD, target };
    await client.subresource('binding').create(Pod, POD, binding);
    await podStatus({ state: { waiting: { reason: 'ErrImagePull', message: 'no such image' } } });
    assert.equal((await cause()).evidence, 'pod ccm-1 does not start: ErrImagePull: no such image');
    const terminated = { exitCode: 1, message: 'one\ntwo\nthree\nfour\n' };
    const running = { startedAt: lab.clock.now().toISOString() };
    const ends = [
      { status: { state: { terminated } }, times: 'once' },
      {
        status: { state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated }, restartCount: 2 },
        times: '3 times',
      },
      { status: { state: { running }, lastState: { terminated }, restartCount: 3 }, times: '3 times' },
    ];
    for (const { status, times } of ends) {
      await podStatus(status);
      const { evidence, commands } = await cause();
      assert.equal(evidence, `pod ccm-1 ended ${times}: two · three · four`);
      assert.match(commands, new RegExp(`without --once:\nkubectl .* logs --previous -n ${NAMESPACE} ccm-1`));
    }
  });

  it('experience/X31: repeat what was said of an object that waits, and not of one that is done', async () => {
    const { client } = lab.cluster();
    await podStatus({ state: { running: { startedAt: lab.clock.now().toISOString() } } });
    for (const name of ['cp-0', 'other'])
      await client.create(Event, {
        metadata: { namespace: 'default', name: `about-${name}` },
        type: 'Warning',
        reason: 'CloudDenied',
        message: `not allowed for ${name}`,
        involvedObject: { kind: 'Node', name },
        source: { component: 'cloud-node-controller' },
      });
    const { predicate, evidence, commands } = await cause();
    assert.equal(predicate, 'the provider answers');
    assert.equal(evidence, 'Node cp-0: CloudDenied: not allowed for cp-0');
    assert.match(commands, new RegExp(`logs -n ${NAMESPACE} ccm-1`));
    await client.delete(Event, { namespace: 'default', name: 'about-cp-0' });
    assert.notEqual((await cause()).predicate, 'the provider answers');
  });

  it('experience/X31: repeat the newest of several, and nothing of a node that is gone', async () => {
    const { client } = lab.cluster();
    const { uid = '' } = (await client.get(Node, { name: 'cp-0' })).metadata;
    const events = [
      { name: 'a', uid, lastTimestamp: '2030-01-01T00:00:02Z' },
      { name: 'b', uid, lastTimestamp: '2030-01-01T00:00:01Z' },
      { name: 'c', uid: 'of-an-earlier-run', lastTimestamp: '2030-01-01T00:00:03Z' },
    ];
    for (const { name, uid: of, lastTimestamp } of events)
      await client.create(Event, {
        metadata: { namespace: 'default', name },
        type: 'Warning',
        reason: 'CloudDenied',
        message: name,
        involvedObject: { kind: 'Node', name: 'cp-0', uid: of },
        source: { component: 'cloud-node-controller' },
        lastTimestamp,
      });
    assert.equal((await cause()).evidence, 'Node cp-0: CloudDenied: a');
    for (const { name } of events.slice(0, 2)) await client.delete(Event, { namespace: 'default', name });
    assert.notEqual((await cause()).predicate, 'the provider answers');
  });

  it('experience/X31: say that nobody leads', async () => {
    const { client } = lab.cluster();
    assert.match((await cause()).evidence, /^none of its pods holds the lease/);
    const acquireTime = new Date(lab.clock.now().getTime() + 1000).toISOString().replace('Z', '000Z');
    await client.create(Lease, {
      metadata: { namespace: NAMESPACE, name: 'cloud-controller-manager' },
      spec: { holderIdentity: 'cp-0_x', acquireTime, leaseDurationSeconds: 137 },
    });
    assert.notEqual((await cause()).predicate, 'a pod of the cloud controller manager leads');
  });

  it('experience/X31: name the nodes that still wait, and the Service without an address', async () => {
    const { client } = lab.cluster();
    assert.equal((await cause()).evidence, `these nodes still wait for it: ${NODES.join(', ')}`);
    for (const [at, name] of NODES.entries()) {
      const spec = { providerID: `acme-cloud://a/i-00000000000${at}`, taints: null };
      await client.patch(Node, { name }, { type: 'merge', body: { spec } });
    }
    const key = { namespace: 'default', name: 'hello' };
    await client.create(Service, { metadata: key, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } });
    assert.equal((await cause()).evidence, 'Service hello has no address of a load balancer');
    const body = { status: { loadBalancer: { ingress: [{ ip: '127.0.0.1' }] } } };
    await client.patch(Service, key, { type: 'merge', body }, { subresource: 'status' });
    assert.equal(await firstFalse(), undefined);
  });
});
