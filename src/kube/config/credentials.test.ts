import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  base64,
  clientPair,
  HOUR_MS,
  NOW,
  testAuthority,
  worldOf,
} from '../../../test/support/kubeconfig-world.ts';
import { bitString, integer, objectIdentifier, sequence, set, time, utf8String } from '../../pki/der.ts';
import { escapedHeaderKey } from './impersonation.ts';

const rejected = async (promise: Promise<unknown>): Promise<string> => {
  const error = await promise.then(
    () => new Error('nothing was thrown'),
    (thrown: unknown) => thrown,
  );
  return error instanceof Error ? error.message : String(error);
};

describe('fixed credentials', () => {
  const cases: readonly [string, readonly string[], Record<string, string>][] = [
    ['a token', ['token: abc.def'], { authorization: 'Bearer abc.def' }],
    ['a password', ['username: ü', 'password: "1:2"'], { authorization: `Basic ${base64('ü:1:2')}` }],
    ['nobody', [], {}],
  ];
  for (const [what, user, expected] of cases) {
    it(`runtime/C2: sends ${what}`, async () => {
      const { credentials } = await worldOf(user).load();
      assert.deepEqual(await credentials.headers(), expected);
      assert.equal(await credentials.clientCertificate(), undefined);
      credentials.refresh();
      assert.deepEqual(await credentials.headers(), expected);
    });
  }

  const wrong: readonly [readonly string[], RegExp][] = [
    [['token: "a b"'], /:14: .*\.token: the token holds a space/],
    [['password: p'], /username: is missing, but there is a password/],
    [['username: u', 'password: p', 'token: t'], /has both a token and a password/],
    [['tokenFile: gone'], /tokenFile: the file \/cfg\/gone cannot be used: there is no such file/],
    [['as-groups: [a]'], /as: is missing, but as-uid, as-groups or as-user-extra is there/],
    [['as: "a\\nb"'], /as: holds a control character/],
    [['exec: {}', 'auth-provider: {name: oidc}'], /auth-provider: there is an exec plugin too/],
  ];
  for (const [user, expected] of wrong) {
    it(`refuses a user of ${user.join(', ')}`, async () => assert.match(await worldOf(user).failure(), expected));
  }
});

describe('a token file', () => {
  const tokenWorld = () => {
    const world = worldOf(['tokenFile: token', 'token: loses']);
    world.files.set('/cfg/token', 'first\n');
    return world;
  };

  it('runtime/C2: wins over the token beside it', async () => {
    const { credentials } = await tokenWorld().load();
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer first' });
  });

  it('runtime/C3: is read again when the last look is older than 60 s, and not before', async () => {
    const world = tokenWorld();
    const { credentials } = await world.load();
    await credentials.headers();
    const reads = world.reads;
    world.files.set('/cfg/token', 'second');
    await world.clock.advance(59_000);
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer first' });
    assert.equal(world.reads, reads);
    await world.clock.advance(1000);
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer second' });
  });

  it('runtime/C3: is read once after a 401 of many requests that used the same token', async () => {
    const world = tokenWorld();
    const { credentials } = await world.load();
    const used = await credentials.headers();
    world.files.set('/cfg/token', 'second');
    credentials.refresh(used);
    const reads = world.reads;
    assert.deepEqual(await Promise.all([credentials.headers(), credentials.headers()]), [
      { authorization: 'Bearer second' },
      { authorization: 'Bearer second' },
    ]);
    credentials.refresh(used);
    await credentials.headers();
    assert.equal(world.reads, reads + 1);
  });

  it('keeps the last token while the file cannot be read, unless the server refused it', async () => {
    const world = tokenWorld();
    const { credentials } = await world.load();
    const used = await credentials.headers();
    world.files.delete('/cfg/token');
    await world.clock.advance(61_000);
    assert.deepEqual(await credentials.headers(), used);
    credentials.refresh();
    assert.match(
      await rejected(credentials.headers()),
      /the token file \/cfg\/token cannot be used: there is no such file/,
    );
    world.files.set('/cfg/token', 'back');
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer back' });
  });

  it('leaves a caller that gave up and serves the others', async () => {
    const { credentials } = await tokenWorld().load();
    const stop = new AbortController();
    const [gone, served] = [credentials.headers(stop.signal), credentials.headers()];
    stop.abort(new Error('gave up'));
    assert.equal(await rejected(gone), 'gave up');
    assert.deepEqual(await served, { authorization: 'Bearer first' });
  });
});

