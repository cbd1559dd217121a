import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  base64,
  clientPair,
  HOUR_MS,
  KubeconfigWorld,
  NOW,
  testAuthority,
  worldOf,
} from '../../../test/support/kubeconfig-world.ts';
import { SlipwayError } from '../../base/errors.ts';
import { CertificateAuthority } from '../../pki/certificate-authority.ts';

const SERVER = 'server: https://127.0.0.1:6443';

function withText(text: string): KubeconfigWorld {
  const world = new KubeconfigWorld();
  world.files.set('/cfg/config', text);
  return world;
}

const CONTEXTS =
  'contexts:\n- {name: b, context: {cluster: c, user: u}}\n- {name: a, context: {cluster: c, user: u}}\n';

describe('a broken kubeconfig', () => {
  it('runtime/C1: lists the contexts when current-context is empty and none is named', async () => {
    const message = await withText(`${CONTEXTS}current-context: ""\n`).failure();
    assert.match(message, /\/cfg\/config: current-context is not set; give --context .*There are: a, b/);
  });

  it('lists the contexts when the named one does not exist, with the line or the flag that names it', async () => {
    const world = withText(`${CONTEXTS}current-context: prod\n`);
    assert.equal(
      await world.failure(),
      '/cfg/config:4: current-context: there is no context "prod". There are: a, b',
    );
    assert.match(
      await world.failure({ contextFlag: 'x' }),
      /--context: there is no context "x"\. There are: a, b/,
    );
  });

  it('names the line of a YAML mistake', async () => {
    const message = await withText('clusters:\n- name: a\n  cluster: {server: "x"\nusers: []\n').failure();
    assert.match(message, /^\/cfg\/config:[34]: not valid YAML: /);
    assert.doesNotMatch(message, /\n.*at /);
  });

  const shapes: readonly [string, string, RegExp][] = [
    ['a list at the top', '- a\n', /\/cfg\/config:1: found a list, but a kubeconfig is a map/],
    ['plain text', 'hello\n', /found plain text/],
    ['an empty file', '', /current-context is not set.*There is none/],
    [
      'another kind of object',
      'apiVersion: v1\nkind: Pod\n',
      /\/cfg\/config:2: kind: found "Pod", but a kubeconfig has Config/,
    ],
    ['a key that stands there twice', 'users: []\nusers: []\n', /line 2: key "users" stands there twice/],
    ['an unknown alias', 'users: *nobody\n', /unknown anchor|Unresolved alias/i],
    ['clusters as a map', 'clusters: {a: {}}\n', /\/cfg\/config:1: clusters: found a map, but it must be a list/],
    [
      'an entry that is text',
      'users:\n- bob\n',
      /\/cfg\/config:2: users\[0\]: found text, but it must hold fields/,
    ],
    ['an entry without a name', 'users:\n- user: {}\n', /\/cfg\/config:2: users\[0\]: has no name/],
    [
      'two entries of a name',
      'users:\n- name: a\n- name: a\n',
      /\/cfg\/config:3: users\["a"\]\.name: "a" stands there twice/,
    ],
    [
      'a number as context',
      'current-context: 12\n',
      /\/cfg\/config:1: current-context: found a number.*put it in quotes/,
    ],
    [
      'a name that YAML takes for a boolean',
      'users:\n- name: y\n',
      /\/cfg\/config:2: users\[0\]\.name: found a boolean.*in quotes/,
    ],
    ['two documents', 'users: []\n---\nusers: []\n', /\/cfg\/config:2: a second YAML document begins; keep one/],
  ];
  for (const [what, text, expected] of shapes) {
    it(`says where it found ${what}`, async () => assert.match(await withText(text).failure(), expected));
  }

  it('names the entries that a context refers to and that are not there', async () => {
    const text = 'current-context: a\ncontexts:\n- name: a\n  context:\n    cluster: c\n    namespace: Bad_Name\n';
    const message = await withText(text).failure();
    assert.match(
      message,
      /\/cfg\/config:5: contexts\["a"\]\.context\.cluster: there is no cluster "c"\. There is none/,
    );
    assert.match(message, /\/cfg\/config:4: contexts\["a"\]\.context\.user: is missing/);
    assert.match(message, /\/cfg\/config:6: contexts\["a"\]\.context\.namespace: found "Bad_Name"/);
  });

  it('runtime/C8: lists all problems of the chosen context in one error', async () => {
    const message = await worldOf(
      ['token: 12345', 'client-key-data: "%%"', 'as-groups: admins', 'auth-provider: {name: gcp}'],
      [
        'server: ftp://h',
        'proxy-url: ftp://p',
        'insecure-skip-tls-verify: "true"',
        'certificate-authority: gone.pem',
      ],
    ).failure();
    assert.match(message, /^the kubeconfig has 9 problems:/);
    for (const expected of [
      /:10: clusters\["c"\]\.cluster\.server: found "ftp:\/\/h", but it must begin with https/,
      /:11: clusters\["c"\]\.cluster\.proxy-url: found "ftp:\/\/p".*socks5/,
      /:12: clusters\["c"\]\.cluster\.insecure-skip-tls-verify: found text, but it must be true or false/,
      /:13: clusters\["c"\]\.cluster\.certificate-authority: the file \/cfg\/gone\.pem cannot be read: there is no such file/,
      /:17: users\["u"\]\.user\.token: found a number/,
      /:18: users\["u"\]\.user\.client-key-data: found text that is not base64/,
      /users\["u"\]\.user: has a client-key but no client-certificate/,
      /:19: users\["u"\]\.user\.as-groups: found text, but it must be a list/,
      /:20: users\["u"\]\.user\.auth-provider\.name: found "gcp"/,
    ]) {
      assert.match(message, expected);
    }
    assert.doesNotMatch(message, /12345/);
  });

  it('does not mind mistakes in entries that are not used', async () => {
    const world = worldOf([], [SERVER]);
    const text = world.files.get('/cfg/config');
    world.files.set('/cfg/config', `${String(text)}- name: other\n  user: {token: 1, client-certificate: gone}\n`);
    assert.equal((await world.load()).server.port, '6443');
  });

  const servers: readonly [string, RegExp][] = [
    ['127.0.0.1:6443', /found "127\.0\.0\.1:6443".*write https:\/\/127\.0\.0\.1:6443/],
    ['https://', /is no URL/],
    ['https://u:secret@h', /with a user in it/],
    ['https://h/?a=b', /remove what follows/],
  ];
  for (const [server, expected] of servers) {
    it(`explains what is wrong with the server ${server}`, async () => {
      const message = await worldOf([], [`server: "${server}"`]).failure();
      assert.match(message, expected);
      assert.doesNotMatch(message, /secret/);
    });
  }

  it('says that a server is missing, and that a file is there but not readable', async () => {
    assert.match(
      await worldOf([], ['tls-server-name: x']).failure(),
      /:9: clusters\["c"\]\.cluster\.server: is missing/,
    );
    const world = new KubeconfigWorld();
    world.files.set('/cfg/config', Object.assign(new Error('EACCES'), { code: 'EACCES' }));
    assert.match(await world.failure(), /\/cfg\/config: cannot be read: no permission to read it/);
  });

  it('takes the whole range of texts without ever showing a stack trace or a bug', async () => {
    const value = fc.constantFrom(
      '1',
      '{}',
      '[]',
      'null',
      '"x"',
      '!!int x',
      '&a [*a]',
      '- - -',
      '{a: 1',
      '"\\u0000"',
      '*z',
    );
    const key = fc.constantFrom(
      'clusters',
      'users',
      'contexts',
      'current-context',
      '- name',
      '  user',
      '  token',
      '__proto__',
    );
    const text = fc
      .array(fc.tuple(key, value), { maxLength: 8 })
      .map((lines) => lines.map(([a, b]) => `${a}: ${b}`).join('\n'));
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        const error = await withText(content)
          .load()
          .catch((thrown: unknown) => thrown);
        assert.ok(error instanceof SlipwayError, `not a foreseen failure: ${String(error)}`);
        assert.match(error.message, /^(\/cfg\/config|the kubeconfig has \d+ problems)/);
      }),
      { numRuns: 200 },
    );
  });
});

