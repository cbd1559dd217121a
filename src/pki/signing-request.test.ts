import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { generateKeyPair } from './key-pair.ts';
import { type SigningWish, signingRequest } from './signing-request.ts';

const OPENSSL = 'openssl';
const CLIENT: SigningWish = {
  commonName: 'system:node:w-1',
  organizations: ['system:nodes'],
  dnsNames: [],
  ipAddresses: [],
};
const SERVING: SigningWish = { ...CLIENT, dnsNames: ['w-1', 'w-1.lab'], ipAddresses: ['10.16.1.1', 'fd00::1'] };

/** What an independent program reads; it checks the signature too. */
const textOf = (request: string): string =>
  execFileSync(OPENSSL, ['req', '-noout', '-text', '-verify'], {
    input: request,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'ignore'],
  });

const skip = !hasOpenssl() && 'there is no openssl here';

describe('signingRequest', () => {
  it('is the PEM block that the API server wants', async () => {
    const request = signingRequest(CLIENT, await generateKeyPair());
    assert.match(
      request,
      /^-----BEGIN CERTIFICATE REQUEST-----\n(?:.{1,64}\n)+-----END CERTIFICATE REQUEST-----\n$/,
    );
  });

  it('is read by openssl: subject, signature and no names', { skip }, async () => {
    const text = textOf(signingRequest(CLIENT, await generateKeyPair()));
    assert.match(text, /Version: 1 \(0x0\)/);
    assert.match(text, /Subject: O ?= ?system:nodes, CN ?= ?system:node:w-1/);
    assert.match(text, /Signature Algorithm: ecdsa-with-SHA256/);
    assert.doesNotMatch(text, /Alternative Name/);
  });

  it('asks for names and addresses', { skip }, async () => {
    const text = textOf(signingRequest(SERVING, await generateKeyPair()));
    assert.match(text, /DNS:w-1, DNS:w-1\.lab, IP Address:10\.16\.1\.1, IP Address:FD00:0:0:0:0:0:0:1/);
  });

  it('carries the public key of the pair', { skip }, async () => {
    const keys = await generateKeyPair();
    const input = signingRequest(SERVING, keys);
    assert.equal(
      execFileSync(OPENSSL, ['req', '-noout', '-pubkey'], { input, encoding: 'utf8' }),
      keys.publicKeyPem,
    );
  });

  it('refuses an address that is none', async () => {
    const keys = await generateKeyPair();
    for (const address of ['w-1', '1.2.3', '1::2::3', '::12345']) {
      assert.throws(() => signingRequest({ ...CLIENT, ipAddresses: [address] }, keys), /is not an IP address$/);
    }
  });
});

function hasOpenssl(): boolean {
  try {
    execFileSync(OPENSSL, ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