describe('client certificates', () => {
  /** A certificate for any key, self-signed. */
  function selfSigned(privateKey: KeyObject, publicKey: KeyObject): string {
    const name = sequence(set(sequence(objectIdentifier('2.5.4.3'), utf8String('rsa-user'))));
    const algorithm = sequence(objectIdentifier('1.2.840.113549.1.1.11'), Buffer.from([5, 0]));
    const validity = sequence(time(NOW), time(new Date(NOW.getTime() + HOUR_MS)));
    const key = publicKey.export({ type: 'spki', format: 'der' });
    const content = sequence(integer(Buffer.from([1])), algorithm, name, validity, name, key);
    const der = sequence(content, algorithm, bitString(sign('sha256', content, privateKey)));
    return `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
  }

  it('runtime/C2: takes keys in PKCS#8, EC (SEC 1) and RSA (PKCS#1)', async () => {
    const authority = await testAuthority();
    const request = {
      kind: 'client',
      commonName: 'jane',
      organizations: [],
      now: NOW,
      validityMs: HOUR_MS,
    } as const;
    const { certificatePem, keys } = await authority.issue(request);
    const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const rsaCertificate = selfSigned(rsa.privateKey, rsa.publicKey);
    const pem = (key: KeyObject, type: 'pkcs1' | 'pkcs8' | 'sec1') =>
      key.export({ type, format: 'pem' }).toString();
    const pairs: readonly [string, string, string][] = [
      ['BEGIN PRIVATE KEY', certificatePem, pem(keys.privateKey, 'pkcs8')],
      ['BEGIN EC PRIVATE KEY', certificatePem, pem(keys.privateKey, 'sec1')],
      ['BEGIN RSA PRIVATE KEY', rsaCertificate, pem(rsa.privateKey, 'pkcs1')],
      ['BEGIN PRIVATE KEY', rsaCertificate, pem(rsa.privateKey, 'pkcs8')],
    ];
    for (const [header, certPem, keyPem] of pairs) {
      assert.ok(keyPem.includes(header));
      const user = [`client-certificate-data: ${base64(certPem)}`, `client-key-data: ${base64(keyPem)}`];
      const { credentials } = await worldOf(user).load();
      assert.deepEqual(await credentials.clientCertificate(), { certPem, keyPem });
    }
  });

  async function fileWorld() {
    const world = worldOf(['client-certificate: cert', 'client-key: key', 'token: t']);
    const put = ({ certPem, keyPem }: { certPem: string; keyPem: string }) =>
      world.files.set('/cfg/cert', certPem).set('/cfg/key', keyPem);
    const first = await clientPair('first');
    put(first);
    const { credentials } = await world.load();
    assert.deepEqual(await credentials.clientCertificate(), first);
    return { world, put, first, credentials };
  }

  it('runtime/C3: gives new sessions the new files and tells the holders of old ones within 10 s', async () => {
    const { world, put, credentials } = await fileWorld();
    let changes = 0;
    using _subscription = credentials.onCertificateChange(() => changes++);
    await world.clock.advance(30_000);
    assert.equal(changes, 0);
    const second = await clientPair('second');
    put(second);
    await world.clock.advance(10_000);
    assert.equal(changes, 1);
    assert.deepEqual(await credentials.clientCertificate(), second);
    assert.deepEqual(await credentials.headers(), { authorization: 'Bearer t' });
  });

  it('tells of a change that a new session found before the next look', async () => {
    const { put, credentials } = await fileWorld();
    let changes = 0;
    using _subscription = credentials.onCertificateChange(() => changes++);
    const second = await clientPair('second');
    put(second);
    assert.deepEqual(await credentials.clientCertificate(), second);
    assert.equal(changes, 1);
  });

  it('never gives out a certificate with the key of another, as files are while they are replaced', async () => {
    const { world, first, credentials } = await fileWorld();
    const second = await clientPair('second');
    world.files.set('/cfg/cert', second.certPem);
    assert.deepEqual(await credentials.clientCertificate(), first);
    world.files.delete('/cfg/key');
    assert.deepEqual(await credentials.clientCertificate(), first);
    world.files.set('/cfg/key', second.keyPem);
    assert.deepEqual(await credentials.clientCertificate(), second);
  });

  it('looks at the files only while somebody listens', async () => {
    const { world, credentials } = await fileWorld();
    assert.equal(world.clock.nextDueMs, undefined);
    const first = credentials.onCertificateChange(() => {});
    const second = credentials.onCertificateChange(() => {});
    first[Symbol.dispose]();
    assert.notEqual(world.clock.nextDueMs, undefined);
    await world.clock.advance(20_000);
    second[Symbol.dispose]();
    assert.equal(world.clock.nextDueMs, undefined);
    second[Symbol.dispose]();
  });
});

describe('impersonation', () => {
  it('runtime/C2: sends as, as-uid, one header per group, and extra keys escaped', async () => {
    const user = [
      'token: t',
      'as: jürgen',
      'as-uid: "17"',
      'as-groups: [a, "b,c"]',
      'as-user-extra: {Scopes/x%: [one, two], empty: []}',
    ];
    const { credentials } = await worldOf(user).load();
    assert.deepEqual(await credentials.headers(), {
      authorization: 'Bearer t',
      'impersonate-user': Buffer.from('jürgen', 'utf8').toString('latin1'),
      'impersonate-uid': '17',
      'impersonate-group': ['a', 'b,c'],
      'impersonate-extra-scopes%2fx%25': ['one', 'two'],
    });
  });

  it('escapes every key to the name of a header that the server can undo', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (key) => {
        fc.pre(key.isWellFormed());
        const escaped = escapedHeaderKey(key);
        assert.match(escaped, /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/);
        assert.equal(decodeURIComponent(escaped), key);
      }),
    );
  });
});
