import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../test/support/scratch.ts';
import { VirtualClock } from '../base/clock.ts';
import { openIdentity } from './identity.ts';
import { readKeys } from './identity-file.ts';

const DAY_MS = 86_400_000;
const newClock = () => new VirtualClock({ start: new Date('2026-05-04T03:02:01Z') });
async function open(directory: string | undefined, clock = newClock(), hostNames: readonly string[] = []) {
  const kept = directory === undefined ? undefined : readKeys(directory);
  const identity = await openIdentity({ directory, kept, clock, hostNames });
  identity.save();
  return identity;
}

describe('openIdentity', () => {
  it('apiserver/H2: makes a serving certificate for every name the server is called by', async () => {
    const identity = await open(undefined, newClock(), ['api.example.com', '192.0.2.7', 'fd00::7']);
    const certificate = new X509Certificate(identity.servingCertificatePem);
    const names = certificate.subjectAltName?.split(', ') ?? [];
    assert.deepEqual(names, [
      'DNS:localhost',
      'DNS:kubernetes',
      'DNS:kubernetes.default',
      'DNS:kubernetes.default.svc',
      'DNS:kubernetes.default.svc.cluster.local',
      'DNS:api.example.com',
      'IP Address:127.0.0.1',
      'IP Address:0:0:0:0:0:0:0:1',
      'IP Address:10.0.0.1',
      'IP Address:192.0.2.7',
      'IP Address:FD00:0:0:0:0:0:0:7',
    ]);
    assert.ok(certificate.checkIssued(new X509Certificate(identity.authorityPem)));
  });

  it('apiserver/Z2: issues certificates of users with groups', async () => {
    const identity = await open(undefined);
    const { certificatePem } = await identity.issue('admin', ['system:masters']);
    const certificate = new X509Certificate(certificatePem);
    assert.equal(certificate.subject, 'O=system:masters\nCN=admin');
    assert.ok(certificate.verify(new X509Certificate(identity.authorityPem).publicKey));
  });

  it('lab/T8: makes certificates that are valid on two clocks', async () => {
    const [from, until] = [new Date('2026-01-01T00:00:00Z'), new Date('2040-01-01T00:00:00Z')];
    const options = { directory: undefined, kept: undefined, hostNames: [], clock: newClock() };
    const identity = await openIdentity({ ...options, certificates: { from, until } });
    const user = await identity.issue('admin', []);
    for (const pem of [identity.authorityPem, identity.servingCertificatePem, user.certificatePem]) {
      const { validFromDate, validToDate } = new X509Certificate(pem);
      assert.ok(validFromDate <= from);
      assert.deepEqual(validToDate, until);
    }
  });

  it('keeps everything in one file that only its owner reads', async () => {
    await using folder = await scratchDirectory();
    const directory = join(folder.path, 'api');
    const first = await open(directory);
    assert.deepEqual(readdirSync(directory), ['identity.json']);
    assert.equal(statSync(join(directory, 'identity.json')).mode & 0o777, 0o600);
    assert.equal(statSync(directory).mode & 0o777, 0o700);
    const second = await open(directory);
    assert.deepEqual(JSON.stringify(second), JSON.stringify(first));
    const user = await second.issue('jane', []);
    assert.ok(new X509Certificate(user.certificatePem).verify(new X509Certificate(first.authorityPem).publicKey));
  });

  const renewals: readonly [string, number, readonly string[]][] = [
    ['thirty days before it ends', 335 * DAY_MS + 1, []],
    ['for a name it lacks', 0, ['new.example.com']],
  ];
  for (const [what, laterMs, hostNames] of renewals) {
    it(`renews the serving certificate ${what}, and nothing else`, async () => {
      await using folder = await scratchDirectory();
      const clock = newClock();
      const first = await open(folder.path, clock);
      await clock.advance(laterMs);
      const second = await open(folder.path, clock, hostNames);
      assert.notEqual(second.servingCertificatePem, first.servingCertificatePem);
      assert.equal(second.authorityPem, first.authorityPem);
      assert.deepEqual(second.tokenKeys, first.tokenKeys);
      const third = await open(folder.path, clock, hostNames);
      assert.equal(third.servingCertificatePem, second.servingCertificatePem);
    });
  }

  it('writes nothing before it is told to', async () => {
    await using folder = await scratchDirectory();
    await openIdentity({ directory: folder.path, kept: undefined, clock: newClock(), hostNames: [] });
    assert.deepEqual(readdirSync(folder.path), []);
  });
});
