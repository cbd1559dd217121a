import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type CloudWorld, cloudWorld } from '../../../../test/support/cloud-world.ts';
import { scratchDirectory, until } from '../../../../test/support/scratch.ts';
import { pathOfKey } from './object-key.ts';

async function worldWithBucket(name = 'things') {
  const world = await cloudWorld();
  const bucket = await world.make('buckets', { name });
  return { world, bucket, at: (key: string) => `/v1/buckets/${bucket}/objects/${pathOfKey(Buffer.from(key))}` };
}

const files = (world: CloudWorld): readonly string[] =>
  globSync('**/*', { cwd: join(world.directory, 'cloud', 'objects'), withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

const sha256 = async (text: string): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text))).toString('hex');

/** As it is: clients of Node change paths before they send them. */
function rawRequest(world: CloudWorld, head: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(world.cloud.url).port), '127.0.0.1', () => socket.write(head));
    let text = '';
    socket.on('data', (chunk: Buffer) => void (text += chunk.toString('latin1')));
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
}

describe('buckets', () => {
  it('lab/C22: give back what was put, with its type and its hash', async () => {
    const { world, at } = await worldWithBucket();
    await using _ = world;
    const put = await world.ask('PUT', at('a/b.txt'), {
      body: 'hello',
      headers: { 'content-type': 'text/x-test' },
    });
    assert.deepEqual([put.status, put.body['key'], put.body['sizeBytes']], [200, 'a/b.txt', 5]);
    const got = await world.ask('GET', at('a/b.txt'));
    assert.deepEqual([got.status, got.text, got.headers.get('content-type')], [200, 'hello', 'text/x-test']);
    assert.equal(got.headers.get('etag'), `"${await sha256('hello')}"`);
    const head = await world.ask('HEAD', at('a/b.txt'));
    assert.deepEqual([head.status, head.text, head.headers.get('content-length')], [200, '', '5']);
    assert.equal((await world.ask('GET', at('other'))).status, 404);
    assert.equal((await world.ask('HEAD', at('other'))).status, 404);
  });

  it('lab/C22: forget what is deleted, and succeed when it is not there', async () => {
    const { world, at } = await worldWithBucket();
    await using _ = world;
    await world.ask('PUT', at('k'), { body: 'x' });
    for (let n = 0; n < 2; n++) assert.equal((await world.ask('DELETE', at('k'))).status, 202);
    assert.equal((await world.ask('GET', at('k'))).status, 404);
  });

  it('lab/C22: store files by hash, never by key, whatever the key says', async () => {
    const { world, bucket } = await worldWithBucket();
    await using _ = world;
    const token = await world.token('lab-admin');
    const keys = ['../../../escape', '/etc/passwd', '..', 'a/../b', '%2e%2e/x', 'state.log', '\0'];
    for (const key of keys) {
      const path = `/v1/buckets/${bucket}/objects/${key.replaceAll('\0', '%00').replaceAll('%2e', '%252e')}`;
      const head = `PUT ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer ${token}\r\ncontent-length: 1\r\n\r\n`;
      assert.match(await rawRequest(world, `${head}${keys.indexOf(key)}`), /^HTTP\/1\.1 200 OK/, key);
    }
    const listed = (await world.ask('GET', `/v1/buckets/${bucket}/objects`)).items.map((item) => item['key']);
    assert.deepEqual(listed, keys.toSorted());
    for (const name of files(world)) assert.match(name, /^[0-9a-f]{64}$/);
    const all = globSync('**/*', { cwd: world.directory, withFileTypes: true }).filter((entry) => entry.isFile());
    assert.deepEqual(
      all.filter(({ name }) => name.includes('escape')),
      [],
    );
    // Clients take this one for a place, however it is written.
    for (const key of keys.filter((each) => each !== '..')) {
      const { text } = await world.ask('GET', `/v1/buckets/${bucket}/objects/${pathOfKey(Buffer.from(key))}`);
      assert.equal(text, String(keys.indexOf(key)));
    }
  });

  it('lab/C22: keep one file for the same content, until the last key of it goes', async () => {
    const { world, at } = await worldWithBucket();
    await using _ = world;
    for (const key of ['a', 'b']) await world.ask('PUT', at(key), { body: 'same' });
    assert.deepEqual(files(world), [await sha256('same')]);
    await world.ask('DELETE', at('a'));
    assert.equal((await world.ask('GET', at('b'))).text, 'same');
    await world.ask('PUT', at('b'), { body: 'other' });
    assert.deepEqual(files(world), [await sha256('other')]);
    await world.ask('DELETE', at('b'));
    assert.deepEqual(files(world), []);
  });

  it('lab/C22: list keys in the order of their bytes, page by page, below a prefix', async () => {
    const { world, bucket } = await worldWithBucket();
    await using _ = world;
    const keys = ['b', 'a', 'B', 'ä', 'a/b', 'a-b', '\u{1F600}', '\uFFFD'];
    for (const key of keys)
      await world.ask('PUT', `/v1/buckets/${bucket}/objects/${pathOfKey(Buffer.from(key))}`, { body: key });
    const expected = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const found: unknown[] = [];
    let token = '';
    do {
      const page = await world.ask('GET', `/v1/buckets/${bucket}/objects?limit=3${token}`);
      found.push(...page.items.map((item) => item['key']));
      const { nextPageToken } = page.body;
      token = typeof nextPageToken === 'string' ? `&pageToken=${nextPageToken}` : '';
    } while (token !== '');
    assert.deepEqual(found, expected);
    const below = await world.ask('GET', `/v1/buckets/${bucket}/objects?prefix=a`);
    assert.deepEqual(
      below.items.map((item) => item['key']),
      ['a', 'a-b', 'a/b'],
    );
    const wrong = await world.ask('GET', `/v1/buckets/${bucket}/objects?delimiter=/`);
    assert.equal(wrong.error['code'], 'UnknownField');
  });

  it('lab/C22: list keys that are no text as bytes', async () => {
    const { world, bucket } = await worldWithBucket();
    await using _ = world;
    await world.ask('PUT', `/v1/buckets/${bucket}/objects/%FF%00`, { body: 'x' });
    const [item] = (await world.ask('GET', `/v1/buckets/${bucket}/objects`)).items;
    assert.deepEqual([item?.['key'], item?.['keyBase64']], [undefined, '/wA=']);
  });

  it('lab/C22: refuse keys that are too long', async () => {
    const { world, bucket } = await worldWithBucket();
    await using _ = world;
    const path = `/v1/buckets/${bucket}/objects/`;
    assert.equal((await world.ask('PUT', `${path}${'x'.repeat(1024)}`, { body: 'x' })).status, 200);
    const { status, error } = await world.ask('PUT', `${path}${'x'.repeat(1025)}`, { body: 'x' });
    assert.deepEqual([status, error['target']], [400, 'key']);
    assert.equal((await world.ask('PUT', path, { body: 'x' })).status, 400, 'there is no object without a key');
  });

  it('lab/C22: take more than other requests may send', async () => {
    const { world, at } = await worldWithBucket();
    await using _ = world;
    const large = 'x'.repeat(3 * 1024 * 1024);
    assert.equal((await world.ask('PUT', at('large'), { body: large })).status, 200);
    assert.equal((await world.ask('GET', at('large'))).text, large);
  });

  it('lab/C22: are what a map would be, whatever is put, replaced and deleted', async () => {
    const { world, at, bucket } = await worldWithBucket();
    await using _ = world;
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c/d'),
      content: fc.constantFrom('1', '2', undefined),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
        const model = new Map<string, string>();
        for (const { key } of (await world.ask('GET', `/v1/buckets/${bucket}/objects`)).items as readonly {
          key: string;
        }[])
          await world.ask('DELETE', at(key));
        for (const { key, content } of steps) {
          await world.ask(content === undefined ? 'DELETE' : 'PUT', at(key), { body: content });
          if (content === undefined) model.delete(key);
          else model.set(key, content);
        }
        for (const key of ['a', 'b', 'c/d']) {
          const { status, text } = await world.ask('GET', at(key));
          assert.equal(status === 200 ? text : undefined, model.get(key));
        }
        assert.equal(files(world).length, new Set(model.values()).size);
      }),
      { numRuns: 15 },
    );
  });

  it('lab/C22: that are not empty cannot be deleted', async () => {
    const { world, bucket, at } = await worldWithBucket();
    await using _ = world;
    await world.ask('PUT', at('k'), { body: 'x' });
    const { status, error } = await world.ask('DELETE', `/v1/buckets/${bucket}`);
    assert.deepEqual([status, error['code']], [409, 'InUse']);
    await world.ask('DELETE', at('k'));
    assert.equal((await world.ask('DELETE', `/v1/buckets/${bucket}`)).status, 202);
    assert.equal((await world.ask('PUT', at('k'), { body: 'x' })).status, 404);
    assert.deepEqual(files(world), []);
  });

  it('lab/C22: keep nothing of an upload that was cut, and forget it at the next start', async () => {
    await using directory = await scratchDirectory();
    const first = await cloudWorld({ directory: directory.path });
    const bucket = await first.make('buckets', { name: 'cut' });
    const token = await first.token('lab-admin');
    const path = `/v1/buckets/${bucket}/objects/k`;
    const socket = connect(Number(new URL(first.cloud.url).port), '127.0.0.1', () => {
      socket.write(
        `PUT ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-length: 10\r\n\r\nhalf`,
      );
    });
    socket.on('error', () => undefined);
    await until(() => files(first).length === 1, 'half of it is there');
    socket.destroy();
    await until(() => files(first).length === 0, 'it is removed');
    assert.equal((await first.ask('GET', path)).status, 404);
    await first.ask('PUT', path, { body: 'whole' });
    await first[Symbol.asyncDispose]();
    await using second = await cloudWorld({ directory: directory.path, clock: first.clock });
    assert.equal((await second.ask('GET', path)).text, 'whole');
    assert.deepEqual(
      files(second).map((name) => basename(name)),
      [await sha256('whole')],
    );
  });
});

