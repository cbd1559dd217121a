import fc from 'fast-check';
import type { JsonObject } from '../../src/object/json.ts';

/** Few names, so that two configs often mean the same thing; some are those of generated configs. */
const NODE_PATHS = ['/a', '/b', '/c', '/usr/local/bin/set_hostname'];
const SHORT = fc.constantFrom('one', 'two', 'three', '');
const SOURCE = fc.constantFrom('data:,one', 'data:,two', 'https://example.test/x', 'https://example.test/y');
const WEB_SOURCE = fc.constantFrom('https://example.test/x', 'http://example.test/z');
const NUMBER = fc.integer({ min: 0, max: 5 });
const MODE = fc.constantFrom(0, 0o600, 0o644, 0o755);

type Fields = Record<string, fc.Arbitrary<unknown>>;

/** Every field but the named ones may be absent. */
const thing = (fields: Fields, ...requiredKeys: string[]) =>
  fc.record(fields, { requiredKeys, noNullPrototype: true }) as fc.Arbitrary<JsonObject>;
const thingsBy = (key: string, item: fc.Arbitrary<JsonObject>) =>
  fc.uniqueArray(item, { selector: (entry) => entry[key], maxLength: 3 });
const words = (...texts: string[]) => fc.uniqueArray(fc.constantFrom(...texts), { maxLength: 3 });

const HASH = fc.constantFrom(`sha512-${'a'.repeat(128)}`, `sha256-${'b'.repeat(64)}`);
const HEADER = thing({ name: fc.constantFrom('A', 'B'), value: fc.constantFrom('1', '2') }, 'name');
const RESOURCE = fc.oneof(
  thing(
    { compression: fc.constantFrom('', 'gzip'), source: SOURCE, verification: thing({ hash: HASH }) },
    'source',
  ),
  thing({ source: WEB_SOURCE, httpHeaders: thingsBy('name', HEADER) }, 'source'),
);
const OWNER = fc.oneof(thing({ id: NUMBER }), thing({ name: SHORT }));
const NODE: Fields = { group: OWNER, user: OWNER };

const DIRECTORY = thing({ ...NODE, mode: MODE, overwrite: fc.boolean() });
const FILE = fc.oneof(
  thing({ ...NODE, append: fc.array(RESOURCE, { maxLength: 2 }), mode: MODE }),
  thing({ ...NODE, contents: RESOURCE, mode: MODE, overwrite: fc.boolean() }, 'contents'),
);
// Without a target Ignition takes the empty one over; nobody writes such links.
const LINK = thing({ ...NODE, hard: fc.constant(false), target: fc.constantFrom('/x', '/y') }, 'target');

/** A path is in one of the three lists. */
const NODES = fc
  .array(fc.tuple(fc.constantFrom('directories', 'files', 'links', 'none'), DIRECTORY, FILE, LINK), {
    minLength: NODE_PATHS.length,
    maxLength: NODE_PATHS.length,
  })
  .map((choices) => {
    const named = choices.map(([list, directory, file, link], index) => {
      const entry = list === 'directories' ? directory : list === 'files' ? file : link;
      return { list, entry: { path: NODE_PATHS[index] ?? '', ...entry } };
    });
    const listOf = (list: string) => named.filter((each) => each.list === list).map(({ entry }) => entry);
    return { directories: listOf('directories'), files: listOf('files'), links: listOf('links') };
  });

const PARTITION = thing(
  {
    label: fc.constantFrom('p', 'q'),
    sizeMiB: fc.constant(0),
    typeGuid: fc.constant(''),
    shouldExist: fc.constant(true),
  },
  'label',
);
const DISK = thing(
  {
    device: fc.constantFrom('/dev/a', '/dev/b'),
    partitions: thingsBy('label', PARTITION),
    wipeTable: fc.boolean(),
  },
  'device',
);
const FILESYSTEM = thing(
  {
    device: fc.constantFrom('/dev/c', '/dev/d'),
    format: fc.constantFrom('ext4', 'xfs'),
    label: SHORT,
    mountOptions: fc.array(fc.constantFrom('ro', 'noatime'), { maxLength: 2 }),
    options: fc.array(fc.constantFrom('-a', '-b'), { maxLength: 2 }),
    path: fc.constantFrom('/m', '/n', ''),
    wipeFilesystem: fc.boolean(),
  },
  'device',
  'format',
);
const RAID = thing(
  {
    devices: fc.uniqueArray(fc.constantFrom('/dev/a', '/dev/b', '/dev/c'), { minLength: 1, maxLength: 3 }),
    level: fc.constantFrom('raid1', 'raid5'),
    name: fc.constantFrom('r', 's'),
    options: fc.array(fc.constantFrom('-a', '-b'), { maxLength: 2 }),
    spares: NUMBER,
  },
  'devices',
  'level',
  'name',
);

