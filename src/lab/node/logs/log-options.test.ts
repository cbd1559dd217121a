import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { logOptions } from './log-options.ts';

const now = new Date('2030-01-01T01:00:00Z');
const plain = { follow: false, previous: false, timestamps: false };

describe('logOptions', () => {
  for (const { query, want } of [
    { query: '', want: plain },
    { query: 'follow=true&previous=1&timestamps=', want: { follow: true, previous: true, timestamps: true } },
    { query: 'follow=false', want: plain },
    { query: 'tailLines=5&limitBytes=100', want: { ...plain, tailLines: 5, limitBytes: 100 } },
    { query: 'sinceSeconds=60', want: { ...plain, since: new Date('2030-01-01T00:59:00Z') } },
    { query: 'sinceTime=2030-01-01T00:00:00.5Z', want: { ...plain, since: new Date('2030-01-01T00:00:00.5Z') } },
  ]) {
    it(`lab/N40: reads "${query}"`, () => assert.deepEqual(logOptions(new URLSearchParams(query), now), want));
  }

  for (const [query, message] of [
    ['tailLines=x', /strconv\.ParseInt: parsing "x": invalid syntax/],
    ['sinceTime=yesterday', /sinceTime is "yesterday"; write a time such as/],
  ] as const) {
    it(`refuses "${query}"`, () => {
      assert.throws(() => logOptions(new URLSearchParams(query), now), { code: 400, message });
    });
  }
});
