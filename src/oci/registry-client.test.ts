import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import {
  digestOf,
  imageScript,
  pieces,
  type Script,
  scriptedHttp,
  type TestFile,
  testImage,
  testTar,
  throughTime,
} from '../../test/support/oci-world.ts';
import { VirtualClock } from '../base/clock.ts';
import { parseImageReference } from './image-reference.ts';
import { RegistryClient, type RegistryClientOptions } from './registry-client.ts';

const IMAGE = parseImageReference('r.example/a/b:v1');
const anybody = { credentials: () => undefined };
const jane = { credentials: () => ({ username: 'jane', password: 'secret' }) };
const BASIC = `Basic ${Buffer.from('jane:secret').toString('base64')}`;

function world(script: Script, options: Partial<RegistryClientOptions> = {}) {
  const clock = new VirtualClock();
  const network = scriptedHttp(script);
  const client = new RegistryClient({ http: network.http, clock, ...options });
  return { clock, ...network, client };
}

const layer = (...files: readonly TestFile[]): Buffer => gzipSync(testTar(files));

/** The text of /f in an image of these layers. */
async function fileIn(layers: readonly Uint8Array[], path = '/f'): Promise<string> {
  const { client, clock, open } = world(imageScript(testImage(layers)));
  const bytes = await throughTime(clock, client.fileOf(IMAGE, path, anybody));
  assert.equal(open(), 0);
  return Buffer.from(bytes).toString();
}

describe('the digest of an image', () => {
  it('comes with one HEAD that accepts all manifests', async () => {
    const { client, seen } = world(imageScript(testImage([])));
    assert.equal(await client.digestOf(IMAGE, anybody), testImage([]).digest);
    assert.deepEqual(seen, [
      {
        line: 'HEAD https://r.example/v2/a/b/manifests/v1',
        headers: {
          accept:
            'application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json, ' +
            'application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json',
        },
      },
    ]);
  });

  it('is made of the manifest when the registry does not say it', async () => {
    const { client, lines, open } = world(({ method }) => ({ body: method === 'GET' ? 'manifest' : '' }));
    assert.equal(await client.digestOf(IMAGE, anybody), digestOf('manifest'));
    assert.deepEqual(
      lines().map((line) => line.split(' ', 1).join('')),
      ['HEAD', 'GET'],
    );
    assert.equal(open(), 0);
  });

  const failures = [
    {
      status: 404,
      reason: 'ImageNotFound',
      message:
        'there is no image r.example/a/b:v1: r.example answered 404; check version, architecture and repository',
    },
    {
      status: 401,
      reason: 'RegistryUnauthorized',
      message:
        'r.example does not let us read r.example/a/b:v1: it answered 401 without credentials; add an entry "r.example" to the pull secret',
    },
    { status: 403, reason: 'RegistryUnauthorized', message: /answered 403/ },
    {
      status: 500,
      reason: 'RegistryUnavailable',
      message:
        'r.example does not work: it answered 500 for r.example/a/b:v1; look at the registry, or try again later',
    },
    { status: 418, reason: 'RegistryUnavailable', message: /answered 418/ },
  ];
  for (const { status, reason, message } of failures) {
    it(`is ${reason} after ${status}`, async () => {
      const { client, clock, open } = world(() => ({ status }));
      await assert.rejects(throughTime(clock, client.digestOf(IMAGE, anybody)), {
        reason,
        message,
        disposition: 'retry',
      });
      assert.equal(open(), 0);
    });
  }

  it('is RegistryUnavailable with the time when a registry counts requests', async () => {
    const { client } = world(() => ({ status: 429, headers: { 'retry-after': '120' } }));
    await assert.rejects(client.digestOf(IMAGE, anybody), {
      reason: 'RegistryUnavailable',
      retryAfterMs: 120_000,
    });
  });
});

