import { map, SPEC, STRING, scenarios, struct, withProperty } from '../../../test/support/apply-scenario.ts';

scenarios('a schema that changes (13.6)', [
  {
    name: 'from granular to atomic: whoever owned something inside owns all of it',
    schema: withProperty('leaf', map(STRING)),
    writes: [
      { apply: { leaf: { a: 'x' } }, by: 'one' },
      { apply: { leaf: { b: 'y' } }, by: 'two' },
      {
        apply: { leaf: { c: 'z' } },
        by: 'three',
        schema: withProperty('leaf', { ...map(STRING), 'x-kubernetes-map-type': 'atomic' }),
        conflicts: ['.spec.leaf', '.spec.leaf'],
      },
      { apply: { leaf: { c: 'z' } }, by: 'three', force: true },
    ],
    object: { leaf: { c: 'z' } },
    owners: { three: { 'f:leaf': {} } },
  },
  {
    name: 'a list from set to atomic',
    writes: [
      { apply: { set: ['a'] }, by: 'one' },
      { apply: { n: 1 }, by: 'two', schema: withProperty('set', { type: 'array', items: STRING }) },
    ],
    object: { set: ['a'], n: 1 },
    owners: { one: { 'f:set': {} }, two: { 'f:n': {} } },
  },
  {
    name: 'from atomic to granular: the owner of the whole keeps the path, the keys are free',
    writes: [
      { apply: { atomic: { a: 'x' } }, by: 'one' },
      { apply: { atomic: { b: 'y' } }, by: 'two', schema: withProperty('atomic', map(STRING)) },
    ],
    object: { atomic: { a: 'x', b: 'y' } },
    owners: { one: { 'f:atomic': {} }, two: { 'f:atomic': { 'f:b': {} } } },
  },
]);

scenarios('versions (13.6)', [
  {
    name: 'apiserver/S3: an applier keeps its entry when it changes versions',
    writes: [{ apply: { n: 1, s: 'a' } }, { apply: { n: 1 }, version: 'v2' }],
    object: { n: 1 },
    owners: { 'default@test/v2': { 'f:n': {} } },
  },
  {
    name: 'apiserver/S3: a writer has an entry in every version it wrote',
    writes: [
      { update: { n: 1 }, by: 'ctrl' },
      { update: { n: 1, s: 'a' }, by: 'ctrl', version: 'v2' },
    ],
    object: { n: 1, s: 'a' },
    owners: { 'ctrl:Update': { '.': {}, 'f:n': {} }, 'ctrl:Update@test/v2': { 'f:s': {} } },
  },
  {
    name: 'conflicts cross versions',
    writes: [
      { apply: { n: 1 }, by: 'one' },
      { apply: { n: 2 }, by: 'two', version: 'v2', conflicts: ['.spec.n'] },
    ],
    object: { n: 1 },
    owners: { one: { 'f:n': {} } },
  },
  {
    name: 'an entry in a version that is gone is dropped, and what it owned stays',
    writes: [{ apply: { n: 1, s: 'a' }, by: 'old', version: 'v0' }, { apply: { b: true } }],
    object: { n: 1, s: 'a', b: true },
    owners: { default: { 'f:b': {} } },
  },
  {
    name: 'an applier whose version is gone starts anew',
    writes: [{ apply: { n: 1, s: 'a' }, version: 'v0' }, { apply: { b: true } }],
    object: { n: 1, s: 'a', b: true },
    owners: { default: { 'f:b': {} } },
  },
]);

scenarios('fields that an endpoint resets', [
  {
    name: 'apiserver/S2: are owned neither by writers',
    writes: [{ update: { n: 1, inner: { n: 1 } }, by: 'ctrl', resets: ['spec.inner'] }],
    object: { n: 1, inner: { n: 1 } },
    owners: { 'ctrl:Update': { '.': {}, 'f:n': {} } },
  },
  {
    name: 'apiserver/S2: nor by appliers',
    writes: [{ apply: { n: 1, inner: { n: 1 } }, resets: ['spec.inner'] }],
    object: { n: 1, inner: { n: 1 } },
    owners: { default: { 'f:n': {} } },
  },
  {
    name: 'apiserver/S2: and are not taken from their owners',
    writes: [
      { apply: { s: 'a' }, by: 'one' },
      { update: { s: 'b', n: 1 }, by: 'ctrl', resets: ['spec.s'] },
      { apply: { s: 'c' }, by: 'two', resets: ['spec.s'] },
    ],
    object: { s: 'c', n: 1 },
    owners: { one: { 'f:s': {} }, 'ctrl:Update': { 'f:n': {} } },
  },
]);

scenarios('the schema of a field', [
  {
    name: 'may make any map atomic',
    schema: withProperty('inner', { ...SPEC.properties?.['inner'], 'x-kubernetes-map-type': 'atomic' }),
    writes: [{ apply: { inner: { n: 1, m: 2 } } }],
    object: { inner: { n: 1, m: 2 } },
    owners: { default: { 'f:inner': {} } },
  },
  {
    name: 'may make a list that is patched by key one that is owned by key',
    schema: withProperty('whole', {
      type: 'array',
      items: struct,
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'name',
    }),
    writes: [{ apply: { whole: [{ name: 'a' }] } }],
    object: { whole: [{ name: 'a' }] },
    owners: { default: { 'f:whole': { 'k:{"name":"a"}': { '.': {}, 'f:name': {} } } } },
  },
  {
    name: 'may make a list that is patched without a key a set, and one that is told to be atomic not',
    schema: {
      ...SPEC,
      properties: {
        a: { type: 'array', items: STRING, 'x-kubernetes-patch-strategy': 'merge' },
        b: {
          type: 'array',
          items: STRING,
          'x-kubernetes-patch-strategy': 'merge',
          'x-kubernetes-list-type': 'atomic',
        },
        c: { type: 'array', items: STRING, 'x-kubernetes-patch-strategy': 'retainKeys' },
      },
    },
    writes: [{ apply: { a: ['x'], b: ['x'], c: ['x'] } }],
    object: { a: ['x'], b: ['x'], c: ['x'] },
    owners: { default: { 'f:a': { 'v:"x"': {} }, 'f:b': {}, 'f:c': {} } },
  },
]);
