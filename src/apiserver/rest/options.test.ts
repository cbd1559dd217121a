import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { apiRequest } from '../../../test/support/api-request.ts';
import { optionsObject, parseBoolean, parseCount, writeOptions } from './options.ts';

const read = (query: string, agent?: string, isApply = false) =>
  writeOptions(apiRequest(`/?${query}`, { headers: { 'user-agent': agent } }), 'PatchOptions', isApply);

describe('writeOptions', () => {
  it('apiserver/W2: warns by default, for whoever the User-Agent names', () => {
    assert.deepEqual(read('', 'kubectl/v1.36 (linux)'), {
      isDryRun: false,
      manager: 'kubectl',
      hasFieldManager: false,
      fieldValidation: 'Warn',
      force: undefined,
    });
  });

  const agents: readonly [string | undefined, string][] = [
    [undefined, 'unknown'],
    ['', 'unknown'],
    ['curl', 'curl'],
    ['a\u0001b/1', 'ab'],
    [`${'m'.repeat(200)}/1`, 'm'.repeat(128)],
  ];
  for (const [agent, manager] of agents) {
    it(`apiserver/W1: takes ${JSON.stringify(agent?.slice(0, 9))} for manager ${manager.slice(0, 9)}`, () => {
      assert.equal(read('', agent).manager, manager);
    });
  }

  it('reads what it is told', () => {
    const options = read('dryRun=All&fieldManager=me&fieldValidation=Strict&force=true', 'x', true);
    assert.deepEqual(options, {
      isDryRun: true,
      manager: 'me',
      hasFieldManager: true,
      fieldValidation: 'Strict',
      force: true,
    });
    assert.deepEqual(optionsObject('UpdateOptions', options), {
      kind: 'UpdateOptions',
      apiVersion: 'meta.k8s.io/v1',
      dryRun: ['All'],
      fieldManager: 'me',
      force: true,
      fieldValidation: 'Strict',
    });
  });

  const refusals: readonly [string, boolean, string][] = [
    ['dryRun=Some', false, 'dryRun: Unsupported value: ["Some"]: supported values: "All"'],
    ['dryRun=All&dryRun=x', false, 'dryRun: Unsupported value: ["All","x"]: supported values: "All"'],
    [
      'fieldValidation=Loud',
      false,
      'fieldValidation: Unsupported value: "Loud": supported values: "", "Ignore", "Strict", "Warn"',
    ],
    [`fieldManager=${'m'.repeat(129)}`, false, 'fieldManager: Too long: may not be more than 128 bytes'],
    [
      'fieldManager=a%07b',
      false,
      'fieldManager: Invalid value: "a\\ab": invalid character U+0007 (at position 1)',
    ],
    ['force=false', false, 'force: Forbidden: may not be specified for non-apply patch'],
    ['force=true', true, 'fieldManager: Required value: is required for apply patch'],
  ];
  for (const [query, isApply, text] of refusals) {
    it(`apiserver/E9, S10: refuses ${query.slice(0, 30)}${isApply ? ' for apply' : ''}`, () => {
      const message = `PatchOptions.meta.k8s.io "" is invalid: ${text}`;
      assert.throws(() => read(query, '', isApply), { code: 422, reason: 'Invalid', message });
    });
  }
});

describe('the values of a query', () => {
  const booleans: readonly [string, boolean][] = [
    ['', true],
    ['1', true],
    ['maybe', true],
    ['0', false],
    ['f', false],
    ['False', false],
  ];
  for (const [text, value] of booleans) {
    it(`reads ${JSON.stringify(text)} as ${value}`, () => assert.equal(parseBoolean(text), value));
  }

  const counts: readonly [string, number | undefined][] = [
    ['', undefined],
    ['limit=5', 5],
    ['limit=9223372036854775807', 2 ** 63],
    ['limit=-9223372036854775808', -(2 ** 63)],
    ['limit=-5', -5],
    ['limit=%2B5', 5],
  ];
  for (const [query, value] of counts) {
    it(`counts ${query || 'nothing'} as ${value ?? 'nothing'}`, () => {
      assert.equal(parseCount(new URLSearchParams(query), 'limit'), value);
    });
  }

  const refused: readonly [string, string][] = [
    ...['', 'x', '1.5', '1e3', '0x1'].map((text): [string, string] => [text, 'invalid syntax']),
    ...['9223372036854775808', '-9223372036854775809', '9'.repeat(5000)].map((text): [string, string] => [
      text,
      'value out of range',
    ]),
  ];
  it('apiserver/E10: refuses what is no number, or none of 64 bits', () => {
    for (const [text, why] of refused) {
      const message = `strconv.ParseInt: parsing "${text}": ${why}`;
      assert.throws(() => parseCount(new URLSearchParams({ limit: text }), 'limit'), { code: 400, message });
    }
  });
});
