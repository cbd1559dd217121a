import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { keyInPath, keyOf, pathOfKey, textOfKey } from './object-key.ts';

const anyKey = fc.uint8Array({ minLength: 1, maxLength: 1024 }).map((bytes) => Buffer.from(bytes));

describe('keys of objects', () => {
  it('lab/C22: are any bytes, and come through a path as they are', () => {
    fc.assert(fc.property(anyKey, (key) => assert.deepEqual(keyInPath(pathOfKey(key)), key)));
  });

  it('lab/C22: are written so that no client takes them for something else', () => {
    // Two keys cannot be: `.` and `..` alone mean a place to clients, however they are written.
    const others = anyKey.filter((bytes) => !['.', '..'].includes(bytes.toString()));
    fc.assert(
      fc.property(others, (key) => {
        const path = `/v1/buckets/b-1/objects/${pathOfKey(key)}`;
        assert.equal(new URL(`http://x${path}`).pathname, path);
      }),
    );
  });

  const cases = [
    { path: 'a', bytes: 'a' },
    { path: 'a/b', bytes: 'a/b' },
    { path: 'a%2Fb', bytes: 'a/b' },
    { path: '../../etc/passwd', bytes: '../../etc/passwd' },
    { path: '%C3%BC', bytes: 'ü' },
    { path: 'a+b', bytes: 'a+b' },
    { path: '%00', bytes: '\0' },
    { path: '//', bytes: '//' },
  ];
  for (const { path, bytes } of cases) {
    it(`lab/C22: ${path} is ${JSON.stringify(bytes)}`, () => {
      assert.equal(keyInPath(path).toString(), bytes);
    });
  }

  it('lab/C22: have 1 to 1024 bytes', () => {
    assert.equal(keyInPath('x'.repeat(1024)).length, 1024);
    assert.throws(() => keyInPath('x'.repeat(1025)), /1 to 1024 bytes, not 1025/);
    assert.throws(() => keyInPath(''), /not 0/);
    assert.throws(() => keyOf(Buffer.from('ü'.repeat(513))), /not 1026/);
  });

  it('lab/C22: that are not encoded right are refused', () => {
    for (const path of ['%', '%4', '%zz', 'a%2']) assert.throws(() => keyInPath(path), /two hexadecimal digits/);
  });

  it('lab/C22: are text only when they are', () => {
    assert.equal(textOfKey(Buffer.from('ü')), 'ü');
    assert.equal(textOfKey(Buffer.from([0xff])), undefined);
  });
});
