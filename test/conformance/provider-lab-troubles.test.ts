import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messageOf } from '../../src/base/errors.ts';
import { CLOUD_ERROR_CODES } from '../../src/lab/cloud/cloud-error.ts';
import { instanceIdOf } from '../../src/providers/lab/instance-choice.ts';
import { KIND_OF_CODE } from '../../src/providers/lab/lab-errors.ts';
import type { InstanceRef } from '../../src/sdk/capabilities/instances.ts';
import { callWith, capabilityOf } from '../../src/sdk/conformance/contract-subject.ts';
import { gone, type PlannedBalancer, planned, ready } from '../../src/sdk/conformance/planned-balancer.ts';
import { isProviderError, type ProviderErrorKind } from '../../src/sdk/provider/provider-error.ts';
import { idOf, type LabProviderOptions, LabProviderWorld, labSubjects } from '../support/lab-provider-world.ts';

const thrownBy = async (
  call: Promise<unknown>,
): Promise<{ kind: ProviderErrorKind; message: string; ms?: number }> => {
  const error: unknown = await call.then(
    (answer) => assert.fail(`it answered ${JSON.stringify(answer)}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(isProviderError(error), messageOf(error));
  const { kind, message, retryAfterMs } = error;
  return { kind, message, ...(retryAfterMs !== undefined && { ms: retryAfterMs }) };
};

const zonesOf = (lab: Pick<LabProviderWorld, 'provider'>) =>
  lab.provider.capabilities.zones?.list(callWith()) ?? assert.fail('no zones');

const describeOne = (lab: LabProviderWorld, ref: InstanceRef) =>
  lab.provider.capabilities.instances?.describe(ref, callWith()) ?? assert.fail('no instances');

const asked = (lab: LabProviderWorld, after: string, filter: object = {}) =>
  lab.world.cloud.journal({ credential: 'lab-provider', after, ...filter });

const lastRequest = (lab: LabProviderWorld): string => lab.world.cloud.journal().at(-1)?.requestId ?? '';

describe('the provider for the lab, and its token', () => {
  it('lab/C1: asks for one when it needs it, and for another before the first ends', async () => {
    await using lab = await LabProviderWorld.start({ tokenLifeSeconds: 600 });
    const tokens = () => lab.world.cloud.journal({ path: '/v1/tokens', credential: 'lab-provider' }).length;
    assert.equal(tokens(), 0, 'connecting asks nobody');
    await Promise.all([zonesOf(lab), zonesOf(lab), zonesOf(lab)]);
    assert.equal(tokens(), 1);
    await lab.wait(530_000);
    await zonesOf(lab);
    assert.equal(tokens(), 1);
    await lab.wait(20_000);
    await zonesOf(lab);
    assert.equal(tokens(), 2);
    assert.deepEqual(asked(lab, '', { status: 401 }), []);
  });

  it('lab/C1: asks for another when the cloud says that it has expired, once, and goes on', async () => {
    await using lab = await LabProviderWorld.start();
    await zonesOf(lab);
    lab.fault({ match: { kind: 'zones' }, effect: { status: 401, code: 'TokenExpired' }, times: 1 });
    assert.equal((await zonesOf(lab)).length, 2);
    using _always = lab.fault({ match: { kind: 'zones' }, effect: { status: 401, code: 'TokenExpired' } });
    const mark = lastRequest(lab);
    assert.equal((await thrownBy(zonesOf(lab))).kind, 'unauthenticated');
    assert.equal(lab.world.cloud.journal({ after: mark, kind: 'zones' }).length, 2);
  });

  it('lab/C1, style/S35: says that a credential is not accepted, and never shows it', async () => {
    await using lab = await LabProviderWorld.start();
    const secret = lab.world.cloud.credentials().find(({ clientId }) => clientId === 'lab-provider')?.clientSecret;
    await zonesOf(lab);
    await lab.world.cloud.revoke('lab-provider');
    for (const when of ['with a token', 'without one']) {
      const { kind, message } = await thrownBy(zonesOf(lab));
      assert.equal(kind, 'unauthenticated', when);
      assert.ok(!message.includes(secret ?? ''), when);
    }
  });

  it('lab/C3: knows every code of the cloud', () => {
    assert.deepEqual(Object.keys(KIND_OF_CODE).sort(), [...CLOUD_ERROR_CODES]);
  });

  it('connects to a cloud that is down: only calls fail', async () => {
    await using lab = await LabProviderWorld.start();
    await using provider = await lab.connect('region: north');
    assert.deepEqual([provider.clusterId, provider.clusterTags], ['c1', { 'kubernetes.io/cluster/c1': 'owned' }]);
    await lab.world[Symbol.asyncDispose]();
    assert.equal((await thrownBy(zonesOf({ provider }))).kind, 'unavailable');
  });

  it('lab/C8: says when to come back', async () => {
    await using lab = await LabProviderWorld.start({ rates: { read: { perSecond: 0.1, burst: 1 } } });
    await zonesOf(lab);
    const { kind, ms } = await thrownBy(zonesOf(lab));
    assert.deepEqual([kind, ms], ['throttled', 10_000]);
    await lab.wait(10_000);
    assert.equal((await zonesOf(lab)).length, 2);
  });

  it('lab/C11: a call that nobody answers ends with its time, and a part of an answer is none', async () => {
    await using lab = await LabProviderWorld.start();
    await zonesOf(lab);
    {
      using _hang = lab.fault({ match: {}, effect: { hang: true } });
      const call = thrownBy(zonesOf(lab));
      await lab.world.clock.advance(60_000);
      assert.match((await call).message, /lab\.zones\.list gave no answer within 1m0s/);
    }
    lab.fault({ match: { kind: 'zones' }, effect: { truncate: true }, times: 1 });
    assert.equal((await thrownBy(zonesOf(lab))).kind, 'unavailable');
  });
});

describe('machines of the lab', () => {
  it('lab/C13: are shown with type, place and addresses', async () => {
    await using lab = await LabProviderWorld.start({ more: 'region: north' });
    const { ref, nodeIP } = await lab.machine({ name: 'w-1', zone: 'b' });
    await lab.wait(5000);
    assert.deepEqual(await describeOne(lab, ref), {
      state: 'present',
      power: 'on',
      providerID: `lab://b/${idOf(ref.providerID)}`,
      instanceType: 'lab.small',
      addresses: [
        { type: 'InternalIP', address: nodeIP },
        { type: 'ExternalIP', address: nodeIP.replace(/^10/, '127') },
        { type: 'InternalDNS', address: 'w-1.b.lab.internal' },
        { type: 'Hostname', address: 'w-1' },
      ],
      zone: 'b',
      region: 'north',
    });
  });

  it('lab/C13, lab/C7: that cannot be found are unknown at first, and absent later', async () => {
    await using lab = await LabProviderWorld.start();
    const ref = lab.refOf('w-1', 'lab://a/i-0123456789ab');
    const early = await thrownBy(describeOne(lab, ref));
    assert.deepEqual([early.kind, early.ms], ['unavailable', 2000]);
    await lab.wait(2001);
    const late = await describeOne(lab, ref);
    assert.equal(late.state, 'absent');
    assert.match(
      late.state === 'absent' ? late.evidence : '',
      /there is no instance i-0123456789ab \(NotFound, HTTP 404, req-/,
    );
  });

  it('ccm/I4: a 404 that is not of the cloud proves nothing', async () => {
    await using lab = await LabProviderWorld.start({});
    const { ref } = await lab.machine();
    await lab.wait(10_000);
    // A proxy in between: its page has no code of the cloud.
    lab.fault({ match: { kind: 'instances' }, effect: { status: 404, code: 'Internal' }, times: 1 });
    assert.equal((await thrownBy(describeOne(lab, ref))).kind, 'unavailable');
  });

  const strangers = [
    'aws:///a/i-0123456789ab',
    'lab://a',
    'lab://a/i-xyz',
    'lab://a/../tokens',
    'xlab://a/i-0123456789ab',
  ];
  for (const providerID of strangers) {
    it(`of others are unmanaged, without a request: ${providerID}`, async () => {
      await using lab = await LabProviderWorld.start();
      assert.deepEqual(await describeOne(lab, lab.refOf('w-1', providerID)), { state: 'unmanaged' });
      assert.deepEqual(asked(lab, ''), []);
      assert.equal(instanceIdOf(providerID), undefined);
    });
  }

  it('with the identifier of one and the zone of another are unmanaged', async () => {
    await using lab = await LabProviderWorld.start();
    const { ref } = await lab.machine();
    const other = lab.refOf(ref.nodeName, ref.providerID?.replace('//a/', '//b/'));
    assert.deepEqual(await describeOne(lab, other), { state: 'unmanaged' });
  });

  it('lab/C5: with the same name are told apart by address and cluster', async () => {
    await using lab = await LabProviderWorld.start();
    const first = await lab.machine({ name: 'twin' });
    await lab.machine({ name: 'twin', tags: {} });
    await lab.wait(5000);
    const found = async (ref: InstanceRef) => {
      const answer = await describeOne(lab, ref);
      return answer.state === 'present' ? answer.providerID : answer.state;
    };
    assert.equal(await found(lab.refOf('twin')), first.ref.providerID, 'the other is of nobody');
    const second = await lab.machine({ name: 'twin' });
    assert.match(
      (await thrownBy(describeOne(lab, lab.refOf('twin')))).message,
      /several instances are called twin: i-/,
    );
    const ref = lab.refOf('twin');
    const node = { ...ref.node, status: { addresses: [{ type: 'InternalIP', address: second.nodeIP }] } };
    assert.equal(await found({ ...ref, node }), second.ref.providerID);
    await lab.terminate(first.ref);
    await lab.terminate(second.ref);
    await lab.wait(10_000);
    assert.equal(await found(ref), 'absent');
    const nobody = lab.refOf('nobody');
    await lab.wait(3000);
    assert.equal(await found(nobody), 'unmanaged', 'a machine of another cloud may have this name');
  });

  it('are asked for in pages, and one by one only when no page shows them', async () => {
    await using lab = await LabProviderWorld.start({ quotas: { instances: 300, vcpus: 1000 } });
    const machines = await Promise.all(Array.from({ length: 120 }, () => lab.machine()));
    const stranger = await lab.machine({ tags: {} });
    await lab.wait(5000);
    await zonesOf(lab);
    const mark = lastRequest(lab);
    const refs = [...machines, stranger].map(({ ref }) => ref);
    const answers = await lab.provider.capabilities.instances?.describeMany?.(refs, callWith());
    assert.equal([...(answers?.values() ?? [])].filter(({ state }) => state === 'present').length, 121);
    assert.deepEqual(
      asked(lab, mark, { kind: 'instances' }).map(({ path }) => path),
      ['/v1/instances', '/v1/instances', `/v1/instances/${idOf(stranger.ref.providerID)}`],
    );
  });

  it('that nobody can tell about now are left out, and the others are not', async () => {
    await using lab = await LabProviderWorld.start();
    const { ref } = await lab.machine();
    const hidden = await lab.machine({ tags: {} });
    await lab.wait(5000);
    const path = `/v1/instances/${idOf(hidden.ref.providerID)}`;
    using _broken = lab.fault({ match: { path }, effect: { status: 500 } });
    const answers = await lab.provider.capabilities.instances?.describeMany?.([ref, hidden.ref], callWith());
    assert.deepEqual([...(answers?.keys() ?? [])], [ref.nodeName]);
  });
});

