import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { payloadPath } from './file-payload.ts';

describe('payloadPath', () => {
  for (const { path, want } of [
    { path: 'i/am/well/behaved.txt', want: 'i/am/well/behaved.txt' },
    { path: 'a..b', want: 'a..b' },
    { path: '.dotfile', want: '.dotfile' },
    { path: 'foo//bar.txt', want: 'foo/bar.txt' },
    { path: './foo', want: 'foo' },
    { path: 'foo/..bar', want: 'foo/..bar' },
  ]) {
    it(`keeps ${path}`, () => assert.equal(payloadPath(path), want));
  }

  for (const { path, why } of [
    { path: '', why: 'must not be empty' },
    { path: '/dev/null', why: 'must be relative path' },
    { path: '..sneaky.txt', why: "must not start with '..'" },
    { path: '..', why: "must not contain '..'" },
    { path: 'hello/../etc/passwd', why: "must not contain '..'" },
    { path: 'a/'.repeat(2049), why: 'must be less than or equal to 4096 characters' },
    { path: 'ä'.repeat(128), why: 'filenames must be less than or equal to 255 characters' },
  ]) {
    it(`lab/N27: refuses a path that ${why}: ${path.slice(0, 20)}`, () =>
      assert.throws(() => payloadPath(path), { name: 'VolumeProblem', message: `invalid path: ${why}: ${path}` }));
  }
});
