import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { AdmissionServer, type Loose, patching } from '../../../test/support/admission-server.ts';
import type { JsonObject } from '../../object/json.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';

const rule = (fields: JsonObject): JsonObject => ({
  rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'], ...fields }],
});

describe('webhooks that change objects', () => {
  let server: AdmissionServer;
  let made = 0;
  before(async () => {
    server = await AdmissionServer.start();
  });
  after(() => server[Symbol.asyncDispose]());
  afterEach(() => server.clear());

  const fresh = (): string => `m${++made}`;
  const allow = (): JsonObject => ({ allowed: true });

  it('apiserver/V2: change objects in the order of names, each after the other', async () => {
    const add = (key: string) => (request: Loose) =>
      patching({ op: 'add', path: `/data/${key}`, value: Object.keys(request.object.data).join() });
    await server.configure('mutating', 'b', [server.hook('three', add('three')).fields]);
    await server.configure('mutating', 'a', [
      server.hook('one', add('one')).fields,
      server.hook('two', add('two')).fields,
    ]);
    const { data } = await server.made(MAPS, { metadata: { name: fresh() }, data: { k: '' } });
    assert.deepEqual(data, { k: '', one: 'k', two: 'k,one', three: 'k,one,two' });
  });

  it('apiserver/V2: are asked again, if willing, when a later one changed the object', async () => {
    const early = server.hook('early', allow);
    const never = server.hook('never', allow);
    const late = server.hook('late', () => patching({ op: 'add', path: '/data/late', value: 'yes' }));
    await server.configure('mutating', 'order', [
      { ...early.fields, reinvocationPolicy: 'IfNeeded' },
      never.fields,
      { ...late.fields, reinvocationPolicy: 'IfNeeded' },
    ]);
    await server.made(MAPS, { metadata: { name: fresh() }, data: { k: 'v' } });
    assert.deepEqual([early.asked.length, never.asked.length, late.asked.length], [2, 1, 1]);
    assert.equal(early.asked[1].object.data.late, 'yes');
  });

  it('apiserver/V2: see pods that built-in steps completed, which look again afterwards', async () => {
    const { fields, asked } = server.hook('inject', () =>
      patching({ op: 'add', path: '/spec/containers/-', value: { name: 'sidecar', image: 's' } }),
    );
    await server.configure('mutating', 'inject', [{ ...fields, ...rule({ resources: ['pods'] }) }]);
    const pod = await server.made('/api/v1/namespaces/default/pods', {
      metadata: { name: fresh() },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    assert.equal(asked[0].object.spec.serviceAccountName, 'default');
    assert.equal(asked[0].object.spec.tolerations.length, 2);
    const mounts = pod.spec.containers.map(({ volumeMounts }: Loose) => volumeMounts[0].mountPath);
    assert.deepEqual(mounts, Array(2).fill('/var/run/secrets/kubernetes.io/serviceaccount'));
    assert.equal(pod.spec.volumes.length, 1);
  });

  it('apiserver/V4: a patched object is typed and completed like one that was sent', async () => {
    const { fields } = server.hook('change', ({ name }: Loose) => {
      if (name.endsWith('wrong')) return patching({ op: 'add', path: '/data', value: 5 });
      return patching({ op: 'add', path: '/zzz', value: 1 }, { op: 'add', path: '/data', value: { by: 'hook' } });
    });
    await server.configure('mutating', 'change', [fields]);
    const map = await server.made(MAPS, { metadata: { name: fresh() } });
    assert.deepEqual([map.data, map.zzz], [{ by: 'hook' }, undefined]);
    const { status, body } = await server.send('POST', MAPS, { metadata: { name: `${fresh()}wrong` } });
    assert.equal(status, 500);
    assert.match(
      body.message,
      /^Internal error occurred: json: cannot unmarshal number into Go struct field ConfigMap/,
    );
  });

  for (const [what, operation, status, message] of [
    ['cannot be applied', { op: 'remove', path: '/nosuch' }, 500, /Unable to remove nonexistent key: nosuch/],
    [
      'moves the object',
      { op: 'replace', path: '/metadata/namespace', value: 'team' },
      400,
      /namespace of the provided/,
    ],
    [
      'pretends it exists',
      { op: 'add', path: '/metadata/resourceVersion', value: '5' },
      500,
      /^resourceVersion should/,
    ],
  ] as const) {
    it(`apiserver/V4: a patch that ${what} is refused`, async () => {
      await server.configure('mutating', 'bad', [server.hook('bad', () => patching(operation)).fields]);
      const answer = await server.send('POST', MAPS, { metadata: { name: fresh() } });
      assert.equal(answer.status, status);
      assert.match(answer.body.message, message);
    });
  }

  it('apiserver/V4: a patch for a delete is refused', async () => {
    const name = fresh();
    await server.made(MAPS, { metadata: { name } });
    const { fields } = server.hook('bad', () => patching({ op: 'add', path: '/data', value: {} }));
    await server.configure('mutating', 'bad', [fields]);
    const { status, body } = await server.send('DELETE', `${MAPS}/${name}`);
    assert.equal(status, 500);
    assert.match(body.message, /attempted to modify the object, which is not supported for this operation$/);
  });

  it('apiserver/V4: managedFields in a bad state are put back, with a warning', async () => {
    const { fields } = server.hook('bad', () =>
      patching({ op: 'add', path: '/metadata/managedFields', value: [{ manager: 'x' }] }),
    );
    await server.configure('mutating', 'bad', [fields]);
    const { body, warnings } = await server.send('POST', MAPS, { metadata: { name: fresh() }, data: { k: 'v' } });
    assert.equal(body.metadata.managedFields[0].manager, 'test');
    assert.match(
      warnings.join(),
      /was in an invalid state after admission.*operation must be `Apply` or `Update`/,
    );
  });

  it('apiserver/V2: see custom resources and complete them with their defaults', async () => {
    await server.made('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'widgets.hooks.io' },
      spec: {
        group: 'hooks.io',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: {
                    type: 'object',
                    properties: { a: { type: 'string' }, b: { type: 'string', default: 'x' } },
                  },
                },
              },
            },
          },
        ],
      },
    });
    const { fields, asked } = server.hook('change', () =>
      patching({ op: 'add', path: '/spec', value: { a: 'y', z: 1 } }),
    );
    await server.configure('mutating', 'change', [{ ...fields, ...rule({ apiGroups: ['hooks.io'] }) }]);
    const target = '/apis/hooks.io/v1/namespaces/default/widgets';
    let answer = await server.send('POST', target, {
      apiVersion: 'hooks.io/v1',
      kind: 'Widget',
      metadata: { name: 'w' },
    });
    for (let tries = 0; answer.status === 404 && tries < 100; tries++) {
      await new Promise((resolve) => setImmediate(resolve));
      answer = await server.send('POST', target, {
        apiVersion: 'hooks.io/v1',
        kind: 'Widget',
        metadata: { name: 'w' },
      });
    }
    assert.deepEqual(answer.body.spec, { a: 'y', b: 'x' });
    assert.deepEqual(asked[0].kind, { group: 'hooks.io', version: 'v1', kind: 'Widget' });
  });
});
