import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../object/json.ts';
import { customColumns } from './columns.ts';

const NOW = new Date('2024-01-02T00:00:00Z');
const OBJECT: JsonObject = {
  metadata: { name: 'c', creationTimestamp: '2024-01-01T00:00:00Z', labels: { 'a.b/c': 'lab' } },
  spec: {
    null: null,
    obj: { b: '<x>', a: 1 },
    f: 1_234_567.5,
    i: 3,
    t: true,
    bad: 'x',
    empty: '',
    list: [1, 'two', { z: 1 }],
  },
  status: {
    conditions: [
      { type: 'A', status: 'x', n: 1 },
      { type: 'Ready', status: 'True', n: 2 },
    ],
  },
};
const column = (type: string, jsonPath: string, more: JsonObject = {}) => ({
  name: 'X',
  type,
  format: '',
  description: '',
  priority: 0,
  jsonPath,
  ...more,
});

describe('printer columns', () => {
  it('apiserver/X38: shows name and age when nothing is asked', () => {
    const columns = customColumns([]);
    assert.deepEqual(
      columns.definitions.map(({ name, type, format }) => [name, type, format]),
      [
        ['Name', 'string', 'name'],
        ['Age', 'date', ''],
      ],
    );
    assert.deepEqual(columns.cells(OBJECT, NOW), ['c', '24h']);
    assert.deepEqual(columns.cells({}, NOW), ['', null]);
  });

  it('apiserver/X38: describes a column by its path', () => {
    const { definitions } = customColumns([
      { ...column('string', '.a'), priority: 1 },
      { ...column('string', '.b'), description: 'B' },
    ]);
    assert.deepEqual(
      definitions.slice(1).map(({ description, priority }) => [description, priority]),
      [
        ['Custom resource definition column (in JSONPath format): .a', 1],
        ['B', 0],
      ],
    );
  });

  const cells: readonly (readonly [type: string, path: string, cell: string | number | boolean | null])[] = [
    ['string', '.spec.null', '<no value>'],
    ['string', '.spec.obj', '{"a":1,"b":"\\u003cx\\u003e"}'],
    ['string', '.spec.f', '1.2345675e+06'],
    ['string', '.spec.i', '3'],
    ['string', '.spec.t', 'true'],
    ['string', '.spec.missing', null],
    ['integer', '.spec.f', 1_234_567],
    ['integer', '.spec.bad', null],
    ['number', '.spec.i', 3],
    ['number', '.spec.bad', null],
    ['boolean', '.spec.t', true],
    ['boolean', '.spec.i', null],
    ['date', '.metadata.creationTimestamp', '24h'],
    ['date', '.spec.bad', '<invalid>'],
    ['date', '.spec.empty', '<unknown>'],
    ['date', '.spec.i', null],
    ['other', '.spec.i', null],
    ['string', '.status.conditions[?(@.type=="Ready")].status', 'True'],
    ['string', '.spec.list[5]', null],
    ['string', '.spec.list[*]', '1'],
    ['string', '.spec.list', '[1,"two",{"z":1}]'],
    ['string', '.spec.list[-1]', '{"z":1}'],
    ['string', '.metadata.labels.a\\.b/c', 'lab'],
    ['string', '.spec.list[1:9]', null],
    ['string', '.spec.list[?(@==1)]', null],
    ['string', '.spec.i[0]', null],
    ['string', '.', null],
    ['string', '.status.conditions[?(b==1)].n', null],
    ['string', '.status.conditions[?(@.n==c)].n', null],
  ];
  for (const [type, path, cell] of cells) {
    it(`apiserver/X38: prints ${path} as ${type}`, () => {
      assert.deepEqual(customColumns([column(type, path)]).cells(OBJECT, NOW), ['c', cell]);
    });
  }

  it('stops before a path it cannot read, as upstream', () => {
    const { definitions } = customColumns([
      column('string', '.a'),
      column('string', '.spec["obj"]'),
      column('string', '.b'),
    ]);
    assert.equal(definitions.length, 2);
  });
});
