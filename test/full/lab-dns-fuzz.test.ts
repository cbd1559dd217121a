import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fuzzedAnswers } from '../support/dns-fuzz.ts';

describe('name server of the lab', () => {
  it('lab/C26: survives 100,000 broken packets and never mistakes one for another', async () => {
    const { problems, answered } = await fuzzedAnswers(100_000, 26);
    assert.deepEqual(problems, []);
    assert.ok(answered > 10_000, `${answered} were answered`);
  });
});
