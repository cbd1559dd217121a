import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { namespaceInKey, placeOf } from './stored-objects.ts';

describe('keys of objects', () => {
  for (const [key, prefix, namespace, name] of [
    ['/registry/core/pods/ns/p', '/registry/core/pods/', 'ns', 'p'],
    ['/registry/core/nodes/n', '/registry/core/nodes/', '', 'n'],
    [
      '/registry/rbac.authorization.k8s.io/clusterroles/system:x',
      '/registry/rbac.authorization.k8s.io/clusterroles/',
      '',
      'system:x',
    ],
  ] as const) {
    it(`takes ${key} apart`, () => {
      assert.deepEqual(placeOf(key), { prefix, namespace, name });
      assert.equal(namespaceInKey(key), namespace);
    });
  }

  for (const key of [
    '',
    '/registry',
    '/registry/core/pods',
    '/registry/core/pods/a/b/c',
    'registry/core/pods/a',
  ]) {
    it(`finds no object at ${JSON.stringify(key)}`, () => assert.equal(placeOf(key), undefined));
  }
});
