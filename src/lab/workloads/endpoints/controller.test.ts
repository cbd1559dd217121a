import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { uncoveredWrites } from '../../../../test/support/role-coverage.ts';
import {
  addService,
  addServiceNode,
  addServicePod,
  setPodStatus,
  WEB,
} from '../../../../test/support/service-world.ts';
import { Endpoints, Namespace, Node, Pod, Service } from '../../../api/generated/core-v1.ts';
import { EndpointSlice } from '../../../api/generated/discovery-v1.ts';
import { isInvalid } from '../../../kube/client/api-error.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { TestEnv } from '../../../testing/test-env.ts';
import { endpointSliceController } from './controller.ts';

const start = async (): Promise<TestEnv> => {
  const env = await TestEnv.start();
  await addServiceNode(env, 'n1', 'a');
  await env.startManager({ add: [endpointSliceController()] });
  return env;
};

const slicesOf = async (env: TestEnv): Promise<readonly EndpointSlice[]> => {
  const { items } = await env.client.list(EndpointSlice, {
    namespace: 'default',
    labels: { 'kubernetes.io/service-name': 'web' },
  });
  return items;
};

/** `address ready serving terminating`, of all slices. */
const endpointsOf = async (env: TestEnv): Promise<readonly string[]> =>
  (await slicesOf(env))
    .flatMap(({ endpoints }) => endpoints ?? [])
    .map(({ addresses, conditions = {} }) =>
      [addresses.join(), conditions.ready, conditions.serving, conditions.terminating].join(' '),
    )
    .toSorted();

const sizesOf = async (env: TestEnv): Promise<readonly number[]> =>
  (await slicesOf(env)).map(({ endpoints }) => endpoints?.length ?? 0).toSorted((a, b) => a - b);

const pod = (name: string) => ({ namespace: 'default', name });

