import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type FieldRequirement, parseFieldSelector, requiredField } from './field-selector.ts';

describe('parseFieldSelector', () => {
  const cases = [
    { text: '', want: [] },
    { text: 'metadata.name=a', want: [{ field: 'metadata.name', operator: '=', value: 'a' }] },
    { text: 'a==b', want: [{ field: 'a', operator: '=', value: 'b' }] },
    { text: 'a!=b', want: [{ field: 'a', operator: '!=', value: 'b' }] },
    {
      text: 'z=1,a=,,',
      want: [
        { field: 'a', operator: '=', value: '' },
        { field: 'z', operator: '=', value: '1' },
      ],
    },
    { text: 'a=x\\,y\\=z\\\\', want: [{ field: 'a', operator: '=', value: 'x,y=z\\' }] },
    { text: '=', want: [] },
  ];
  for (const { text, want } of cases) {
    it(`apiserver/L7: reads "${text}"`, () => assert.deepEqual(parseFieldSelector(text), want));
  }

  const bad = [
    { text: 'metadata.name', message: "invalid selector: 'metadata.name'; can't understand 'metadata.name'" },
    { text: 'b=1,a', message: "invalid selector: 'b=1,a'; can't understand 'a'" },
    { text: 'a=b=c', message: 'invalid field selector: unescaped character in value: 61' },
    { text: 'a=\\x', message: 'invalid field selector: invalid escape sequence: \\x' },
    { text: 'a=b\\', message: 'invalid field selector: invalid escape sequence: \\' },
  ];
  for (const { text, message } of bad) {
    it(`apiserver/L7: refuses "${text}" in the words of upstream`, () => {
      assert.throws(() => parseFieldSelector(text), { name: 'SelectorProblem', message });
    });
  }

  it('apiserver/L7: reads what is escaped, whatever the values hold', () => {
    const printed = ({ field, operator, value }: FieldRequirement) =>
      `${field}${operator}${value.replaceAll(/[\\,=]/g, '\\$&')}`;
    const requirement = fc.record({
      field: fc.constantFrom('a', 'b.c', 'spec.nodeName'),
      operator: fc.constantFrom('=' as const, '!=' as const),
      value: fc.string({ unit: fc.constantFrom(',', '=', '\\', 'x', '!', 'é', '😀') }),
    });
    fc.assert(
      fc.property(fc.array(requirement), (requirements) => {
        const read = parseFieldSelector(requirements.map(printed).join(','));
        const sorted = (list: readonly FieldRequirement[]) => list.map((item) => JSON.stringify(item)).toSorted();
        assert.deepEqual(sorted(read), sorted(requirements));
      }),
    );
  });

  it('tells the one value a field must have', () => {
    assert.equal(requiredField(parseFieldSelector('metadata.name=x,a!=b'), 'metadata.name'), 'x');
    assert.equal(requiredField(parseFieldSelector('a!=b'), 'a'), undefined);
  });
});
