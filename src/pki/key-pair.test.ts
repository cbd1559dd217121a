import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { describe, it } from 'node:test';
import { generateKeyPair } from './key-pair.ts';

describe('generateKeyPair', () => {
  it('gives two texts that belong together', async () => {
    const { privateKeyPem, publicKeyPem } = await generateKeyPair();
    const message = Buffer.from('message');
    const signature = sign('sha256', message, createPrivateKey(privateKeyPem));
    assert.equal(verify('sha256', message, createPublicKey(publicKeyPem), signature), true);
  });

  it('writes PKCS #8 and SubjectPublicKeyInfo, the forms Kubernetes reads', async () => {
    const { privateKeyPem, publicKeyPem } = await generateKeyPair();
    assert.match(privateKeyPem, /^-----BEGIN PRIVATE KEY-----\n[^]+\n-----END PRIVATE KEY-----\n$/);
    assert.match(publicKeyPem, /^-----BEGIN PUBLIC KEY-----\n[^]+\n-----END PUBLIC KEY-----\n$/);
  });

  it('gives another key at every call', async () => {
    assert.notEqual((await generateKeyPair()).publicKeyPem, (await generateKeyPair()).publicKeyPem);
  });
});
