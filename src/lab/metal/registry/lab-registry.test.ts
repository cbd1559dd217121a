import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { VirtualClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { isRecord } from '../../../object/record.ts';
import type { HttpAnswer, HttpRequest } from '../../../oci/http-call.ts';
import { LabRegistry, type LabRegistryOptions } from './lab-registry.ts';
import { startRegistryServer } from './registry-server.ts';
import { USUAL_RELEASES } from './release-catalogue.ts';

const REPOSITORY = '/v2/openshift-release-dev/ocp-release';
const BASIC = `Basic ${Buffer.from('jane:secret').toString('base64')}`;

const registryWith = (options: Partial<LabRegistryOptions> = {}): LabRegistry =>
  new LabRegistry({ clock: new VirtualClock(), ...options });

const ask = (registry: LabRegistry, path: string, more: Partial<HttpRequest> = {}): Promise<HttpAnswer> =>
  registry.call({ method: 'GET', url: `http://r.lab${path}`, ...more });

async function bytesOf({ body }: HttpAnswer): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function jsonOf(answer: HttpAnswer): Promise<Readonly<Record<string, unknown>>> {
  const value: unknown = JSON.parse((await bytesOf(answer)).toString());
  assert.ok(isRecord(value));
  return value;
}

const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

describe('LabRegistry', () => {
  it('agent/S-registry: has each release by tag for both processors and for all, with the digest of what it gives', async () => {
    const registry = registryWith();
    for (const tag of ['4.20.1-x86_64', '4.20.1-aarch64', '4.20.1-multi', '4.20.0-okd-scos.9']) {
      const answer = await ask(registry, `${REPOSITORY}/manifests/${tag}`);
      assert.equal(answer.status, 200);
      const bytes = await bytesOf(answer);
      assert.equal(answer.headers['docker-content-digest'], digestOf(bytes));
      assert.equal(answer.headers['content-length'], String(bytes.length));
      const head = await ask(registry, `${REPOSITORY}/manifests/${tag}`, { method: 'HEAD' });
      assert.deepEqual([head.status, head.headers], [200, answer.headers]);
      assert.equal((await bytesOf(head)).length, 0);
      const again = await ask(registry, `${REPOSITORY}/manifests/${answer.headers['docker-content-digest']}`);
      assert.deepEqual(await bytesOf(again), bytes);
    }
  });

  it('agent/S-registry: gives the same bytes in every life', async () => {
    const one = await bytesOf(await ask(registryWith(), `${REPOSITORY}/manifests/4.20.1-multi`));
    const other = await bytesOf(await ask(registryWith(), `${REPOSITORY}/manifests/4.20.1-multi`));
    assert.deepEqual(one, other);
  });

  it('agent/S-registry: lists images for amd64 and arm64 under -multi, whose layer holds the files of a release', async () => {
    const registry = registryWith();
    const { manifests } = await jsonOf(await ask(registry, `${REPOSITORY}/manifests/4.20.1-multi`));
    assert.ok(Array.isArray(manifests));
    assert.deepEqual(
      manifests.map(({ platform }) => platform),
      [
        { architecture: 'amd64', os: 'linux' },
        { architecture: 'arm64', os: 'linux' },
      ],
    );
    for (const { digest, size } of manifests) {
      const manifest = await ask(registry, `${REPOSITORY}/manifests/${digest}`);
      assert.equal(manifest.headers['content-length'], String(size));
      const { layers, config } = await jsonOf(manifest);
      assert.ok(Array.isArray(layers) && layers.length === 1 && isRecord(config));
      const layer = await bytesOf(await ask(registry, `${REPOSITORY}/blobs/${layers[0].digest}`));
      assert.equal(digestOf(layer), layers[0].digest);
      const archive = gunzipSync(layer);
      assert.match(
        archive.toString(),
        /^release-manifests\/image-references\0[^]*kubernetes=1\.33\.5[^]*release-manifests\/release-metadata\0[^]*"version": "4\.20\.1"/,
      );
      const image = await jsonOf(await ask(registry, `${REPOSITORY}/blobs/${String(config['digest'])}`));
      assert.deepEqual(image['rootfs'], { type: 'layers', diff_ids: [digestOf(archive)] });
    }
  });

  it('names real minors of Kubernetes', () => {
    for (const { version, kubernetesVersion } of USUAL_RELEASES)
      assert.equal(Number(kubernetesVersion.split('.')[1]), Number(version.split('.')[1]) + 13);
  });

  it('answers the base, the list of tags, and problems in the words of the specification', async () => {
    const registry = registryWith({ releases: [{ version: '4.30.0', kubernetesVersion: '1.43.0' }] });
    assert.equal((await ask(registry, '/v2/')).status, 200);
    assert.deepEqual(await jsonOf(await ask(registry, `${REPOSITORY}/tags/list`)), {
      name: 'openshift-release-dev/ocp-release',
      tags: ['4.30.0-x86_64', '4.30.0-aarch64', '4.30.0-multi'],
    });
    const missing = [
      '/',
      '/v1/',
      '/token',
      `${REPOSITORY}/manifests/4.20.1-x86_64`,
      `${REPOSITORY}/blobs/x`,
      `${REPOSITORY}/tags/x`,
      '/v2/other/manifests/4.30.0-x86_64',
    ];
    for (const path of missing) {
      const answer = await ask(registry, path);
      assert.equal(answer.status, 404, path);
      assert.match((await bytesOf(answer)).toString(), /^\{"errors":\[\{"code":"NOT_FOUND","message":"/);
    }
    assert.equal((await ask(registry, `${REPOSITORY}/manifests/x`, { method: 'PUT' })).status, 405);
  });

  it('agent/S25: knows the release in an image by tag and digest, whatever host names it', async () => {
    const registry = registryWith();
    const { headers } = await ask(registry, `${REPOSITORY}/manifests/4.20.1-multi`);
    const want = { version: '4.20.1', kubernetesVersion: '1.33.5' };
    const name = 'any.example:5000/openshift-release-dev/ocp-release';
    assert.deepEqual(registry.versionOfImage(`${name}@${headers['docker-content-digest']}`), want);
    assert.deepEqual(registry.versionOfImage(`${name}:4.20.1-aarch64`), want);
    for (const image of [`${name}:4.99.0-multi`, 'any.example/other:4.20.1-multi', 'nonsense', ''])
      assert.equal(registry.versionOfImage(image), undefined);
  });

  it('agent/S-registry: lets only the user in with Basic', async () => {
    const registry = registryWith({ login: { scheme: 'basic', username: 'jane', password: 'secret' } });
    const refused = await ask(registry, '/v2/');
    assert.deepEqual([refused.status, refused.headers['www-authenticate']], [401, 'Basic realm="slipway lab"']);
    assert.equal((await ask(registry, '/v2/', { headers: { authorization: 'Basic eDp5' } })).status, 401);
    assert.equal((await ask(registry, '/v2/', { headers: { authorization: BASIC } })).status, 200);
  });

  it('agent/S-registry: lets in with Bearer whoever has a token for the repository that is still good', async () => {
    const clock = new VirtualClock();
    const registry = new LabRegistry({ clock, login: { scheme: 'bearer', username: 'jane', password: 'secret' } });
    const path = `${REPOSITORY}/manifests/4.20.1-multi`;
    const refused = await ask(registry, path);
    assert.equal(
      refused.headers['www-authenticate'],
      'Bearer realm="http://r.lab/token",service="r.lab",scope="repository:openshift-release-dev/ocp-release:pull"',
    );
    assert.equal((await ask(registry, '/token')).status, 401);
    const tokenFor = async (repository: string) => {
      const answer = await ask(registry, `/token?scope=repository:${repository}:pull`, {
        headers: { authorization: BASIC },
      });
      const { token, expires_in } = await jsonOf(answer);
      assert.equal(expires_in, 300);
      return { headers: { authorization: `Bearer ${String(token)}` } };
    };
    const good = await tokenFor('openshift-release-dev/ocp-release');
    assert.equal((await ask(registry, path, good)).status, 200);
    assert.equal((await ask(registry, path, await tokenFor('other'))).status, 401);
    await clock.advance(300_000);
    assert.equal((await ask(registry, path, good)).status, 401);
  });

  it('agent/F: fails as it is told, as often as it is told', async () => {
    const clock = new VirtualClock();
    const registry = new LabRegistry({ clock });
    const path = `${REPOSITORY}/manifests/4.20.1-multi`;
    registry.inject({ path: '/manifests/4.20.1', status: 429, retryAfterSeconds: 3, times: 1 });
    const fault = registry.inject({ path: '/manifests/4.19.0', status: 404 });
    assert.equal((await ask(registry, `${REPOSITORY}/manifests/4.19.0-multi`)).status, 404);
    const busy = await ask(registry, path);
    assert.deepEqual([busy.status, busy.headers['retry-after']], [429, '3']);
    assert.equal((await ask(registry, path)).status, 200);
    fault[Symbol.dispose]();
    assert.equal((await ask(registry, `${REPOSITORY}/manifests/4.19.0-multi`)).status, 200);
    const good = await bytesOf(await ask(registry, path));
    registry.inject({ isDamaged: true, times: 1 });
    const damaged = await bytesOf(await ask(registry, path));
    assert.equal(damaged.length, good.length);
    assert.notDeepEqual(damaged, good);
  });

  it('agent/F: answers later on the clock of the lab, unless the client leaves', async () => {
    const clock = new VirtualClock();
    const registry = new LabRegistry({ clock });
    registry.inject({ delayMs: 5000 });
    let answered = 0;
    const waiting = ask(registry, '/v2/').then(() => void (answered = clock.monotonicMs()));
    const control = new AbortController();
    const leaving = ask(registry, '/v2/', { signal: control.signal });
    control.abort(new Error('gone'));
    await assert.rejects(leaving, { message: 'gone' });
    await clock.advance(10_000);
    await waiting;
    assert.equal(answered, 5000);
  });
});

describe('startRegistryServer', () => {
  it('serves the registry on loopback', async () => {
    const registry = registryWith();
    await using server = await startRegistryServer({
      registry,
      listen: { host: '127.0.0.1', port: 0 },
      log: SILENT_LOG,
    });
    const url = `http://${server.host}${REPOSITORY}/manifests/4.20.1-multi`;
    const answer = await fetch(url);
    const bytes = Buffer.from(await answer.arrayBuffer());
    assert.equal(answer.headers.get('docker-content-digest'), digestOf(bytes));
    const head = await fetch(url, { method: 'HEAD' });
    assert.equal(head.headers.get('content-length'), String(bytes.length));
  });
});
