import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { AdmissionServer, type Loose, patching } from '../../../test/support/admission-server.ts';
import type { JsonObject } from '../../object/json.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const MERGE = { type: 'application/merge-patch+json' };

const deployment = (name: string): JsonObject => ({
  metadata: { name },
  spec: {
    replicas: 1,
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
});

const rule = (fields: JsonObject): JsonObject => ({
  rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'], ...fields }],
});

describe('webhooks', () => {
  let server: AdmissionServer;
  let made = 0;
  before(async () => {
    server = await AdmissionServer.start();
    await server.made('/api/v1/namespaces', { metadata: { name: 'team', labels: { team: 'a' } } });
  });
  after(() => server[Symbol.asyncDispose]());
  afterEach(() => server.clear());

  const fresh = (): string => `m${++made}`;
  const allow = (): JsonObject => ({ allowed: true });

  it('apiserver/V3: are sent the fields of an AdmissionReview in upstream order', async () => {
    const { fields, asked } = server.hook('see', allow);
    await server.configure('validating', 'see', [fields]);
    const name = fresh();
    await server.made(`${MAPS}?fieldManager=me&fieldValidation=Strict`, { metadata: { name } });
    const [request] = asked;
    assert.deepEqual(Object.keys(request), [
      'uid',
      'kind',
      'resource',
      'requestKind',
      'requestResource',
      'name',
      'namespace',
      'operation',
      'userInfo',
      'object',
      'oldObject',
      'dryRun',
      'options',
    ]);
    assert.deepEqual(request.kind, { group: '', version: 'v1', kind: 'ConfigMap' });
    assert.deepEqual(request.resource, { group: '', version: 'v1', resource: 'configmaps' });
    assert.equal(request.operation, 'CREATE');
    assert.deepEqual(request.userInfo, { username: 'admin', groups: ['system:masters', 'system:authenticated'] });
    assert.equal(request.object.metadata.name, name);
    assert.deepEqual(Object.keys(request.object).slice(0, 2), ['kind', 'apiVersion']);
    assert.equal(request.oldObject, null);
    assert.deepEqual(request.options, {
      kind: 'CreateOptions',
      apiVersion: 'meta.k8s.io/v1',
      fieldManager: 'me',
      fieldValidation: 'Strict',
    });
  });

  it('apiserver/V3: see UPDATE with UpdateOptions for a patch, and the old object alone for DELETE', async () => {
    const { fields, asked } = server.hook('see', allow);
    const name = fresh();
    await server.made(MAPS, { metadata: { name }, data: { k: 'v' } });
    await server.configure('validating', 'see', [fields]);
    await server.send('PATCH', `${MAPS}/${name}`, { data: { k: 'w' } }, MERGE);
    await server.send('DELETE', `${MAPS}/${name}`, { propagationPolicy: 'Background' });
    const [update, removal] = asked;
    assert.deepEqual([update.operation, update.options.kind], ['UPDATE', 'UpdateOptions']);
    assert.deepEqual([update.object.data.k, update.oldObject.data.k], ['w', 'v']);
    assert.deepEqual([removal.operation, removal.object], ['DELETE', null]);
    assert.equal(removal.oldObject.data.k, 'w');
    assert.equal(removal.options.propagationPolicy, 'Background');
  });

  it('apiserver/V3: see a Scale when a Scale is written, and may change its replicas', async () => {
    const name = fresh();
    await server.made(DEPLOYMENTS, deployment(name));
    const { fields, asked } = server.hook('see', () =>
      patching({ op: 'replace', path: '/spec/replicas', value: 7 }),
    );
    await server.configure('mutating', 'see', [{ ...fields, ...rule({ resources: ['deployments/scale'] }) }]);
    const { body } = await server.send('PATCH', `${DEPLOYMENTS}/${name}/scale`, { spec: { replicas: 3 } }, MERGE);
    assert.equal(body.spec.replicas, 7);
    const [request] = asked;
    assert.deepEqual(request.kind, { group: 'autoscaling', version: 'v1', kind: 'Scale' });
    assert.deepEqual([request.subResource, request.requestSubResource], ['scale', 'scale']);
    assert.deepEqual([request.object.spec.replicas, request.oldObject.spec.replicas], [3, 1]);
  });

  it('apiserver/V3: see status writes as subresource', async () => {
    const name = fresh();
    await server.made(DEPLOYMENTS, deployment(name));
    const { fields, asked } = server.hook('see', allow);
    await server.configure('validating', 'see', [{ ...fields, ...rule({ resources: ['*/status'] }) }]);
    await server.send('PATCH', `${DEPLOYMENTS}/${name}`, { spec: { replicas: 2 } }, MERGE);
    await server.send('PATCH', `${DEPLOYMENTS}/${name}/status`, { status: { replicas: 2 } }, MERGE);
    assert.deepEqual(
      asked.map(({ subResource }: Loose) => subResource),
      ['status'],
    );
  });

  it('apiserver/V3: know a namespace by its own name', async () => {
    const { fields, asked } = server.hook('see', allow);
    await server.configure('validating', 'see', [{ ...fields, ...rule({ resources: ['namespaces'] }) }]);
    const name = fresh();
    await server.made('/api/v1/namespaces', { metadata: { name } });
    assert.deepEqual([asked[0].name, asked[0].namespace], [name, name]);
  });

  for (const [what, fields, isAsked] of [
    ['another operation', rule({ operations: ['DELETE'] }), false],
    ['another group', rule({ apiGroups: ['apps'] }), false],
    ['another version', rule({ apiVersions: ['v2'] }), false],
    ['a subresource only', rule({ resources: ['configmaps/status'] }), false],
    ['all of one resource', rule({ resources: ['configmaps/*'] }), true],
    ['everything', rule({ resources: ['*/*'] }), true],
    ['cluster scope', rule({ scope: 'Cluster' }), false],
    ['namespaced scope', rule({ scope: 'Namespaced' }), true],
    ['a namespace with other labels', { namespaceSelector: { matchLabels: { team: 'a' } } }, false],
    ['an object with these labels', { objectSelector: { matchLabels: { see: 'me' } } }, true],
    ['an object with other labels', { objectSelector: { matchLabels: { see: 'you' } } }, false],
    ['a condition that holds', { matchConditions: [{ name: 'c', expression: 'object.data.k == "v"' }] }, true],
    [
      'one that does not',
      { matchConditions: [{ name: 'c', expression: 'request.operation == "DELETE"' }] },
      false,
    ],
  ] satisfies [string, JsonObject, boolean][]) {
    it(`apiserver/V2: for ${what} are ${isAsked ? '' : 'not '}asked`, async () => {
      const { fields: own, asked } = server.hook('see', allow);
      await server.configure('validating', 'see', [{ ...own, ...fields }]);
      await server.made(MAPS, { metadata: { name: fresh(), labels: { see: 'me' } }, data: { k: 'v' } });
      assert.equal(asked.length, isAsked ? 1 : 0);
    });
  }

  it('apiserver/V2: select by the labels of the namespace, which are those of a Namespace itself', async () => {
    const { fields, asked } = server.hook('see', allow);
    await server.configure('validating', 'see', [
      { ...fields, namespaceSelector: { matchLabels: { team: 'a' } } },
    ]);
    await server.made('/api/v1/namespaces/team/configmaps', { metadata: { name: fresh() } });
    await server.made('/api/v1/namespaces', { metadata: { name: fresh(), labels: { team: 'a' } } });
    await server.made('/api/v1/namespaces', { metadata: { name: fresh() } });
    assert.deepEqual(
      asked.map(({ resource }: Loose) => resource.resource),
      ['configmaps', 'namespaces'],
    );
  });

  it('apiserver/V2: select by the labels an object had', async () => {
    const name = fresh();
    await server.made(MAPS, { metadata: { name, labels: { see: 'me' } } });
    const { fields, asked } = server.hook('see', allow);
    await server.configure('validating', 'see', [{ ...fields, objectSelector: { matchLabels: { see: 'me' } } }]);
    await server.send('PATCH', `${MAPS}/${name}`, { metadata: { labels: null } }, MERGE);
    assert.equal(asked.length, 1);
  });

  it('apiserver/V2: a condition that cannot be decided refuses, or is passed over by policy', async () => {
    const { fields, asked } = server.hook('see', allow);
    const matchConditions = [{ name: 'c', expression: 'object.data.nosuch == "v"' }];
    await server.configure('validating', 'see', [{ ...fields, matchConditions }]);
    const name = fresh();
    const { status, body } = await server.send('POST', MAPS, { metadata: { name }, data: { k: 'v' } });
    assert.equal(status, 403);
    const why = `configmaps "${name}" is forbidden: expression 'object.data.nosuch == "v"' resulted in error: no such key: nosuch`;
    assert.equal(body.message, why);
    await server.clear();
    await server.configure('validating', 'see', [{ ...fields, matchConditions, failurePolicy: 'Ignore' }]);
    await server.made(MAPS, { metadata: { name }, data: { k: 'v' } });
    assert.equal(asked.length, 0);
  });

  it('apiserver/V2: see the version they registered for, unless they want it exactly', async () => {
    const { fields, asked } = server.hook('see', allow);
    const exact = server.hook('exact', allow);
    const rules = rule({ apiGroups: ['autoscaling'], apiVersions: ['v1'] });
    await server.configure('validating', 'see', [
      { ...fields, ...rules },
      { ...exact.fields, ...rules, matchPolicy: 'Exact' },
    ]);
    await server.made('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', {
      metadata: { name: fresh() },
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
        maxReplicas: 3,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 5 } } },
        ],
      },
    });
    assert.equal(exact.asked.length, 0);
    const [request] = asked;
    assert.deepEqual([request.kind.version, request.requestKind.version], ['v1', 'v2']);
    assert.deepEqual([request.resource.version, request.requestResource.version], ['v1', 'v2']);
    assert.equal(request.object.spec.targetCPUUtilizationPercentage, 5);
  });

  it('apiserver/V2: are not asked about webhook configurations', async () => {
    const { fields, asked } = server.hook('deny', () => ({ allowed: false }));
    await server.configure('validating', 'deny', [fields]);
    await server.configure('mutating', 'other', [server.hook('other', allow).fields]);
    assert.equal(asked.length, 0);
  });

  it('apiserver/V4: a denial has the code, reason and warnings of the webhook', async () => {
    const { fields } = server.hook('deny', () => ({
      allowed: false,
      status: {
        code: 418,
        message: 'no way',
        reason: 'Teapot',
        details: { causes: [{ field: 'f', message: 'm' }] },
      },
      warnings: ['careful', '', 'two\nlines'],
    }));
    await server.configure('validating', 'deny', [fields]);
    const { status, body, warnings } = await server.send('POST', MAPS, { metadata: { name: fresh() } });
    assert.equal(status, 418);
    assert.deepEqual(body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'admission webhook "deny.example.com" denied the request: no way',
      reason: 'Teapot',
      details: { causes: [{ message: 'm', field: 'f' }] },
      code: 418,
    });
    assert.deepEqual(warnings, ['299 - "careful"']);
  });

  it('apiserver/V4: of several that deny the first is heard, and all are asked', async () => {
    const one = server.hook('one', () => ({ allowed: false, status: { message: 'first' } }));
    const two = server.hook('two', () => ({ allowed: false, status: { message: 'second' } }));
    await server.configure('validating', 'deny', [one.fields, two.fields]);
    const { body } = await server.send('POST', MAPS, { metadata: { name: fresh() } });
    assert.equal(body.message, 'admission webhook "one.example.com" denied the request: first');
    assert.equal(two.asked.length, 1);
  });

  it('apiserver/W5: dry runs are told so, and nothing is stored', async () => {
    const { fields, asked } = server.hook('see', allow);
    await server.configure('validating', 'see', [{ ...fields, sideEffects: 'NoneOnDryRun' }]);
    const name = fresh();
    await server.made(`${MAPS}?dryRun=All`, { metadata: { name } });
    assert.deepEqual([asked[0].dryRun, asked[0].options.dryRun], [true, ['All']]);
    assert.equal((await server.send('GET', `${MAPS}/${name}`)).status, 404);
  });

  it('apiserver/V5: a service that leads nowhere fails the request, or is passed over', async () => {
    const clientConfig = { service: { namespace: 'n', name: 'nobody', path: '/p' } };
    await server.configure('validating', 'gone', [{ name: 'gone.example.com', clientConfig, timeoutSeconds: 3 }]);
    const { status, body } = await server.send('POST', MAPS, { metadata: { name: fresh() } });
    const why =
      'failed calling webhook "gone.example.com": failed to call webhook: Post "https://nobody.n.svc:443/p?timeout=3s": service "nobody" not found';
    assert.equal(status, 500);
    assert.equal(body.message, `Internal error occurred: ${why}`);
    assert.deepEqual(body.details, { causes: [{ message: why }] });
    await server.clear();
    const failurePolicy = 'Ignore';
    await server.configure('validating', 'gone', [{ name: 'gone.example.com', clientConfig, failurePolicy }]);
    await server.made(MAPS, { metadata: { name: fresh() } });
  });

  it('apiserver/V6: in this process get their own copy of the review', async () => {
    const { fields } = server.hook('spoil', ({ object }: Loose) => {
      object.data = { spoiled: 'yes' };
      return { allowed: true };
    });
    await server.configure('mutating', 'spoil', [fields]);
    const { data } = await server.made(MAPS, { metadata: { name: fresh() }, data: { k: 'v' } });
    assert.deepEqual(data, { k: 'v' });
  });

  it('apiserver/V7: count from the moment their configuration is stored until it is gone', async () => {
    const { fields, asked } = server.hook('see', allow);
    await server.configure('validating', 'see', [fields]);
    await server.made(MAPS, { metadata: { name: fresh() } });
    await server.clear();
    await server.made(MAPS, { metadata: { name: fresh() } });
    assert.equal(asked.length, 1);
  });
});
