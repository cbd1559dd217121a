import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRequestInfo, type RequestInfo } from './request-info.ts';

const parse = (method: string, target: string): RequestInfo => {
  const [path = '', query = ''] = target.split('?');
  return parseRequestInfo(method, path, new URLSearchParams(query));
};

/** Verb and place in one line: `verb group/version namespace resource name subresource`. */
const shown = ({ verb, group, version, namespace, resource, name, subresource }: RequestInfo): string =>
  [verb, `${group}/${version}`, namespace || '-', resource, name || '-', subresource || '-'].join(' ');

const PODS = '/api/v1/namespaces/ns/pods';

describe('parseRequestInfo', () => {
  const verbs: readonly [string, string, string][] = [
    ['POST', PODS, 'create /v1 ns pods - -'],
    ['GET', `${PODS}/a`, 'get /v1 ns pods a -'],
    ['HEAD', `${PODS}/a`, 'get /v1 ns pods a -'],
    ['GET', PODS, 'list /v1 ns pods - -'],
    ['PUT', `${PODS}/a`, 'update /v1 ns pods a -'],
    ['PATCH', `${PODS}/a`, 'patch /v1 ns pods a -'],
    ['DELETE', `${PODS}/a`, 'delete /v1 ns pods a -'],
    ['DELETE', PODS, 'deletecollection /v1 ns pods - -'],
    ['GET', '/api/v1/pods', 'list /v1 - pods - -'],
    ['GET', '/api/v1/nodes/n', 'get /v1 - nodes n -'],
    ['GET', '/apis/apps/v1/namespaces/ns/deployments/d/scale', 'get apps/v1 ns deployments d scale'],
    ['GET', '/api/v1/watch/pods', 'watch /v1 - pods - -'],
    ['GET', '/api/v1/watch/namespaces/ns/pods/a', 'watch /v1 ns pods a -'],
    ['GET', '/api/v1/watch', 'list /v1 - watch - -'],
  ];
  for (const [method, target, expected] of verbs) {
    it(`apiserver/U1: reads ${method} ${target} as ${expected}`, () => {
      assert.equal(shown(parse(method, target)), expected);
    });
  }

  const watches: readonly [string, string][] = [
    ['watch=true', 'watch'],
    ['watch=1', 'watch'],
    ['watch=', 'watch'],
    ['watch', 'watch'],
    ['watch=maybe', 'watch'],
    ['watch=false', 'list'],
    ['watch=False', 'list'],
    ['watch=0', 'list'],
  ];
  for (const [query, verb] of watches) {
    it(`apiserver/U1: takes ?${query} for a ${verb}, and of a named object for a get`, () => {
      assert.equal(parse('GET', `${PODS}?${query}`).verb, verb);
      assert.equal(parse('GET', `${PODS}/a?${query}`).verb, 'get');
    });
  }

  const selectors: readonly [string, string, string][] = [
    ['GET', 'metadata.name=x', 'x'],
    ['GET', 'metadata.name==x', 'x'],
    ['GET', 'status.phase=y,metadata.name=x', 'x'],
    ['GET', 'metadata.name!=x', ''],
    ['GET', 'metadata.namespace=x', ''],
    ['DELETE', 'metadata.name=x', 'x'],
    ['POST', 'metadata.name=x', ''],
  ];
  for (const [method, selector, name] of selectors) {
    it(`apiserver/U2: lets ${method} with ${selector} name ${name || 'nothing'}`, () => {
      assert.equal(parse(method, `${PODS}?fieldSelector=${encodeURIComponent(selector)}`).name, name);
    });
  }

  const namespaces: readonly [string, string][] = [
    ['/api/v1/namespaces', 'list /v1 - namespaces - -'],
    ['/api/v1/namespaces/a', 'get /v1 a namespaces a -'],
    ['/api/v1/namespaces/a/status', 'get /v1 a namespaces a status'],
    ['/api/v1/namespaces/a/finalize', 'get /v1 a namespaces a finalize'],
    ['/api/v1/namespaces/a/other', 'list /v1 a other - -'],
  ];
  for (const [target, expected] of namespaces) {
    it(`finds the namespace in ${target}: ${expected}`, () => assert.equal(shown(parse('GET', target)), expected));
  }

  const slashes: readonly [string, string][] = [
    ['/api/v1/pods/', 'list /v1 - pods - -'],
    ['/api/v1/namespaces//pods', 'list /v1 - pods - -'],
    ['/api/v1//pods', 'get /v1 -  pods -'],
    ['/api/v1/namespaces/a//pods', 'get /v1 a  pods -'],
  ];
  for (const [target, expected] of slashes) {
    it(`keeps an empty part in the middle of ${target}, as upstream`, () => {
      assert.equal(shown(parse('GET', target)), expected);
    });
  }

  it('keeps what follows a subresource', () => {
    assert.deepEqual(parse('GET', `${PODS}/a/proxy/x/y`).rest, ['x', 'y']);
  });

  it('gives a method that no resource knows an empty verb', () => {
    const { isResourceRequest, verb, resource, namespace } = parse('OPTIONS', PODS);
    assert.deepEqual([isResourceRequest, verb, resource, namespace], [true, '', 'pods', 'ns']);
  });

  const others: readonly [string, string, string][] = [
    ['GET', '/', 'get'],
    ['GET', '/api', 'get'],
    ['GET', '/api/v1', 'get'],
    ['GET', '/apis/apps/v1', 'get'],
    ['POST', '/version', 'post'],
    ['OPTIONS', '/healthz', 'options'],
  ];
  for (const [method, target, verb] of others) {
    it(`takes ${method} ${target} for no resource`, () => {
      const { isResourceRequest, verb: found, path, resource } = parse(method, target);
      assert.deepEqual([isResourceRequest, found, path, resource], [false, verb, target, '']);
    });
  }
});
