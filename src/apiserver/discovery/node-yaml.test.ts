import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../object/json.ts';
import { parseYaml } from '../../object/yaml.ts';
import { nodeYaml } from './node-yaml.ts';

/** Printed by go.yaml.in/yaml/v3 3.0.4. */
const ROWS: readonly [Json, string][] = [
  ['deletecollection', 'deletecollection\n'],
  ['cert sign', 'cert sign\n'],
  ['merge,retainKeys', 'merge,retainKeys\n'],
  ['', '""\n'],
  ['yes', 'yes\n'],
  ['true', '"true"\n'],
  ['1e3', '"1e3"\n'],
  ['012', '"012"\n'],
  ['1_000', '"1_000"\n'],
  ['0x1f', '"0x1f"\n'],
  ['2020-01-01', '"2020-01-01"\n'],
  ['2020-01-01T00:00:00Z', '"2020-01-01T00:00:00Z"\n'],
  ['1:30', '1:30\n'],
  ['-', "'-'\n"],
  ['a: b', "'a: b'\n"],
  ["'a'", "'''a'''\n"],
  ['a #b', "'a #b'\n"],
  ['a\tb', '"a\\tb"\n'],
  ['😀', '"\\U0001F600"\n'],
  ['\u0001', '"\\x01"\n'],
  ['\ufeff', '"\\uFEFF"\n'],
  ['é', 'é\n'],
  ['a\nb', '|-\n    a\n    b\n'],
  ['a \nb', '"a \\nb"\n'],
  [true, 'true\n'],
  [null, 'null\n'],
  [1.5, '1.5\n'],
  [9007199254740993n, '9007199254740993\n'],
  [[], '[]\n'],
  [{}, '{}\n'],
  [{ a: [], b: {} }, 'a: []\nb: {}\n'],
  [{ group: '', kind: 'Pod', version: 'v1' }, 'group: ""\nkind: Pod\nversion: v1\n'],
  [['a', ['b', 'c']], '- a\n- - b\n  - c\n'],
  [
    [{ discriminator: 'kind', fields: { user: 'User' }, list: ['a'] }],
    '- discriminator: kind\n  fields:\n    user: User\n  list:\n    - a\n',
  ],
  [[{ rule: 'a\n\n|| b\n', message: 'x' }], '- rule: |\n    a\n\n    || b\n  message: x\n'],
  [['a\nb'], '- |-\n  a\n  b\n'],
];

/** Upstream prints these so that they cannot be read back, or in a form of their own. */
const OWN: readonly [Json, string][] = [
  ['<<', '"<<"\n'],
  [[' a\nb'], '- " a\\nb"\n'],
  ['\u2028', '"\\L"\n'],
  [{ 'a\nb': 1 }, '{"a\\nb":1}\n'],
  [[{ ['k'.repeat(129)]: 1 }], `[{"${'k'.repeat(129)}":1}]\n`],
];

describe('nodeYaml', () => {
  for (const [value, text] of [...ROWS, ...OWN]) {
    it(`apiserver/D8: prints ${JSON.stringify(text)}`, () => {
      assert.equal(nodeYaml(value), text);
    });
  }

  it('apiserver/D8: is read back as it was', () => {
    const words = fc.stringMatching(/^[-+.0-9yntfo~ex_:#,[\]{}&*!|>'"%@`? \n\t\\]{0,8}$/);
    const keys = fc.oneof(words, fc.string({ unit: 'binary', maxLength: 5 }));
    const values = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        keys,
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(keys, tie('value'), { maxKeys: 3 }),
      ),
    })).value;
    fc.assert(
      fc.property(values, (value) => {
        assert.deepEqual(parseYaml(nodeYaml(value)), JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
