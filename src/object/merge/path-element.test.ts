import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  canonicalElement,
  compareElements,
  elementText,
  keyElement,
  sortedKeys,
  valueElement,
} from './path-element.ts';

describe('canonicalElement', () => {
  const rows = [
    { text: 'f:a b', want: 'f:a b' },
    { text: 'f:', want: 'f:' },
    { text: 'v: "x" ', want: 'v:"x"' },
    { text: 'v:1.0', want: 'v:1' },
    { text: 'v:9007199254740993', want: 'v:9007199254740993' },
    { text: 'v:"<&>"', want: 'v:"\\u003c\\u0026\\u003e"' },
    { text: 'v:"\\b\\f"', want: 'v:"\\u0008\\u000c"' },
    { text: 'k:{"b":1, "a":null}', want: 'k:{"a":null,"b":1}' },
    { text: 'k:{"a":{"z":1,"y":[true]}}', want: 'k:{"a":{"y":[true],"z":1}}' },
    { text: 'i:007', want: 'i:7' },
    { text: 'x:of the future', want: undefined },
  ];
  for (const { text, want } of rows) {
    it(`spells ${text} as ${want}`, () => {
      assert.equal(canonicalElement(text), want);
    });
  }

  for (const text of ['f', 'fa', 'v:{', 'k:[1]', 'i:x']) {
    it(`refuses ${text}`, () => {
      assert.throws(() => canonicalElement(text));
    });
  }
});

describe('compareElements', () => {
  it('orders fields by bytes, then keys, then values by kind and size, then positions', () => {
    const ordered = [
      'f:',
      'f:B',
      'f:a',
      'f:a-b',
      'f:\uffff',
      'f:\u{1f600}',
      keyElement([['a', 9]]),
      keyElement([['a', 10]]),
      keyElement([
        ['a', 10],
        ['b', 'x'],
      ]),
      keyElement([['a', 'x']]),
      keyElement([['b', 1]]),
      valueElement(-1),
      valueElement(9),
      valueElement(10n ** 20n),
      valueElement(''),
      valueElement('a!'),
      valueElement('b'),
      valueElement(false),
      valueElement(true),
      valueElement([1]),
      valueElement({}),
      valueElement(null),
      'i:9',
      'i:10',
    ];
    assert.deepEqual(ordered.toReversed().sort(compareElements), ordered);
    assert.equal(compareElements('f:a', 'f:a'), 0);
  });

  it('orders the keys of an object alike', () => {
    assert.deepEqual(sortedKeys({ '\u{1f600}': 1, '\uffff': 2, a: 3 }), ['a', '\uffff', '\u{1f600}']);
    assert.deepEqual(sortedKeys({ b: 1, a: 2 }), ['a', 'b']);
  });
});

describe('elementText', () => {
  const rows = [
    { element: 'f:a.b/c', want: '.a.b/c' },
    { element: 'k:{"port":80,"protocol":"TCP"}', want: '[port=80,protocol="TCP"]' },
    { element: 'v:"x\\ny"', want: '[="x\\ny"]' },
    { element: 'v:true', want: '[=true]' },
    { element: 'v:[1,"a"]', want: '[=[1,"a"]]' },
    { element: 'v:{"a":null}', want: '[=a=null]' },
    { element: 'i:3', want: '[3]' },
  ];
  for (const { element, want } of rows) {
    it(`apiserver/S9: names ${element} as ${want}`, () => {
      assert.equal(elementText(element), want);
    });
  }
});