/** A lab with everything that a load balancer needs. */
async function balanced(options: LabProviderOptions = {}) {
  const subject = await labSubjects(options).loadBalancers();
  const [balancer, lab] = [planned(subject), subject.lab];
  return { subject, lab, balancer, [Symbol.asyncDispose]: () => subject[Symbol.asyncDispose]() };
}

const balancersIn = (lab: LabProviderWorld) => lab.world.cloud.state.list({ plural: 'load-balancers' });
const bodyOf = async (lab: LabProviderWorld, { plan }: PlannedBalancer) =>
  await lab.world.look('load-balancers', balancersIn(lab).find(({ name }) => name === plan.name)?.id ?? '');

describe('load balancers of the lab', () => {
  it('lab/C4: are ordered with a key of the plan, and a lost answer is uncertain', async () => {
    await using it = await balanced();
    const { lab, balancer, subject } = it;
    await using _lost = await subject.loseAnswer?.();
    assert.equal((await thrownBy(balancer.ensureOnce())).kind, 'uncertain');
    assert.equal((await balancer.ensureOnce()).kind, 'pending');
    assert.equal(balancersIn(lab).length, 1);
    const [order] = lab.world.cloud.journal({ method: 'POST', kind: 'load-balancers' });
    assert.ok(order?.idempotencyKey?.startsWith(`${balancer.plan.idempotencyToken}.`));
  });

  it('lab/C7: a lost answer and a list that lags behind make no second one, whatever the plan says by then', async () => {
    for (const port of [undefined, 4001]) {
      await using it = await balanced({ consistencyMs: 2000 });
      const { lab, balancer, subject } = it;
      {
        await using _lost = await subject.loseAnswer?.();
        await thrownBy(balancer.ensureOnce());
      }
      if (port !== undefined) balancer.change({ ports: [{ protocol: 'TCP', port, nodePort: 30_000 }] });
      assert.equal((await balancer.ensureOnce()).kind, 'pending');
      assert.equal(balancersIn(lab).length, 1);
    }
  });

  it('lab/C7: are not believed to be missing before lists can show them, also not after a restart', async () => {
    await using it = await balanced({ consistencyMs: 2000 });
    const { lab, balancer, subject } = it;
    await lab.wait(5000);
    {
      await using _lost = await subject.loseAnswer?.();
      await thrownBy(balancer.ensureOnce());
    }
    assert.equal((await thrownBy(balancer.find())).kind, 'uncertain');
    assert.equal((await thrownBy(balancer.remove())).kind, 'uncertain');
    await using provider = await lab.connect();
    const again = planned({ ...subject, provider }, { name: balancer.plan.name });
    const { kind, ms } = await thrownBy(again.remove());
    assert.deepEqual([kind, ms], ['uncertain', 2000]);
    await lab.wait(2000);
    await gone(again);
    assert.deepEqual(balancersIn(lab), []);
  });

  it('lab/C7: that were ordered a moment ago are found by their identifier', async () => {
    await using it = await balanced({ consistencyMs: 2000 });
    await it.balancer.ensureOnce();
    assert.deepEqual(await it.balancer.find(), []);
    assert.equal(await it.balancer.setBackends(it.balancer.plan.backends), 'updated');
    assert.equal((await thrownBy(it.balancer.remove())).kind, 'in-use');
    await it.lab.wait(2000);
    assert.equal(await it.balancer.find(), undefined);
  });

  it('of somebody else with the same name are neither taken nor touched', async () => {
    await using it = await balanced();
    const { lab, balancer } = it;
    const listeners = [{ port: 4002, targetPort: 1 }];
    await lab.world.make('load-balancers', { name: balancer.plan.name, listeners });
    await lab.wait(5000);
    const { kind, message } = await thrownBy(balancer.ensureOnce());
    assert.equal(kind, 'conflict');
    assert.match(message, /does not carry the tag of this cluster/);
    assert.equal(await balancer.find(), undefined);
    assert.equal(await balancer.setBackends([]), 'gone');
    await balancer.remove();
    assert.equal(balancersIn(lab)[0]?.state, 'active');
  });

  it('change the way of their health checks', async () => {
    await using it = await balanced();
    const { lab, balancer } = it;
    const check = async () => (await bodyOf(lab, balancer))['healthCheck'] as Record<string, unknown>;
    balancer.change({ healthCheck: { path: '/healthz', port: 31_000 } });
    await ready(balancer);
    const { protocol, path, port } = await check();
    assert.deepEqual([protocol, path, port], ['http', '/healthz', 31_000]);
    const { healthCheck: _none, ...plan } = balancer.plan;
    const plain = planned(it.subject, plan);
    await ready(plain);
    const { protocol: now, path: at, port: none } = await check();
    assert.deepEqual([now, at, none], ['tcp', '/', undefined]);
  });

  it('lab/C16: let in whom the plan lets in', async () => {
    await using it = await balanced();
    it.balancer.change({ sourceRanges: ['10.9.0.0/16'] });
    await ready(it.balancer);
    assert.deepEqual((await bodyOf(it.lab, it.balancer))['sourceRanges'], ['10.9.0.0/16']);
    it.balancer.change({ sourceRanges: ['nonsense'] });
    const { kind, message } = await thrownBy(it.balancer.ensureOnce());
    assert.deepEqual([kind, /"nonsense" is not a range/.test(message)], ['invalid', true]);
  });

  it('are made anew when they have to become internal', async () => {
    await using it = await balanced();
    await ready(it.balancer);
    const first = balancersIn(it.lab)[0]?.id;
    it.balancer.change({ scope: 'internal' });
    const outcome = await it.balancer.ensureOnce();
    assert.match(outcome.kind === 'pending' ? outcome.why : '', /was public; a new one is made/);
    await ready(it.balancer);
    const [second] = balancersIn(it.lab);
    assert.notEqual(second?.id, first);
    assert.equal((await bodyOf(it.lab, it.balancer))['scheme'], 'internal');
  });

  it('change nothing when nothing is to be changed, and wait while they cannot be changed', async () => {
    await using it = await balanced();
    const { lab, balancer } = it;
    await balancer.ensureOnce();
    balancer.change({ sourceRanges: [] });
    const early = await balancer.ensureOnce();
    assert.match(early.kind === 'pending' ? early.why : '', /is provisioning: try again/);
    await ready(balancer);
    const generation = balancersIn(lab)[0]?.generation;
    await ready(balancer);
    assert.equal(balancersIn(lab)[0]?.generation, generation);
  });

  it('are not told to be gone because a backend is', async () => {
    await using it = await balanced();
    await ready(it.balancer);
    const backend = { nodeName: 'w', providerID: 'lab://a/i-0123456789ab', addresses: [] };
    assert.equal((await thrownBy(it.balancer.setBackends([backend]))).kind, 'not-found');
    it.balancer.change({ backends: [backend] });
    assert.equal((await thrownBy(it.balancer.ensureOnce())).kind, 'not-found');
  });
});