describe('a registry that wants to know who asks', () => {
  const basic: Script = (request) =>
    request.headers?.['authorization'] === BASIC
      ? imageScript(testImage([]))(request)
      : { status: 401, headers: { 'www-authenticate': 'Basic realm="r"' } };

  it('is told user and password, and the next time at once', async () => {
    const { client, seen, open } = world(basic);
    await client.digestOf(IMAGE, jane);
    await client.digestOf(IMAGE, jane);
    assert.deepEqual(
      seen.map(({ headers }) => headers['authorization']),
      [undefined, BASIC, BASIC],
    );
    assert.equal(open(), 0);
  });

  it('is told nothing when there is nothing to tell', async () => {
    const { client, seen } = world(basic);
    await assert.rejects(client.digestOf(IMAGE, anybody), { reason: 'RegistryUnauthorized' });
    assert.equal(seen.length, 1);
  });

  it('refuses somebody else, and the message has no password', async () => {
    const { client } = world(basic);
    const john = { credentials: () => ({ username: 'john', password: 'hidden' }) };
    await assert.rejects(client.digestOf(IMAGE, john), (thrown: Error & { reason: string }) => {
      assert.equal(thrown.reason, 'RegistryUnauthorized');
      assert.match(thrown.message, /to the user of the pull secret; check its entry "r\.example"$/);
      assert.doesNotMatch(thrown.message, /hidden|john/);
      return true;
    });
  });

  const bearer =
    (token: Script): Script =>
    (request) => {
      if (request.url.startsWith('https://auth.example/')) return token(request);
      const isKnown = /^Bearer t\d+$/.test(request.headers?.['authorization'] ?? '');
      const challenge =
        'Bearer realm="https://auth.example/token?x=y",service="r.example",scope="repository:a/b:pull"';
      return isKnown
        ? imageScript(testImage([]))(request)
        : { status: 401, headers: { 'www-authenticate': challenge } };
    };

  it('is shown a token of its token server, which is kept as long as it is good', async () => {
    let count = 0;
    const { client, clock, seen, lines } = world(
      bearer(() => ({ body: JSON.stringify({ token: `t${++count}`, expires_in: 300 }) })),
    );
    await client.digestOf(IMAGE, jane);
    await clock.advance(280_000);
    await client.digestOf(IMAGE, jane);
    await clock.advance(20_000);
    await client.digestOf(IMAGE, jane);
    const asked = lines().map((line) => line.replace(/^(\w+) https:\/\/([^/]+).*$/, '$1 $2'));
    assert.deepEqual(asked, [
      'HEAD r.example',
      'GET auth.example',
      'HEAD r.example',
      'HEAD r.example',
      'HEAD r.example',
      'GET auth.example',
      'HEAD r.example',
    ]);
    const [, token] = seen;
    assert.equal(
      token?.line,
      'GET https://auth.example/token?x=y&service=r.example&scope=repository%3Aa%2Fb%3Apull',
    );
    assert.equal(token?.headers['authorization'], BASIC);
  });

  it('gives a token to nobody in particular, too', async () => {
    const { client, seen } = world(bearer(() => ({ body: '{"access_token":"t1"}' })));
    assert.equal(await client.digestOf(IMAGE, anybody), testImage([]).digest);
    assert.equal(seen[1]?.headers['authorization'], undefined);
  });

  it('gives no token of one user to another', async () => {
    const { client, lines } = world(bearer(() => ({ body: '{"token":"t1"}' })));
    await client.digestOf(IMAGE, jane);
    await client.digestOf(IMAGE, anybody);
    assert.equal(lines().filter((line) => line.includes('auth.example')).length, 2);
  });

  const refusals: readonly { name: string; token: Script; reason: string; message: RegExp }[] = [
    {
      name: 'refuses',
      token: () => ({ status: 401 }),
      reason: 'RegistryUnauthorized',
      message:
        /the token server auth\.example answered 401 to the user of the pull secret for a\/b; check the entry/,
    },
    {
      name: 'is broken',
      token: () => ({ status: 500 }),
      reason: 'RegistryUnavailable',
      message: /auth\.example answered 500/,
    },
    {
      name: 'answers nonsense',
      token: () => ({ body: 'nonsense' }),
      reason: 'RegistryUnavailable',
      message: /gave no token/,
    },
    {
      name: 'answers a token that is none',
      token: () => ({ body: '{"token":"a\\r\\nb"}' }),
      reason: 'RegistryUnavailable',
      message: /gave no token/,
    },
  ];
  for (const { name, token, reason, message } of refusals) {
    it(`is not asked again when its token server ${name}`, async () => {
      const { client, clock, open } = world(bearer(token));
      await assert.rejects(throughTime(clock, client.digestOf(IMAGE, jane)), { reason, message });
      assert.equal(open(), 0);
    });
  }

  it('does not get the password sent to a token server without TLS', async () => {
    const { client, lines } = world(() => ({
      status: 401,
      headers: { 'www-authenticate': 'Bearer realm="http://auth.example/"' },
    }));
    await assert.rejects(client.digestOf(IMAGE, jane), {
      reason: 'RegistryUnavailable',
      message: /realm is no https/,
    });
    assert.equal(lines().length, 1);
  });
});

