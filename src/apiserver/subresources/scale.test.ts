import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ControlledServer } from '../../../test/support/controlled-server.ts';
import type { JsonObject } from '../../object/json.ts';

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const THINGS = '/apis/test.io/v1/namespaces/default/things';

const REPLICAS = { type: 'object', properties: { replicas: { type: 'integer' }, selector: { type: 'string' } } };
const CRD: JsonObject = {
  metadata: { name: 'things.test.io' },
  spec: {
    group: 'test.io',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: REPLICAS, status: REPLICAS } } },
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
      },
    ],
  },
};

describe('scale', () => {
  let server: ControlledServer;
  before(async () => {
    server = await ControlledServer.start({ crds: [CRD] });
    const labels = { app: 'a' };
    await server.create(DEPLOYMENTS, {
      metadata: { name: 'd' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    await server.create(THINGS, { apiVersion: 'test.io/v1', kind: 'Thing', metadata: { name: 't' }, spec: {} });
    await server.merge(`${THINGS}/t/status`, { status: { replicas: 4, selector: 'app=t' } });
  });
  after(() => server[Symbol.asyncDispose]());

  it('shows replicas and selector of a Deployment', async () => {
    const { body } = await server.send('GET', `${DEPLOYMENTS}/d/scale`);
    assert.deepEqual([body['kind'], body['apiVersion']], ['Scale', 'autoscaling/v1']);
    assert.deepEqual(body['spec'], { replicas: 2 });
    assert.deepEqual(body['status'], { replicas: 0, selector: 'app=a' });
  });

  it('shows those of a custom resource; without replicas it has no scale, as upstream', async () => {
    const none = await server.send('GET', `${THINGS}/t/scale`);
    assert.equal(none.status, 500);
    assert.match(JSON.stringify(none.body), /the spec replicas field .* does not exist/);
    await server.merge(`${THINGS}/t`, { spec: { replicas: 0 } });
    const { body } = await server.send('GET', `${THINGS}/t/scale`);
    assert.deepEqual(body['spec'], {});
    assert.deepEqual(body['status'], { replicas: 4, selector: 'app=t' });
  });

  for (const [what, path, key] of [
    ['a Deployment', `${DEPLOYMENTS}/d/scale`, 'apps/deployments/default/d'],
    ['a custom resource', `${THINGS}/t/scale`, 'test.io/things/default/t'],
  ] as const) {
    it(`sets the replicas of ${what}, by PUT without resourceVersion and by PATCH`, async () => {
      const name = path.split('/').at(-2) ?? '';
      const { status } = await server.send('PUT', path, { metadata: { name }, spec: { replicas: 5 } });
      assert.equal(status, 200);
      assert.equal(server.stored(key).spec.replicas, 5);
      const patched = await server.merge(path, { spec: { replicas: 6 } });
      assert.deepEqual(patched['spec'], { replicas: 6 });
      assert.equal(server.stored(key).spec.replicas, 6);
    });
  }

  for (const [what, body, code] of [
    ['negative replicas', { metadata: { name: 't' }, spec: { replicas: -1 } }, 422],
    ['text for replicas', { metadata: { name: 't' }, spec: { replicas: 'x' } }, 400],
    ['another name', { metadata: { name: 'x' }, spec: { replicas: 1 } }, 400],
    ['an old revision', { metadata: { name: 't', resourceVersion: '1' }, spec: { replicas: 1 } }, 409],
    ['another uid', { metadata: { name: 't', uid: 'no' }, spec: { replicas: 1 } }, 409],
  ] as const) {
    it(`refuses ${what}`, async () => {
      assert.equal((await server.send('PUT', `${THINGS}/t/scale`, body)).status, code);
    });
  }

  it('knows nothing that is not there', async () => {
    assert.equal((await server.send('GET', `${DEPLOYMENTS}/x/scale`)).status, 404);
  });
});
