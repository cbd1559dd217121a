import { STRING, scenarios, withProperty } from '../../../test/support/apply-scenario.ts';

scenarios('leaves', [
  {
    name: 'applying twice owns what was applied last',
    writes: [{ apply: { n: 1, s: 'a' } }, { apply: { n: 2, s: 'b', b: false } }],
    object: { n: 2, s: 'b', b: false },
    owners: { default: { 'f:b': {}, 'f:n': {}, 'f:s': {} } },
  },
  {
    name: 'apiserver/S4: a controller that sets other fields is no conflict',
    writes: [{ apply: { n: 1 } }, { update: { n: 1, s: 'x' }, by: 'ctrl' }, { apply: { n: 2, b: true } }],
    object: { n: 2, s: 'x', b: true },
    owners: { default: { 'f:b': {}, 'f:n': {} }, 'ctrl:Update': { 'f:s': {} } },
  },
  {
    name: 'apiserver/S9: a controller that changed an applied field is one, until the applier insists',
    writes: [
      { apply: { n: 1, s: 'a' } },
      { update: { n: 1, s: 'b' }, by: 'ctrl' },
      { apply: { n: 1, s: 'c' }, conflicts: ['.spec.s'] },
      { apply: { n: 1, s: 'c' }, force: true },
    ],
    object: { n: 1, s: 'c' },
    owners: { default: { 'f:n': {}, 'f:s': {} } },
  },
  {
    name: 'a field that its only applier leaves out disappears',
    writes: [{ apply: { n: 1, s: 'a', b: true } }, { apply: { n: 1 } }],
    object: { n: 1 },
    owners: { default: { 'f:n': {} } },
  },
  {
    name: 'a field that only a controller set stays when an applier that never had it leaves it out',
    writes: [{ update: { n: 1 }, by: 'ctrl' }, { apply: {} }],
    object: { n: 1 },
    owners: { default: {}, 'ctrl:Update': { '.': {}, 'f:n': {} } },
  },
  {
    name: 'apiserver/S4: what an update removes belongs to nobody',
    writes: [{ apply: { s: 'a' } }, { update: {}, by: 'ctrl' }],
    object: {},
    owners: {},
  },
  {
    name: 'apiserver/S4: what an update leaves alone keeps its owner',
    writes: [{ apply: { n: 1 } }, { update: { n: 1 }, by: 'ctrl' }],
    object: { n: 1 },
    owners: { default: { 'f:n': {} } },
  },
  {
    name: 'a map that loses its last key becomes null, as upstream has it',
    writes: [{ apply: { s: 'a' } }, { apply: {} }],
    object: null,
    owners: { default: {} },
  },
]);

scenarios('sets', [
  {
    name: 'an item that is applied no more disappears, those of others stay',
    writes: [
      { apply: { set: ['a', 'c'] } },
      { update: { set: ['a', 'b', 'c', 'd'] }, by: 'ctrl' },
      { apply: { set: ['a', 'aprime'] } },
    ],
    object: { set: ['a', 'b', 'd', 'aprime'] },
    owners: {
      default: { 'f:set': { 'v:"a"': {}, 'v:"aprime"': {} } },
      'ctrl:Update': { 'f:set': { 'v:"b"': {}, 'v:"d"': {} } },
    },
  },
  {
    name: 'the order is that of the configuration',
    writes: [{ apply: { set: ['a', 'b', 'c', 'd'] } }, { apply: { set: ['a', 'd', 'c', 'b'] } }],
    object: { set: ['a', 'd', 'c', 'b'] },
    owners: { default: { 'f:set': { 'v:"a"': {}, 'v:"b"': {}, 'v:"c"': {}, 'v:"d"': {} } } },
  },
  {
    name: 'an item that two appliers share stays until both let go (S13)',
    writes: [
      { apply: { set: ['a', 'b'] }, by: 'one' },
      { apply: { set: ['b'] }, by: 'two' },
      { apply: { set: ['a'] }, by: 'one' },
    ],
    object: { set: ['a', 'b'] },
    owners: { one: { 'f:set': { 'v:"a"': {} } }, two: { 'f:set': { 'v:"b"': {} } } },
  },
]);

