import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isJsonObject, type Json } from './json.ts';
import { JsonProblem, parseJson, parseJsonBytes, stringifyJson, summarizeBody } from './json-text.ts';

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));

describe('parseJson', () => {
  it('reads any JSON without loss', () => {
    fc.assert(
      fc.property(fc.json(), fc.boolean(), (json, pretty) => {
        const text = JSON.stringify(JSON.parse(json), undefined, pretty ? 2 : undefined);
        const { value, duplicates } = parseJson(text);
        assert.equal(stringifyJson(value, { pretty }), text);
        assert.deepEqual(duplicates, []);
      }),
    );
  });

  it('apiserver/C9: keeps every digit of integers of 64 bits and writes them back', () => {
    const text = '{"a":9007199254740993,"b":-9223372036854775808,"c":[9223372036854775807,1],"d":1e3,"e":0.1}';
    const { value } = parseJson(text);
    assert.deepEqual(value, {
      a: 9007199254740993n,
      b: -9223372036854775808n,
      c: [9223372036854775807n, 1],
      d: 1000,
      e: 0.1,
    });
    assert.equal(stringifyJson(value), text.replace('1e3', '1000'));
  });

  it('apiserver/C9: takes an integer beyond 64 bits for a float, as upstream does', () => {
    assert.deepEqual(parseJson('{"a":9223372036854775808}').value, { a: 9223372036854775808 });
    assert.deepEqual(
      parseJson('[9007199254740991, 1234567890123456.5]').value,
      [9007199254740991, 1234567890123456.5],
    );
  });

  const duplicates = [
    { text: '{"a":1,"b":2}', want: [] },
    { text: '{"spec":{"color":1,"size":2,"color":3}}', want: ['spec.color'] },
    { text: '{"spec":{"ports":[{"name":1,"name":2},{"name":3}]}}', want: ['spec.ports[0].name'] },
    { text: '[{"a":1},{"a":1,"a":2}]', want: ['[1].a'] },
    { text: '{"a":1,"a":2,"a":3}', want: ['a'] },
    { text: '{"a":{"x":1},"a":{"y":1,"y":2}}', want: ['a', 'a.y'] },
    { text: '{"a":1,"\\u0061":2}', want: ['a'] },
    { text: '{"__proto__":1,"__proto__":2}', want: ['__proto__'] },
    { text: '{"a":{"b":1},"c":{"b":1},"b":2}', want: [] },
    { text: '{"Aa":1,"BB":2}', want: [] },
  ];
  for (const { text, want } of duplicates) {
    it(`apiserver/W3: finds the duplicate keys ${JSON.stringify(want)} of ${text}`, () => {
      assert.deepEqual(parseJson(text).duplicates, want);
    });
  }

  it('apiserver/W3: finds a duplicate among many keys, and reports at most a hundred', () => {
    const keys = (count: number) =>
      Array.from({ length: count }, (_, index) => `"key${index}":${index}`).join(',');
    assert.deepEqual(parseJson(`{${keys(40)}}`).duplicates, []);
    assert.deepEqual(parseJson(`{${keys(40)},"key3":true}`).duplicates, ['key3']);
    assert.equal(parseJson(`{${keys(150)},${keys(150)}}`).duplicates.length, 100);
  });

  it('apiserver/W3: lets the last of equal keys win', () => {
    assert.deepEqual(parseJson('{"a":1,"b":[],"a":{"c":[true,null,"x\\n",1.5,{}]}}').value, {
      a: { c: [true, null, 'x\n', 1.5, {}] },
      b: [],
    });
    assert.deepEqual(parseJson('{"a":9007199254740993,"a":9007199254740995}').value, { a: 9007199254740995n });
  });

  it('reads escaped keys right after a text that confuses JSON.parse of V8', () => {
    assert.deepEqual(parseJson('{"z":1,"\\\\":1}').value, { z: 1, '\\': 1 });
    assert.deepEqual(parseJson('{"z":1,"\\n":1}').value, { z: 1, '\n': 1 });
  });

  it('reliability/P9: takes 512 levels and refuses the 513th, naming its byte', () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    assert.ok(parseJson(nested(512)));
    assert.throws(() => parseJson(nested(513)), {
      name: 'JsonProblem',
      kind: 'depth',
      message: 'the request body is nested deeper than 512 levels (at byte 513)',
    });
    assert.throws(() => parseJson(`{"é":${nested(512)}}`), { message: /\(at byte 518\)$/ });
    assert.throws(() => parseJson('{"a":'.repeat(1_500_000)), { kind: 'depth' });
  });

  const bad = [
    ['}', "invalid character '}' looking for beginning of value"],
    ['{', 'unexpected end of JSON input'],
    ['', 'unexpected end of JSON input'],
    ['{"a":}', "invalid character '}' looking for beginning of value"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['[1 2]', "invalid character '2' after array element"],
    ['{"a":01}', "invalid character '1' after object key:value pair"],
    ['{"a":tru}', "invalid character '}' in literal true (expecting 'e')"],
    ['nul', "invalid character ' ' in literal null (expecting 'l')"],
    ['{"a":"\\x"}', "invalid character 'x' in string escape code"],
    ['{"a":"\\u12g4"}', "invalid character 'g' in \\u hexadecimal character escape"],
    ['{"a":-}', "invalid character '}' in numeric literal"],
    ['{"a":1.}', "invalid character '}' after decimal point in numeric literal"],
    ['{"a":1e}', "invalid character '}' in exponent of numeric literal"],
    ['{"a":1e+', "invalid character ' ' in exponent of numeric literal"],
    ['{"a":"b\nc"}', "invalid character '\\n' in string literal"],
    ['{"a":"\u0001"}', "invalid character '\\x01' in string literal"],
    ["'", "invalid character '\\'' looking for beginning of value"],
    ['{} x', "invalid character 'x' after top-level value"],
    ['NaN', "invalid character 'N' looking for beginning of value"],
    ['[0x10]', "invalid character 'x' after array element"],
    ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
    ['{}]', "invalid character ']' after top-level value"],
  ] as const;
  for (const [text, message] of bad) {
    it(`refuses ${JSON.stringify(text)} in the words of Go`, () => {
      assert.throws(() => parseJson(text), { name: 'JsonProblem', kind: 'syntax', message });
    });
  }

  it('refuses a number that no float holds', () => {
    const message = 'json: cannot unmarshal number 1e400 into Go value of type float64';
    assert.throws(() => parseJson('{"a":[1e400]}'), { kind: 'number', message });
    assert.throws(() => parseJson('{"a":1,"a":1e400}'), { kind: 'number', message });
  });

  it('never throws anything but a JsonProblem', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '1',
      '-',
      'e',
      'tru',
      '"',
      '\\',
      '\\u',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        try {
          parseJson(pieces.join(''));
        } catch (error) {
          assert.ok(error instanceof JsonProblem);
          assert.match(error.message, /^(invalid character|unexpected end)/);
        }
      }),
    );
  });

  it('reads every number as JSON.parse does, large ones aside', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (text) => {
        // One large number makes the whole text be read by our own reader.
        const careful = parseJson(`[ ${text}\n,\t9007199254740993 ]`).value;
        const exact = (_: string, value: unknown, { source = '' }: { source?: string } = {}) =>
          Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
            ? BigInt(source)
            : value;
        const wanted: Json = [JSON.parse(text, exact), 9007199254740993n];
        assert.equal(stringifyJson(careful), stringifyJson(wanted));
      }),
    );
  });

  for (const text of ['1e1', '1E+22', '123456789012345e99', '0.5e-400', '-1e99', '1e100', '-0', '0.25']) {
    it(`reads ${text} exactly`, () => assert.deepEqual(parseJson(text).value, JSON.parse(text)));
  }
});

