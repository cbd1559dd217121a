import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  byteLength,
  dnsLabelProblems,
  dnsSubdomainProblems,
  generateName,
  labelValueProblems,
  nameRules,
  pathSegmentProblems,
  qualifiedNameProblems,
} from './names.ts';

const SUBDOMAIN =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const KEY =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

describe('names', () => {
  const subdomains: [string, string[]][] = [
    ['a', []],
    ['1', []],
    ['a-b.c-d', []],
    ['x'.repeat(253), []],
    ['x'.repeat(254), ['must be no more than 253 characters']],
    ['', [SUBDOMAIN]],
    ['A', [SUBDOMAIN]],
    ['a..b', [SUBDOMAIN]],
    ['-a', [SUBDOMAIN]],
    ['a_b', [SUBDOMAIN]],
    ['a\n', [SUBDOMAIN]],
  ];
  for (const [name, want] of subdomains) {
    it(`apiserver/M3: judges "${name.slice(0, 20)}" as subdomain`, () =>
      assert.deepEqual(dnsSubdomainProblems(name), want));
  }

  const labels: [string, string[]][] = [
    ['a-1', []],
    ['1a', []],
    ['x'.repeat(63), []],
    ['x'.repeat(64), ['must be no more than 63 characters']],
    ['a.b', ['must not contain dots']],
    ['A', [LABEL]],
    ['', [LABEL]],
  ];
  for (const [name, want] of labels) {
    it(`apiserver/M3: judges "${name.slice(0, 20)}" as label`, () =>
      assert.deepEqual(dnsLabelProblems(name), want));
  }

  it('apiserver/M3: wants a letter first where the older rule applies', () => {
    assert.deepEqual(nameRules.dns1035Label('a-1', false), []);
    assert.match(nameRules.dns1035Label('1a', false).join(), /^a DNS-1035 label must consist of/);
    assert.deepEqual(nameRules.dns1035Label('x'.repeat(64), false), ['must be no more than 63 characters']);
  });

  it('apiserver/M3: takes any path segment for RBAC, and no other text', () => {
    assert.deepEqual(nameRules.pathSegment('system:node A_b', false), []);
    assert.deepEqual(pathSegmentProblems('.'), ["may not be '.'"]);
    assert.deepEqual(pathSegmentProblems('..'), ["may not be '..'"]);
    assert.deepEqual(nameRules.pathSegment('.', true), []);
    assert.deepEqual(pathSegmentProblems('a/%'), ["may not contain '/'", "may not contain '%'"]);
  });

  it('apiserver/M3: lets a generateName end in a dash', () => {
    assert.deepEqual(nameRules.dnsSubdomain('web-', true), []);
    assert.deepEqual(nameRules.dnsLabel('web-', true), []);
    assert.deepEqual(nameRules.dnsSubdomain('web-', false), [SUBDOMAIN]);
    assert.deepEqual(nameRules.dnsSubdomain('-', true), [SUBDOMAIN]);
  });

  const keys: [string, string[]][] = [
    ['app', []],
    ['example.com/App_1', []],
    ['x'.repeat(63), []],
    ['x'.repeat(64), ['name part must be no more than 63 bytes']],
    [`${'x'.repeat(254)}/a`, ['prefix part must be no more than 253 bytes']],
    ['/a', ['prefix part must be non-empty']],
    ['a/', ['name part must be non-empty', `name part ${KEY}`]],
    ['A/a', [`prefix part ${SUBDOMAIN}`]],
    ['-', [`name part ${KEY}`]],
    [
      'a/b/c',
      [`a valid label key ${KEY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`],
    ],
  ];
  for (const [key, want] of keys) {
    it(`apiserver/M4: judges "${key.slice(0, 20)}" as key`, () =>
      assert.deepEqual(qualifiedNameProblems(key), want));
  }

  const values: [string, string[]][] = [
    ['', []],
    ['A.b_c-1', []],
    ['x'.repeat(64), ['must be no more than 63 bytes']],
    ['é', [VALUE]],
    ['a b', [VALUE]],
  ];
  for (const [value, want] of values) {
    it(`apiserver/M4: judges "${value.slice(0, 20)}" as value`, () =>
      assert.deepEqual(labelValueProblems(value), want));
  }

  it('takes linear time for a hostile name', () => {
    assert.equal(dnsSubdomainProblems(`${'a.'.repeat(100_000)}!`).length, 2);
    assert.equal(byteLength('é€😀a'), 10);
  });
});

describe('generateName', () => {
  it('apiserver/M2: cuts to 58 characters and appends five of the safe letters', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z][a-z-]{0,80}$/),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (base, at) => {
          const name = generateName(base, () => at);
          assert.equal(name.slice(0, -5), base.slice(0, 58));
          assert.match(name.slice(-5), /^[bcdfghjklmnpqrstvwxz2456789]{5}$/);
        },
      ),
    );
  });

  it('apiserver/M2: draws each character anew', () => {
    const draws = [0, 0.5, 0.999, 0.1, 0.2];
    assert.equal(
      generateName('web-', () => draws.shift() ?? 0),
      'web-br9dh',
    );
  });
});
