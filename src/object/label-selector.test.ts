import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Json } from './json.ts';
import { parseJson } from './json-text.ts';
import {
  EVERYTHING,
  labelSelectorOf,
  matchesLabels,
  NOTHING,
  parseLabelSelector,
  printLabelSelector,
} from './label-selector.ts';

const labels = { app: 'web', tier: 'front', size: '10', empty: '' };

describe('parseLabelSelector', () => {
  const matching: [string, boolean][] = [
    ['', true],
    ['app', true],
    ['nope', false],
    ['!app', false],
    ['!nope', true],
    ['app=web', true],
    ['app==web', true],
    ['app=db', false],
    ['app!=web', false],
    ['app!=db', true],
    ['nope!=x', true],
    ['app in (web,db)', true],
    ['app in (db)', false],
    ['nope in (a)', false],
    ['app notin (db)', true],
    ['app notin (web)', false],
    ['nope notin (a)', true],
    ['empty=', true],
    ['empty in (,x)', true],
    ['size>9', true],
    ['size>10', false],
    ['size<11', true],
    ['app>1', false],
    ['nope>1', false],
    ['app=web,tier=front', true],
    ['app=web,tier=back', false],
    [' app = web , ! nope ', true],
    ['in=notin', false],
  ];
  for (const [text, want] of matching) {
    it(`apiserver/L6: "${text}" ${want ? 'matches' : 'does not match'}`, () => {
      assert.equal(matchesLabels(parseLabelSelector(text), labels), want);
    });
  }

  it('apiserver/L6: sorts by key and value when printed', () => {
    const printed = printLabelSelector(parseLabelSelector('z notin (b,a),!x,a in (),k>5,c==d,b<3,e,m!=n'));
    assert.equal(printed, 'a in (),b<3,c==d,e,k>5,m!=n,!x,z notin (a,b)');
  });

  it('apiserver/L6: reads what it prints', () => {
    const key = fc.constantFrom('a', 'b.c', 'x/y', 'in', 'notin');
    const value = fc.constantFrom('', 'v', 'w-1', 'in');
    const requirement = fc.oneof(
      key,
      key.map((name) => `!${name}`),
      fc.tuple(key, fc.constantFrom('=', '==', '!='), value).map((parts) => parts.join('')),
      fc
        .tuple(key, fc.constantFrom('in', 'notin'), fc.array(value, { minLength: 1 }))
        .map(([name, operator, values]) => `${name} ${operator} (${values.join(',')})`),
      fc.tuple(key, fc.constantFrom('>', '<'), fc.nat()).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), (parts) => {
        const printed = printLabelSelector(parseLabelSelector(parts.join(',')));
        assert.equal(printLabelSelector(parseLabelSelector(printed)), printed);
      }),
    );
  });

  const bad: [string, string | RegExp][] = [
    ['=', "found '=', expected: !, identifier, or 'end of string'"],
    ['a,', "found '', expected: identifier after ','"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
    ['a in (b,=)', "unable to parse requirement: found '=', expected: ',', or identifier"],
    ['a==!', "unable to parse requirement: found '!', expected: identifier"],
    ['!!a', "unable to parse requirement: found '!', expected: identifier"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    [
      'a>x',
      /^unable to parse requirement: values\[0\]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer$/,
    ],
    ['-', /^unable to parse requirement: <nil>: Invalid value: "-": name part must consist of/],
    ['a=%', /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "%": a valid label must be/],
    ['a in (%,~)', /^unable to parse requirement: \[values\[0\]\[a\]: .*, values\[1\]\[a\]: .*\]$/],
    [`a>${'9'.repeat(30)}`, /must be an integer/],
  ];
  for (const [text, message] of bad) {
    it(`apiserver/L6: refuses "${text}" in the words of upstream`, () => {
      assert.throws(() => parseLabelSelector(text), { name: 'SelectorProblem', message });
    });
  }

  it('reliability/T7.2: does not find labels that only the prototype has', () => {
    assert.equal(matchesLabels(parseLabelSelector('constructor'), labels), false);
    assert.equal(matchesLabels(parseLabelSelector('toString'), undefined), false);
    const hostile = parseJson('{"constructor":"x"}').value as Record<string, string>;
    assert.equal(matchesLabels(parseLabelSelector('constructor=x'), hostile), true);
  });
});

describe('labelSelectorOf', () => {
  it('selects nothing without a selector and everything with an empty one', () => {
    assert.equal(matchesLabels(labelSelectorOf(undefined), labels), false);
    assert.equal(matchesLabels(NOTHING, labels), false);
    assert.equal(matchesLabels(labelSelectorOf({}), labels), true);
    assert.equal(matchesLabels(EVERYTHING, undefined), true);
  });

  it('joins matchLabels and matchExpressions', () => {
    const selector = labelSelectorOf({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['front', 'back'] },
        { key: 'size', operator: 'NotIn', values: ['5'] },
        { key: 'empty', operator: 'Exists' },
        { key: 'nope', operator: 'DoesNotExist' },
      ],
    });
    assert.equal(printLabelSelector(selector), 'app=web,empty,!nope,size notin (5),tier in (back,front)');
    assert.equal(matchesLabels(selector, labels), true);
  });

  const bad: [Json, RegExp][] = [
    [{ key: 'a', operator: 'Foo' }, /^"Foo" is not a valid label selector operator$/],
    [
      { key: 'a', operator: 'In' },
      /^values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty$/,
    ],
    [{ key: 'a', operator: 'Exists', values: ['x'] }, /^values: Invalid value: \["x"\]: values set must be empty/],
    [{ operator: 'Exists' }, /^key: Invalid value: "": name part must be non-empty; name part must consist/],
  ];
  for (const [expression, message] of bad) {
    it(`refuses the expression ${JSON.stringify(expression)}`, () => {
      assert.throws(() => labelSelectorOf({ matchExpressions: [expression] }), { message });
    });
  }
});
