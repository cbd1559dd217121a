import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type Json, jsonEqual } from './json.ts';
import { type ParsedJson, parseJson, stringifyJson } from './json-text.ts';
import { yamlBodySteps } from './yaml-body.ts';
import { parseJsonAsYaml, yamlStrictError } from './yaml-json.ts';
import { printYamlBody } from './yaml-print.ts';

/** As bodies are read, without the pauses. */
const parseYamlBody = (text: string): ParsedJson => parseJsonAsYaml(text) ?? withoutPauses(yamlBodySteps(text));

function withoutPauses<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

describe('a YAML body', () => {
  const scalars: [string, Json][] = [
    ['y', true],
    ['Yes', true],
    ['on', true],
    ['TRUE', true],
    ['n', false],
    ['off', false],
    ['tRue', 'tRue'],
    ['~', null],
    ['', null],
    ['"yes"', 'yes'],
    ["'no'", 'no'],
    ['012', 10],
    ['-012', -10],
    ['08', 8],
    ['0x1F', 31],
    ['0o17', 15],
    ['0b11', 3],
    ['1_000', 1000],
    ['+12', 12],
    ['1e3', 1000],
    ['.5', 0.5],
    ['1.', 1],
    ['1e400', '1e400'],
    ['1:30', '1:30'],
    ['2001-12-14', '2001-12-14'],
    ['9007199254740993', 9007199254740993n],
    ['-9223372036854775808', -9223372036854775808n],
    ['18446744073709551615', 2 ** 64],
    ['!!str 12', '12'],
    ['!!float 1', 1],
    ['!!int "5"', 5],
    ['!!bool yes', true],
    ['!!null ""', null],
    ['!!binary aGk=', 'hi'],
    ['!custom 12', '12'],
  ];
  for (const [text, want] of scalars) {
    it(`apiserver/C4: reads the scalar ${JSON.stringify(text)} as ${stringifyJson(want)}`, () => {
      assert.deepEqual(parseYamlBody(`a: ${text}\n`).value, { a: want });
    });
  }

  it('apiserver/C4: turns keys of every scalar type into text', () => {
    assert.deepEqual(parseYamlBody('1: a\nyes: b\n1.5: c\n.inf: d\n-.inf: e\n.nan: f\n"x": g\n').value, {
      1: 'a',
      true: 'b',
      '1.5': 'c',
      '.inf': 'd',
      '-.inf': 'e',
      '.nan': 'f',
      x: 'g',
    });
  });

  it('apiserver/C4: reports duplicate keys by the line of their value and lets the last win', () => {
    const { value, duplicates } = parseYamlBody('data:\n  a: x\n  a: z\n1: q\n1: r\ndata:\n  d: u\n');
    assert.deepEqual(value, { data: { d: 'u' }, 1: 'r' });
    assert.deepEqual(duplicates, [
      'line 3: key "a" already set in map',
      'line 5: key 1 already set in map',
      'line 7: key "data" already set in map',
    ]);
    assert.equal(
      yamlStrictError(duplicates.slice(0, 2)),
      'yaml: unmarshal errors:\n  line 3: key "a" already set in map\n  line 5: key 1 already set in map',
    );
  });

  it('apiserver/C4: reports duplicates of a JSON body in the words of YAML', () => {
    const { value, duplicates } = parseYamlBody('{"metadata":{"name":"a"},"metadata":{"labels":{}}}');
    assert.deepEqual(value, { metadata: { labels: {} } });
    assert.deepEqual(duplicates, ['line 1: key "metadata" already set in map']);
  });

  it('reads only the first document', () => {
    assert.deepEqual(parseYamlBody('a: 1\n---\nb: [\n').value, { a: 1 });
    assert.deepEqual(parseYamlBody('').value, null);
    assert.deepEqual(parseYamlBody('---\n').value, null);
  });

  it('follows aliases and merges', () => {
    assert.deepEqual(
      parseYamlBody(
        'base: &b {u: 1, v: 2}\nuse:\n  <<: *b\n  v: 3\nsame: *b\nall:\n  <<: [*b, {z: 9}]\nk: &k 5\nm: *k\n',
      ).value,
      { base: { u: 1, v: 2 }, use: { u: 1, v: 3 }, same: { u: 1, v: 2 }, all: { u: 1, v: 2, z: 9 }, k: 5, m: 5 },
    );
  });

  const bombLines = Array.from(
    { length: 9 },
    (_, level) => `l${level + 1}: &l${level + 1} [${Array(9).fill(`*l${level}`).join(', ')}]`,
  );
  const bad: { name: string; text: string; want: string }[] = [
    { name: 'nested mappings', text: 'a: b: c', want: 'yaml: mapping values are not allowed in this context' },
    {
      name: 'an indentation',
      text: 'a: 1\n b: 2',
      want: 'yaml: line 2: mapping values are not allowed in this context',
    },
    { name: 'a tab', text: '\ta: 1', want: 'yaml: found character that cannot start any token' },
    { name: 'an unknown anchor', text: 'a: *foo', want: "yaml: unknown anchor 'foo' referenced" },
    { name: 'an anchor in itself', text: 'a: &a [*a]', want: "yaml: anchor 'a' value contains itself" },
    { name: 'an open quote', text: 'a: "abc', want: 'yaml: found unexpected end of stream' },
    {
      name: 'a list as key',
      text: '? [a, null, {b: 1}]\n: b',
      want: 'yaml: invalid map key: []interface {}{"a", interface {}(nil), map[interface {}]interface {}{"b":1}}',
    },
    { name: 'a null key', text: '~: b', want: 'unsupported map key of type: %!s(<nil>), key: <nil>' },
    { name: 'not a number', text: 'a: .nan', want: 'json: unsupported value: NaN' },
    { name: 'infinity', text: 'a: -.inf', want: 'json: unsupported value: -Inf' },
    { name: 'a wrong tag', text: 'a: !!int x', want: 'yaml: cannot decode !!str `x` as a !!int' },
    { name: 'bad base64', text: 'a: !!binary "%"', want: 'yaml: !!binary value contains invalid base64 data' },
    {
      name: 'a merge of a text',
      text: 'a: {<<: x}',
      want: 'yaml: map merge requires map or sequence of maps as the value',
    },
    {
      name: 'an alias bomb',
      text: ['l0: &l0 [x, x]', ...bombLines].join('\n'),
      want: 'yaml: document contains excessive aliasing',
    },
  ];
  for (const { name, text, want } of bad) {
    it(`apiserver/C4: refuses ${name} in the words of upstream`, () => {
      assert.throws(() => parseYamlBody(text), { name: 'JsonProblem', kind: 'syntax', message: want });
    });
  }

  it('reliability/P9: takes 512 levels and no more, in flow and block style', () => {
    const nested = (levels: number) => `a: ${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}`;
    assert.ok(parseYamlBody(nested(512)));
    const message = 'the request body is nested deeper than 512 levels (at byte 516)';
    assert.throws(() => parseYamlBody(nested(514)), { kind: 'depth', message: message.replace('516', '515') });
    assert.throws(() => parseYamlBody(`a: ${'['.repeat(5000)}`), { kind: 'depth', message });
    assert.throws(() => parseYamlBody(`${'- '.repeat(5000)}x`), { kind: 'depth' });
    assert.throws(() => parseYamlBody('{"a":'.repeat(600)), { kind: 'depth' });
  });

  it('reliability/P9: leaves what is far too deep where it notices', () => {
    const deep = { kind: 'depth', message: /nested deeper than 512 levels \(at byte 516\)/ };
    // What follows would be a syntax error; nobody looks at it.
    assert.throws(() => parseYamlBody(`x: ${'['.repeat(2000)}]}`), deep);
  });

  it('reliability/P9: pauses again and again in a long text', () => {
    const steps = [...yamlBodySteps('- a\n'.repeat(5000))];
    assert.ok(steps.length > 5, String(steps.length));
  });

  it('reliability/T7.2: leaves the prototype alone', () => {
    const { value } = parseYamlBody('__proto__:\n  polluted: true\nconstructor: 1\n');
    assert.equal(stringifyJson(value), '{"__proto__":{"polluted":true},"constructor":1}');
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
  });
});

describe('printYamlBody', () => {
  it('sorts keys as people count and quotes what a reader of YAML 1.1 would misread', () => {
    assert.equal(
      printYamlBody({
        b: 'yes',
        a10: '1:30',
        a2: ['x', {}],
        _x: 'line\nline\n',
        1: null,
        c: [],
        d: ' pad',
        e: 'a: b',
      }),
      '_x: |\n  line\n  line\n"1": null\na2:\n- x\n- {}\na10: "1:30"\nb: "yes"\nc: []\nd: \' pad\'\ne: \'a: b\'\n',
    );
  });

  it('is the inverse of parseYamlBody', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), (text) => {
        const { value } = parseJson(`{"a":${text}}`);
        assert.ok(jsonEqual(parseYamlBody(printYamlBody(value)).value, value));
      }),
    );
  });
});