describe('the EndpointSlice controller', () => {
  it('lab/W31: follows the life of pods', async () => {
    await using env = await start();
    await addService(env);
    await addServicePod(env, 'p1', { ip: '10.16.32.1', isReady: false });
    await addServicePod(env, 'p2', { ip: '10.16.32.2' });
    await env.settle();
    assert.deepEqual(await endpointsOf(env), ['10.16.32.1 false false false', '10.16.32.2 true true false']);
    await setPodStatus(env, 'p1', { ip: '10.16.32.1' });
    await env.client.delete(Pod, pod('p2'));
    await env.settle();
    assert.deepEqual(await endpointsOf(env), ['10.16.32.1 true true false', '10.16.32.2 false true true']);
    await setPodStatus(env, 'p2', { ip: '10.16.32.2', isReady: false, phase: 'Failed' });
    await env.settle();
    assert.deepEqual(await endpointsOf(env), ['10.16.32.1 true true false']);
    await env.client.delete(Pod, pod('p1'), { gracePeriodSeconds: 0 });
    await env.settle();
    assert.deepEqual(await sizesOf(env), [0]);
  });

  it('lab/W31: follows labels of pods, the selector, and the zone of nodes', async () => {
    await using env = await start();
    await addService(env);
    await addServicePod(env, 'p1', { labels: { app: 'other' } });
    await env.settle();
    assert.deepEqual(await endpointsOf(env), []);
    await env.client.patch(Pod, pod('p1'), { type: 'merge', body: { metadata: { labels: { app: 'web' } } } });
    await env.settle();
    assert.equal((await endpointsOf(env)).length, 1);
    await env.client.patch(
      Node,
      { name: 'n1' },
      { type: 'merge', body: { metadata: { labels: { 'topology.kubernetes.io/zone': 'b' } } } },
    );
    await env.settle();
    assert.equal((await slicesOf(env))[0]?.endpoints?.[0]?.zone, 'b');
    await env.client.patch(Service, WEB, { type: 'merge', body: { spec: { selector: { app: 'new' } } } });
    await env.settle();
    assert.deepEqual(await endpointsOf(env), []);
  });

  it('lab/W31: knows pods again when their node comes', async () => {
    await using env = await start();
    await addService(env);
    await addServicePod(env, 'p1', { node: 'n2' });
    await env.settle();
    assert.deepEqual(await endpointsOf(env), []);
    await addServiceNode(env, 'n2');
    await env.settle();
    assert.equal((await endpointsOf(env)).length, 1);
  });

  it('lab/W31: packs many pods, and one more costs one write', async () => {
    await using env = await TestEnv.start();
    await addServiceNode(env, 'n1');
    await addService(env);
    const numbers = Array.from({ length: 101 }, (_, at) => at + 1);
    await Promise.all(numbers.map((at) => addServicePod(env, `p${at}`, { ip: `10.16.32.${at}` })));
    await env.startManager({ add: [endpointSliceController()] });
    assert.deepEqual(await sizesOf(env), [1, 100]);
    env.recorder.clear();
    await addServicePod(env, 'p102', { ip: '10.16.32.102' });
    await env.settle();
    assert.deepEqual(await sizesOf(env), [2, 100]);
    assert.equal(env.recorder.writes.length, 1);
  });

  it('lab/W31: makes slices again that somebody deletes, and puts right what somebody changes', async () => {
    await using env = await start();
    await addService(env);
    await addServicePod(env, 'p1');
    await env.settle();
    const [slice] = await slicesOf(env);
    assert.match(slice?.metadata.name ?? '', /^web-[a-z0-9]{5}$/);
    const key = { namespace: 'default', name: slice?.metadata.name ?? '' };
    await env.client.patch(EndpointSlice, key, { type: 'merge', body: { endpoints: [] } });
    await env.settle();
    assert.equal((await endpointsOf(env)).length, 1);
    await env.client.delete(EndpointSlice, key);
    await env.settle();
    assert.equal((await endpointsOf(env)).length, 1);
  });

  it('lab/W31: leaves services and slices alone that are not its own', async () => {
    await using env = await start();
    await expectNoWrites(env.recorder, async () => {
      await addService(env, { selector: {} });
      await env.client.create(EndpointSlice, {
        metadata: { namespace: 'default', name: 'mine', labels: { 'kubernetes.io/service-name': 'web' } },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.9.9.9'] }],
      });
      await env.settle();
    });
  });

  it('lab/W31: lets its slices go with the service and with the namespace', async () => {
    await using env = await start();
    await addService(env);
    await addServicePod(env, 'p1');
    await env.settle();
    await env.client.delete(Service, WEB);
    await env.settle();
    assert.deepEqual(await slicesOf(env), []);
    await env.client.create(Namespace, { metadata: { name: 'team' } });
    const metadata = { namespace: 'team', name: 'web' };
    await env.client.create(Service, { metadata, spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } });
    await env.settle();
    await env.client.delete(Namespace, { name: 'team' });
    await env.advance(60_000);
    assert.equal(await env.client.find(Namespace, { name: 'team' }), undefined);
  });

  it('lab/A6: writes nothing when nothing changes, nor when it starts anew', async () => {
    await using env = await start();
    await addService(env);
    await addServicePod(env, 'p1');
    await env.settle();
    await expectNoWrites(env.recorder, async () => {
      await env.startManager({ name: 'another', add: [endpointSliceController()] });
      await env.advance(60 * 60_000);
    });
  });

  it('lab/A5: needs what it uses, and no more than every cluster gives to the controller', async () => {
    await using env = await start();
    await addService(env, { ports: [{ port: 80, targetPort: 'http' }] });
    const at = (containerPort: number) => ({
      containers: [{ name: 'web', ports: [{ name: 'http', containerPort }] }],
    });
    for (const [name, port] of [
      ['p1', 8080],
      ['p2', 9090],
    ] as const)
      await addServicePod(env, name, { spec: at(port) });
    await env.settle();
    for (const name of ['p1', 'p2']) await env.client.delete(Pod, pod(name), { gracePeriodSeconds: 0 });
    await env.settle();
    expectExactRbac(env, { unused: ['create events.k8s.io/events', 'patch events.k8s.io/events'] });
    const role = 'system:controller:endpointslice-controller';
    assert.deepEqual(await uncoveredWrites(env.client, endpointSliceController(), role), []);
  });
});

describe('addresses that the API accepts', () => {
  const LOOPBACK = /may not be in the loopback range \(127\.0\.0\.0\/8, ::1\/128\)/;
  const isRefused = (error: unknown) => isInvalid(error) && LOOPBACK.test((error as Error).message);

  it('lab/W32: no loopback addresses in EndpointSlices and Endpoints', async () => {
    await using env = await TestEnv.start();
    const { client } = env;
    const metadata = { namespace: 'default', name: 'x' };
    const endpoints = [{ addresses: ['127.16.32.1'] }];
    await assert.rejects(client.create(EndpointSlice, { metadata, addressType: 'IPv4', endpoints }), isRefused);
    const subsets = [{ addresses: [{ ip: '127.16.32.1' }] }];
    await assert.rejects(client.create(Endpoints, { metadata, subsets }), isRefused);
  });

  it('lab/W32: but in the status of a load balancer', async () => {
    await using env = await TestEnv.start();
    const { client } = env;
    await addService(env, { type: 'LoadBalancer' });
    const body = { status: { loadBalancer: { ingress: [{ ip: '127.16.128.1' }] } } };
    const written = await client.patch(Service, WEB, { type: 'merge', body }, { subresource: 'status' });
    assert.equal(written.status?.loadBalancer?.ingress?.[0]?.ip, '127.16.128.1');
  });
});
