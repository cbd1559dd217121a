import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomUUID, sign, X509Certificate } from 'node:crypto';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { outsideHttpCall } from '../../src/agent/outside/http-call.ts';
import { releaseImages } from '../../src/agent/release/release-images.ts';
import { SystemClock } from '../../src/base/clock.ts';
import { LabRegistry } from '../../src/lab/metal/registry/lab-registry.ts';
import { isRecord } from '../../src/object/record.ts';
import { parseImageReference } from '../../src/oci/image-reference.ts';
import { RegistryClient } from '../../src/oci/registry-client.ts';
import type { Credential } from '../../src/pki/certificate-authority.ts';
import { type FilledRegistry, realRegistry } from '../support/docker-registry.ts';
import { needsOracle } from '../support/needs-oracle.ts';
import { digestOf } from '../support/oci-world.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { listening, testAuthority } from '../support/transport-world.ts';

const clock = new SystemClock();
const http = outsideHttpCall({ env: {} });
const NOBODY = '{"auths":{}}';
const OCI = 'application/vnd.oci.image';
const REPOSITORY = 'openshift/release';
/** `jane:secret`, as `htpasswd -B -C 5` makes it: quick to check. */
const HTPASSWD = 'jane:$2b$05$vHNzFlroD8toDzKNmFBOq.qZjU6bUIr2XPSrmpYdsyeFHRoB0Xc6m\n';
const BASIC = Buffer.from('jane:secret').toString('base64');
const secretFor = (host: string): string => JSON.stringify({ auths: { [host]: { auth: BASIC } } });

const described = (mediaType: string, bytes: string | Uint8Array) => ({
  mediaType,
  digest: digestOf(bytes),
  size: Buffer.byteLength(bytes),
});

/** The files of a release in an archive of a real tar. */
async function releaseArchive(kubernetesVersion: string, options: readonly string[], depth = 12): Promise<Buffer> {
  await using directory = await scratchDirectory();
  const [folder, below] = ['release-manifests', 'deep-folder/'.repeat(depth)];
  const deep = join(folder, below);
  await mkdir(join(directory.path, deep), { recursive: true });
  const stream = {
    kind: 'ImageStream',
    spec: {
      tags: [
        { name: 'hyperkube', annotations: { 'io.openshift.build.versions': `kubernetes=${kubernetesVersion}` } },
      ],
    },
  };
  await writeFile(join(directory.path, deep, 'image-references'), JSON.stringify(stream));
  await writeFile(join(directory.path, folder, 'a-first-file'), 'x'.repeat(100_000));
  await symlink(`${below}image-references`, join(directory.path, folder, 'image-references'));
  return execFileSync('tar', ['--create', ...options, '--file=-', folder], {
    cwd: directory.path,
    maxBuffer: 64 * 1024 * 1024,
  });
}

/** Pushes an image of one layer; its digest as the registry says it. */
async function pushImage(registry: FilledRegistry, tag: string, layer: Uint8Array): Promise<string> {
  const config = JSON.stringify({ architecture: 'amd64', os: 'linux', rootfs: { type: 'layers', diff_ids: [] } });
  await registry.pushBlob(REPOSITORY, Buffer.from(config));
  await registry.pushBlob(REPOSITORY, layer);
  const mediaType = `${OCI}.manifest.v1+json`;
  const manifest = {
    schemaVersion: 2,
    mediaType,
    config: described(`${OCI}.config.v1+json`, config),
    layers: [described(`${OCI}.layer.v1.tar+gzip`, layer)],
  };
  return await registry.pushManifest(REPOSITORY, tag, { mediaType, text: JSON.stringify(manifest) });
}

