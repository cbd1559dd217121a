import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { suggestion } from './nearest.ts';

describe('suggestion', () => {
  const known = ['up', 'doctor', 'version', 'explain', 'status'];

  it('makes the end of a sentence', () => {
    assert.equal(suggestion('doctr', known), '. Did you mean doctor?');
    assert.equal(suggestion('provder', ['provider'], '--'), '. Did you mean --provider?');
    assert.equal(suggestion('zzzzzzzz', known), '');
  });
});