describe('a file of an image', () => {
  it('is found in a layer of gzip, of zstd, and in one that is not packed', async () => {
    const archive = testTar([{ name: 'other' }, { name: 'f', content: 'text' }]);
    for (const packed of [gzipSync(archive), zstdCompressSync(archive), archive])
      assert.equal(await fileIn([packed]), 'text');
  });

  it('is found in a layer that is too large to be unpacked at once', async () => {
    const filling = { name: 'filling', content: randomBytes(1_000_000).toString('base64') };
    const archive = testTar([filling, { name: 'f', content: 'text' }, { ...filling, name: 'rest' }]);
    for (const packed of [gzipSync(archive), archive]) assert.equal(await fileIn([packed]), 'text');
  });

  it('is found in a small layer that is large when it is unpacked', async () => {
    const zeros = testTar([
      { name: 'zeros', content: '\0'.repeat(80 * 1024 * 1024) },
      { name: 'f', content: 'text' },
    ]);
    assert.equal(await fileIn([gzipSync(zeros)]), 'text');
  });

  it('is that of the newest layer, and older ones are not fetched', async () => {
    const image = testImage([
      layer({ name: 'f', content: 'old' }),
      layer({ name: 'f', content: 'new' }),
      layer({ name: 'x' }),
    ]);
    const { client, lines } = world(imageScript(image));
    assert.equal(Buffer.from(await client.fileOf(IMAGE, '/f', anybody)).toString(), 'new');
    assert.equal(lines().filter((line) => line.includes('/blobs/')).length, 2);
  });

  it('is known by its name with and without a dot in front', async () => {
    assert.equal(await fileIn([layer({ name: './f', content: 'text' })]), 'text');
  });

  it('agent/R4: is found through symbolic links, relative ones from the folder of the link, and through hard links', async () => {
    const files = [
      { name: 'a/f', type: '2', link: '../b/g' },
      { name: 'b/g', type: '2', link: '/c/h' },
      { name: 'c/h', type: '1', link: 'd' },
      { name: 'd', content: 'text' },
    ];
    assert.equal(await fileIn([layer(...files)], '/a/f'), 'text');
    assert.equal(
      await fileIn([layer({ name: 'real', content: 'text' }), layer({ name: 'f', type: '2', link: 'real' })]),
      'text',
    );
  });

  const chain = (links: number): TestFile[] => [
    ...Array.from({ length: links }, (_, at) => ({ name: `f${at}`, type: '2', link: `f${at + 1}` })),
    { name: `f${links}`, content: 'text' },
  ];

  it('agent/R4: is found through five links and not through six', async () => {
    assert.equal(await fileIn([layer(...chain(5))], '/f0'), 'text');
    await assert.rejects(fileIn([layer(...chain(6))], '/f0'), {
      reason: 'InvalidImage',
      message: /^too many symlink resolutions, possible loop: \/f0 of r\.example\/a\/b leads/,
    });
  });

  it('agent/R4: is missed with the path that was looked for', async () => {
    await assert.rejects(fileIn([layer({ name: 'x' })]), {
      reason: 'InvalidImage',
      message: /^file \/f not found in Image r\.example\/a\/b/,
    });
    await assert.rejects(fileIn([]), { message: /none of its 0 layers/ });
  });

  it('agent/R4: is that of the image for linux/amd64 in an index, also through an index in it', async () => {
    const image = testImage([layer({ name: 'f', content: 'text' })]);
    const child = (digest: string, architecture?: string) => ({
      digest,
      size: 10,
      ...(architecture !== undefined && { platform: { os: 'linux', architecture } }),
    });
    const inner = JSON.stringify({
      manifests: [child(digestOf('nothing'), 'arm64'), child(image.digest, 'amd64')],
    });
    const outer = JSON.stringify({ manifests: [child(digestOf('nothing'), 's390x'), child(digestOf(inner))] });
    const { client } = world((request) => {
      if (request.url.endsWith('/v1')) return { body: outer };
      return request.url.endsWith(digestOf(inner)) ? { body: inner } : imageScript(image)(request);
    });
    assert.equal(Buffer.from(await client.fileOf(IMAGE, '/f', anybody)).toString(), 'text');
  });

  const bad: readonly { name: string; manifest: string; message: RegExp }[] = [
    {
      name: 'without an image for linux/amd64',
      manifest: JSON.stringify({
        manifests: [{ digest: digestOf(''), size: 1, platform: { os: 'linux', architecture: 'arm64' } }],
      }),
      message: /no image for linux\/amd64 under v1: found linux\/arm64/,
    },
    { name: 'that is no JSON', manifest: 'nonsense', message: /its manifest is no JSON object/ },
    {
      name: 'of the first kind that there was',
      manifest: '{"schemaVersion":1,"fsLayers":[]}',
      message: /neither layers nor manifests/,
    },
    {
      name: 'with a layer outside',
      manifest: '{"layers":[{"digest":"../../x","size":1}]}',
      message: /without valid digest and size/,
    },
    { name: 'with a layer that is none', manifest: '{"layers":[null]}', message: /a part that is no object/ },
    {
      name: 'with a layer of no size',
      manifest: JSON.stringify({ layers: [{ digest: digestOf(''), size: -1 }] }),
      message: /without valid digest and size/,
    },
    {
      name: 'with a layer that fills a disk',
      manifest: JSON.stringify({ layers: [{ digest: digestOf(''), size: 2 ** 40 }] }),
      message: /is too large: more than 2147483648 bytes/,
    },
    {
      name: 'with too many layers',
      manifest: JSON.stringify({ layers: Array(1000).fill({}) }),
      message: /has 1000 layers, 512 at most/,
    },
    {
      name: 'that never ends',
      manifest: `{"layers":[${' '.repeat(5_000_000)}]}`,
      message: /the manifest of r\.example\/a\/b:v1 is too large/,
    },
  ];
  for (const { name, manifest, message } of bad) {
    it(`is not looked for in an image ${name}`, async () => {
      const { client } = world(() => ({ body: manifest }));
      await assert.rejects(client.fileOf(IMAGE, '/f', anybody), { reason: 'InvalidImage', message });
    });
  }

  it('is not looked for in an index that holds itself', async () => {
    const { client } = world(() => ({ body: JSON.stringify({ manifests: [{ digest: digestOf(''), size: 1 }] }) }));
    await assert.rejects(client.fileOf(IMAGE, '/f', anybody), {
      reason: 'RegistryUnavailable',
      message: /gave wrong bytes/,
    });
  });

  it('is not returned when any byte of its layer is wrong', async () => {
    const packed = layer({ name: 'f', content: 'text' });
    const image = testImage([packed]);
    for (const at of [0, 12, packed.length - 1]) {
      const damaged = Buffer.from(packed);
      damaged[at] = (damaged[at] ?? 0) ^ 0xff;
      const { client, open } = world((request) =>
        request.url.includes('/blobs/') ? { body: damaged } : imageScript(image)(request),
      );
      await assert.rejects(client.fileOf(IMAGE, '/f', anybody), {
        reason: 'RegistryUnavailable',
        message: /^r\.example\/a\/b gave wrong bytes: asked for sha256:/,
      });
      assert.equal(open(), 0);
    }
  });

  it('is not returned when its layer goes on, or ends too early', async () => {
    const packed = layer({ name: 'f', content: 'text' });
    const image = testImage([packed]);
    for (const body of [Buffer.concat([packed, packed]), packed.subarray(0, 40)]) {
      const { client, open } = world((request) =>
        request.url.includes('/blobs/') ? { body } : imageScript(image)(request),
      );
      await assert.rejects(client.fileOf(IMAGE, '/f', anybody), {
        reason: 'RegistryUnavailable',
        message: /gave wrong bytes/,
      });
      assert.equal(open(), 0);
    }
  });

  it('is not returned from a layer whose archive is damaged', async () => {
    await assert.rejects(fileIn([gzipSync('nonsense'.repeat(1000))]), {
      reason: 'InvalidImage',
      message: /is damaged: a header/,
    });
    await assert.rejects(fileIn([Buffer.concat([Buffer.from([0x1f, 0x8b]), randomBytes(100)])]), {
      reason: 'InvalidImage',
      message: /cannot be unpacked/,
    });
    const large = Buffer.concat([Buffer.from([0x1f, 0x8b]), randomBytes(2_000_000)]);
    await assert.rejects(fileIn([large]), { reason: 'InvalidImage', message: /cannot be unpacked/ });
  });

  it('fails as the registry does when a large layer breaks off', async () => {
    const packed = gzipSync(testTar([{ name: 'x', content: randomBytes(2_000_000).toString('base64') }]));
    const image = testImage([packed]);
    async function* broken() {
      yield packed.subarray(0, 500_000);
      throw new Error('cut');
    }
    const { client, clock } = world((request) =>
      request.url.includes('/blobs/') ? { chunks: broken() } : imageScript(image)(request),
    );
    await assert.rejects(throughTime(clock, client.fileOf(IMAGE, '/f', anybody)), {
      reason: 'RegistryUnavailable',
      message: /gave no answer: cut/,
    });
  });
});

