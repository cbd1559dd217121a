import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ensureFolder, folderRefusal, writeProblem } from './data-folder.ts';

describe('ensureFolder', () => {
  it('makes a folder and those above it, and is content with one that is there', () => {
    const root = mkdtempSync(join(tmpdir(), 'slipway-folder-'));
    ensureFolder(join(root, 'a/b/c'));
    ensureFolder(join(root, 'a/b/c'));
    assert.ok(statSync(join(root, 'a/b/c')).isDirectory());
    rmSync(root, { recursive: true });
  });

  it('gives up where nothing can be made', (t) => {
    if (process.platform !== 'linux') return t.skip('there is no /proc here');
    assert.throws(() => ensureFolder('/proc/nope/x'), { code: 'ENOENT' });
  });

  it('gives up below a file', () => {
    const root = mkdtempSync(join(tmpdir(), 'slipway-folder-'));
    writeFileSync(join(root, 'file'), '');
    assert.throws(() => ensureFolder(join(root, 'file/x')), { code: 'ENOTDIR' });
    rmSync(root, { recursive: true });
  });

  it('gives up where a file is', () => {
    const root = mkdtempSync(join(tmpdir(), 'slipway-folder-'));
    writeFileSync(join(root, 'file'), '');
    assert.throws(() => ensureFolder(join(root, 'file')), { code: 'EEXIST' });
    rmSync(root, { recursive: true });
  });
});

describe('writeProblem', () => {
  const cases: readonly [unknown, string][] = [
    [Object.assign(new Error('EACCES: permission denied, open'), { code: 'EACCES' }), 'no write permission'],
    [Object.assign(new Error('EISDIR: illegal operation'), { code: 'EISDIR' }), 'it is a folder'],
    [Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' }), 'EMFILE: too many open files'],
    [Object.assign(new Error('odd'), { code: 'constructor' }), 'odd'],
    ['thrown text', 'thrown text'],
  ];
  for (const [error, want] of cases) it(`says "${want}"`, () => assert.equal(writeProblem(error), want));

  it('ends in the sentence that every verb has for its data folder', () => {
    assert.equal(
      folderRefusal('d', 'it is a file'),
      'the data folder d cannot be written: it is a file. Choose another folder with --data, or give yourself this one',
    );
  });
});
