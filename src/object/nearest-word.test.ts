import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nearestWord } from './nearest-word.ts';

describe('nearestWord', () => {
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
      assert.equal(nearestWord(given, known), want));
  }
});
