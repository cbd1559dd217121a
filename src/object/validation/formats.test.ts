import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatCheck, isKnownFormat } from './formats.ts';

/** Judged by kube-apiserver 1.36: texts it takes, texts it refuses. */
const FORMATS: Readonly<Record<string, readonly [good: readonly string[], bad: readonly string[]]>> = {
  bsonobjectid: [['507f1f77bcf86cd799439011'], ['507f1f77bcf86cd79943901']],
  uri: [
    [
      'https://a.b/c?d#e',
      '/path',
      'http://[::1]:80/',
      'mailto:x',
      '*',
      'http://u:p@h/',
      'http://[fe80::1%25en0]/',
    ],
    ['a', 'http://a b/', 'http://a/%zz', '', ':a', 'http://a:b/', 'http://[::1/', 'http://u%@h/', '/%'],
  ],
  email: [
    ['a@b', 'A <a@b.c>', '"x y"@b'],
    ['a', '@b', 'a@b c', 'a.@b', 'x'.repeat(2000)],
  ],
  hostname: [
    ['a', 'a-b', 'a.bc', 'a.com', '1a.com'],
    ['a-b-c', 'a.b', 'a_b', '-a.com', 'x.c0m', '', `${'a'.repeat(64)}.com`, '.com'],
  ],
  ipv4: [
    ['1.2.3.4', '01.2.3.4', '::ffff:1.2.3.4'],
    ['1.2.3', '256.1.1.1', ''],
  ],
  ipv6: [
    ['::1', '1:2:3:4:5:6:7:8', '::ffff:1.2.3.4', '::'],
    ['1.2.3.4', 'fe80::1%eth0', '1:2:3:4:5:6:7', '1::2::3', '::1.2.3'],
  ],
  cidr: [
    ['10.0.0.0/8', 'fd00::/8', '010.0.0.0/8'],
    ['10.0.0.0/33', '10.0.0.0', '1.2.3.4/a'],
  ],
  mac: [
    ['00:00:5e:00:53:01', '02-00-5e-10-00-00-00-01', '0000.5e00.5301'],
    ['00:00:5e:00:53', '00:00-5e:00:53:01'],
  ],
  uuid: [['123e4567-e89b-12d3-a456-426614174000', '123E4567e89b12d3a456426614174000'], ['x']],
  uuid3: [['123e4567-e89b-32d3-a456-426614174000'], ['123e4567-e89b-42d3-a456-426614174000']],
  uuid4: [['123e4567-e89b-42d3-a456-426614174000'], ['123e4567-e89b-42d3-c456-426614174000']],
  uuid5: [['123e4567-e89b-52d3-b456-426614174000'], ['123e4567-e89b-42d3-b456-426614174000']],
  isbn: [['0321751043', '978-0321751041'], ['0321751044']],
  isbn10: [['0-321-75104-3', '080442957X'], ['978-0321751041']],
  isbn13: [['978-0321751041'], ['978-0321751042', '1']],
  creditcard: [['4111 1111 1111 1111'], ['4111-1111-1111-1112', '1']],
  ssn: [['111-11-1111'], ['111111111']],
  hexcolor: [['#fff', '00ff00'], ['#ffff']],
  rgbcolor: [['rgb(0, 1,255)'], ['rgb(0,1,256)', 'rgb(01,1,1)']],
  byte: [
    ['YQ==', 'YWJj'],
    ['', 'YQ', 'Y===', '!!!!'],
  ],
  password: [['x', ''], []],
  date: [['2024-02-29'], ['2023-02-29', '2024-2-1', '2024-13-01', '1900-02-29']],
  duration: [
    ['1h', '1.5m', '22 ns', '3 weeks', '-1s', 'x5minutes', '0'],
    ['1', '', '1y', '99999999999999999999 s'],
  ],
  'date-time': [
    ['2024-01-01T00:00:00Z', '2024-01-31T00:00:00Z', '2024-01-01t00:00:00.5+02:00'],
    ['2024-01-01T24:00:00Z', '2024-01-01 00:00:00Z', '2024-01-01T00:00:00', '2024-00-01T00:00:00Z'],
  ],
  'k8s-short-name': [['a-b'], ['A', '-a', 'a.b', '']],
  'k8s-long-name': [['a.b-c'], ['a..b', 'A.b']],
};

describe('string formats', () => {
  for (const [format, [good, bad]] of Object.entries(FORMATS)) {
    it(`apiserver/X16: judges ${format} like upstream`, () => {
      const check = formatCheck(format);
      assert.ok(check);
      assert.deepEqual(
        good.filter((text) => !check(text)),
        [],
      );
      assert.deepEqual(bad.filter(check), []);
    });
  }

  it('takes no long time for hostile texts', () => {
    const hostile = [
      '1'.repeat(300_000),
      'a'.repeat(100_000),
      `${'a '.repeat(50_000)}<`,
      `${' '.repeat(100_000)}x`,
      '-'.repeat(100_000),
    ];
    for (const format of Object.keys(FORMATS)) {
      for (const text of hostile) assert.equal(typeof formatCheck(format)?.(text), 'boolean');
    }
  });

  it('apiserver/X16: ignores dashes in names and knows no other format', () => {
    assert.equal(formatCheck('datetime'), formatCheck('date-time'));
    assert.equal(formatCheck('ip'), undefined);
    assert.equal(formatCheck('constructor'), undefined);
  });

  it('knows the formats of numbers only for numbers', () => {
    assert.equal(isKnownFormat('integer', 'int32'), true);
    assert.equal(isKnownFormat('integer', 'double'), false);
    assert.equal(isKnownFormat('number', 'float'), true);
    assert.equal(isKnownFormat('boolean', 'int32'), false);
  });
});
