import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { releaseVersion } from '../apiserver/release.ts';
import { releaseImage } from './release.ts';

describe('the release', () => {
  it('names its image with that version', () =>
    assert.equal(releaseImage(), `slipway.dev/slipway:${releaseVersion()}`));
});