describe('hostile keys and text', () => {
  it('reliability/T7.2: keeps the names of the prototype as keys at every level', () => {
    for (const key of [
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'hasOwnProperty',
      'length',
      'then',
      '',
    ]) {
      const text = JSON.stringify({ a: [{ b: 1 }] }).replace('"b"', JSON.stringify(key));
      assert.equal(stringifyJson(parseJson(text).value), text);
      const escaped = `{"x":1,"x":{${JSON.stringify(key)}:{"polluted":true}}}`;
      assert.equal(stringifyJson(parseJson(escaped).value), escaped.replace('"x":1,', ''));
    }
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
  });

  it('reliability/T7.2: replaces lone surrogates and keeps pairs, NUL and direction marks', () => {
    const { value } = parseJson('{"a\\ud800":["\\udc00x","\\ud83d\\ude00","\\u0000","\u202e"],"n":1}');
    assert.deepEqual(value, { 'a\ufffd': ['\ufffdx', '😀', '\u0000', '\u202e'], n: 1 });
  });

  const broken: { name: string; body: Uint8Array; want: string }[] = [
    { name: 'valid text', body: bytes('"é€😀"'), want: 'é€😀' },
    { name: 'a stray byte', body: bytes('"a', [0xff], 'b"'), want: 'a\ufffdb' },
    { name: 'a sequence that ends early', body: bytes('"', [0xe2, 0x82], 'x"'), want: '\ufffd\ufffdx' },
    { name: 'an overlong form', body: bytes('"', [0xc0, 0xaf], '"'), want: '\ufffd\ufffd' },
    { name: 'an encoded surrogate', body: bytes('"', [0xed, 0xa0, 0x80], '"'), want: '\ufffd\ufffd\ufffd' },
    { name: 'a number beyond Unicode', body: bytes('"', [0xf4, 0x90, 0x80, 0x80], '"'), want: '\ufffd'.repeat(4) },
  ];
  for (const { name, body, want } of broken) {
    it(`reliability/T7.2: reads ${name} as Go does, one replacement per byte`, () => {
      assert.equal(parseJsonBytes(body).value, want);
    });
  }

  it('reports the first byte of what is not JSON', () => {
    assert.throws(() => parseJsonBytes(bytes([0xff, 0xfe])), {
      message: "invalid character 'ÿ' looking for beginning of value",
    });
    assert.throws(() => parseJsonBytes(bytes([0x80])), { message: /'\\u0080'/ });
  });
});

