import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Mount } from './mounts.ts';
import { mountList, namespaceScript, READY } from './namespace-script.ts';
import { canonicalMounts, canonicalPath, type DirectoryReader, namespaceView } from './namespace-view.ts';

const isBelow = (path: string, directory: string): boolean =>
  path !== directory && (directory === '/' || path.startsWith(`${directory}/`));

const LINKS: Readonly<Record<string, string>> = {
  '/bin': 'usr/bin',
  '/etc/mtab': '../proc/mounts',
  '/var/run': '/run',
  '/circle': '/circle',
};
const FILES = ['/usr/bin/sh', '/etc/hosts', '/vol/a/file', '/vol/f'];
const DIRECTORIES = ['/etc/ssl/certs', '/run/lock', '/var/lib', '/vol/a/there', '/vol/b'];
const ALL = [...Object.keys(LINKS), ...FILES, ...DIRECTORIES];

const below = (path: string): readonly string[] => ALL.filter((other) => isBelow(other, path));

/** A small machine. */
const reader: DirectoryReader = {
  kind: (path) => {
    if (LINKS[path] !== undefined) return 'link';
    if (FILES.includes(path)) return 'file';
    return DIRECTORIES.includes(path) || below(path).length > 0 ? 'directory' : undefined;
  },
  entries: (path) => {
    const start = path === '/' ? 1 : path.length + 1;
    return [...new Set(below(path).map((other) => other.slice(start).split('/')[0] ?? ''))].sort();
  },
  linkText: (path) => LINKS[path] ?? '',
};

const mount = (mountPath: string, source: string, isReadOnly = false): Mount => ({
  mountPath,
  source,
  isReadOnly,
});
const view = (...mounts: readonly Mount[]) =>
  namespaceView(mounts, { reader, isOurs: (source) => source.startsWith('/vol') });
const paths = (binds: readonly { readonly path: string }[]): readonly string[] => binds.map(({ path }) => path);

describe('what a container sees', () => {
  it('lab/P9: is the machine as a whole where it has a place for each mount', () => {
    const { binds, directories, isExploded } = view(
      mount('/etc/hosts', '/vol/f'),
      mount('/run/lock', '/vol/a', true),
    );
    assert.deepEqual({ directories, isExploded }, { directories: [], isExploded: false });
    assert.deepEqual(binds, [
      { path: '/', source: '/', isReadOnly: false },
      { path: '/etc/hosts', source: '/vol/f', isReadOnly: false },
      { path: '/run/lock', source: '/vol/a', isReadOnly: true },
    ]);
  });

  it('lab/P9: is built anew only on the way to a place that is missing', () => {
    const { directories, files, links, siblings, binds, isExploded } = view(mount('/etc/new/deep', '/vol/a'));
    assert.equal(isExploded, true);
    assert.deepEqual(directories.toSorted(), [
      '/',
      '/etc',
      '/etc/new',
      '/etc/new/deep',
      '/etc/ssl',
      '/run',
      '/usr',
      '/var',
      '/vol',
    ]);
    assert.deepEqual(files, ['/etc/hosts']);
    assert.deepEqual(
      links.map(({ path, text }) => `${path} ${text}`),
      ['/bin usr/bin', '/circle /circle', '/etc/mtab ../proc/mounts'],
    );
    assert.deepEqual(paths(siblings), ['/run', '/usr', '/var', '/vol', '/etc/hosts', '/etc/ssl']);
    assert.deepEqual(binds, [{ path: '/etc/new/deep', source: '/vol/a', isReadOnly: false }]);
  });

  it('lab/P9: binds a directory as a whole beside one that is built anew', () => {
    const { binds, directories } = view(mount('/csi', '/vol/a'), mount('/etc/hosts', '/vol/f'));
    assert.deepEqual(paths(binds), ['/csi', '/etc', '/etc/hosts']);
    assert.ok(!directories.includes('/etc/ssl'));
  });

  it('lab/P9: has a mount in a mount in the place that is there', () => {
    const { binds, missing } = view(mount('/run', '/vol/a'), mount('/run/there', '/vol/b'));
    assert.deepEqual(paths(binds), ['/', '/run', '/run/there']);
    assert.deepEqual(missing, []);
  });

  it('lab/P9: gets a place for a mount in a volume of the lab', () => {
    const { binds, missing } = view(
      mount('/run', '/vol/a'),
      mount('/run/x/y', '/vol/b'),
      mount('/run/z', '/vol/f'),
    );
    assert.deepEqual(paths(binds), ['/', '/run', '/run/x/y', '/run/z']);
    assert.deepEqual(missing, [
      { path: '/vol/a/x/y', kind: 'directory' },
      { path: '/vol/a/z', kind: 'file' },
    ]);
  });

  const untouched = [
    { name: 'a read-only directory of the machine', outer: mount('/run', '/usr', true) },
    { name: 'a directory of the machine', outer: mount('/run', '/usr') },
    { name: 'a volume that has something else there', outer: mount('/run', '/vol/a'), inner: '/run/file' },
  ];
  for (const { name, outer, inner = '/run/x' } of untouched) {
    it(`lab/P9: leaves ${name} alone, and shows its entries beside the mount`, () => {
      const { siblings, binds, missing, directories } = view(outer, mount(inner, '/vol/b'));
      assert.deepEqual(missing, []);
      assert.ok(directories.includes('/run') && directories.includes(inner));
      assert.deepEqual(paths(binds), [inner]);
      const shown = siblings.filter(({ path }) => path.startsWith('/run/'));
      assert.ok(shown.length > 0 && shown.every(({ isReadOnly }) => isReadOnly === outer.isReadOnly));
    });
  }

  it('lab/P9: has nothing below a file', () => {
    assert.throws(() => view(mount('/etc/hosts/x', '/vol/a')), /\/etc\/hosts is a file$/);
    assert.throws(() => view(mount('/run', '/vol/f'), mount('/run/x', '/vol/a')), /\/run is a file$/);
  });

  it('lab/P9: makes every place before something is bound there, whatever the mounts', () => {
    const part = fc.constantFrom('etc', 'run', 'lock', 'new', 'there', 'ssl', 'x');
    const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => `/${parts.join('/')}`);
    const mounts = fc.uniqueArray(
      fc.record({
        mountPath: path,
        source: fc.constantFrom('/vol/a', '/vol/b', '/usr'),
        isReadOnly: fc.boolean(),
      }),
      { selector: ({ mountPath }) => mountPath, maxLength: 5 },
    );
    fc.assert(
      fc.property(mounts, (given) => {
        const { binds, siblings, directories, files } = view(...given);
        const own = new Set([...directories, ...files]);
        const all = [...siblings, ...binds];
        for (const { path: place, source } of all) {
          const around = binds.find((bind) => bind.path !== place && isBelow(place, bind.path));
          assert.ok(own.has(place) || around !== undefined || place === '/', `${source} has no place at ${place}`);
        }
        for (const { mountPath } of given) {
          assert.ok(
            own.has(mountPath) || binds.some((bind) => bind.path === mountPath),
            `${mountPath} is missing`,
          );
        }
      }),
    );
  });
});

