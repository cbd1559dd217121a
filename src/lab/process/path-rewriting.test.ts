import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { keptPaths, located } from './mounts.ts';
import { rewritten, unrewritten } from './path-rewriting.ts';

const PLACES = [
  { mountPath: '/etc/config', source: '/lab/c/1/mounts/etc/config' },
  { mountPath: '/data', source: '/lab/c/1/mounts/data' },
  { mountPath: '/data/sub', source: '/lab/c/1/mounts/data/sub' },
  { mountPath: '/a.b+c', source: '/lab/c/1/mounts/a.b+c' },
];

/** What the tests below mean by a path in its place. */
const at = (path: string): string => `/lab/c/1/mounts${path}`;

describe('rewriting of paths', () => {
  const changed = [
    { name: 'a path alone', given: '/data', want: at('/data') },
    { name: 'a path in it', given: '/data/x/y', want: at('/data/x/y') },
    { name: 'a slash at the end', given: '/data/', want: at('/data/') },
    { name: 'a flag', given: '--config=/etc/config/a.yaml', want: `--config=${at('/etc/config/a.yaml')}` },
    { name: 'a list', given: '/data:/bin,/data', want: `${at('/data')}:/bin,${at('/data')}` },
    {
      name: 'quotes',
      given: `'/data' "/data" \`/data\``,
      want: `'${at('/data')}' "${at('/data')}" \`${at('/data')}\``,
    },
    { name: 'an endpoint', given: 'unix:/data/s.sock', want: `unix:${at('/data/s.sock')}` },
    { name: 'an endpoint with an empty host', given: 'unix:///data/s.sock', want: `unix://${at('/data/s.sock')}` },
    { name: 'a line of several', given: 'one\n/data\ntwo', want: `one\n${at('/data')}\ntwo` },
    {
      name: 'a shell command',
      given: 'cat </data/x >/data/y;ls /data;(ls /data)&& ls /data|wc',
      want: `cat <${at('/data/x')} >${at('/data/y')};ls ${at('/data')};(ls ${at('/data')})&& ls ${at('/data')}|wc`,
    },
    { name: 'JSON', given: '{"path":"/data/x"}', want: `{"path":"${at('/data/x')}"}` },
    { name: 'a mount in a mount', given: '/data/sub/x', want: '/lab/c/1/mounts/data/sub/x' },
    { name: 'what only begins like the inner mount', given: '/data/subway', want: at('/data/subway') },
    { name: 'characters with a meaning in patterns', given: '/a.b+c/x', want: at('/a.b+c/x') },
  ];
  for (const { name, given, want } of changed) {
    it(`lab/P8: finds ${name}`, () => assert.equal(rewritten(given, PLACES), want));
  }

  const kept = [
    '/database',
    '/usr/data',
    'data',
    './data',
    'x/data',
    '/data.bak',
    'http://host/data',
    '(/data|/x)',
    '',
  ];
  for (const given of kept) {
    it(`lab/P8: leaves "${given}" alone`, () => assert.equal(rewritten(given, PLACES), given));
  }

  it('lab/P8: leaves alone what leads to itself, though a mount is around it', () => {
    const table = [
      { mountPath: '/tmp', source: '/lab/m/tmp' },
      { mountPath: '/tmp/lab-1', source: '/tmp/lab-1' },
    ];
    assert.equal(
      rewritten('/tmp/x:/tmp/lab-1/y:/tmp/lab-10', table),
      '/lab/m/tmp/x:/tmp/lab-1/y:/lab/m/tmp/lab-10',
    );
  });

  const word = fc.stringMatching(/^[a-z.+-]{1,4}$/);
  const path = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => `/${words.join('/')}`);
  const paths = fc.uniqueArray(path, { minLength: 1, maxLength: 4 });
  const separator = fc.constantFrom('=', ':', ',', ' ', '"', "'", ';', '://', '/', '|', '\n', '');
  const placed = (mountPaths: readonly string[]) =>
    mountPaths.map((mountPath) => ({ mountPath, source: `/LAB/c/mounts${mountPath}` }));

  it('lab/P8: is undone by un-rewriting, whatever the text', () => {
    const text = (mountPaths: readonly string[]) =>
      fc.array(fc.oneof(separator, word, path, fc.constantFrom(...mountPaths))).map((parts) => parts.join(''));
    const given = paths.chain((mountPaths) => fc.tuple(fc.constant(placed(mountPaths)), text(mountPaths)));
    fc.assert(
      fc.property(given, ([redirects, before]) =>
        assert.equal(unrewritten(rewritten(before, redirects), redirects), before),
      ),
    );
  });

  it('lab/P8: is the identity for a text that names none of the mounts', () => {
    const foreign = fc
      .array(fc.oneof(separator, fc.stringMatching(/^\/[A-Z]{1,4}$/)))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(paths, foreign, (mountPaths, text) => assert.equal(rewritten(text, placed(mountPaths)), text)),
    );
  });

  it('lab/P8: finds each mounted path between separators', () => {
    fc.assert(
      fc.property(paths, path, (mountPaths, rest) => {
        for (const { mountPath, source } of placed(mountPaths)) {
          const isInner = mountPaths.some(
            (other) => `${mountPath}${rest}/`.startsWith(`${other}/`) && other.length > mountPath.length,
          );
          if (!isInner)
            assert.equal(rewritten(`--x=${mountPath}${rest}`, placed(mountPaths)), `--x=${source}${rest}`);
        }
      }),
    );
  });
});

describe('a path of a container', () => {
  it('leads to the innermost mount around it', () => {
    assert.equal(located('/data/sub/x', PLACES), at('/data/sub/x'));
    assert.equal(located('/data/subway', PLACES), at('/data/subway'));
    assert.equal(located('/data', PLACES), at('/data'));
    assert.equal(located('/database', PLACES), '/database');
  });

  it('of the lab is kept when a mount would hide it', () => {
    assert.deepEqual(keptPaths(['/data/lab', '/opt/x', '/data', '/data/lab'], PLACES), [
      { mountPath: '/data/lab', source: '/data/lab' },
    ]);
  });
});