describe('a redirect', () => {
  const image = testImage([layer({ name: 'f', content: 'text' })]);
  const redirecting =
    (location: string): Script =>
    (request) => {
      const isOwn = request.url.startsWith('https://r.example/');
      if (isOwn && request.headers?.['authorization'] !== BASIC)
        return { status: 401, headers: { 'www-authenticate': 'Basic realm="r"' } };
      if (isOwn && request.url.includes('/blobs/')) return { status: 307, headers: { location } };
      return isOwn ? imageScript(image)(request) : { body: [...image.blobs.values()][0] ?? '' };
    };

  it('is followed to another host, which is not told who asks', async () => {
    const { client, seen, open } = world(redirecting('https://cdn.example/blob?signature=abc'));
    assert.equal(Buffer.from(await client.fileOf(IMAGE, '/f', jane)).toString(), 'text');
    const [last] = seen.slice(-1);
    assert.equal(last?.line, 'GET https://cdn.example/blob?signature=abc');
    assert.deepEqual(last?.headers, {});
    assert.equal(open(), 0);
  });

  const refused = [
    { name: 'away from TLS', location: 'http://cdn.example/blob', message: /location is no https/ },
    { name: 'to a file', location: 'file:///etc/passwd', message: /location is no https/ },
    { name: 'to nowhere', location: '', message: /sends us in circles: 5 redirects/ },
  ];
  for (const { name, location, message } of refused) {
    it(`is not followed ${name}`, async () => {
      const { client, open } = world(redirecting(location));
      await assert.rejects(client.fileOf(IMAGE, '/f', jane), { reason: 'RegistryUnavailable', message });
      assert.equal(open(), 0);
    });
  }

  it('to a host that wants to know who asks does not get our password there', async () => {
    const { client, seen } = world((request) =>
      request.url.startsWith('https://cdn.example/')
        ? { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' } }
        : redirecting('https://cdn.example/')(request),
    );
    await assert.rejects(client.fileOf(IMAGE, '/f', jane), { reason: 'RegistryUnauthorized' });
    assert.ok(
      seen
        .filter(({ line }) => line.includes('cdn.example'))
        .every(({ headers }) => !('authorization' in headers)),
    );
  });
});

describe('mirrors of a registry', () => {
  const mirrors = [
    {
      source: 'r.example/a',
      mirrors: [{ location: 'm1.example/x' }, { location: 'm2.example/y', isInsecure: true }],
    },
  ];
  const digest = testImage([]).digest;
  const answers =
    (byHost: Readonly<Record<string, number>>): Script =>
    (request) => {
      const { origin } = new URL(request.url);
      const status = byHost[origin];
      if (status === 0) throw new Error('no way');
      return status === undefined || status === 200 ? imageScript(testImage([]))(request) : { status };
    };

  it('are asked in their order, each with credentials of its own', async () => {
    const { client, lines } = world(answers({ 'https://m1.example': 404 }), { mirrors });
    const asked: string[] = [];
    await client.digestOf(IMAGE, { credentials: (registry) => void asked.push(registry) });
    assert.deepEqual(lines(), [
      'HEAD https://m1.example/v2/x/b/manifests/v1',
      'HEAD https://m2.example/v2/y/b/manifests/v1',
    ]);
    assert.deepEqual(asked, ['m1.example', 'm2.example']);
  });

  it('may be insecure: without TLS only when there is no answer with it', async () => {
    const { client, clock, lines } = world(answers({ 'https://m1.example': 404, 'https://m2.example': 0 }), {
      mirrors,
      attempts: 1,
    });
    assert.equal(await throughTime(clock, client.digestOf(IMAGE, anybody)), digest);
    assert.equal(lines().at(-1), 'HEAD http://m2.example/v2/y/b/manifests/v1');
    const second = world(answers({ 'https://m1.example': 404, 'https://m2.example': 404 }), { mirrors });
    await second.client.digestOf(IMAGE, anybody);
    assert.equal(second.lines().at(-1), 'HEAD https://r.example/v2/a/b/manifests/v1');
  });

  it('all fail with what the registry itself says, and what the others said', async () => {
    const { client } = world(
      answers({ 'https://m1.example': 404, 'https://m2.example': 403, 'https://r.example': 404 }),
      { mirrors },
    );
    await assert.rejects(client.digestOf(IMAGE, anybody), {
      reason: 'ImageNotFound',
      message:
        /^there is no image r\.example\/a\/b:v1: .* and before that: there is no image m1\.example\/x\/b:v1: .* and before that: m2\.example does not let us/,
    });
  });

  it('tell more than a registry that cannot be reached from here', async () => {
    const { client, clock } = world(
      answers({ 'https://m1.example': 404, 'https://m2.example': 401, 'https://r.example': 0 }),
      { mirrors, attempts: 1 },
    );
    await assert.rejects(throughTime(clock, client.digestOf(IMAGE, anybody)), {
      reason: 'RegistryUnauthorized',
      message: /^m2\.example/,
    });
  });

  it('are not asked any more when the caller has gone', async () => {
    const control = new AbortController();
    const { client, lines } = world(
      () => {
        control.abort(new Error('enough'));
        return { status: 404 };
      },
      { mirrors },
    );
    await assert.rejects(client.digestOf(IMAGE, { ...anybody, signal: control.signal }), { message: 'enough' });
    assert.equal(lines().length, 1);
  });
});

describe('a body in pieces', () => {
  it('is the same however it comes', async () => {
    const packed = layer({ name: 'f', content: 'text' });
    const image = testImage([packed]);
    const { client } = world((request) =>
      request.url.includes('/blobs/') ? { chunks: pieces(packed, 1) } : imageScript(image)(request),
    );
    assert.equal(Buffer.from(await client.fileOf(IMAGE, '/f', anybody)).toString(), 'text');
  });
});
