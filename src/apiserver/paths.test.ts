import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { assertStatus, type ServedApi, sharedApi } from '../../test/support/served-api.ts';
import { releaseVersion } from './release.ts';

let api: ServedApi;
before(async () => {
  api = await sharedApi();
});

describe('paths that are no resources', () => {
  it('apiserver/U8: lists its paths at the root', async () => {
    const { status, body } = await api.get('/');
    assert.equal(status, 200);
    const { paths } = body;
    assert.ok(Array.isArray(paths));
    for (const path of ['/api', '/api/v1', '/apis/apps/v1', '/healthz', '/openapi/v3', '/version']) {
      assert.ok(paths.includes(path), path);
    }
  });

  it('apiserver/U8: tells its version', async () => {
    for (const target of ['/version', '/version/']) {
      const { body } = await api.get(target);
      assert.partialDeepStrictEqual(body, {
        major: '1',
        minor: '36',
        gitVersion: `v1.36.0+slipway.${releaseVersion()}`,
        goVersion: `node${process.versions.node}`,
        compiler: 'v8',
      });
    }
  });

  it('apiserver/D1, D2: serves discovery', async () => {
    assert.equal((await api.get('/api')).body['kind'], 'APIVersions');
    assert.equal((await api.get('/apis')).body['kind'], 'APIGroupList');
    assert.equal((await api.get('/apis/apps/v1')).body['kind'], 'APIResourceList');
  });

  it('apiserver/D6: serves OpenAPI documents by hash, and tells when there is nothing new', async () => {
    const { body, headers } = await api.get('/openapi/v3');
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
    const paths = body['paths'] as Readonly<Record<string, { serverRelativeURL: string }>>;
    const target = paths['apis/coordination.k8s.io/v1']?.serverRelativeURL ?? '';
    const document = await api.get(target);
    assert.deepEqual([document.status, document.body['openapi']], [200, '3.0.0']);
    assert.match(String(document.headers['cache-control']), /immutable/);
    const etag = String(document.headers['etag']);
    const same = await api.get(target, { headers: { 'if-none-match': etag } });
    assert.deepEqual([same.status, same.text], [304, '']);
    assert.equal((await api.get(target.replace(/hash=.*/, 'hash=old'))).status, 301);
    const unknown = await api.get('/openapi/v3/apis/nope/v1');
    assert.deepEqual([unknown.status, unknown.text, unknown.headers['content-type']], [404, '', undefined]);
    assert.equal((await api.get('/openapi/v4')).status, 404);
    assert.equal((await api.get('/openapi/v3/')).status, 200);
  });

  it('apiserver/D8: serves Swagger as JSON and as protobuf, with one tag, and as nothing else', async () => {
    const { status, body, headers } = await api.get('/openapi/v2');
    assert.deepEqual([status, body['swagger'], headers['content-type']], [200, '2.0', 'application/json']);
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    const protobuf = await api.get('/openapi/v2', { headers: { accept } });
    const type = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
    assert.deepEqual([protobuf.status, protobuf.headers['content-type']], [200, type]);
    assert.ok(protobuf.text.startsWith('\n\u00032.0'));
    assert.deepEqual([protobuf.headers['etag'], protobuf.headers['vary']], [headers['etag'], headers['vary']]);
    const same = await api.get('/openapi/v2', { headers: { accept, 'if-none-match': String(headers['etag']) } });
    assert.deepEqual([same.status, same.text, same.headers['content-type']], [304, '', undefined]);
    const other = await api.get('/openapi/v2', { headers: { accept: 'application/yaml' } });
    assert.deepEqual([other.status, other.text, other.headers['content-type']], [406, '', undefined]);
    assert.deepEqual([other.headers['vary'], other.headers['etag']], ['Accept-Encoding, Accept', undefined]);
  });

  it('apiserver/D9: is alive and ready', async () => {
    for (const target of ['/healthz', '/livez', '/readyz']) {
      assert.deepEqual((await api.get(target)).text, 'ok');
      assert.equal((await api.send('HEAD', target)).status, 200);
    }
  });

  it('apiserver/D11: publishes the keys of its tokens', async () => {
    const { status, body } = await api.get('/.well-known/openid-configuration');
    assert.deepEqual([status, body['issuer']], [200, 'https://kubernetes.default.svc.cluster.local']);
    assert.equal((await api.get('/openid/v1/jwks')).status, 200);
  });

  for (const revision of ['', 'x', '0', '999999']) {
    it(`refuses to compact at revision ${JSON.stringify(revision)}`, async () => {
      const answer = await api.send('POST', `/debug/slipway/compact?revision=${revision}`);
      assertStatus(answer, 400, 'BadRequest', /^revision must be a whole number from 1 to \d+, not /);
    });
  }

  it('compacts only when posted to, as often as it likes', async () => {
    assertStatus(await api.get('/debug/slipway/compact?revision=1'), 405, 'MethodNotAllowed', /./);
    for (let time = 0; time < 2; time++) {
      assert.equal((await api.send('POST', '/debug/slipway/compact?revision=1')).status, 200);
    }
    const jane = await api.send('POST', '/debug/slipway/compact?revision=1', { user: 'jane' });
    assert.equal(jane.status, 403);
  });
});
