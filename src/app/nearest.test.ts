import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nearest, suggestion } from './nearest.ts';

describe('nearest', () => {
  const known = ['up', 'doctor', 'version', 'explain', 'status'];
  const cases = [
    { given: 'doctr', want: 'doctor' },
    { given: 'dcotor', want: 'doctor' },
    { given: 'DOCTOR', want: 'doctor' },
    { given: 'versoin', want: 'version' },
    { given: 'statsu', want: 'status' },
    { given: 'pu', want: 'up' },
    { given: 'kubernetes', want: undefined },
    { given: '', want: undefined },
  ];
  for (const { given, want } of cases) {
    it(`experience/X11: finds ${want ?? 'nothing'} for "${given}"`, () =>
      assert.equal(nearest(given, known), want));
  }

  it('makes the end of a sentence', () => {
    assert.equal(suggestion('doctr', known), '. Did you mean doctor?');
    assert.equal(suggestion('provder', ['provider'], '--'), '. Did you mean --provider?');
    assert.equal(suggestion('zzzzzzzz', known), '');
  });
});