describe('the place of a mount', () => {
  it('lab/P9: is where its path really leads, also through other mounts', () => {
    const mounts = [mount('/var/run/secrets', '/vol/a'), mount('/bin/tool', '/vol/f')];
    assert.deepEqual(
      canonicalMounts(mounts, reader).map(({ mountPath }) => mountPath),
      ['/usr/bin/tool', '/run/secrets'],
    );
    assert.equal(canonicalPath('/var/run', [mount('/var', '/vol/b')], reader), '/var/run');
  });

  it('lab/P9: is nowhere in a circle of links', () => {
    assert.throws(() => canonicalPath('/circle/x', [], reader), {
      message: '/circle/x leads through too many symbolic links',
    });
  });
});

describe('the script that builds it', () => {
  it('lab/P9: quotes every name', () => {
    const odd = "/a b/it's";
    const strange = { ...view(), isExploded: true, directories: [odd], links: [{ path: '/l', text: '$(x)' }] };
    const script = namespaceScript({
      view: strange,
      root: '/r',
      siblingList: '/s',
      bindList: "/b'",
      unshare: '/bin/unshare',
      env: {},
    });
    assert.match(script, /^mkdir -p -- '\/r\/a b\/it'\\''s'$/m);
    assert.match(script, /^ln -s -- '\$\(x\)' '\/r\/l'$/m);
    assert.match(script, /^mount -a -T '\/b'\\'''$/m);
    assert.match(script, new RegExp(`^printf ${READY} >&3$`, 'm'));
  });

  it('lab/P9: lists mounts in the words of fstab', () => {
    const binds = [{ path: '/a b', source: '/x\t#\\', isReadOnly: false }];
    assert.equal(mountList(binds, '/r'), '/x\\011\\043\\134 /r/a\\040b none rbind 0 0\n');
  });

  it('lab/P9: names some hundred directories in several commands', () => {
    const directories = Array.from({ length: 250 }, (_, at) => `/d${at}`);
    const script = namespaceScript({
      view: { ...view(), directories },
      root: '/r',
      siblingList: '/s',
      bindList: '/b',
      unshare: '/u',
      env: {},
    });
    assert.equal(script.match(/^mkdir/gm)?.length, 3);
  });
});
