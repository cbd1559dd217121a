import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type CloudWorld, cloudWorld, listenAnywhere } from '../../../../test/support/cloud-world.ts';
import { scratchDirectory, until } from '../../../../test/support/scratch.ts';

const CONTENT = 'a disk';
const SUM = '96b0e98fa40dabab7c0a46f31ef2bf9d8f0a3dbbb4ae1e4b5ff5ea66ce4ba4d9';
const image = { name: 'rhcos', format: 'raw' };

const fileOf = (world: CloudWorld, id: string) => join(world.directory, 'cloud', 'images', id);
const sumOf = async (text: string): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text))).toString('hex');

/** Somebody who has images to give. */
async function webServer(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    if (request.url === '/missing') return void response.writeHead(404).end('no');
    response.end(CONTENT);
  });
  const { host, port } = await listenAnywhere(server);
  return { url: `http://${host}:${port}`, [Symbol.asyncDispose]: () => closed(server) };
}

async function closed(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.close(() => resolve());
  server.closeAllConnections();
  await promise;
}

describe('images', () => {
  it('lab/C10: are fetched from a URL: pending, importing, available', async () => {
    await using web = await webServer();
    await using world = await cloudWorld();
    const id = await world.make('images', { ...image, source: `${web.url}/disk`, sha256: await sumOf(CONTENT) });
    assert.equal((await world.look('images', id))['state'], 'pending');
    await world.pass(1000);
    assert.equal((await world.look('images', id))['state'], 'importing');
    await world.pass(2000);
    const done = await world.look('images', id);
    assert.deepEqual(
      [done['state'], done['sizeBytes'], done['sha256']],
      ['available', CONTENT.length, await sumOf(CONTENT)],
    );
    assert.equal(readFileSync(fileOf(world, id), 'utf8'), CONTENT);
    await world.ask('DELETE', `/v1/images/${id}`);
    assert.ok(!existsSync(fileOf(world, id)));
  });

  it('lab/C10: wait for their data when they have no URL, and take it once', async () => {
    await using world = await cloudWorld();
    const id = await world.make('images', image);
    await world.pass(10_000);
    assert.equal((await world.look('images', id))['state'], 'pending');
    const sent = await world.ask('PUT', `/v1/images/${id}/data`, { body: CONTENT });
    assert.deepEqual([sent.status, sent.body['state']], [202, 'importing']);
    assert.equal(
      (await world.ask('PUT', `/v1/images/${id}/data`, { body: 'more' })).error['code'],
      'IncorrectState',
    );
    await world.pass(2000);
    const done = await world.look('images', id);
    assert.deepEqual(
      [done['state'], done['sha256'], done['upload']],
      ['available', await sumOf(CONTENT), undefined],
    );
    assert.equal(readFileSync(fileOf(world, id), 'utf8'), CONTENT);
  });

  const failures = [
    { name: 'another checksum', more: { sha256: SUM }, path: '/disk', says: /the image has the checksum/ },
    {
      name: 'another format',
      more: { format: 'qcow2' },
      path: '/disk',
      says: /does not begin as a qcow2 image does/,
    },
    { name: 'no answer', more: {}, path: '/missing', says: /was answered with 404/ },
  ];
  for (const { name, more, path, says } of failures) {
    it(`lab/C10: with ${name} are in error, with the reason and without a file`, async () => {
      await using web = await webServer();
      await using world = await cloudWorld();
      const id = await world.make('images', { ...image, source: `${web.url}${path}`, ...more });
      await world.pass(3000);
      const failed = await world.look('images', id);
      assert.equal(failed['state'], 'error');
      assert.match(JSON.stringify(failed['stateReason']), says);
      assert.ok(!existsSync(fileOf(world, id)) && !existsSync(`${fileOf(world, id)}.download`));
    });
  }

  it('lab/C10: that were sent wrong are in error, too', async () => {
    await using world = await cloudWorld();
    const id = await world.make('images', { ...image, sha256: SUM });
    await world.ask('PUT', `/v1/images/${id}/data`, { body: CONTENT });
    await world.pass(2000);
    assert.equal((await world.look('images', id))['state'], 'error');
    const empty = await world.make('images', image);
    await world.ask('PUT', `/v1/images/${empty}/data`, { body: '' });
    await world.pass(2000);
    assert.match(JSON.stringify((await world.look('images', empty))['stateReason']), /the image is empty/);
  });

  it('lab/C10: that begin as qcow2 are taken as such', async () => {
    await using world = await cloudWorld();
    const id = await world.make('images', { ...image, format: 'qcow2' });
    const token = await world.token('lab-admin');
    await fetch(`${world.cloud.url}/v1/images/${id}/data`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}` },
      body: Buffer.from('QFI\xfb and more', 'latin1'),
    });
    await world.pass(2000);
    assert.equal((await world.look('images', id))['state'], 'available');
  });

  it('lab/C10: are what was sent whole, whatever becomes of another sending at the same time', async () => {
    await using world = await cloudWorld();
    const id = await world.make('images', image);
    const sending = new AbortController();
    const token = await world.token('lab-admin');
    const half = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(Buffer.from('the first half of something else')),
    });
    const broken = fetch(`${world.cloud.url}/v1/images/${id}/data`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}` },
      body: half,
      duplex: 'half',
      signal: sending.signal,
    });
    const directory = join(world.directory, 'cloud', 'images', 'incoming');
    await until(() => existsSync(directory) && readdirSync(directory).length > 0, 'the first has begun');
    assert.equal((await world.ask('PUT', `/v1/images/${id}/data`, { body: CONTENT })).status, 202);
    sending.abort();
    await assert.rejects(broken);
    const isCut = () => world.cloud.journal({ method: 'PUT' }).some((entry) => entry.isCut === true);
    await until(isCut, 'the first is given up');
    assert.deepEqual(readdirSync(directory), []);
    await world.pass(2000);
    assert.equal((await world.look('images', id))['state'], 'available');
    assert.equal(readFileSync(fileOf(world, id), 'utf8'), CONTENT);
  });

  it('lab/C10: are in error when what was sent is not there any more', async () => {
    await using directory = await scratchDirectory();
    const first = await cloudWorld({ directory: directory.path });
    const id = await first.make('images', image);
    await first.ask('PUT', `/v1/images/${id}/data`, { body: CONTENT });
    await first[Symbol.asyncDispose]();
    for (const name of readdirSync(join(directory.path, 'cloud', 'images')))
      rmSync(join(directory.path, 'cloud', 'images', name), { recursive: true });
    await using second = await cloudWorld({ directory: directory.path, clock: first.clock });
    await second.pass(2000);
    assert.equal((await second.look('images', id))['state'], 'error');
  });

  it('lab/C10: are imported after a restart in the middle of it', async () => {
    await using directory = await scratchDirectory();
    const first = await cloudWorld({ directory: directory.path });
    const id = await first.make('images', image);
    await first.ask('PUT', `/v1/images/${id}/data`, { body: CONTENT });
    await first[Symbol.asyncDispose]();
    await using second = await cloudWorld({ directory: directory.path, clock: first.clock });
    await second.pass(2000);
    assert.equal((await second.look('images', id))['state'], 'available');
  });

  it('stop with the cloud while they are being fetched, and begin again with it', async () => {
    await using directory = await scratchDirectory();
    let requests = 0;
    const server = createServer((_, response) => {
      requests += 1;
      // The first never ends.
      if (requests > 1) response.end(CONTENT);
      else response.write('half');
    });
    const { host, port } = await listenAnywhere(server);
    await using _server = { [Symbol.asyncDispose]: () => closed(server) };
    const first = await cloudWorld({ directory: directory.path });
    const id = await first.make('images', { ...image, source: `http://${host}:${port}/disk` });
    await first.clock.advance(1000);
    await first.cloud.idle();
    await first.clock.advance(2000);
    await until(() => requests === 1, 'it is being fetched');
    await first[Symbol.asyncDispose]();
    await using second = await cloudWorld({ directory: directory.path, clock: first.clock });
    await second.pass(1);
    assert.equal((await second.look('images', id))['state'], 'available');
  });

  for (const source of ['file:///etc/passwd', 'ftp://x/y', 'nonsense']) {
    it(`lab/C3: cannot come from ${source}`, async () => {
      await using world = await cloudWorld();
      const { status, error } = await world.ask('POST', '/v1/images', { body: { ...image, source } });
      assert.deepEqual([status, error['message']], [400, 'source: must be an http or https URL']);
    });
  }
});
