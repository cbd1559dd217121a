import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { apiRequest } from '../../../test/support/api-request.ts';
import {
  assertStatus,
  customDefinition,
  itemNames,
  type ServedApi,
  sharedApi,
} from '../../../test/support/served-api.ts';
import { recordedLog } from '../../../test/support/store.ts';
import { VirtualClock } from '../../base/clock.ts';
import { createEngine } from '../engine.ts';
import { ApiMetrics } from '../metrics.ts';
import { tooManyRequests } from '../status.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { StoreUnavailable } from '../store/store.ts';
import { Watches } from '../watching/watch.ts';
import { createHandle } from './serve.ts';

const NOT_ALLOWED = 'the server does not allow this method on the requested resource';
const NOT_SERVED = 'the server could not find the requested resource';

let api: ServedApi;
let space: string;
let custom: string;
before(async () => {
  api = await sharedApi();
  space = await api.namespace();
  custom = space.replace('/api/v1', '/apis/t.io/v1');
  await api.define(customDefinition('routes', 'Route'));
  await api.define(customDefinition('globes', 'Globe', [{ name: 'v1' }], { scope: 'Cluster' }));
});

describe('what a URL leads to', () => {
  const unserved: readonly [string, string][] = [
    ['an unknown core resource', '/api/v1/nope'],
    ['an unknown core version', '/api/v2/pods'],
    ['an unknown version of a known group', '/apis/apps/v9/deployments'],
    ['a cluster-scoped kind in a namespace', '/api/v1/namespaces/default/nodes'],
    ['a namespaced object without its namespace', '/api/v1/configmaps/a'],
    ['an unknown subresource', '/api/v1/namespaces/default/configmaps/a/nope'],
    ['an empty part of a path', '/api/v1//namespaces'],
  ];
  for (const [what, target] of unserved) {
    it(`apiserver/U3: is nothing for ${what}`, async () => {
      const answer = await api.get(target);
      assertStatus(answer, 404, 'NotFound', NOT_SERVED);
      assert.deepEqual(answer.body['details'], {});
    });
  }

  const pages: readonly [string, string, () => string][] = [
    ['an unknown group', 'GET', () => '/apis/nope.io/v1/things'],
    ['an unserved version', 'GET', () => '/apis/t.io/v2/routes'],
    ['a namespaced path of a cluster-scoped kind', 'GET', () => `${custom}/globes`],
    ['a create without namespace', 'POST', () => '/apis/t.io/v1/routes'],
    ['an object without namespace', 'GET', () => '/apis/t.io/v1/routes/a'],
    ['a path of no meaning', 'GET', () => '/nope'],
    ['a method such a path does not know', 'DELETE', () => '/nope'],
  ];
  for (const [what, method, target] of pages) {
    it(`apiserver/U4: is no page for ${what}`, async () => {
      const { status, text, headers } = await api.send(method, target());
      assert.deepEqual([status, text], [404, '404 page not found\n']);
      assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
    });
  }

  const methods: readonly [string, () => string][] = [
    ['HEAD', () => `${space}/configmaps`],
    ['OPTIONS', () => `${space}/configmaps`],
    ['POST', () => `${space}/configmaps/a`],
    ['PUT', () => `${space}/configmaps`],
    ['PATCH', () => '/api/v1/nodes'],
    ['POST', () => '/api/v1/configmaps'],
    ['DELETE', () => '/api/v1/configmaps'],
    ['DELETE', () => '/api/v1/namespaces'],
    ['GET', () => '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'],
    ['GET', () => `${space}/pods/a/binding`],
    ['POST', () => '/api/v1'],
    ['PUT', () => '/version'],
  ];
  for (const [method, target] of methods) {
    it(`apiserver/U1, U5: ${method} is not allowed everywhere`, async () => {
      const answer = await api.send(method, target());
      assertStatus(answer, 405, 'MethodNotAllowed', NOT_ALLOWED);
      assert.deepEqual(answer.body['details'], {});
    });
  }

  it('apiserver/U5: names the verb and the kind of a custom resource', async () => {
    const answer = await api.send('POST', `${custom}/routes/a/status`, { body: {} });
    assertStatus(answer, 405, 'MethodNotAllowed', 'create is not supported on resources of kind "routes.t.io"');
    assert.deepEqual(answer.body['details'], { group: 't.io', kind: 'routes' });
    assertStatus(
      await api.send('PUT', `${custom}/routes`, { body: {} }),
      400,
      'BadRequest',
      'name must be provided',
    );
  });

  it('apiserver/U5: knows no verb for other methods of a custom resource, but answers HEAD like GET', async () => {
    const options = await api.send('OPTIONS', `${custom}/routes`);
    assertStatus(options, 405, 'MethodNotAllowed', ' is not supported on resources of kind "routes.t.io"');
    assert.equal((await api.send('HEAD', `${custom}/routes`)).status, 200);
    assert.equal((await api.send('HEAD', `${custom}/routes/nope`)).status, 404);
  });

  const produced: readonly [string, string][] = [
    ['/configmaps/a', 'application/json, application/yaml, application/vnd.kubernetes.protobuf'],
    [
      '/configmaps',
      'application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    ],
    ['/pods/p/log', 'text/plain, application/json, application/yaml, application/vnd.kubernetes.protobuf'],
  ];
  for (const [target, types] of produced) {
    it(`apiserver/C2: lists what ${target} can be when none of it is accepted`, async () => {
      const answer = await api.get(`${space}${target}`, { headers: { accept: 'image/png' } });
      const message = `406: Not Acceptable\n\nAvailable representations: ${types}`;
      assertStatus(answer, 406, 'NotAcceptable', message);
      assert.deepEqual(answer.body['details'], {});
    });
  }

  it('apiserver/H10: warns of Endpoints at every request to them', async () => {
    const text = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"';
    assert.deepEqual((await api.get(`${space}/endpoints`)).headers['warning'], [text]);
    assert.deepEqual((await api.get(`${space}/endpoints/nope`)).headers['warning'], [text]);
    assert.equal((await api.get(`${space}/configmaps`)).headers['warning'], undefined);
  });

  it('apiserver/U5: creates at the name of a custom resource', async () => {
    const route = { apiVersion: 't.io/v1', kind: 'Route', metadata: { name: 'a' } };
    assert.equal((await api.send('POST', `${custom}/routes/a`, { body: route })).status, 201);
    assert.equal((await api.send('POST', `${custom}/routes/a`, { body: route })).status, 409);
  });

  it('apiserver/U6: knows no other subresource of a custom resource', async () => {
    const answer = await api.get(`${custom}/routes/a/nope`);
    assertStatus(answer, 404, 'NotFound', 'routes.t.io "a" not found');
  });

  it('means all namespaces when the name of the namespace is empty', async () => {
    await api.create(`${space}/limitranges`, { metadata: { name: 'everywhere' }, spec: { limits: [] } });
    assert.deepEqual(itemNames((await api.get('/api/v1/namespaces//limitranges')).body), ['everywhere']);
  });

  it('refuses a path that is not valid percent-encoding', async () => {
    assertStatus(await api.get('/api/v1/namespaces/%zz'), 400, 'BadRequest', /percent-encoding/);
    assert.equal((await api.get('/api/v1/namespaces/%64efault')).status, 200);
  });
});

describe('who may ask', () => {
  const forbidden: readonly [string, string, string][] = [
    [
      'GET',
      '/api/v1/namespaces/x/pods',
      'pods is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "x"',
    ],
    [
      'GET',
      '/api/v1/nodes/n',
      'nodes "n" is forbidden: User "jane" cannot get resource "nodes" in API group "" at the cluster scope',
    ],
    [
      'PUT',
      '/apis/apps/v1/namespaces/x/deployments/d/scale',
      'deployments.apps "d" is forbidden: User "jane" cannot update resource "deployments/scale" in API group "apps" in the namespace "x"',
    ],
    ['GET', '/metrics', 'forbidden: User "jane" cannot get path "/metrics"'],
  ];
  for (const [method, target, message] of forbidden) {
    it(`apiserver/E17: refuses ${method} ${target}`, async () => {
      const answer = await api.send(method, target, { user: 'jane' });
      assertStatus(answer, 403, 'Forbidden', message);
      assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    });
  }

  it('reliability/P12: answers the same for what exists and what does not, and reads no body', async () => {
    const bodies: string[] = [];
    for (const name of ['default', 'nope']) {
      const { text } = await api.send('PUT', `/api/v1/namespaces/${name}`, { user: 'jane', body: '{broken' });
      bodies.push(text.replaceAll(name, 'NAME'));
    }
    assert.equal(bodies[0], bodies[1]);
    assert.match(String(bodies[0]), /"code":403/);
  });
});

describe('every answer', () => {
  it('apiserver/H5: has an Audit-Id, the client’s own when there is one', async () => {
    const { headers } = await api.get('/api/v1/namespaces/default');
    assert.match(String(headers['audit-id']), /^[\da-f-]{36}$/);
    assert.equal(headers['cache-control'], 'no-cache, private');
    const own = await api.get('/nope', { headers: { 'Audit-ID': 'mine' } });
    assert.deepEqual([own.headers['audit-id'], own.headers['cache-control']], ['mine', 'no-cache, private']);
  });

  const pretty: readonly [string, Readonly<Record<string, string>>, boolean][] = [
    ['', {}, false],
    ['?pretty=true', {}, true],
    ['?pretty=1', {}, true],
    ['?pretty=0', { 'user-agent': 'curl/8' }, false],
    ['?pretty=maybe', { 'user-agent': 'curl/8' }, false],
    ['?pretty=', { 'user-agent': 'curl/8' }, true],
    ['', { 'user-agent': 'Wget/1' }, true],
    ['', { 'user-agent': 'Mozilla/5.0 (X11)' }, true],
    ['', { accept: 'application/json; pretty=1' }, true],
  ];
  for (const [query, headers, isPretty] of pretty) {
    it(`apiserver/H6: is ${isPretty ? 'indented' : 'compact'} for ${query} ${JSON.stringify(headers)}`, async () => {
      const { text } = await api.get(`/api/v1/namespaces/default${query}`, { headers });
      assert.equal(text.startsWith('{\n  "kind": "Namespace",\n'), isPretty);
      // As upstream: a line end only where nothing else ends lines.
      assert.match(text, isPretty ? /\n\}$/ : /[^\n]\}\n$/);
    });
  }

  it('apiserver/H6: is indented for Accept whatever the query says', async () => {
    const headers = { accept: 'application/json;pretty=1' };
    assert.match((await api.get('/api/v1/namespaces/default?pretty=0', { headers })).text, /^\{\n/);
  });

  for (const target of ['/', '/version', '/api/v1/namespaces?includeObject=None']) {
    it(`apiserver/U8, C2: is indented when it is no answer of the API: ${target}`, async () => {
      const accept = target.startsWith('/api') ? 'image/png' : 'application/json';
      assert.match((await api.get(target, { headers: { accept } })).text, /^\{\n {2}".*\n\}$/s);
    });
  }
});

/** The server around a path that fails as it is told. */
function failing(error: unknown, signal = new AbortController().signal) {
  const { log, lines } = recordedLog();
  const clock = new VirtualClock();
  const engine = createEngine({ clock, log, auth: { mode: 'AlwaysAllow' } }, createMemoryStore({ clock, log }));
  const metrics = new ApiMetrics();
  const handle = createHandle({
    services: engine.services,
    routes: { watches: new Watches(metrics), subresources: new Map(), virtual: new Map() },
    authenticator: { authenticate: () => Promise.resolve({ name: 'jane', groups: [] }) },
    guard: { enter: () => ({ [Symbol.dispose]: () => undefined }) },
    paths: () => Promise.reject(error),
    observer: metrics,
    clock,
    log,
  });
  const answer = async (headers: Readonly<Record<string, string>> = {}) => {
    const { status, body, headers: got } = await handle(apiRequest('/', { headers, signal }));
    assert.ok(typeof body !== 'function');
    return { status, headers: got, text: Buffer.concat(body).toString('utf8') };
  };
  return { answer, lines };
}

describe('what is thrown while serving', () => {
  it('apiserver/E27: becomes a 500 and a line in the log', async () => {
    const { answer, lines } = failing(new Error('boom'));
    const { status, text } = await answer();
    assert.equal(status, 500);
    assert.partialDeepStrictEqual(JSON.parse(text), {
      message: 'Internal error occurred: boom',
      reason: 'InternalError',
      details: { causes: [{ message: 'boom' }] },
    });
    assert.deepEqual(
      lines.map(({ level, message }) => `${level} ${message}`),
      ['error Request failed'],
    );
  });

  it('is told even when it is no Error', async () => {
    assert.match((await failing('odd').answer()).text, /"Internal error occurred: odd"/);
  });

  it('is not worth a line when the client is gone', async () => {
    const { answer, lines } = failing(new Error('aborted'), AbortSignal.abort());
    await answer();
    assert.equal(lines.length, 0);
  });

  it('reliability/P7: is told in the words of the store when that cannot write', async () => {
    const { answer, lines } = failing(new StoreUnavailable('the disk is full'));
    assert.match((await answer()).text, /"Internal error occurred: the disk is full"/);
    assert.equal(lines.length, 0);
  });

  it('apiserver/H9: repeats in a header how long to wait', async () => {
    const { answer } = failing(tooManyRequests('busy', 3));
    const { status, headers } = await answer({ accept: 'text/html' });
    assert.deepEqual([status, headers['retry-after'], headers['content-type']], [429, '3', 'application/json']);
  });
});
