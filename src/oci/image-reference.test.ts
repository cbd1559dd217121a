import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { imageText, parseImageReference } from './image-reference.ts';

const SHA = `sha256:${'a'.repeat(64)}`;

describe('parseImageReference', () => {
  const cases = [
    { given: 'r.example/a:1', want: { registry: 'r.example', repository: 'a', tag: '1' } },
    {
      given: 'r.example:5000/a/b-c_d.e:4.20.1-x86_64',
      want: { registry: 'r.example:5000', repository: 'a/b-c_d.e', tag: '4.20.1-x86_64' },
    },
    { given: `r.example/a@${SHA}`, want: { registry: 'r.example', repository: 'a', digest: SHA } },
    { given: `localhost/a:t@${SHA}`, want: { registry: 'localhost', repository: 'a', tag: 't', digest: SHA } },
    { given: '127.0.0.1:5000/a/b:t', want: { registry: '127.0.0.1:5000', repository: 'a/b', tag: 't' } },
    { given: '[::1]:5000/a:t', want: { registry: '[::1]:5000', repository: 'a', tag: 't' } },
    {
      given: `r.example/a@sha512:${'b'.repeat(128)}`,
      want: { registry: 'r.example', repository: 'a', digest: `sha512:${'b'.repeat(128)}` },
    },
  ];
  for (const { given, want } of cases) {
    it(`reads ${given.slice(0, 60)}`, () => {
      assert.deepEqual(parseImageReference(given), want);
      assert.equal(imageText(parseImageReference(given)), given);
    });
  }

  const wrong = [
    { given: '', message: /names no registry/ },
    { given: 'invalidimage', message: /names no registry/ },
    { given: 'library/busybox:1', message: /names no registry/ },
    { given: 'r.example/a', message: /has neither tag nor digest/ },
    { given: 'r.example/A:1', message: /no valid repository/ },
    { given: 'r.example//a:1', message: /no valid repository/ },
    { given: 'r.example/../a:1', message: /no valid repository/ },
    { given: 'r.example/:1', message: /no valid repository/ },
    { given: 'r..example/a:1', message: /names no registry/ },
    { given: '-r.example/a:1', message: /names no registry/ },
    { given: 'r.example/a:4.12.0+build.1', message: /no valid tag: "4\.12\.0\+build\.1"/ },
    { given: `r.example/a:${'t'.repeat(129)}`, message: /no valid tag/ },
    { given: 'r.example/a@sha256:abc', message: /no valid digest/ },
    { given: `r.example/a@${SHA}@${SHA}`, message: /more than one "@"/ },
    { given: 'user:pass@r.example/a:1', message: /no valid digest/ },
    { given: `r.example/${'a'.repeat(300)}:1`, message: /no valid repository/ },
    { given: `r.example/${'a'.repeat(3000)}:1`, message: /is longer than 520 characters/ },
    { given: 'r.example/a b:1', message: /no valid repository/ },
    { given: 'r.example/a:1?x=y', message: /no valid tag/ },
  ];
  for (const { given, message } of wrong) {
    it(`refuses "${given.slice(0, 40)}" and says what is wrong`, () => {
      assert.throws(() => parseImageReference(given), {
        reason: 'InvalidImageReference',
        disposition: 'user',
        message,
      });
    });
  }
});
