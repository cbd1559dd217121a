import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Transport } from '../transport/transport.ts';
import { AuditLog, audited, compareWithRules, type ObservedRequest } from './audit.ts';
import type { Need } from './need.ts';
import { requestAttributes } from './request-attributes.ts';

const answering =
  (status: number): Transport =>
  async () => ({
    status,
    headers: {},
    stream: async function* () {},
    bytes: async () => new Uint8Array(),
  });

const seen = (text: string): ObservedRequest => {
  const [method = '', target = ''] = text.split(' ');
  return { ...requestAttributes(method, target), status: 200 };
};

const summary = ({ verb, group, resource, namespace, name }: ObservedRequest): string =>
  [verb, group, resource, namespace, name].join('|');

describe('the audit of requests', () => {
  it('runtime/B3: reads verb, group, resource, namespace and name as the API server does', () => {
    const table: readonly [string, string][] = [
      ['GET /api/v1/namespaces/n/pods/p', 'get||pods|n|p'],
      ['HEAD /api/v1/namespaces/n/pods/p', 'get||pods|n|p'],
      ['GET /api/v1/pods', 'list||pods||'],
      ['GET /api/v1/pods?watch=true', 'watch||pods||'],
      ['GET /api/v1/pods?watch=1&limit=5', 'watch||pods||'],
      ['GET /api/v1/pods?watch=', 'watch||pods||'],
      ['GET /api/v1/pods?watch=false', 'list||pods||'],
      ['GET /api/v1/pods?watch=0', 'list||pods||'],
      ['GET /api/v1/watch/namespaces/n/pods', 'watch||pods|n|'],
      ['GET /api/v1/namespaces/n/secrets?fieldSelector=metadata.name%3Da', 'list||secrets|n|a'],
      [
        'GET /api/v1/namespaces/n/secrets?watch=1&fieldSelector=type%3Dx%2Cmetadata.name%3D%3Da',
        'watch||secrets|n|a',
      ],
      ['GET /api/v1/namespaces/n/secrets?fieldSelector=metadata.name!%3Da', 'list||secrets|n|'],
      ['POST /apis/apps/v1/namespaces/n/deployments', 'create|apps|deployments|n|'],
      ['PUT /apis/apps/v1/namespaces/n/deployments/d/scale', 'update|apps|deployments/scale|n|d'],
      ['POST /api/v1/namespaces/n/pods/p/eviction', 'create||pods/eviction|n|p'],
      ['PATCH /apis/ex.io/v1/widgets/w/status', 'patch|ex.io|widgets/status||w'],
      ['DELETE /api/v1/namespaces/n/pods/p', 'delete||pods|n|p'],
      ['DELETE /api/v1/namespaces/n/pods', 'deletecollection||pods|n|'],
      ['GET /api/v1/namespaces', 'list||namespaces||'],
      ['GET /api/v1/namespaces/n', 'get||namespaces|n|n'],
      ['PUT /api/v1/namespaces/n/finalize', 'update||namespaces/finalize|n|n'],
      ['PATCH /api/v1/namespaces/n/status', 'patch||namespaces/status|n|n'],
      ['GET /apis/ex.io/v1/widgets/a%20b', 'get|ex.io|widgets||a b'],
      ['GET /apis/ex.io/v1/widgets/%zz', 'get|ex.io|widgets||%zz'],
      ['POST /apis/authentication.k8s.io/v1/tokenreviews', 'create|authentication.k8s.io|tokenreviews||'],
      ['GET /apis/ex.io/v1', 'get||||'],
      ['GET /api/v1', 'get||||'],
      ['POST /metrics', 'post||||'],
    ];
    for (const [request, wanted] of table) assert.equal(summary(seen(request)), wanted, request);
    assert.equal(seen('GET /version?x=1').path, '/version');
    assert.equal(seen('GET /version').isResourceRequest, false);
  });

  it('runtime/B3: records every request with its answer, failures included', async () => {
    const log = new AuditLog();
    const target = '/api/v1/namespaces/n/pods/p';
    await audited(answering(200), log.record)({ method: 'GET', target });
    await audited(answering(403), log.record)({ method: 'GET', target });
    const broken = audited(() => Promise.reject(new Error('reset')), log.record);
    await assert.rejects(broken({ method: 'DELETE', target }), /reset/);
    assert.deepEqual(
      log.requests.map(({ verb, status }) => [verb, status]),
      [
        ['get', 403],
        ['delete', 0],
      ],
    );
    assert.equal(log.isTruncated, false);
  });

  it('runtime/B3: an apply that makes the object used the right to create, too', async () => {
    const log = new AuditLog();
    await audited(answering(201), log.record)({ method: 'PATCH', target: '/api/v1/namespaces/n/pods/p' });
    assert.deepEqual(log.requests.map(summary), ['patch||pods|n|p', 'create||pods|n|p']);
  });

  it('runtime/B3: keeps a bounded number of distinct requests and says so', () => {
    const log = new AuditLog();
    for (let at = 0; at < 10_002; at++) log.record(seen(`GET /api/v1/namespaces/n/pods/p${at}`));
    log.record(seen('GET /api/v1/namespaces/n/pods/p1'));
    assert.equal(log.requests.length, 10_000);
    assert.equal(log.isTruncated, true);
  });

  it('runtime/B3: finds requests without a need and needs without a request', () => {
    const needs: readonly Need[] = [
      { group: '', resource: 'pods', verbs: ['get', 'list'] },
      { group: '', resource: 'secrets', verbs: ['get', 'create'], names: ['a'], namespace: 'own' },
      { group: 'ex.io', resource: 'widgets/status', verbs: ['patch'] },
    ];
    const requests = [
      'GET /api/v1/pods',
      'GET /api/v1/namespaces/own/secrets/a',
      'POST /api/v1/namespaces/own/secrets',
      'GET /api/v1/namespaces/own/secrets/b',
      'GET /api/v1/namespaces/other/secrets/a',
      'PATCH /apis/ex.io/v1/widgets/w',
      'GET /apis/ex.io/v1',
      'GET /version',
      'GET /metrics',
      'POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    ];
    const { uncovered, unused } = compareWithRules(requests.map(seen), { needs });
    assert.deepEqual(
      uncovered.map(({ verb, path }) => `${verb} ${path}`),
      [
        'get /api/v1/namespaces/own/secrets/b',
        'get /api/v1/namespaces/other/secrets/a',
        'patch /apis/ex.io/v1/widgets/w',
        'get /metrics',
      ],
    );
    assert.deepEqual(
      unused.map(({ need, verb }) => `${verb} ${need.resource}`),
      ['get pods', 'patch widgets/status'],
    );
  });

  it('runtime/B5: in namespaced mode a request elsewhere is not covered', () => {
    const needs: readonly Need[] = [{ group: '', resource: 'pods', verbs: ['list'] }];
    const requests = ['GET /api/v1/namespaces/a/pods', 'GET /api/v1/namespaces/c/pods', 'GET /api/v1/pods'].map(
      seen,
    );
    const { uncovered, unused } = compareWithRules(requests, { needs, namespaces: ['a', 'b'] });
    assert.deepEqual(
      uncovered.map(({ path }) => path),
      ['/api/v1/namespaces/c/pods', '/api/v1/pods'],
    );
    assert.deepEqual(unused, []);
  });
});