describe('routes of the lab', () => {
  const route = (targetNode: string, destinationCIDR = '10.244.7.0/24') => ({ targetNode, destinationCIDR });

  async function routed() {
    const subject = await labSubjects().routes();
    const capability = capabilityOf(subject, 'routes');
    const query = { cluster: 'c1', tags: subject.provider.clusterTags };
    return {
      subject,
      lab: subject.lab,
      capability,
      query,
      [Symbol.asyncDispose]: () => subject[Symbol.asyncDispose](),
    };
  }

  it('are found by the name of their node, and lead nowhere without it', async () => {
    await using it = await routed();
    const { target } = it.subject;
    await it.capability.create(route(target.nodeName), { ...it.query, nameHint: 'n' }, callWith());
    const [before] = await it.capability.list(it.query, callWith());
    assert.deepEqual([before?.targetNode, before?.blackhole], [target.nodeName, undefined]);
    await it.lab.terminate(it.lab.refOf(target.nodeName, target.providerID));
    await it.lab.wait(5000);
    const [dead] = await it.capability.list(it.query, callWith());
    assert.deepEqual([dead?.targetNode, dead?.blackhole], [target.nodeName, true]);
    await it.lab.wait(3_700_000);
    const [nameless] = await it.capability.list(it.query, callWith());
    assert.deepEqual([nameless?.targetNode, nameless?.blackhole], ['', true]);
  });

  it('lab/C11: survive a lost answer', async () => {
    await using it = await routed();
    const { nodeName, providerID } = it.subject.target;
    const create = () =>
      it.capability.create(route(nodeName), { ...it.query, nameHint: 'n', providerID }, callWith());
    it.lab.fault({ match: { method: 'POST', kind: 'routes' }, effect: { dropAfter: 'commit' }, times: 1 });
    assert.equal((await thrownBy(create())).kind, 'uncertain');
    await create();
    assert.equal((await it.capability.list(it.query, callWith())).length, 1);
  });

  it('do not take a destination from somebody else, and do not remove what is not theirs', async () => {
    await using it = await routed();
    const { nodeName, providerID } = it.subject.target;
    const creation = { ...it.query, nameHint: 'n', providerID };
    const body = { destinationCidr: '10.244.7.0/24', targetInstanceId: idOf(providerID) };
    const id = await it.lab.world.make('routes', body);
    assert.equal((await thrownBy(it.capability.create(route(nodeName), creation, callWith()))).kind, 'conflict');
    await it.capability.remove({ ...route(nodeName), name: id }, it.query, callWith());
    await it.capability.remove(route(nodeName), it.query, callWith());
    await it.lab.world.look('routes', id);
    const other = await it.lab.machine();
    await it.capability.create(route(nodeName, '10.244.8.0/24'), creation, callWith());
    const moved = { ...creation, providerID: other.ref.providerID ?? '' };
    const taken = await thrownBy(it.capability.create(route('x', '10.244.8.0/24'), moved, callWith()));
    assert.match(taken.message, /has the route rt-\w+, which leads to i-/);
    await it.capability.remove(route(nodeName, '10.244.8.0/24'), it.query, callWith());
    assert.deepEqual(await it.capability.list(it.query, callWith()), []);
  });

  it('need a machine', async () => {
    await using it = await routed();
    const call = it.capability.create(route('nobody'), { ...it.query, nameHint: 'n' }, callWith());
    const { kind, message } = await thrownBy(call);
    assert.deepEqual([kind, /no instance is called nobody/.test(message)], ['not-found', true]);
  });
});
