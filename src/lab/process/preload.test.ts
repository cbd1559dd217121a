import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type ChildTools, inChild, PRELOAD } from '../../../test/support/preload-child.ts';
import { isLabName, labAddress, type Network, portTable, redirected } from './preload.ts';

describe('preload', () => {
  it('lab/X6: imports nothing but modules of Node', async () => {
    const imports = [...(await readFile(PRELOAD, 'utf8')).matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)];
    assert.ok(imports.length > 5);
    for (const [, specifier] of imports) assert.match(specifier ?? '', /^node:/);
  });

  it('lab/X6: does nothing in a child without a lab', async () => {
    const program = async ({ net, fs }: ChildTools) => {
      const sources = [Reflect.get(net.Server.prototype, 'listen'), fs.readFileSync].map(String);
      const isNative = sources.every((source) => !source.includes('instead('));
      return { isNative, address: net.createServer().listen(0).address() };
    };
    const { isNative, address } = await inChild(program, undefined, {});
    assert.ok(isNative);
    assert.match(JSON.stringify(address), /"(::|0\.0\.0\.0)"/);
  });

  it('lab/X6: tells a program the name of its pod as that of the machine', async () => {
    const network = { octet: 16, mode: 'loopback', directory: '/nowhere', zones: [], dns: {} };
    const program = async () => process.getBuiltinModule('node:os').hostname();
    const env = { SLIPWAY_NETWORK: JSON.stringify(network), HOSTNAME: 'web-1' };
    assert.equal(await inChild(program, undefined, env), 'web-1');
  });

  const senseless = [
    { SLIPWAY_NETWORK: '{', SLIPWAY_MOUNTS: '[{"mountPath":"/"},3]' },
    { SLIPWAY_NETWORK: '{}', SLIPWAY_MOUNTS: '{"a":1}', SLIPWAY_POD_ADDRESS: 'x' },
    {
      SLIPWAY_NETWORK: '{"octet":16,"mode":"ports","directory":"/nowhere","zones":[],"dns":{}}',
      SLIPWAY_POD_ADDRESS: '10.16.32.1',
    },
  ];
  for (const env of senseless)
    it(`lab/X6: hinders no program when its settings make no sense: ${Object.values(env)[0]}`, async () => {
      const program = async ({ net, fs, dns }: ChildTools) => {
        const server = net.createServer((socket) => socket.end('hello')).listen(0);
        const socket = net.connect(Reflect.get(Object(server.address()), 'port'), 'localhost');
        const said = String(await new Promise((resolve) => socket.on('data', resolve)));
        const code = await dns.promises.lookup('a.b.svc').catch((error) => error.code);
        return { said, isKnown: fs.existsSync('/'), code };
      };
      const { said, isKnown, code } = await inChild(program, undefined, env);
      assert.deepEqual([said, isKnown], ['hello', true]);
      assert.match(String(code), /^(ENOTFOUND|EAI_AGAIN)$/);
    });
});

describe('addresses in the preload', () => {
  const network = (changes: Partial<Network> = {}): Network => ({
    octet: 16,
    mode: 'loopback',
    directory: '/lab',
    lowPortOffset: 0,
    dns: { host: '127.16.0.53', port: 5353 },
    metadata: '127.16.0.169',
    zones: [],
    own: '127.16.32.1',
    ...changes,
  });
  const cases = [
    { host: undefined, want: '127.16.32.1' },
    { host: '', want: '127.16.32.1' },
    { host: 'LocalHost', want: '127.16.32.1' },
    { host: '::ffff:127.0.0.1', want: '127.16.32.1' },
    { host: '10.16.1.2', want: '127.16.1.2' },
    { host: '::FFFF:10.16.1.2', want: '127.16.1.2' },
    { host: '127.16.1.2', want: '127.16.1.2' },
    { host: '169.254.169.254', want: '127.16.0.169' },
    { host: '10.17.1.2', want: undefined },
    { host: '10.016.1.2', want: undefined },
    { host: '10.16.1', want: undefined },
    { host: '127.0.0.2', want: undefined },
    { host: '192.168.16.1', want: undefined },
    { host: 'example.com', want: undefined },
    { host: 'fe80::1', want: undefined },
    { host: 7, want: undefined },
  ];
  for (const { host, want } of cases)
    it(`lab/X6: ${JSON.stringify(host) ?? 'no host'} means ${want ?? 'nothing in the lab'}`, () => {
      assert.equal(labAddress(network(), host), want);
    });

  it('lab/X10: means what the API shows in modes ports and anyip', () => {
    for (const mode of ['ports', 'anyip'] as const) {
      assert.equal(labAddress(network({ mode }), '10.16.1.2'), '10.16.1.2');
      assert.equal(labAddress(network({ mode }), '127.16.1.2'), undefined);
    }
  });

  it('leaves the machine alone in a child without an address', () => {
    assert.equal(labAddress(network({ own: undefined }), 'localhost'), undefined);
    assert.equal(labAddress(network({ own: undefined }), '10.16.1.2'), '127.16.1.2');
  });

  it('lab/X6: knows the names of services and of lab zones', () => {
    const names = ['a.svc', 'a.b.svc.cluster.local', 'A.B.SVC.', 'svc', 'x.lab.internal', 'lab.internal'];
    for (const name of names) assert.ok(isLabName(['lab.internal'], name), name);
    const others = ['a.svc.example.com', 'asvc', 'xlab.internal', 'svc.cluster.localhost', '', undefined, 7];
    for (const name of others) assert.ok(!isLabName(['lab.internal'], name), String(name));
  });

  it('lab/X10: reads the table of ports as the lab does', () => {
    const lines = ['1\t80\t20001', '1\t80\t20002', '2\t80\t20001', '2\t9\t9', '3\t9\t9', '4\t80\t2000'];
    assert.deepEqual(
      [...portTable(lines.join('\n'))],
      [
        ['1\t80', 20_001],
        ['2\t9', 9],
        ['3\t9', 9],
      ],
    );
  });
});

