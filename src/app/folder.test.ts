import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ensureFolder } from './folder.ts';

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
});