describe('certificates of a kubeconfig', () => {
  it('runtime/C2: refuses insecure-skip-tls-verify together with a CA', async () => {
    const { certificatePem } = await testAuthority();
    const cluster = [
      SERVER,
      `certificate-authority-data: ${base64(certificatePem)}`,
      'insecure-skip-tls-verify: true',
    ];
    assert.match(
      await worldOf([], cluster).failure(),
      /:12: .*insecure-skip-tls-verify: found true together with a certificate-authority/,
    );
  });

  it('names an expired client certificate with its subject and the day it ended', async () => {
    const { certPem, keyPem } = await clientPair('jane');
    const user = [`client-certificate-data: ${base64(certPem)}`, `client-key-data: ${base64(keyPem)}`];
    const world = worldOf(user);
    await world.clock.advance(2 * HOUR_MS);
    assert.match(
      await world.failure(),
      /:14: users\["u"\]\.user\.client-certificate-data: the client certificate \(CN=jane\) expired on 2026-03-01T13:00:00\.000Z; get a new one/,
    );
  });

  it('names an expired authority with the day it ended', async () => {
    const old = await CertificateAuthority.create({
      commonName: 'old',
      now: new Date(NOW.getTime() - 9 * HOUR_MS),
      validityMs: HOUR_MS,
    });
    const message = await worldOf(
      [],
      [SERVER, `certificate-authority-data: ${base64(old.certificatePem)}`],
    ).failure();
    assert.match(message, /the certificate authority \(CN=old\) expired on 2026-03-01T04:00:00\.000Z/);
  });

  it('keeps a bundle of which one authority is still good', async () => {
    const old = await CertificateAuthority.create({
      commonName: 'old',
      now: new Date(NOW.getTime() - 9 * HOUR_MS),
      validityMs: HOUR_MS,
    });
    const bundle = old.certificatePem + (await testAuthority()).certificatePem;
    const access = await worldOf([], [SERVER, `certificate-authority-data: ${base64(bundle)}`]).load();
    assert.equal(await access.ca?.(), bundle);
  });

  it('names what a PEM file holds instead of what it must hold', async () => {
    const { certPem, keyPem } = await clientPair();
    const other = await clientPair('other');
    const damaged = certPem.replace(/\n[A-Za-z0-9+/]{10}/, '\nAAAAAAAAAA');
    const cases: readonly [string, string, RegExp][] = [
      [keyPem, keyPem, /client-certificate: \/cfg\/cert: it holds a "PRIVATE KEY"; a PEM "CERTIFICATE" is needed/],
      [certPem, certPem, /client-key: \/cfg\/key: it holds a "CERTIFICATE"; a PEM "PRIVATE KEY" is needed/],
      ['', keyPem, /client-certificate: \/cfg\/cert: it is empty/],
      ['text', keyPem, /it holds no PEM block/],
      [damaged, keyPem, /a certificate in it is damaged/],
      [certPem, other.keyPem, /client-key: \/cfg\/key: the key does not belong to the certificate/],
      [
        certPem,
        '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----',
        /the key is encrypted/,
      ],
      [certPem, '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----', /the private key is damaged/],
    ];
    for (const [cert, key, expected] of cases) {
      const world = worldOf(['client-certificate: cert', 'client-key: key']);
      world.files.set('/cfg/cert', cert).set('/cfg/key', key);
      const message = await world.failure();
      assert.match(message, expected);
      assert.doesNotMatch(message, /AAAA/);
    }
  });

  it('refuses data and file of one thing together, PEM where base64 belongs, and half a pair', async () => {
    const { certPem } = await clientPair();
    const both = await worldOf([
      `client-certificate-data: ${base64(certPem)}`,
      'client-certificate: x',
      'client-key: k',
    ]).failure();
    assert.match(both, /client-certificate-data: client-certificate is there too; keep one of them/);
    const pem = await worldOf([
      'client-certificate-data: |',
      ...certPem
        .trim()
        .split('\n')
        .map((line) => `  ${line}`),
    ]).failure();
    assert.match(pem, /found PEM text as it is, but it must be PEM encoded as base64/);
    assert.match(pem, /has a client-certificate but no client-key/);
  });
});
