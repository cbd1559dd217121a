import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { canonicalName, isWithin, nameProblem, parentName } from './domain-name.ts';
import { recordData, type StoredType, valueProblem } from './record-set.ts';

const names: readonly { readonly name: string; readonly problem: RegExp | undefined }[] = [
  { name: 'example.test', problem: undefined },
  { name: '*.apps.example.test', problem: undefined },
  { name: '_http._tcp.example.test', problem: undefined },
  { name: 'xn--bcher-kva.test', problem: undefined },
  { name: 'a'.repeat(63), problem: undefined },
  { name: '', problem: /empty/ },
  { name: 'a..b', problem: /two dots/ },
  { name: 'a.*.b', problem: /"\*" is not a label/ },
  { name: '-a.test', problem: /"-a" is not a label/ },
  { name: 'bücher.test', problem: /is not a label/ },
  { name: `${'a'.repeat(64)}.test`, problem: /is not a label/ },
  { name: Array.from({ length: 64 }, () => 'abc').join('.'), problem: /at most 253/ },
];

const values: readonly { readonly type: StoredType; readonly value: string; readonly isGood: boolean }[] = [
  { type: 'A', value: '10.16.0.1', isGood: true },
  { type: 'A', value: '10.16.0', isGood: false },
  { type: 'A', value: '::1', isGood: false },
  { type: 'AAAA', value: 'fd00::1', isGood: true },
  { type: 'AAAA', value: 'fe80::1%eth0', isGood: false },
  { type: 'AAAA', value: '10.16.0.1', isGood: false },
  { type: 'CNAME', value: 'other.test.', isGood: true },
  { type: 'CNAME', value: '*.other.test', isGood: false },
  { type: 'CNAME', value: 'two words', isGood: false },
  { type: 'NS', value: 'ns.other.test', isGood: true },
  { type: 'TXT', value: '', isGood: true },
  { type: 'TXT', value: 'ü'.repeat(2048), isGood: true },
  { type: 'TXT', value: 'ü'.repeat(2049), isGood: false },
  { type: 'SRV', value: '0 100 443 web.test', isGood: true },
  { type: 'SRV', value: '0 100 70000 web.test', isGood: false },
  { type: 'SRV', value: '0 100 web.test', isGood: false },
  { type: 'SRV', value: '0 100 443 *.test', isGood: false },
];

describe('record set', () => {
  for (const { name, problem } of names)
    it(`lab/C23: ${problem === undefined ? 'takes' : 'refuses'} the name "${name.slice(0, 40)}"`, () => {
      const found = nameProblem(name);
      if (problem === undefined) assert.equal(found, undefined);
      else assert.match(found ?? '', problem);
    });

  for (const { type, value, isGood } of values)
    it(`lab/C23: ${isGood ? 'takes' : 'refuses'} ${type} "${value.slice(0, 40)}" (${value.length})`, () => {
      assert.equal(valueProblem(type, value) === undefined, isGood);
    });

  it('lab/C23: cuts a long text into strings and loses nothing', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 1000, unit: 'binary' }), (text) => {
        const { data } = recordData('TXT', text);
        const strings = data as readonly Buffer[];
        assert.ok(strings.length > 0 && strings.every(({ length }) => length <= 255));
        assert.deepEqual(Buffer.concat(strings), Buffer.from(text));
      }),
      { numRuns: 100 },
    );
  });

  it('compares names by labels, not by letters', () => {
    assert.equal(canonicalName('WWW.Example.Test.'), 'www.example.test');
    assert.equal(isWithin('www.example.test', 'example.test'), true);
    assert.equal(isWithin('example.test', 'example.test'), true);
    assert.equal(isWithin('wwwexample.test', 'example.test'), false);
    assert.equal(parentName('www.example.test'), 'example.test');
    assert.equal(parentName('test'), '');
  });
});
