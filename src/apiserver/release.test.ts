import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { releaseVersion } from './release.ts';

describe('the release', () => {
  it('has the version of package.json', () => {
    assert.equal(releaseVersion(), JSON.parse(readFileSync('package.json', 'utf8')).version);
  });
});
