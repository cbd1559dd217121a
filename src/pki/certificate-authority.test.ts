import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, it } from 'node:test';
import { CertificateAuthority, type ClientRequest, type ServingRequest } from './certificate-authority.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
// Not a dependency: the test is left out where it is missing.
const OPENSSL = 'openssl';
const HOUR_MS = 3_600_000;

const authority = (): Promise<CertificateAuthority> =>
  CertificateAuthority.create({ commonName: 'test-ca', now: NOW, validityMs: 24 * HOUR_MS });

const client = (request: Partial<ClientRequest> = {}): ClientRequest => ({
  kind: 'client',
  commonName: 'jane',
  organizations: [],
  now: NOW,
  validityMs: HOUR_MS,
  ...request,
});

const serving = (request: Partial<ServingRequest> = {}): ServingRequest => ({
  kind: 'serving',
  commonName: 'kube-apiserver',
  dnsNames: ['localhost'],
  ipAddresses: ['127.0.0.1'],
  now: NOW,
  validityMs: HOUR_MS,
  ...request,
});

describe('CertificateAuthority', () => {
  it('is a self-signed authority that node recognises as one', async () => {
    const certificate = new X509Certificate((await authority()).certificatePem);
    assert.equal(certificate.ca, true);
    assert.equal(certificate.subject, 'CN=test-ca');
    assert.equal(certificate.verify(certificate.publicKey), true);
  });

  it('signs certificates that verify against it and against no other authority', async () => {
    const [ours, other] = await Promise.all([authority(), authority()]);
    const issued = new X509Certificate((await ours.issue(client())).certificatePem);
    const root = new X509Certificate(ours.certificatePem);
    assert.equal(issued.checkIssued(root), true);
    assert.equal(issued.verify(root.publicKey), true);
    assert.equal(issued.verify(new X509Certificate(other.certificatePem).publicKey), false);
    assert.equal(issued.ca, false);
  });

  it('writes the user as common name and every group as an organisation of its own', async () => {
    const { certificatePem } = await (await authority()).issue(
      client({ organizations: ['dev', 'system:masters'] }),
    );
    assert.equal(new X509Certificate(certificatePem).subject, 'O=dev\nO=system:masters\nCN=jane');
  });

  for (const commonName of ['a, O=system:masters', '#0c0141', 'back\\slash + "quote"', 'naïve user']) {
    it(`keeps the name ${JSON.stringify(commonName)} as one value`, async () => {
      const { certificatePem } = await (await authority()).issue(client({ commonName }));
      assert.equal(new X509Certificate(certificatePem).toLegacyObject().subject.CN, commonName);
      assert.equal(new X509Certificate(certificatePem).toLegacyObject().subject.O, undefined);
    });
  }

  it('gives a serving certificate its names and only the server purpose', async () => {
    const { certificatePem } = await (await authority()).issue(serving({ dnsNames: ['localhost', 'a.svc'] }));
    const certificate = new X509Certificate(certificatePem);
    assert.equal(certificate.subjectAltName, 'DNS:localhost, DNS:a.svc, IP Address:127.0.0.1');
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  });

  it('gives a client certificate only the client purpose and no names', async () => {
    const certificate = new X509Certificate((await (await authority()).issue(client())).certificatePem);
    assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.2']);
    assert.equal(certificate.subjectAltName, undefined);
  });

  it('starts five minutes before the given time and ends after the asked validity', async () => {
    const certificate = new X509Certificate((await (await authority()).issue(client())).certificatePem);
    assert.deepEqual(certificate.validFromDate, new Date('2026-03-01T11:55:00Z'));
    assert.deepEqual(certificate.validToDate, new Date('2026-03-01T13:00:00Z'));
  });

  it('hands out the key that belongs to the certificate', async () => {
    const { certificatePem, keys } = await (await authority()).issue(client());
    assert.equal(new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keys.privateKeyPem)), true);
  });

  it('uses another serial number and another key for every certificate', async () => {
    const root = await authority();
    const issued = await Promise.all(Array.from({ length: 20 }, () => root.issue(client())));
    assert.equal(
      new Set(issued.map(({ certificatePem }) => new X509Certificate(certificatePem).serialNumber)).size,
      20,
    );
    assert.equal(new Set(issued.map(({ keys }) => keys.publicKeyPem)).size, 20);
  });

  it('goes on with a key that was kept', async () => {
    const first = await authority();
    const loaded = CertificateAuthority.load('test-ca', first.certificatePem, first.keys.privateKeyPem);
    const issued = new X509Certificate((await loaded.issue(client())).certificatePem);
    const root = new X509Certificate(first.certificatePem);
    assert.equal(issued.checkIssued(root), true);
    assert.equal(issued.verify(root.publicKey), true);
    assert.throws(() => CertificateAuthority.load('test-ca', first.certificatePem, 'no key'));
  });

  const addresses: readonly [string, string][] = [
    ['::1', '0:0:0:0:0:0:0:1'],
    ['::', '0:0:0:0:0:0:0:0'],
    ['fd00::', 'FD00:0:0:0:0:0:0:0'],
    ['2001:db8::5:6', '2001:DB8:0:0:0:0:5:6'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
    ['192.0.2.255', '192.0.2.255'],
  ];
  for (const [address, shown] of addresses) {
    it(`writes the address ${address}`, async () => {
      const request = serving({ dnsNames: [], ipAddresses: [address] });
      const certificate = new X509Certificate((await (await authority()).issue(request)).certificatePem);
      assert.equal(certificate.subjectAltName, `IP Address:${shown}`);
      assert.equal(certificate.checkIP(address), address);
    });
  }

  for (const address of [
    'no address',
    '1.2.3',
    '1:2',
    '1:2:3:4:5:6:7',
    '1::2::3',
    '1:2:3:4:5:6:7:8:9',
    '::12345',
  ]) {
    it(`refuses ${JSON.stringify(address)} as an address`, async () => {
      const root = await authority();
      await assert.rejects(root.issue(serving({ ipAddresses: [address] })), /is not an IP address$/);
    });
  }

  it('writes dates after 2049', async () => {
    const validityMs = 100 * 365 * 24 * HOUR_MS;
    const root = await CertificateAuthority.create({ commonName: 'old', now: NOW, validityMs });
    const { validFromDate, validToDate } = new X509Certificate(root.certificatePem);
    assert.deepEqual(validFromDate, new Date('2026-03-01T11:55:00Z'));
    assert.deepEqual(validToDate, new Date(NOW.getTime() + validityMs));
  });

  it('is read by openssl as by node', { skip: !hasOpenssl() && 'there is no openssl here' }, async () => {
    const root = await authority();
    const { certificatePem } = await root.issue(serving({ ipAddresses: ['127.0.0.1', '::1'] }));
    const text = execFileSync(OPENSSL, ['x509', '-noout', '-text'], { input: certificatePem, encoding: 'utf8' });
    for (const line of [
      'Version: 3 (0x2)',
      'Signature Algorithm: ecdsa-with-SHA256',
      'CA:FALSE',
      'Digital Signature',
      'TLS Web Server Authentication',
      'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
    ]) {
      assert.ok(text.includes(line), `${line} is not in\n${text}`);
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