describe('paths in the preload', () => {
  const mounts = [
    { mountPath: '/etc/app', source: '/lab/pod/mounts/etc/app' },
    { mountPath: '/etc/app/tls', source: '/lab/pod/mounts/tls' },
    { mountPath: '/tmp', source: '/tmp/lab/pod/tmp' },
    { mountPath: '/tmp/lab/pod/home', source: '/tmp/lab/pod/home' },
    { mountPath: '/host/etc', source: '/etc' },
  ];
  const cases = [
    { path: '/etc/app', want: '/lab/pod/mounts/etc/app' },
    { path: '/etc/app/config.yaml', want: '/lab/pod/mounts/etc/app/config.yaml' },
    { path: '/etc/app/tls/tls.crt', want: '/lab/pod/mounts/tls/tls.crt' },
    { path: '//etc/./x/../app//config.yaml', want: '/lab/pod/mounts/etc/app/config.yaml' },
    { path: '/etc/app/', want: '/lab/pod/mounts/etc/app/' },
    { path: '/etc/app/../passwd', want: undefined },
    { path: '/etc/application', want: undefined },
    { path: '/etc', want: undefined },
    { path: 'etc/app', want: undefined },
    { path: '', want: undefined },
    { path: '/tmp/x', want: '/tmp/lab/pod/tmp/x' },
    { path: '/tmp/lab/pod/tmp/x', want: undefined },
    { path: '/tmp/lab/pod/home/x', want: undefined },
    { path: '/host/etc/app/x', want: '/etc/app/x' },
  ];
  for (const { path, want } of cases)
    it(`lab/P8: ${JSON.stringify(path)} is ${want ?? 'where it says'}`, () => {
      assert.equal(redirected(mounts, path)?.path, want);
    });

  const segment = fc.constantFrom('etc', 'app', 'tls', 'tmp', 'a', 'lab', '..', '.', '', 'appendix');
  const absolute = fc.array(segment, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`);
  const clean = fc.array(fc.constantFrom('etc', 'app', 'tls', 'x'), { minLength: 1, maxLength: 4 });
  const table = fc.array(
    fc.record({
      mountPath: clean.map((parts) => `/${parts.join('/')}`),
      source: clean.map((parts) => `/s/${parts.join('/')}`),
    }),
  );

  it('lab/P8: a path outside of every mount is where it says', () => {
    fc.assert(
      fc.property(table, fc.oneof(absolute, fc.string()), (given, path) => {
        // A URL goes up from an empty name, a file system from the name before it.
        const slashes = path.replaceAll(/[^/.\w]/g, '_').replaceAll(/\/+/g, '/');
        const { pathname } = new URL(path.startsWith('/') ? `file://${slashes}` : 'file:///none');
        fc.pre(given.every(({ mountPath }) => !`${pathname}/`.startsWith(`${mountPath}/`)));
        assert.equal(redirected(given, path), undefined);
      }),
    );
  });

  it('lab/P8: a path that was redirected is not redirected again', () => {
    fc.assert(
      fc.property(table, absolute, (given, path) => {
        const there = redirected(given, path);
        if (there !== undefined) assert.equal(redirected(given, there.path), undefined);
      }),
    );
  });
});
