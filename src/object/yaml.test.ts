import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseYaml, printYaml } from './yaml.ts';

describe('printYaml', () => {
  for (const word of ['yes', 'no', 'on', 'off', 'y', 'n', '012', '1e3', '0x1f', 'null', '~', '1:30', '']) {
    it(`style/S49: quotes the string "${word}", which YAML 1.1 readers would take for something else`, () => {
      assert.match(printYaml({ value: word }), /^value: ["']/);
    });
  }

  it('keeps a long line whole and a list at the indentation of its key, as Go tools write it', () => {
    const line = 'word '.repeat(60).trim();
    assert.equal(printYaml({ text: line, items: ['a'] }), `text: ${line}\nitems:\n- a\n`);
  });

  it('writes no anchors for a value that appears twice', () => {
    const labels = { app: 'ccm' };
    assert.equal(printYaml({ a: labels, b: labels }), 'a:\n  app: ccm\nb:\n  app: ccm\n');
  });

  it('style/S56: is the inverse of parseYaml', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // JSON has no negative zero; YAML keeps it.
        const plain: unknown = JSON.parse(JSON.stringify(value));
        assert.deepEqual(parseYaml(printYaml(plain)), plain);
      }),
    );
  });
});

describe('parseYaml', () => {
  const bad = [
    { name: 'two documents', text: 'a: 1\n---\nb: 2\n', want: /^holds more than one YAML document$/ },
    { name: 'an anchor that holds itself twice', text: '&a [*a, *a]', want: /^nested deeper than 512 levels$/ },
    { name: 'a duplicate key', text: 'a: 1\na: 2\n', want: /^not valid YAML: Map keys must be unique/ },
    { name: 'broken flow style', text: 'a: [1, 2', want: /^not valid YAML: .*at line 1/ },
    { name: 'an alias bomb', text: aliasBomb(), want: /^not valid YAML: Excessive alias count/ },
    {
      name: 'nesting of 600 levels',
      text: '['.repeat(600) + ']'.repeat(600),
      want: /^nested deeper than 512 levels$/,
    },
    {
      name: 'nesting of 100,000 levels',
      text: '['.repeat(1e5) + ']'.repeat(1e5),
      want: /^nested deeper than 512/,
    },
  ];
  for (const { name, text, want } of bad) {
    it(`refuses ${name} with one line`, () => {
      assert.throws(() => parseYaml(text), { reason: 'InvalidYaml', message: want });
    });
  }

  it('takes 512 levels and not many more', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    assert.ok(parseYaml(nested(512)));
    assert.throws(() => parseYaml(nested(514)), { message: 'nested deeper than 512 levels' });
  });

  it('leaves the prototype alone', () => {
    parseYaml('__proto__:\n  polluted: true\n');
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
  });
});

function aliasBomb(): string {
  const levels = Array.from(
    { length: 9 },
    (_, i) => `l${i + 1}: &l${i + 1} [${Array(9).fill(`*l${i}`).join(', ')}]`,
  );
  return ['l0: &l0 [x, x]', ...levels].join('\n');
}
