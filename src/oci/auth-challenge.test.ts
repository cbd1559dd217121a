import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseAuthChallenges } from './auth-challenge.ts';

const parsed = (header: string) =>
  parseAuthChallenges(header).map(({ scheme, parameters }) => ({ scheme, parameters: { ...parameters } }));

describe('parseAuthChallenges', () => {
  const cases = [
    { given: 'Basic realm="r"', want: [{ scheme: 'basic', parameters: { realm: 'r' } }] },
    {
      given: 'Bearer realm="https://auth.example/token",service="r.example",scope="repository:a/b:pull,push"',
      want: [
        {
          scheme: 'bearer',
          parameters: {
            realm: 'https://auth.example/token',
            service: 'r.example',
            scope: 'repository:a/b:pull,push',
          },
        },
      ],
    },
    {
      given: 'BEARER Realm="https://a/t" , SERVICE=r.example, Basic realm="x"',
      want: [
        { scheme: 'bearer', parameters: { realm: 'https://a/t', service: 'r.example' } },
        { scheme: 'basic', parameters: { realm: 'x' } },
      ],
    },
    {
      given: 'Negotiate, Basic realm="a \\"b\\""',
      want: [
        { scheme: 'negotiate', parameters: {} },
        { scheme: 'basic', parameters: { realm: 'a "b"' } },
      ],
    },
    { given: 'Bearer __proto__="x"', want: [{ scheme: 'bearer', parameters: { ['__proto__']: 'x' } }] },
    { given: '', want: [] },
    { given: 'realm="r"', want: [] },
    { given: '"', want: [] },
  ];
  for (const { given, want } of cases) {
    it(`reads ${JSON.stringify(given)}`, () => {
      assert.deepEqual(parsed(given), want);
    });
  }

  it('ends in time with a header that is made to hold it up', () => {
    assert.ok(parseAuthChallenges(' ,'.repeat(100_000)).length === 0);
    assert.ok(parseAuthChallenges(`a="${'\\"'.repeat(100_000)}`).length === 0);
    assert.equal(parseAuthChallenges('a '.repeat(10_000)).length, 8);
  });
});
