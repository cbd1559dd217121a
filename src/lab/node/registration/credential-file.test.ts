import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CertificateAuthority } from '../../../pki/certificate-authority.ts';
import { credentialFile, isUsable } from './credential-file.ts';

const NOW = new Date('2030-01-01T00:00:00Z');
const HOUR_MS = 3_600_000;

async function credential() {
  const validity = { now: NOW, validityMs: HOUR_MS };
  const authority = await CertificateAuthority.create({ commonName: 'ca', ...validity });
  return authority.issue({
    kind: 'client',
    commonName: 'system:node:w-1',
    organizations: ['system:nodes'],
    ...validity,
  });
}

async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'slipway-credential-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

describe('credentialFile', () => {
  it('lab/N1: finds again what was kept, in a file for nobody else', async () => {
    await using temporary = await folder();
    const path = join(temporary.path, 'var', 'pki', 'current.pem');
    const store = credentialFile(path);
    assert.equal(await store.load(), undefined);
    const kept = await credential();
    await store.save(kept);
    const found = await store.load();
    assert.equal(found?.certificatePem, kept.certificatePem);
    assert.equal(found?.keys.privateKeyPem, kept.keys.privateKeyPem);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(join(temporary.path, 'var', 'pki')), ['current.pem']);
  });

  it('lab/N1: has none when the file is damaged, or its parts do not belong together', async () => {
    await using temporary = await folder();
    const path = join(temporary.path, 'current.pem');
    const store = credentialFile(path);
    const [one, other] = await Promise.all([credential(), credential()]);
    await store.save({ certificatePem: one.certificatePem, keys: other.keys });
    assert.equal(await store.load(), undefined);
    await store.save(one);
    await writeFile(path, (await readFile(path, 'utf8')).slice(100));
    assert.equal(await store.load(), undefined);
    await writeFile(path, 'nothing');
    assert.equal(await store.load(), undefined);
  });
});

describe('isUsable', () => {
  it('lab/N1: only as the node it was made for, and until it ends', async () => {
    const kept = await credential();
    assert.equal(isUsable(kept, 'system:node:w-1', NOW), true);
    assert.equal(isUsable(kept, 'system:node:w-2', NOW), false);
    assert.equal(isUsable(kept, 'system:node:w-1', new Date(NOW.getTime() + HOUR_MS)), false);
  });
});
