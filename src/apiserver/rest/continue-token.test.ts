import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { continueToken, parseContinueToken } from './continue-token.ts';

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const V = 'meta.k8s.io/v1';

describe('continueToken', () => {
  it('apiserver/L2: is base64url without padding of version, revision and start', () => {
    const token = continueToken({ revision: 12, start: 'ns/b\0', incarnation: 'w1' });
    assert.match(token, /^[\w-]+$/);
    assert.deepEqual(JSON.parse(Buffer.from(token, 'base64url').toString('utf8')), {
      v: V,
      rv: 12,
      start: 'ns/b\0',
      inc: 'w1',
    });
  });

  it('is read back as it was written', () => {
    const starts = fc.string({ minLength: 1 }).map((text) => `x${text.replaceAll('/', '-')}`);
    const places = fc.record({ revision: fc.integer({ min: -1 }).filter((at) => at !== 0), start: starts });
    fc.assert(
      fc.property(places, ({ revision, start }) => {
        const written = { revision, start, incarnation: 'w1' };
        assert.deepEqual(parseContinueToken(continueToken(written), 'w1'), written);
      }),
    );
  });

  const broken: readonly [string, string][] = [
    ['no base64 of anything', '%%%'],
    ['no JSON', Buffer.from('{').toString('base64url')],
    ['no object', encoded([1])],
    ['another version', encoded({ v: 'v2', rv: 1, start: 'a' })],
    ['no revision', encoded({ v: V, start: 'a' })],
    ['the revision of nothing', encoded({ v: V, rv: 0, start: 'a' })],
    ['half a revision', encoded({ v: V, rv: 1.5, start: 'a' })],
    ['a revision beyond all numbers', encoded({ v: V, rv: 1e99, start: 'a' })],
    ['no start', encoded({ v: V, rv: 1 })],
    ['an empty start', encoded({ v: V, rv: 1, start: '' })],
    ['a start above the resource', encoded({ v: V, rv: 1, start: '../secrets/a' })],
    ['a start with an empty part', encoded({ v: V, rv: 1, start: 'a//b' })],
    ['a start that ends with a slash', encoded({ v: V, rv: 1, start: 'a/' })],
    ['a start of endless length', encoded({ v: V, rv: 1, start: 'a'.repeat(5000) })],
  ];
  for (const [what, token] of broken) {
    it(`apiserver/E10: refuses ${what} with 400`, () => {
      assert.throws(() => parseContinueToken(token, 'w1'), {
        code: 400,
        reason: 'BadRequest',
        message: /^invalid continue token: continue key is not valid: /,
      });
    });
  }

  const refused: readonly [string, string][] = [
    ['nonsense!', 'illegal base64 data at input byte 8'],
    ['abcde', 'illegal base64 data at input byte 4'],
    ['eyJ', 'unexpected end of JSON input'],
    [encoded({}), 'server does not recognize this encoded version '],
    [encoded(null), 'server does not recognize this encoded version '],
    [encoded({ v: 'v2' }), 'server does not recognize this encoded version v2'],
    [encoded([]), 'json: cannot unmarshal array into Go value of type storage.continueToken'],
    [encoded(true), 'json: cannot unmarshal bool into Go value of type storage.continueToken'],
    [encoded({ v: 1 }), 'json: cannot unmarshal number into Go struct field continueToken.v of type string'],
    [encoded({ rv: '1' }), 'json: cannot unmarshal string into Go struct field continueToken.rv of type int64'],
    [
      encoded({ rv: 1.5 }),
      'json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64',
    ],
    [encoded({ v: V }), 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
    [encoded({ v: V, rv: 5 }), 'encoded start key empty (version meta.k8s.io/v1)'],
    [encoded({ v: V, rv: 5, start: '../a' }), '../a'],
  ];
  for (const [token, why] of refused) {
    it(`apiserver/E10: says of ${token} ${JSON.stringify(why)}`, () => {
      const message = `invalid continue token: continue key is not valid: ${why}`;
      assert.throws(() => parseContinueToken(token, 'w1'), { code: 400, message });
    });
  }

  it('apiserver/L2: reads a start with a slash before it, and a revision that only a bigint holds', () => {
    const token = Buffer.from(`{"v":"${V}","rv":9007199254740993,"start":"/ns/a"}`).toString('base64url');
    const { start, revision } = parseContinueToken(token, 'w1');
    assert.deepEqual({ start, revision }, { start: 'ns/a', revision: Number(9007199254740993n) });
  });

  it('apiserver/E21: takes a token of another world for expired', () => {
    const token = continueToken({ revision: 12, start: 'a', incarnation: 'w1' });
    assert.throws(() => parseContinueToken(token, 'w2'), {
      code: 410,
      reason: 'Expired',
      message: 'The resourceVersion for the provided list is too old.',
    });
  });
});
