import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { uncoveredWrites } from '../../../../test/support/role-coverage.ts';
import {
  addService,
  addServicePod,
  serviceLike,
  servicePod,
  setPodStatus,
  WEB,
} from '../../../../test/support/service-world.ts';
import { Endpoints, Pod, Service } from '../../../api/generated/core-v1.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { TestEnv } from '../../../testing/test-env.ts';
import { endpointsController } from './legacy-controller.ts';
import { legacySubsets } from './legacy-subsets.ts';

const start = async (): Promise<TestEnv> => {
  const env = await TestEnv.start();
  await env.startManager({ add: [endpointsController()] });
  return env;
};

const summary = (subsets: ReturnType<typeof legacySubsets>) =>
  subsets.map(({ addresses = [], notReadyAddresses = [], ports = [] }) => [
    addresses.map(({ ip }) => ip).join(),
    notReadyAddresses.map(({ ip }) => ip).join(),
    ports.map(({ port }) => port).join(),
  ]);

describe('legacySubsets', () => {
  const pods = [
    servicePod('b', { ip: '10.16.32.2' }),
    servicePod('a', { ip: '10.16.32.1' }),
    servicePod('c', { ip: '10.16.32.3', isReady: false }),
    servicePod('d', { ip: '10.16.32.4', isLeaving: true }),
    servicePod('e', { ip: '10.16.32.5', phase: 'Failed' }),
    servicePod('f', { ip: '' }),
    servicePod('g', { ip: '10.16.32.7', labels: {} }),
  ];

  it('lab/W31: ready ones and others apart, without those on their way out', () => {
    assert.deepEqual(summary(legacySubsets(serviceLike(), pods)), [
      ['10.16.32.1,10.16.32.2', '10.16.32.3', '8080'],
    ]);
  });

  it('lab/W31: all of them as ready when they are to be published', () => {
    const all = legacySubsets(serviceLike({ publishNotReadyAddresses: true }), pods);
    assert.deepEqual(summary(all), [['10.16.32.1,10.16.32.2,10.16.32.3,10.16.32.4', '', '8080']]);
  });

  it('lab/W31: ports with the same pods together, others apart', () => {
    const ports = [
      { name: 'a', port: 1 },
      { name: 'b', port: 2 },
      { name: 'c', port: 3, targetPort: 'c' },
    ];
    const named = { spec: { containers: [{ name: 'x', ports: [{ name: 'c', containerPort: 33 }] }] } };
    const two = [servicePod('p', { ip: '10.16.32.1' }), servicePod('q', { ip: '10.16.32.2', ...named })];
    assert.deepEqual(summary(legacySubsets(serviceLike({ ports }), two)), [
      ['10.16.32.1,10.16.32.2', '', '1,2'],
      ['10.16.32.2', '', '33'],
    ]);
  });

  it('lab/W31: a headless service without ports still has addresses', () => {
    const headless = serviceLike({ clusterIP: 'None', ports: [] });
    assert.deepEqual(summary(legacySubsets(headless, pods.slice(0, 1))), [['10.16.32.2', '', '']]);
  });
});

describe('the Endpoints controller', () => {
  it('lab/W31: follows pods, and deletes what it made with the service', async () => {
    await using env = await start();
    await addService(env);
    await env.settle();
    assert.deepEqual((await env.client.get(Endpoints, WEB)).subsets ?? [], []);
    await addServicePod(env, 'p1', { isReady: false });
    await env.settle();
    const read = async () => summary((await env.client.get(Endpoints, WEB)).subsets ?? []);
    assert.deepEqual(await read(), [['', '10.16.32.1', '8080']]);
    await setPodStatus(env, 'p1', {});
    await env.settle();
    assert.deepEqual(await read(), [['10.16.32.1', '', '8080']]);
    await env.client.delete(Pod, { namespace: 'default', name: 'p1' });
    await env.settle();
    assert.deepEqual(await read(), []);
    await env.client.delete(Service, WEB);
    await env.settle();
    assert.equal(await env.client.find(Endpoints, WEB), undefined);
  });

  it('lab/W31: leaves alone what others made', async () => {
    await using env = await start();
    await expectNoWrites(env.recorder, async () => {
      await env.client.create(Endpoints, { metadata: WEB, subsets: [{ addresses: [{ ip: '10.9.9.9' }] }] });
      await env.settle();
      await addService(env, { selector: {} });
      await env.advance(60 * 60_000);
    });
  });

  it('lab/A5, lab/A6: needs what it uses, and writes nothing when nothing changes', async () => {
    await using env = await start();
    await addService(env);
    await addServicePod(env, 'p1');
    await env.settle();
    await expectNoWrites(env.recorder, async () => {
      await env.startManager({ name: 'another', add: [endpointsController()] });
      await env.advance(60 * 60_000);
    });
    await env.client.delete(Service, WEB);
    await env.settle();
    expectExactRbac(env, { unused: ['create events.k8s.io/events', 'patch events.k8s.io/events'] });
    const role = 'system:controller:endpoint-controller';
    assert.deepEqual(await uncoveredWrites(env.client, endpointsController(), role), []);
  });
});