describe('release images in the registry of the distribution project', needsOracle('docker-registry'), () => {
  // As deep as each of them can: a link has at most 100 bytes in the older two, and so has a name in the oldest.
  const formats = [
    { options: ['--format=gnu', '--gzip'], depth: 12 },
    { options: ['--format=pax', '--gzip'], depth: 12 },
    { options: ['--format=ustar', '--gzip'], depth: 6 },
    { options: ['--format=v7', '--gzip'], depth: 4 },
    { options: ['--format=gnu'], depth: 12 },
  ];

  it('agent/R3: have the digest that the registry says; agent/R4: their Kubernetes version is read from what a real tar packed', async () => {
    await using registry = await realRegistry();
    const images = releaseImages({ http, clock });
    for (const [index, { options, depth }] of formats.entries()) {
      const [tag, version] = [`4.20.${index}-x86_64`, `1.33.${index}`];
      const digest = await pushImage(registry, tag, await releaseArchive(version, options, depth));
      const image = `${registry.host}/${REPOSITORY}:${tag}`;
      assert.equal(await images.digestOf(image, NOBODY), `${registry.host}/${REPOSITORY}@${digest}`);
      assert.equal(await images.kubernetesVersionOf(image, NOBODY), version, options.join(' '));
    }
    await assert.rejects(images.digestOf(`${registry.host}/${REPOSITORY}:4.99.0-x86_64`, NOBODY), {
      reason: 'ReleaseImageNotFound',
    });
    await assert.rejects(images.digestOf(`${registry.host}/nobody/nothing:1`, NOBODY), {
      reason: 'ReleaseImageNotFound',
    });
  });

  it('agent/S-registry: are those of the lab, which the registry takes and gives the same digest', async () => {
    await using registry = await realRegistry();
    const lab = new LabRegistry({ clock });
    const name = 'openshift-release-dev/ocp-release';
    const fetched = async (path: string) => {
      const { status, headers, body } = await lab.call({
        method: 'GET',
        url: `http://lab.test/v2/${name}/${path}`,
      });
      assert.equal(status, 200, path);
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk);
      return {
        mediaType: headers['content-type'] ?? '',
        digest: headers['docker-content-digest'] ?? '',
        bytes: Buffer.concat(chunks),
      };
    };
    const copy = async (reference: string): Promise<void> => {
      const { mediaType, digest, bytes } = await fetched(`manifests/${reference}`);
      const manifest: unknown = JSON.parse(bytes.toString());
      assert.ok(isRecord(manifest));
      const { manifests = [], layers = [], config } = manifest;
      assert.ok(Array.isArray(manifests) && Array.isArray(layers));
      for (const child of manifests) await copy(child.digest);
      for (const part of config === undefined ? [] : [config, ...layers])
        await registry.pushBlob(name, (await fetched(`blobs/${part.digest}`)).bytes);
      assert.equal(await registry.pushManifest(name, reference, { mediaType, text: bytes.toString() }), digest);
    };
    await copy('4.21.0-multi');
    const images = releaseImages({ http, clock });
    const image = `${registry.host}/${name}:4.21.0-multi`;
    const pinned = await images.digestOf(image, NOBODY);
    assert.deepEqual(lab.versionOfImage(pinned), { version: '4.21.0', kubernetesVersion: '1.34.2' });
    assert.equal(await images.kubernetesVersionOf(pinned, NOBODY), '1.34.2');
  });

  it('agent/R3: are read with user and password, and not without', async () => {
    await using directory = await scratchDirectory();
    const path = join(directory.path, 'htpasswd');
    await writeFile(path, HTPASSWD);
    await using registry = await realRegistry({
      auth: { htpasswd: { realm: 'test', path } },
      authorization: () => `Basic ${BASIC}`,
    });
    await pushImage(registry, 'v1', await releaseArchive('1.33.5', ['--gzip']));
    const images = releaseImages({ http, clock });
    const image = `${registry.host}/${REPOSITORY}:v1`;
    assert.equal(await images.kubernetesVersionOf(image, secretFor(registry.host)), '1.33.5');
    await assert.rejects(images.digestOf(image, NOBODY), { reason: 'RegistryUnauthorized' });
    const wrong = JSON.stringify({
      auths: { [registry.host]: { auth: Buffer.from('jane:other').toString('base64') } },
    });
    await assert.rejects(images.digestOf(image, wrong), { reason: 'RegistryUnauthorized' });
  });

  it('agent/R3: are read with a token of the server that the registry names', async () => {
    await using directory = await scratchDirectory();
    const signer = await tokenSigner();
    const rootcertbundle = join(directory.path, 'ca.pem');
    await writeFile(rootcertbundle, (await testAuthority()).certificatePem);
    const asked: string[] = [];
    await using tokens = await listening(
      createServer((message, response) => {
        asked.push(`${message.url} ${message.headers.authorization ?? '-'}`);
        if (message.headers.authorization !== `Basic ${BASIC}`) return void response.writeHead(401).end();
        response.end(JSON.stringify({ token: tokenOf(signer, REPOSITORY, ['pull']), expires_in: 300 }));
      }),
      'http',
    );
    await using registry = await realRegistry({
      auth: {
        token: { realm: `${tokens.url}/token`, service: 'registry.test', issuer: 'tokens.test', rootcertbundle },
      },
      authorization: (repository) => `Bearer ${tokenOf(signer, repository, ['pull', 'push'])}`,
    });
    await pushImage(registry, 'v1', await releaseArchive('1.33.5', ['--gzip']));
    const client = new RegistryClient({ http, clock });
    const reference = parseImageReference(`${registry.host}/${REPOSITORY}:v1`);
    const jane = { credentials: () => ({ username: 'jane', password: 'secret' }) };
    const file = await client.fileOf(reference, '/release-manifests/image-references', jane);
    assert.match(Buffer.from(file).toString(), /kubernetes=1\.33\.5/);
    const query = `service=registry.test&scope=${encodeURIComponent(`repository:${REPOSITORY}:pull`)}`;
    assert.deepEqual(asked, [`/token?${query} Basic ${BASIC}`], 'one token serves manifest and blobs');
    await assert.rejects(client.digestOf(reference, { credentials: () => undefined }), {
      reason: 'RegistryUnauthorized',
    });
  });
});

const tokenSigner = async (): Promise<Credential> =>
  (await testAuthority()).issue({
    kind: 'client',
    commonName: 'tokens',
    organizations: [],
    now: new Date(),
    validityMs: 3_600_000,
  });

/** A token as the distribution project specifies it, with the certificate of its signer. */
function tokenOf({ certificatePem, keys }: Credential, repository: string, actions: readonly string[]): string {
  const nowSeconds = Math.floor(Date.now() / 1000);
  const header = { typ: 'JWT', alg: 'ES256', x5c: [new X509Certificate(certificatePem).raw.toString('base64')] };
  const claims = {
    iss: 'tokens.test',
    sub: 'jane',
    aud: 'registry.test',
    exp: nowSeconds + 300,
    nbf: nowSeconds - 10,
    iat: nowSeconds,
    jti: randomUUID(),
    access: [{ type: 'repository', name: repository, actions }],
  };
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const signature = sign('sha256', Buffer.from(text), { key: keys.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}