describe('stringifyJson', () => {
  it('is the inverse of parseJson', () => {
    const json = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom<Json>(null, true, 2n ** 60n, -(2n ** 63n), 1.5),
        fc.string(),
        fc.integer(),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(json, fc.boolean(), (value, pretty) => {
        const text = stringifyJson(value, { pretty });
        assert.equal(stringifyJson(parseJson(text).value, { pretty }), text);
      }),
    );
  });

  it('indents by two spaces for people', () => {
    assert.equal(
      stringifyJson({ a: [1, 2n ** 60n] }, { pretty: true }),
      `{\n  "a": [\n    1,\n    ${2n ** 60n}\n  ]\n}`,
    );
    assert.ok(isJsonObject(parseJson('{}').value));
  });
});

describe('summarizeBody', () => {
  const cases = [
    { body: '', want: '<empty>' },
    { body: '{"a":1}', want: '{"a":1}' },
    { body: `{"apiVersion":"v1","kind":"ConfigMap"}`, want: '{"apiVersion":"v1","kind":"Con ...' },
    { body: '[1,]', want: '5b312c5d' },
    { body: 'x'.repeat(31), want: `${'78'.repeat(30)} ...` },
  ];
  for (const { body, want } of cases) {
    it(`shows ${JSON.stringify(body)} as ${want}`, () => assert.equal(summarizeBody(Buffer.from(body)), want));
  }
});