const STORAGE = fc
  .tuple(
    NODES,
    thing({
      disks: thingsBy('device', DISK),
      filesystems: thingsBy('device', FILESYSTEM),
      raid: thingsBy('name', RAID),
    }),
  )
  .map(([nodes, rest]): JsonObject => ({ ...nodes, ...rest }));

const DROPIN = thing(
  { contents: fc.constantFrom('', '[Unit]\n'), name: fc.constantFrom('1.conf', '2.conf') },
  'name',
);
const UNIT = thing(
  {
    contents: fc.constantFrom('', '[Unit]\nDescription=one\n[Install]\n'),
    dropins: thingsBy('name', DROPIN),
    enabled: fc.boolean(),
    mask: fc.boolean(),
    name: fc.constantFrom('a.service', 'b.service', 'set-hostname.service'),
  },
  'name',
);
const USER = thing(
  {
    groups: words('g', 'h', 'i'),
    homeDir: SHORT,
    name: fc.constantFrom('core', 'root'),
    passwordHash: SHORT,
    sshAuthorizedKeys: words('k1', 'k2', 'k3'),
    uid: NUMBER,
  },
  'name',
);
const GROUP = thing({ gid: NUMBER, name: fc.constantFrom('g', 'h'), system: fc.boolean() }, 'name');

const IGNITION = thing(
  {
    config: thing({ merge: thingsBy('source', RESOURCE), replace: RESOURCE }),
    proxy: thing({ httpProxy: WEB_SOURCE, noProxy: words('x', 'y', 'z') }),
    security: thing({ tls: thing({ certificateAuthorities: thingsBy('source', RESOURCE) }) }),
    timeouts: thing({ httpResponseHeaders: NUMBER, httpTotal: NUMBER }),
    version: fc.constant('3.1.0'),
  },
  'version',
);

/** Valid configs of version 3.1.0 with every list, and with few names. */
export const ignitionConfig: fc.Arbitrary<JsonObject> = thing(
  {
    ignition: IGNITION,
    passwd: thing({ groups: thingsBy('name', GROUP), users: thingsBy('name', USER) }),
    storage: STORAGE,
    systemd: thing({ units: thingsBy('name', UNIT) }),
  },
  'ignition',
);

const withStorage = (storage: JsonObject): JsonObject => ({ ignition: { version: '3.1.0' }, storage });
const withFile = (file: JsonObject): JsonObject => withStorage({ files: [file] });
const withUnit = (unit: JsonObject): JsonObject => ({
  ignition: { version: '3.1.0' },
  systemd: { units: [unit] },
});

export interface BadConfig {
  readonly name: string;
  readonly config: JsonObject;
  /** What the message is to name. */
  readonly want: RegExp;
}

