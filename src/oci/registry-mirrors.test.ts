import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseImageReference } from './image-reference.ts';
import { placesOf, type RegistryMirror } from './registry-mirrors.ts';

const textOf = (image: string, mirrors: readonly RegistryMirror[]) =>
  placesOf(parseImageReference(image), mirrors).map(
    ({ scheme, registry, repository, isFallback }) =>
      `${scheme}://${registry}/${repository}${isFallback === true ? ' (fallback)' : ''}`,
  );

const SHA = `sha256:${'a'.repeat(64)}`;

describe('placesOf', () => {
  const cases: readonly {
    name: string;
    image: string;
    mirrors: readonly RegistryMirror[];
    want: readonly string[];
  }[] = [
    {
      name: 'is the registry itself without mirrors',
      image: 'r.example/a:1',
      mirrors: [],
      want: ['https://r.example/a'],
    },
    {
      name: 'asks loopback without TLS',
      image: '127.0.0.1:5000/a:1',
      mirrors: [],
      want: ['http://127.0.0.1:5000/a'],
    },
    {
      name: 'asks a name that only begins like loopback with TLS',
      image: '127.0.0.1.example/a:1',
      mirrors: [],
      want: ['https://127.0.0.1.example/a'],
    },
    {
      name: 'asks mirrors in their order, then the source',
      image: 'r.example/a/b:1',
      mirrors: [
        { source: 'r.example/a', mirrors: [{ location: 'm1.example/x' }, { location: 'm2.example:5000' }] },
      ],
      want: ['https://m1.example/x/b', 'https://m2.example:5000/b', 'https://r.example/a/b'],
    },
    {
      name: 'takes the source that says most',
      image: 'r.example/a/b:1',
      mirrors: [
        { source: 'r.example', mirrors: [{ location: 'm1.example' }] },
        { source: 'r.example/a', mirrors: [{ location: 'm2.example/z' }] },
      ],
      want: ['https://m2.example/z/b', 'https://r.example/a/b'],
    },
    {
      name: 'does not take a name for a part of another',
      image: 'r.example/ab:1',
      mirrors: [{ source: 'r.example/a', mirrors: [{ location: 'm.example/z' }] }],
      want: ['https://r.example/ab'],
    },
    {
      name: 'asks for tags and digests where they are',
      image: `r.example/a@${SHA}`,
      mirrors: [
        {
          source: 'r.example',
          mirrors: [
            { location: 't.example', pullFrom: 'tag-only' },
            { location: 'd.example', pullFrom: 'digest-only' },
            { location: 'm.example', pullFrom: 'all' },
          ],
        },
      ],
      want: ['https://d.example/a', 'https://m.example/a', 'https://r.example/a'],
    },
    {
      name: 'asks an insecure mirror without TLS only after it',
      image: 'r.example/a:1',
      mirrors: [{ source: 'r.example', mirrors: [{ location: 'm.example', isInsecure: true }] }],
      want: ['https://m.example/a', 'http://m.example/a (fallback)', 'https://r.example/a'],
    },
    {
      name: 'leaves out a mirror that names no repository for the image',
      image: 'r.example/a:1',
      mirrors: [{ source: 'r.example/a', mirrors: [{ location: 'm.example' }] }],
      want: ['https://r.example/a'],
    },
  ];
  for (const { name, image, mirrors, want } of cases) {
    it(name, () => {
      assert.deepEqual(textOf(image, mirrors), want);
    });
  }
});
