import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { releaseImage } from '../release.ts';
import { requireImage } from './image.ts';

const SHA = `sha256:${'0123456789abcdef'.repeat(4)}`;

describe('the name of an image', () => {
  const good = [
    releaseImage(),
    'nginx',
    'nginx:1.27',
    'team/provider',
    'localhost/provider:1',
    'localhost:5000/provider',
    'registry:5000/team/provider:v1.0-rc_1',
    'Example.com/team/a.b_c__d---e',
    '[fd00::1]:5000/provider',
    `example.com/team/provider@${SHA}`,
    `example.com/team/provider:1@${SHA}`,
    `example.com/provider:${'t'.repeat(128)}`,
  ];
  for (const image of good) it(`can be ${image}`, () => requireImage(image));

  const bad = [
    '',
    'bad image',
    ' nginx',
    'nginx\n',
    'https://example.com/provider',
    'Team/provider',
    'example.com/Team/provider:1',
    'example.com/team//provider',
    'example.com/team/',
    '/provider',
    'example.com/provider:',
    'example.com/provider:-1',
    `example.com/provider:${'t'.repeat(129)}`,
    'example.com/provider:1:2',
    'example.com:port/provider',
    '-example.com/provider',
    'example..com/provider',
    'example.com/a..b',
    'example.com/provider@sha256:12',
    `example.com/provider@${SHA}:1`,
    `example.com/${'p'.repeat(256)}`,
  ];
  for (const image of bad)
    it(`cannot be ${JSON.stringify(image)}`, () => {
      assert.throws(() => requireImage(image), {
        code: 'SW1002',
        exitCode: 2,
        message: /^".*" is no name of an image: write registry\[:port\]\/path\[:tag\]\[@digest\]/,
      });
    });
});