describe('presigned URLs', () => {
  const presign = async (
    world: CloudWorld,
    bucket: string,
    body: object,
    as = 'lab-provider',
  ): Promise<string> => {
    const answer = await world.ask('POST', `/v1/buckets/${bucket}/presign`, { body, as });
    assert.equal(answer.status, 201, answer.text);
    return String(answer.body['url']);
  };

  it('lab/C22: let somebody without a token do one thing', async () => {
    const { world, bucket, at } = await worldWithBucket();
    await using _ = world;
    const key = 'a b/../ü';
    const put = await presign(world, bucket, { method: 'PUT', key });
    assert.equal((await fetch(put, { method: 'PUT', body: 'hello' })).status, 200);
    assert.equal((await world.ask('GET', at(key))).text, 'hello');
    const get = await presign(world, bucket, { method: 'GET', key });
    assert.equal(await (await fetch(get)).text(), 'hello');
    assert.equal((await fetch(get, { method: 'HEAD' })).status, 200, 'who may read may look');
    assert.equal((await fetch(get, { method: 'DELETE' })).status, 403);
    assert.equal((await fetch(put)).status, 403);
    const binary = await presign(world, bucket, { method: 'PUT', keyBase64: '/w==' });
    assert.equal((await fetch(binary, { method: 'PUT', body: 'x' })).status, 200);
  });

  it('lab/C1: give away only what the token that asks for them may do', async () => {
    const { world, bucket } = await worldWithBucket();
    await using _ = world;
    const authorization = `Bearer ${await world.token('lab-provider', 'buckets:write')}`;
    const tried = async (method: string) => {
      const body = { method, key: 'k' };
      const path = `/v1/buckets/${bucket}/presign`;
      return (await world.ask('POST', path, { body, headers: { authorization } })).status;
    };
    const found = await Promise.all(['GET', 'HEAD', 'PUT', 'DELETE'].map(tried));
    assert.deepEqual(found, [403, 403, 201, 201]);
  });

  it('lab/C22: are good for their time only', async () => {
    const { world, bucket, at } = await worldWithBucket();
    await using _ = world;
    await world.ask('PUT', at('k'), { body: 'x' });
    const url = await presign(world, bucket, { method: 'GET', key: 'k', expiresSeconds: 60 });
    await world.clock.advance(59_000);
    assert.equal((await fetch(url)).status, 200);
    await world.clock.advance(1000);
    const late = await fetch(url);
    assert.deepEqual([late.status, JSON.parse(await late.text()).error.code], [401, 'TokenExpired']);
  });

  it('lab/C22: are good for nothing when anything in them is changed', async () => {
    const { world, bucket, at } = await worldWithBucket();
    await using _ = world;
    const other = await world.make('buckets', { name: 'other' });
    for (const key of ['k', 'l']) await world.ask('PUT', at(key), { body: 'x' });
    const url = await presign(world, bucket, { method: 'GET', key: 'k' });
    const changed = [
      url.replace('/objects/k', '/objects/l'),
      url.replace(bucket, other),
      url.replace(/expires=(\d+)/, (_match, seconds) => `expires=${Number(seconds) + 1}`),
      url.replace('credential=lab-provider', 'credential=lab-admin'),
      url.replace('epoch=1', 'epoch=2'),
      url.replace(/signature=(.)/, (_match, first) => `signature=${first === '_' ? '-' : '_'}`),
    ];
    for (const text of changed) assert.equal((await fetch(text)).status, 403, text);
  });

  it('lab/C22: end with the credential that signed them', async () => {
    const { world, bucket, at } = await worldWithBucket();
    await using _ = world;
    await world.ask('PUT', at('k'), { body: 'x' });
    const url = await presign(world, bucket, { method: 'GET', key: 'k' });
    await world.cloud.revoke('lab-provider');
    assert.equal((await fetch(url)).status, 401);
    // Another one of the same name did not sign them.
    await world.cloud.createCredential({ clientId: 'lab-provider' });
    assert.equal((await fetch(url)).status, 401);
  });

  it('lab/C22: need a key, one and right', async () => {
    const { world, bucket } = await worldWithBucket();
    await using _ = world;
    for (const body of [
      {},
      { key: 'a', keyBase64: 'YQ==' },
      { key: '' },
      { key: 'x'.repeat(1025) },
      { key: 'a', method: 'PATCH' },
    ]) {
      const answer = await world.ask('POST', `/v1/buckets/${bucket}/presign`, {
        body: { method: 'GET', ...body },
      });
      assert.equal(answer.status, 400, JSON.stringify(body));
    }
  });
});