/** JSON that is no config: a host refuses each of them. */
export const BAD_CONFIGS: readonly BadConfig[] = [
  { name: 'nothing at all', config: {}, want: /ignition\.version/ },
  { name: 'another thing', config: { foo: 'bar' }, want: /ignition\.version/ },
  { name: 'a version that is no string', config: { ignition: { version: 3 } }, want: /ignition\.version/ },
  { name: 'version 2', config: { ignition: { version: '2.2.0' } }, want: /not "2\.2\.0"/ },
  { name: 'version 3.2', config: { ignition: { version: '3.2.0' } }, want: /not "3\.2\.0"/ },
  { name: 'a pre-release', config: { ignition: { version: '3.1.0-experimental' } }, want: /experimental/ },
  {
    name: 'storage as a list',
    config: { ignition: { version: '3.1.0' }, storage: [] },
    want: /storage must be an object/,
  },
  { name: 'files as an object', config: withStorage({ files: {} }), want: /storage\.files must be a list/ },
  {
    name: 'a file as text',
    config: withStorage({ files: ['/a'] }),
    want: /storage\.files\[0\] must be an object/,
  },
  { name: 'a file without a path', config: withFile({}), want: /storage\.files\[0\]\.path is required/ },
  { name: 'a relative path', config: withFile({ path: 'a' }), want: /files\[0\]\.path must be an absolute path/ },
  { name: 'a path with ..', config: withFile({ path: '/a/../b' }), want: /files\[0\]\.path/ },
  { name: 'a path with a slash at its end', config: withFile({ path: '/a/' }), want: /files\[0\]\.path/ },
  { name: 'a path as a number', config: withFile({ path: 1 }), want: /files\[0\]\.path must be a string/ },
  { name: 'a mode as text', config: withFile({ path: '/a', mode: '0644' }), want: /mode must be an integer/ },
  { name: 'a broken mode', config: withFile({ path: '/a', mode: 1.5 }), want: /mode must be an integer/ },
  {
    name: 'an unknown scheme',
    config: withFile({ path: '/a', contents: { source: 'ftp://x' } }),
    want: /contents\.source/,
  },
  { name: 'no scheme', config: withFile({ path: '/a', contents: { source: '/x' } }), want: /contents\.source/ },
  {
    name: 'a wrong compression',
    config: withFile({ path: '/a', contents: { source: 'data:,', compression: 'xz' } }),
    want: /compression/,
  },
  {
    name: 'a wrong hash',
    config: withFile({ path: '/a', contents: { source: 'data:,', verification: { hash: 'md5-1' } } }),
    want: /verification\.hash/,
  },
  {
    name: 'a hash of nothing',
    config: withFile({ path: '/a', contents: { verification: { hash: `sha512-${'a'.repeat(128)}` } } }),
    want: /has a hash/,
  },
  {
    name: 'headers for data',
    config: withFile({ path: '/a', contents: { source: 'data:,', httpHeaders: [{ name: 'A', value: '1' }] } }),
    want: /HTTP headers/,
  },
  {
    name: 'an empty header',
    config: withFile({ path: '/a', contents: { source: 'http://x', httpHeaders: [{ name: 'A', value: '' }] } }),
    want: /must not be empty/,
  },
  { name: 'overwrite with nothing', config: withFile({ path: '/a', overwrite: true }), want: /overwrite/ },
  {
    name: 'an owner twice',
    config: withFile({ path: '/a', user: { id: 1, name: 'x' } }),
    want: /user must have an id or a name/,
  },
  {
    name: 'a file twice',
    config: withStorage({ files: [{ path: '/a' }, { path: '/a' }] }),
    want: /storage\.files\[1\] is there twice/,
  },
  {
    name: 'a file that is a directory',
    config: withStorage({ directories: [{ path: '/a' }], files: [{ path: '/a' }] }),
    want: /twice/,
  },
  { name: 'a unit without a name', config: withUnit({}), want: /systemd\.units\[0\]\.name is required/ },
  { name: 'a unit of no type', config: withUnit({ name: 'x' }), want: /units\[0\]\.name must end/ },
  {
    name: 'enabled as text',
    config: withUnit({ name: 'x.service', enabled: 'yes' }),
    want: /enabled must be a boolean/,
  },
  {
    name: 'a drop-in of no type',
    config: withUnit({ name: 'x.service', dropins: [{ name: 'x' }] }),
    want: /dropins\[0\]\.name must end in \.conf/,
  },
  {
    name: 'a disk without a device',
    config: withStorage({ disks: [{}] }),
    want: /disks\[0\]\.device is required/,
  },
  {
    name: 'a partition without a name',
    config: withStorage({ disks: [{ device: '/dev/a', partitions: [{}] }] }),
    want: /number or a label/,
  },
  {
    name: 'a partition with a colon',
    config: withStorage({ disks: [{ device: '/dev/a', partitions: [{ label: 'a:b' }] }] }),
    want: /label/,
  },
  {
    name: 'a wrong GUID',
    config: withStorage({ disks: [{ device: '/dev/a', partitions: [{ number: 1, guid: 'x' }] }] }),
    want: /guid/,
  },
  {
    name: 'a partition that shall not be, described',
    config: withStorage({
      disks: [{ device: '/dev/a', partitions: [{ number: 1, shouldExist: false, sizeMiB: 1 }] }],
    }),
    want: /shall not exist/,
  },
  {
    name: 'a file system without a format',
    config: withStorage({ filesystems: [{ device: '/dev/a', path: '/m' }] }),
    want: /format/,
  },
  {
    name: 'a file system of an unknown format',
    config: withStorage({ filesystems: [{ device: '/dev/a', format: 'ntfs' }] }),
    want: /format/,
  },
  {
    name: 'an array of an unknown level',
    config: withStorage({ raid: [{ name: 'r', level: 'x', devices: ['/dev/a'] }] }),
    want: /level/,
  },
  {
    name: 'an array without devices',
    config: withStorage({ raid: [{ name: 'r', level: 'raid1' }] }),
    want: /devices/,
  },
  {
    name: 'a stripe with spares',
    config: withStorage({ raid: [{ name: 'r', level: 'raid0', devices: ['/dev/a'], spares: 1 }] }),
    want: /spares/,
  },
  {
    name: 'a config to merge from nowhere',
    config: { ignition: { version: '3.1.0', config: { merge: [{}] } } },
    want: /merge\[0\] must have a source/,
  },
  {
    name: 'a wrong proxy',
    config: { ignition: { version: '3.1.0', proxy: { httpProxy: 'ftp://x' } } },
    want: /proxy\.httpProxy/,
  },
];