scenarios('lists by key', [
  {
    name: 'an item that is applied no more disappears with all its fields',
    writes: [{ apply: { items: [{ name: 'a', value: 1 }] } }, { apply: { items: [{ name: 'b', value: 2 }] } }],
    object: { items: [{ name: 'b', value: 2 }] },
    owners: { default: { 'f:items': { 'k:{"name":"b"}': { '.': {}, 'f:name': {}, 'f:value': {} } } } },
  },
  {
    name: 'an item that is applied no more takes along what a controller set in it',
    writes: [
      { apply: { items: [{ name: 'a' }, { name: 'b' }] } },
      { update: { items: [{ name: 'a' }, { name: 'b', value: 2 }] }, by: 'ctrl' },
      { apply: { items: [{ name: 'a' }] } },
    ],
    object: { items: [{ name: 'a' }] },
    owners: { default: { 'f:items': { 'k:{"name":"a"}': { '.': {}, 'f:name': {} } } } },
  },
  {
    name: 'two appliers share an item and each keeps its field',
    writes: [
      { apply: { items: [{ name: 'a', value: 1 }] }, by: 'one' },
      { apply: { items: [{ name: 'a', set: ['x'] }] }, by: 'two' },
      { apply: {}, by: 'one' },
    ],
    object: { items: [{ name: 'a', set: ['x'] }] },
    owners: {
      one: {},
      two: { 'f:items': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:set': { 'v:"x"': {} } } } },
    },
  },
  {
    name: 'a key that is left out has its default',
    writes: [
      { apply: { ports: [{ port: 80, name: 'a' }] } },
      {
        apply: {
          ports: [
            { port: 80, protocol: 'TCP', name: 'b' },
            { port: 80, protocol: 'UDP', name: 'c' },
          ],
        },
      },
    ],
    object: {
      ports: [
        { port: 80, name: 'b', protocol: 'TCP' },
        { port: 80, protocol: 'UDP', name: 'c' },
      ],
    },
    owners: {
      default: {
        'f:ports': {
          'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:name': {}, 'f:port': {}, 'f:protocol': {} },
          'k:{"port":80,"protocol":"UDP"}': { '.': {}, 'f:name': {}, 'f:port': {}, 'f:protocol': {} },
        },
      },
    },
  },
  {
    name: 'a defaulted key conflicts with the same key spelled out',
    writes: [
      { apply: { ports: [{ port: 80, name: 'a' }] }, by: 'one' },
      {
        apply: { ports: [{ port: 80, protocol: 'TCP', name: 'b' }] },
        by: 'two',
        conflicts: ['.spec.ports[port=80,protocol="TCP"].name'],
      },
    ],
    object: { ports: [{ port: 80, name: 'a' }] },
    owners: { one: { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:name': {}, 'f:port': {} } } } },
  },
]);

scenarios('nested maps', [
  {
    name: 'a key that is applied no more disappears, the map above it too',
    writes: [{ apply: { maps: { a: { b: 'x' } } } }, { apply: { maps: { c: { d: 'y' } } } }],
    object: { maps: { c: { d: 'y' } } },
    owners: { default: { 'f:maps': { 'f:c': { '.': {}, 'f:d': {} } } } },
  },
  {
    name: 'a key that is applied no more takes along what a controller put below it',
    writes: [
      { apply: { n: 1, maps: { a: { b: 'x' }, z: { y: 'x' } } } },
      { update: { n: 1, maps: { a: { b: 'x', c: 'y' }, z: { y: 'x' } } }, by: 'ctrl' },
      { apply: { n: 1, maps: { z: { y: 'x' } } } },
    ],
    object: { n: 1, maps: { z: { y: 'x' } } },
    owners: { default: { 'f:maps': { 'f:z': { '.': {}, 'f:y': {} } }, 'f:n': {} } },
  },
  {
    name: 'a structure goes when its applier lets go of all of it',
    writes: [{ apply: { n: 1, inner: { n: 1, map: { a: 'x' } } } }, { apply: { n: 1 } }],
    object: { n: 1 },
    owners: { default: { 'f:n': {} } },
  },
  {
    name: 'a structure that others fill stays with what is theirs',
    writes: [{ apply: { inner: { n: 1 } } }, { update: { inner: { n: 1, m: 2 } }, by: 'ctrl' }, { apply: {} }],
    object: { inner: { m: 2 } },
    owners: { default: {}, 'ctrl:Update': { 'f:inner': { 'f:m': {} } } },
  },
  {
    name: 'apiserver/S6: when nobody owns anything any more, the next apply finds owners for what is there',
    writes: [
      { apply: { inner: { map: { a: 'x' } } } },
      { update: { inner: { map: {} } }, by: 'ctrl' },
      { apply: { inner: { map: { b: 'y' } } } },
    ],
    object: { inner: { map: { b: 'y' } } },
    owners: {
      default: { 'f:inner': { 'f:map': { 'f:b': {} } } },
      'before-first-apply:Update': { '.': {}, 'f:inner': { '.': {}, 'f:map': {} } },
    },
  },
  {
    name: 'a map of maps of itself is pruned where nobody is left',
    writes: [
      { apply: { deep: { a: { b: {}, c: { d: {} } } } }, by: 'one' },
      { apply: { deep: { a: { c: { d: {}, e: {} } } } }, by: 'two' },
      { apply: { deep: { a: {} } }, by: 'one' },
    ],
    object: { deep: { a: { c: { d: {}, e: {} } } } },
    owners: {
      one: { 'f:deep': { 'f:a': {} } },
      two: { 'f:deep': { 'f:a': { '.': {}, 'f:c': { '.': {}, 'f:d': {}, 'f:e': {} } } } },
    },
  },
]);

scenarios('several appliers', [
  {
    name: 'apiserver/S13: the same value twice is shared, and stays until the last owner drops it',
    writes: [
      { apply: { n: 1, s: 'a' }, by: 'one' },
      { apply: { n: 1 }, by: 'two' },
      { apply: {}, by: 'one' },
    ],
    object: { n: 1 },
    owners: { one: {}, two: { 'f:n': {} } },
  },
  {
    name: 'apiserver/S13: it goes with the last one',
    writes: [
      { apply: { n: 1 }, by: 'one' },
      { apply: { n: 1 }, by: 'two' },
      { apply: {}, by: 'one' },
      { apply: {}, by: 'two' },
    ],
    object: null,
    owners: { one: {}, two: {} },
  },
  {
    name: 'another value is a conflict',
    writes: [
      { apply: { n: 1, s: 'a' }, by: 'one' },
      { apply: { n: 2, s: 'b' }, by: 'two', conflicts: ['.spec.n', '.spec.s'] },
    ],
    object: { n: 1, s: 'a' },
    owners: { one: { 'f:n': {}, 'f:s': {} } },
  },
  {
    name: 'force takes the whole of an atomic map',
    writes: [
      { apply: { atomic: { a: 'x' } }, by: 'one' },
      { apply: { atomic: { b: 'y' } }, by: 'two', force: true },
    ],
    object: { atomic: { b: 'y' } },
    owners: { two: { 'f:atomic': {} } },
  },
  {
    name: 'apiserver/S12: null is a value like another, and is owned',
    schema: withProperty('maybe', { type: 'string', nullable: true }),
    writes: [{ apply: { maybe: null } }],
    object: { maybe: null },
    owners: { default: { 'f:maybe': {} } },
  },
]);

scenarios('duplicates in live lists', [
  {
    name: 'are owned as one leaf',
    writes: [{ update: { set: ['a', 'a', 'b'] }, by: 'ctrl' }],
    object: { set: ['a', 'a', 'b'] },
    owners: { 'ctrl:Update': { '.': {}, 'f:set': { '.': {}, 'v:"a"': {}, 'v:"b"': {} } } },
  },
  {
    name: 'are replaced by an applied item, not merged with it',
    writes: [
      { update: { items: [{ name: 'a', value: 1 }, { name: 'a', value: 2 }, { name: 'b' }] }, by: 'ctrl' },
      { apply: { items: [{ name: 'a', value: 3 }] }, force: true },
    ],
    object: { items: [{ name: 'a', value: 3 }, { name: 'b' }] },
    owners: {
      default: { 'f:items': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:value': {} } } },
      'ctrl:Update': { '.': {}, 'f:items': { '.': {}, 'k:{"name":"b"}': { '.': {}, 'f:name': {} } } },
    },
  },
  {
    name: 'that appear take the item from its owner, and give it back to whoever removes them',
    writes: [
      { apply: { items: [{ name: 'a', value: 1 }] } },
      {
        update: {
          items: [
            { name: 'a', value: 1 },
            { name: 'a', value: 1 },
          ],
        },
        by: 'ctrl',
      },
      { update: { items: [{ name: 'a', value: 1 }] }, by: 'last' },
    ],
    object: { items: [{ name: 'a', value: 1 }] },
    owners: { 'last:Update': { 'f:items': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:value': {} } } } },
  },
  {
    name: 'that change among themselves are modified as a whole',
    writes: [
      { update: { set: ['a', 'a'] }, by: 'one' },
      { update: { set: ['a', 'a', 'a'] }, by: 'two' },
    ],
    object: { set: ['a', 'a', 'a'] },
    owners: { 'one:Update': { '.': {}, 'f:set': {} }, 'two:Update': { 'f:set': { 'v:"a"': {} } } },
  },
]);

scenarios('what no schema describes', [
  {
    name: 'is owned key by key, lists as a whole',
    writes: [
      { apply: { free: { a: { b: 1 }, list: ['x'] } }, by: 'one' },
      { apply: { free: { a: { c: 2 } } }, by: 'two' },
      { apply: { free: { list: ['y'] } }, by: 'two', conflicts: ['.spec.free.list'] },
    ],
    object: { free: { a: { b: 1, c: 2 }, list: ['x'] } },
    owners: {
      one: { 'f:free': { 'f:a': { '.': {}, 'f:b': {} }, 'f:list': {} } },
      two: { 'f:free': { 'f:a': { '.': {}, 'f:c': {} } } },
    },
  },
  {
    name: 'may change its form',
    writes: [
      { apply: { free: { a: 'x' } }, by: 'one' },
      { apply: { free: { a: { b: 1 } } }, by: 'two', force: true },
    ],
    object: { free: { a: { b: 1 } } },
    owners: { two: { 'f:free': { 'f:a': { '.': {}, 'f:b': {} } } } },
  },
  {
    name: 'is allowed below a node that preserves it, however deep',
    schema: withProperty('half', {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { known: { type: 'object', properties: { a: STRING } } },
    }),
    writes: [{ apply: { half: { known: { a: 'x', unknown: 'y' } } } }],
    object: { half: { known: { a: 'x', unknown: 'y' } } },
    owners: { default: { 'f:half': { 'f:known': { 'f:a': {}, 'f:unknown': {} } } } },
  },
]);
